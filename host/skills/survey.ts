/**
 * What a skill's folder holds: names, sizes and stamps, judged against the limits; content only as far as the caller
 * reads it on the way. A skill is taken whole or not at all, so one file that cannot be taken refuses it.
 */
import { lstatSync, readdirSync, type Stats } from 'node:fs';
import { collision, segmentFault } from '../paths/index.ts';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { isStill, linkProblem, readFault, type Stamp, stampOf } from './disk.ts';
import type { SkillLimits } from './edge.ts';
import { countedEntries } from './limits.ts';

/** What version control and file managers leave in a folder is no part of a skill. */
const ignored = new Set(['.git', '.hg', '.svn', '.DS_Store']);

export interface Surveyed {
  readonly path: string;
  readonly size: number;
  readonly stamp: Stamp;
  /** Hex; there when the visit read it. */
  readonly sha256?: string;
}
export interface Visited {
  readonly stat: Stats;
  readonly sha256?: string;
}
/** Reads a file the survey has met. `subject` is what problems call it. */
export type Visit = (place: string, path: string, subject: string) => Result<Visited>;
export interface Survey {
  /** The skill's own folder. */
  readonly stamp: Stamp;
  /** In byte order of their paths. */
  readonly files: readonly Surveyed[];
  /** Folders below the skill's own. */
  readonly folders: readonly { readonly path: string; readonly stamp: Stamp }[];
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

const look: Visit = (place) => ok({ stat: lstatSync(place) });

/** `real` is the folder's place without links, `shown` what problems call it. */
export const surveyFolder = (
  real: string,
  shown: string,
  limits: SkillLimits,
  visit: Visit = look,
): Result<Survey> => {
  const files: Surveyed[] = [];
  const folders: { path: string; stamp: Stamp }[] = [];
  let counted = 0;
  let size = 0;
  let changed = 0;
  let fault: Problem | undefined;
  let largest: Surveyed | undefined;

  const enter = (place: string, subject: string): Stamp | undefined => {
    const stat = lstatSync(place);
    changed = Math.max(changed, stat.ctimeMs);
    if (stat.isDirectory()) return stampOf(stat);
    fault ??= problem(stat.isSymbolicLink() ? 'skill/link' : 'skill/changed', { subject });
    return undefined;
  };
  const walk = (folder: string, prefix: string, depth: number): void => {
    for (const entry of readdirSync(folder, { withFileTypes: true })) {
      if (ignored.has(entry.name)) continue;
      counted += 1;
      if (counted > countedEntries) return;
      const path = `${prefix}${entry.name}`;
      const subject = `${shown}/${path}`;
      const place = `${folder}/${entry.name}`;
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
        const stamp = enter(place, subject);
        if (stamp === undefined) continue;
        folders.push({ path, stamp });
        walk(place, `${path}/`, depth + 1);
      } else if (entry.isFile()) {
        // Nothing is read any more once the skill is refused; sizes and numbers are still found.
        const within = fault === undefined && files.length < limits.files && size <= limits.totalBytes;
        const visited = (within ? visit : look)(place, path, subject);
        if (!visited.ok) {
          fault ??= visited.problem;
          continue;
        }
        const { stat, ...rest } = visited.value;
        const file = { path, size: stat.size, stamp: stampOf(stat), ...rest };
        files.push(file);
        size += stat.size;
        changed = Math.max(changed, stat.ctimeMs);
        if (largest === undefined || file.size > largest.size) largest = file;
      } else {
        fault ??= problem('skill/not-a-file', { subject });
      }
    }
  };

  let stamp: Stamp | undefined;
  try {
    stamp = enter(real, shown);
    if (stamp !== undefined) walk(real, '', 0);
  } catch (error) {
    return { ok: false, problem: readFault(error, shown) };
  }
  if (fault !== undefined || stamp === undefined) {
    return { ok: false, problem: fault ?? problem('skill/changed', { subject: shown }) };
  }
  const over = overLimit(files, size, largest, counted, shown, limits);
  if (over !== undefined) return { ok: false, problem: over };
  const twins = twinsIn(files, folders);
  if (twins !== undefined) {
    return refuse('skill/path-unsafe', {
      subject: `${shown}/${twins[1]}`,
      message: 'Two paths of the skill are one on some system.',
      evidence: `${twins[0]} and ${twins[1]}`,
    });
  }
  return ok({ stamp, files: inOrder(files), folders, size, changed });
};

/** The path of a survey that is no longer what it was, or undefined; `''` is the folder itself. */
export const strayed = (real: string, survey: Survey): string | undefined => {
  if (!isStill(real, survey.stamp)) return '';
  const differs = ({ path, stamp }: { readonly path: string; readonly stamp: Stamp }): boolean =>
    !isStill(`${real}/${path}`, stamp);
  return (survey.folders.find(differs) ?? survey.files.find(differs))?.path;
};

/** ASCII differs by case alone, which is looked for first: the whole comparison costs more than the reading. */
const twinsIn = (
  files: readonly Surveyed[],
  folders: readonly { readonly path: string }[],
): readonly [string, string] | undefined => {
  const all = [...files, ...folders];
  const plain = all.every(({ path }) => ascii.test(path));
  if (plain && new Set(all.map(({ path }) => path.toLowerCase())).size === all.length) return undefined;
  return collision(files.map(({ path }) => path));
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
