/**
 * Tells, before anything is placed, what agent families will refuse, cut or misread. Reads folders of skills; every
 * finding names a file and a line.
 */
import { readdirSync, realpathSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { ok, type Problem, type Result, refuse } from '../problems/index.ts';
import { codeOf } from './disk.ts';
import type { FamilyName, Finding, ParsedSkill } from './edge.ts';
import { type Family, families, overBudget } from './families.ts';
import { readSkillFolder } from './folder.ts';
import { findingsOf } from './rules.ts';

// A repository keeps its skills a few folders down; deeper than this nobody does.
const searchDepth = 5;
const foldersSearched = 10_000;
const skipped = new Set(['node_modules', '.git']);

export interface LintReport {
  readonly findings: readonly Finding[];
  /** Folders that were checked. */
  readonly skills: readonly string[];
}

const isFile = (path: string): boolean => statSync(path, { throwIfNoEntry: false })?.isFile() === true;

/** Folders that hold a SKILL.md at or below a path. A folder inside a skill belongs to it. */
const foldersAt = (path: string): Result<readonly string[]> => {
  const found: string[] = [];
  let searched = 0;
  const walk = (dir: string, depth: number): void => {
    searched += 1;
    if (searched > foldersSearched) return;
    const entries = readdirSync(dir, { withFileTypes: true });
    if (entries.some(({ name }) => name === 'SKILL.md')) {
      found.push(dir);
      return;
    }
    if (depth === searchDepth) return;
    for (const entry of entries) {
      if (entry.isDirectory() && !skipped.has(entry.name)) walk(join(dir, entry.name), depth + 1);
    }
  };
  try {
    const real = realpathSync(resolve(path));
    if (isFile(real)) {
      if (basename(real) !== 'SKILL.md') return refuse('skill/nothing-to-check', { subject: path });
      return ok([dirname(real)]);
    }
    walk(real, 0);
  } catch (error) {
    return refuse('skill/nothing-to-check', { subject: path, evidence: codeOf(error) });
  }
  return found.length === 0 ? refuse('skill/nothing-to-check', { subject: path }) : ok(found.sort());
};

/** The file and line a problem of a skill speaks of. */
const placeOf = (dir: string, found: Problem): { readonly file: string; readonly line: number } => {
  const folder = `${basename(dir)}/`;
  const below = found.subject?.startsWith(folder) === true ? found.subject.slice(folder.length) : 'SKILL.md';
  const line = /^line (\d+)/.exec(found.evidence ?? '')?.[1];
  return { file: join(dir, below), line: line === undefined ? 1 : Number(line) };
};

/** `wanted`: the families to check for (default: all). `skill/nothing-to-check` where a path holds no skill. */
export const lintSkills = (
  paths: readonly string[],
  wanted: readonly FamilyName[] = families.map(({ name }) => name),
): Result<LintReport> => {
  const concerned: readonly Family[] = families.filter(({ name }) => wanted.includes(name));
  const folders = new Set<string>();
  for (const path of paths) {
    const found = foldersAt(path);
    if (!found.ok) return found;
    for (const folder of found.value) folders.add(folder);
  }
  const findings: Finding[] = [];
  const readable: ParsedSkill[] = [];
  for (const dir of folders) {
    const folder = readSkillFolder(dir);
    if (!folder.ok) {
      const { code, message, evidence } = folder.problem;
      findings.push({
        ...placeOf(dir, folder.problem),
        rule: code,
        level: 'error',
        families: [],
        message: evidence === undefined ? message : `${message} (${evidence})`,
      });
      continue;
    }
    readable.push(folder.value.document);
    for (const finding of findingsOf(folder.value.document, basename(dir), concerned)) {
      findings.push({ file: join(dir, 'SKILL.md'), ...finding });
    }
  }
  const [first] = folders;
  for (const { family, title, cost, budget } of first === undefined ? [] : overBudget(readable, concerned)) {
    const message = `${readable.length} skills take at least ${cost} characters of a listing; ${title} has ${budget}, so descriptions are cut or left out.`;
    const file = join(first ?? '', 'SKILL.md');
    findings.push({ file, line: 1, rule: 'listing-budget', level: 'warning', families: [family], message });
  }
  return ok({ findings, skills: [...folders] });
};
