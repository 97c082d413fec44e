/** What other rooms see of skills. */
import type { Problem, Result } from '../problems/index.ts';

export type DiagnosticRule =
  | 'no-frontmatter'
  | 'read-as-text'
  | 'cut-by-comment'
  | 'not-a-string'
  | 'duplicate-key'
  | 'line-ignored'
  | 'name-not-folder'
  | 'name-has-space'
  | 'argument-name-ignored'
  | 'no-description';

/** Something an author should know about a SKILL.md that can be used nevertheless. */
export interface Diagnostic {
  readonly rule: DiagnosticRule;
  /** 1-based, in the file. */
  readonly line: number;
  readonly message: string;
}

/** One SKILL.md, as every part of the station reads it. Line ends in all texts are LF, whatever the file has. */
export interface ParsedSkill {
  /** The bytes of the file, untouched: digests are over these. */
  readonly raw: Uint8Array;
  /** Between the two `---` lines; undefined where the file has none. */
  readonly frontmatter: string | undefined;
  readonly body: string;
  /** Line of the file the body begins on, 1-based. */
  readonly bodyLine: number;
  /** NFC; safe as one path segment. */
  readonly name: string;
  /** One text, may hold line ends; empty when there is neither a field nor a body. */
  readonly description: string;
  /** What the frontmatter itself says, before the folder's name and the body stand in. */
  readonly authored: { readonly name?: string; readonly description?: string };
  readonly argumentHint?: string;
  /** Names of the arguments by position. */
  readonly arguments: readonly string[];
  /** Recorded, never enforced. */
  readonly allowedTools: readonly string[];
  /** Recorded, never enforced. */
  readonly model?: string;
  /** Every other key with its source text, verbatim. */
  readonly other: Readonly<Record<string, string>>;
  /** Line of each key. */
  readonly keyLines: Readonly<Record<string, number>>;
  readonly diagnostics: readonly Diagnostic[];
}

/**
 * Pure. Refuses with `skill/not-text`, `skill/frontmatter-unclosed`, `skill/frontmatter-too-large` or
 * `skill/name-invalid`; everything else is read, with diagnostics. `folder` is the name of the skill's folder.
 */
export type ParseSkill = (bytes: Uint8Array, place: { readonly folder: string }) => Result<ParsedSkill>;

export interface SkillFile {
  /** Relative to the skill's folder, `/` between segments. */
  readonly path: string;
  /** Hex. */
  readonly sha256: string;
  /** Bytes. */
  readonly size: number;
}

/** The files of a skill as they were at one moment. Holds no content but SKILL.md's. */
export interface SkillFolder {
  /** Absolute. */
  readonly dir: string;
  readonly document: ParsedSkill;
  /** In byte order of their paths. */
  readonly files: readonly SkillFile[];
  /** Bytes of all files. */
  readonly size: number;
  /** SHA-256 over every path and digest, hex. */
  readonly digest: string;
  /** The listed bytes, or `skill/changed`; never others. */
  readonly read: (path: string) => Result<Uint8Array>;
}

export interface SkillLimits {
  readonly files: number;
  readonly totalBytes: number;
  readonly fileBytes: number;
  readonly documentBytes: number;
  readonly depth: number;
}
export interface ReadOptions {
  readonly limits?: Partial<SkillLimits>;
  /** The folder's name where `dir` is not called so (default: last segment of `dir`). */
  readonly folder?: string;
}
/** Reads and hashes every file once (`skill/*` problems name the file). `dir` must not be a link. */
export type ReadSkillFolder = (dir: string, options?: ReadOptions) => Result<SkillFolder>;

/** A skill of an installed bundle: where its admitted bytes lie and what they must be (the shape of `host/context`). */
export interface SkillSource {
  readonly bundle: string;
  readonly revision: string;
  readonly name: string;
  readonly folder: string;
  readonly files: readonly SkillFile[];
}

export type SkillOrigin =
  | { readonly tier: 'person' }
  /** `base` is the folder that holds `.jupiter`. */
  | { readonly tier: 'project'; readonly base: string }
  | { readonly tier: 'bundle'; readonly bundle: string; readonly revision: string }
  | { readonly tier: 'shipped' };

/** A skill as the library lists it. Its body and its files stay on disk until asked for. */
export interface Skill {
  readonly name: string;
  readonly description: string;
  readonly argumentHint?: string;
  readonly arguments: readonly string[];
  readonly allowedTools: readonly string[];
  readonly model?: string;
  readonly other: Readonly<Record<string, string>>;
  readonly authored: ParsedSkill['authored'];
  readonly hasFrontmatter: boolean;
  readonly diagnostics: readonly Diagnostic[];
  readonly origin: SkillOrigin;
  /** Absolute folder, links resolved. */
  readonly dir: string;
  /** Absolute path of its SKILL.md, as it was found. */
  readonly path: string;
  /** The link through which it was reached, and where that leads. */
  readonly via?: { readonly link: string; readonly target: string };
  /** SHA-256 of the bytes of SKILL.md, hex. */
  readonly digest: string;
  /** SKILL.md, read again; `skill/changed` when it is no longer the listed one. */
  readonly document: () => Result<ParsedSkill>;
  /** All files with digests; from memory while no file's size or time differs. */
  readonly files: () => Result<SkillFolder>;
}

export interface Shadowed {
  readonly skill: Skill;
  readonly by: Skill;
  readonly reason: string;
}
/** Two skills of one folder, or of two bundles, with one name. */
export interface Collision {
  readonly name: string;
  readonly winner: Skill;
  readonly losers: readonly Skill[];
  readonly reason: string;
}
/** A folder the library looked into. */
export interface SkillRoot {
  readonly origin: SkillOrigin;
  readonly path: string;
  readonly via?: { readonly link: string; readonly target: string };
}

export interface Look {
  /** The winners, in byte order of their names. */
  readonly skills: readonly Skill[];
  readonly shadowed: readonly Shadowed[];
  readonly collisions: readonly Collision[];
  /** What could not be listed, each with its file. */
  readonly problems: readonly { readonly path: string; readonly problem: Problem }[];
  /** Folders that were read, nearest first. */
  readonly roots: readonly SkillRoot[];
}

export interface LibraryOptions {
  /** The person's folder of skills, `~/.jupiter/skills`; undefined leaves the tier out. */
  readonly person?: string;
  /** Skills of the installed bundles at this moment. */
  readonly bundles?: () => readonly SkillSource[];
  /** Folder of the skills the product ships. */
  readonly shipped?: string;
}
export interface SkillLibrary {
  /**
   * What is there now. Reads only what changed since the last look; `whole` reads every file of every skill in the
   * same pass, for whoever will ask all of them for `files`.
   */
  readonly look: (where: { readonly cwd: string; readonly whole?: boolean }) => Promise<Look>;
}

/** An agent family the lint knows. */
export type FamilyName = 'agentskills' | 'claude' | 'codex' | 'opencode' | 'gemini' | 'qwen';

export interface Finding {
  /** Absolute path of a file. */
  readonly file: string;
  /** 1-based. */
  readonly line: number;
  readonly rule: string;
  /** `error`: something refuses the skill. `warning`: something is cut or misread. */
  readonly level: 'error' | 'warning';
  /** The families it concerns; empty: the station itself. */
  readonly families: readonly FamilyName[];
  readonly message: string;
}
