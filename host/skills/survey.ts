/**
 * What a skill's folder holds, without reading any of it: names, sizes and stamps, judged against the limits. A
 * skill is taken whole or not at all, so one file that cannot be taken refuses it.
 */
import { lstatSync, readdirSync } from 'node:fs';
import { collision, segmentFault } from '../paths/index.ts';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { type Held, holdBelow, linkProblem, readFault, stampOf } from './disk.ts';
import type { SkillLimits } from './edge.ts';
import { countedEntries } from './limits.ts';

/** What version control and file managers leave in a folder is no part of a skill. */
const ignored = new Set(['.git', '.hg', '.svn', '.DS_Store']);

export interface Surveyed {
  readonly path: string;
  readonly size: number;
  readonly stamp: string;
}
export interface Survey {
  /** In byte order of their paths. */
  readonly files: readonly Surveyed[];
  /** Folders below the skill's own. */
  readonly folders: readonly { readonly path: string; readonly stamp: string }[];
  readonly size: number;
  /** The newest change of anything, ms. */
  readonly changed: number;
}

const byBytes = (a: Surveyed, b: Surveyed): number =>
  Buffer.compare(Buffer.from(a.path), Buffer.from(b.path));
const ascii = /^[\x20-\x7e]*$/;
const inOrder = (files: Surveyed[]): Surveyed[] =>
  files.every(({ path }) => ascii.test(path))
    ? files.sort((a, b) => (a.path < b.path ? -1 : 1))
    : files.sort(byBytes);

/** `root` is the held folder, `real` its place, `shown` what problems call it. */
export const surveyFolder = (
  root: Held,
  real: string,
  shown: string,
  limits: SkillLimits,
): Result<Survey> => {
  const files: Surveyed[] = [];
  const folders: { path: string; stamp: string }[] = [];
  let counted = 0;
  let size = 0;
  let changed = root.stat.ctimeMs;
  let fault: Problem | undefined;
  let largest: Surveyed | undefined;

  const walk = (held: Held, prefix: string, depth: number): void => {
    for (const entry of readdirSync(held.base, { withFileTypes: true })) {
      if (ignored.has(entry.name)) continue;
      counted += 1;
      if (counted > countedEntries) return;
      const path = `${prefix}${entry.name}`;
      const subject = `${shown}/${path}`;
      const place = `${held.base}/${entry.name}`;
      const unsafe = segmentFault(entry.name);
      if (unsafe !== undefined) {
        fault ??= problem('skill/path-unsafe', {
          subject: JSON.stringify(subject),
          message: `A path of the skill ${unsafe}.`,
        });
      } else if (entry.isSymbolicLink()) {
        fault ??= linkProblem(place, real, subject, 'the skill');
      } else if (entry.isDirectory()) {
        if (depth >= limits.depth) {
          fault ??= problem('skill/too-deep', { subject, evidence: `more than ${limits.depth} folders` });
          continue;
        }
        const below = holdBelow(place, subject);
        if (!below.ok) {
          fault ??= below.problem;
          continue;
        }
        try {
          folders.push({ path, stamp: stampOf(below.value.stat) });
          changed = Math.max(changed, below.value.stat.ctimeMs);
          walk(below.value, `${path}/`, depth + 1);
        } finally {
          below.value.close();
        }
      } else if (entry.isFile()) {
        const stat = lstatSync(place);
        const file = { path, size: stat.size, stamp: stampOf(stat) };
        files.push(file);
        size += stat.size;
        changed = Math.max(changed, stat.ctimeMs);
        if (largest === undefined || file.size > largest.size) largest = file;
      } else {
        fault ??= problem('skill/not-a-file', { subject });
      }
    }
  };

  try {
    walk(root, '', 0);
  } catch (error) {
    return { ok: false, problem: readFault(error, shown) };
  }
  if (fault !== undefined) return { ok: false, problem: fault };
  const over = overLimit(files, size, largest, counted, shown, limits);
  if (over !== undefined) return { ok: false, problem: over };
  const twins = collision(files.map(({ path }) => path));
  if (twins !== undefined) {
    return refuse('skill/path-unsafe', {
      subject: `${shown}/${twins[1]}`,
      message: 'Two paths of the skill are one on some system.',
      evidence: `${twins[0]} and ${twins[1]}`,
    });
  }
  return ok({ files: inOrder(files), folders, size, changed });
};

const overLimit = (
  files: readonly Surveyed[],
  size: number,
  largest: Surveyed | undefined,
  counted: number,
  shown: string,
  limits: SkillLimits,
): Problem | undefined => {
  if (counted > countedEntries || files.length > limits.files) {
    const found = counted > countedEntries ? `more than ${countedEntries}` : files.length;
    return problem('skill/too-many-files', {
      subject: shown,
      evidence: `${found} files; at most ${limits.files}`,
    });
  }
  if (largest !== undefined && largest.size > limits.fileBytes) {
    return problem('skill/file-too-large', {
      subject: `${shown}/${largest.path}`,
      evidence: `${largest.size} bytes; at most ${limits.fileBytes}`,
    });
  }
  if (size > limits.totalBytes) {
    return problem('skill/too-large', {
      subject: shown,
      evidence: `${size} bytes; at most ${limits.totalBytes}`,
    });
  }
  const document = files.find(({ path }) => path === 'SKILL.md');
  if (document !== undefined && document.size > limits.documentBytes) {
    return problem('skill/document-too-large', {
      subject: `${shown}/SKILL.md`,
      evidence: `${document.size} bytes; at most ${limits.documentBytes}`,
    });
  }
  return document === undefined ? problem('skill/no-document', { subject: shown }) : undefined;
};
