/**
 * One skill of the library: listed from its SKILL.md and a survey of its folder, everything else read when asked for.
 */
import { hash } from 'node:crypto';
import { basename, join } from 'node:path';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { codeOf, type Held, holdFolder, isSettled, readFault, stampAt, stampOf } from './disk.ts';
import type { ParsedSkill, Skill, SkillFolder, SkillOrigin, SkillSource } from './edge.ts';
import { bytesBelow, folderOf, type Snapshot, snapshotOf } from './folder.ts';
import { skillLimits } from './limits.ts';
import { parseSkill } from './parse.ts';
import { surveyFolder } from './survey.ts';

type Via = Skill['via'];

const skillOf = (
  parsed: ParsedSkill,
  place: { readonly origin: SkillOrigin; readonly dir: string; readonly path: string; readonly via?: Via },
  reads: Pick<Skill, 'document' | 'files'>,
): Skill => ({
  name: parsed.name,
  description: parsed.description,
  ...(parsed.argumentHint === undefined ? {} : { argumentHint: parsed.argumentHint }),
  arguments: parsed.arguments,
  allowedTools: parsed.allowedTools,
  ...(parsed.model === undefined ? {} : { model: parsed.model }),
  other: parsed.other,
  authored: parsed.authored,
  hasFrontmatter: parsed.frontmatter !== undefined,
  diagnostics: parsed.diagnostics,
  origin: place.origin,
  dir: place.dir,
  path: place.path,
  ...(place.via === undefined ? {} : { via: place.via }),
  digest: hash('sha256', parsed.raw, 'hex'),
  ...reads,
});

const documentOf = (held: Held, folder: string): Result<ParsedSkill> => {
  const bytes = bytesBelow(held, 'SKILL.md', folder, skillLimits.documentBytes);
  return bytes.ok ? parseSkill(bytes.value, { folder }) : bytes;
};

const documentAt = (dir: string, folder: string, digest: () => string): Result<ParsedSkill> => {
  const held = holdFolder(dir, folder);
  if (!held.ok) return held;
  try {
    const parsed = documentOf(held.value, folder);
    return !parsed.ok || hash('sha256', parsed.value.raw, 'hex') === digest()
      ? parsed
      : refuse('skill/changed', { subject: `${folder}/SKILL.md` });
  } finally {
    held.value.close();
  }
};

/** What a look found in one folder, and under which stamps it stays true. */
export interface Sighting {
  /** Undefined: no skill, and nothing to say. */
  readonly found: Result<Skill> | undefined;
  readonly holds: () => boolean;
}

export interface DiskPlace {
  readonly origin: SkillOrigin;
  /** Absolute, without links. */
  readonly dir: string;
  /** As it was found. */
  readonly path: string;
  readonly via?: Via;
}

/** Surveys a folder and reads its SKILL.md. Nothing else is opened. */
export const sight = (place: DiskPlace, now: () => number): Sighting => {
  const folder = basename(place.path);
  const at = now();
  const stamps = new Map<string, string>();
  let settled = false;
  const holds = (): boolean => settled && [...stamps].every(([path, stamp]) => stampAt(path) === stamp);
  const failing = (found: Problem): Sighting => ({ found: failed(found), holds: () => false });
  const held = holdFolder(place.dir, folder);
  if (!held.ok) return failing(held.problem);
  try {
    stamps.set(place.dir, stampOf(held.value.stat));
    const survey = surveyFolder(held.value, place.dir, folder, skillLimits);
    if (!survey.ok) {
      if (survey.problem.code === 'skill/no-document') {
        settled = isSettled(held.value.stat.ctimeMs, at);
        return { found: undefined, holds };
      }
      // A fault may be mended without the time of the folder moving on, so it is looked for again each time.
      return failing(survey.problem);
    }
    for (const { path, stamp } of survey.value.folders) stamps.set(join(place.dir, path), stamp);
    const document = survey.value.files.find(({ path }) => path === 'SKILL.md');
    if (document !== undefined) stamps.set(join(place.dir, 'SKILL.md'), document.stamp);
    const parsed = documentOf(held.value, folder);
    if (!parsed.ok) return failing(parsed.problem);
    settled = isSettled(survey.value.changed, at);
    const skill: Skill = skillOf(
      parsed.value,
      { ...place, path: join(place.path, 'SKILL.md') },
      {
        document: () => documentAt(place.dir, folder, () => skill.digest),
        files: remembered(place.dir, folder, () => skill.digest, now),
      },
    );
    return { found: ok(skill), holds };
  } catch (error) {
    return failing(readFault(error, folder));
  } finally {
    held.value.close();
  }
};

const remembered = (
  dir: string,
  folder: string,
  digest: () => string,
  now: () => number,
): (() => Result<SkillFolder>) => {
  let kept: Snapshot | undefined;
  return () => {
    if (kept !== undefined && [...kept.stamps].every(([path, stamp]) => stampAt(path) === stamp)) {
      return ok(kept.folder);
    }
    const at = now();
    const found = snapshotOf(dir, folder);
    kept = undefined;
    if (!found.ok) return found;
    if (hash('sha256', found.value.folder.document.raw, 'hex') !== digest()) {
      return refuse('skill/changed', { subject: `${folder}/SKILL.md` });
    }
    if (isSettled(found.value.changed, at)) kept = found.value;
    return ok(found.value.folder);
  };
};

/** A skill of an installed bundle. Its bytes must be the admitted ones. */
export const bundled = (source: SkillSource): Result<Skill> => {
  const { name: folder, folder: dir, bundle, revision } = source;
  const admitted = source.files.find(({ path }) => path === 'SKILL.md')?.sha256;
  if (admitted === undefined) return refuse('skill/no-document', { subject: folder });
  const document = (): Result<ParsedSkill> => documentAt(dir, folder, () => admitted);
  const parsed = document();
  if (!parsed.ok) return parsed;
  const files = (): Result<SkillFolder> => {
    const read = document();
    return read.ok ? ok(folderOf(dir, folder, source.files, read.value, skillLimits.fileBytes)) : read;
  };
  const origin: SkillOrigin = { tier: 'bundle', bundle, revision };
  return ok(skillOf(parsed.value, { origin, dir, path: join(dir, 'SKILL.md') }, { document, files }));
};

export const unreadableFolder = (error: unknown, path: string): Problem =>
  problem('skill/unreadable', { subject: path, evidence: codeOf(error) });
