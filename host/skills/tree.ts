/**
 * Folders of skills as others may lay them out: a skill at any depth, skills inside skills. Finds the folders, reads
 * each as a whole, and reads it again when a stamp differs; a fault is never remembered.
 */
import { readdirSync } from 'node:fs';
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import { codeOf, isSettled, isStill } from './disk.ts';
import type { SkillFolder } from './edge.ts';
import { type Snapshot, snapshotOf } from './folder.ts';
import { skillLimits, skillsPerRoot, visitedFolders } from './limits.ts';

export interface FoundFolders {
  /** Paths below the root, `/` between segments, in byte order; the root itself is none. */
  readonly folders: readonly string[];
  readonly problems: readonly { readonly path: string; readonly problem: Problem }[];
}

/** Every folder below a real `root` that holds a SKILL.md. Folders whose names begin with a dot are not entered. */
export const skillFoldersBelow = async (
  root: string,
  breathe: () => Promise<void>,
): Promise<FoundFolders> => {
  const folders: string[] = [];
  const problems: { path: string; problem: Problem }[] = [];
  let visited = 0;
  const walk = async (path: string, depth: number): Promise<void> => {
    visited += 1;
    if (visited > visitedFolders || folders.length >= skillsPerRoot) return;
    const place = path === '' ? root : `${root}/${path}`;
    try {
      const entries = readdirSync(place, { withFileTypes: true });
      if (path !== '' && entries.some(({ name }) => name === 'SKILL.md')) folders.push(path);
      for (const entry of entries) {
        if (entry.name.startsWith('.')) continue;
        const below = path === '' ? entry.name : `${path}/${entry.name}`;
        if (entry.isDirectory() && depth < skillLimits.depth) await walk(below, depth + 1);
        else if (entry.isSymbolicLink() && path === '') {
          problems.push({ path: `${root}/${below}`, problem: problem('skill/link', { subject: below }) });
        }
      }
    } catch (error) {
      // What a skill cannot read is said by the skill; of a folder around skills nobody else would say it.
      const evidence = codeOf(error);
      problems.push({ path: place, problem: problem('skill/unreadable', { subject: place, evidence }) });
    }
    await breathe();
  };
  await walk('', 0);
  if (visited > visitedFolders || folders.length >= skillsPerRoot) {
    const evidence = `at most ${skillsPerRoot} skills in ${visitedFolders} folders`;
    problems.push({ path: root, problem: problem('skill/too-many', { subject: root, evidence }) });
  }
  return { folders: folders.sort((a, b) => (a < b ? -1 : 1)), problems };
};

const standing = (stamps: Snapshot['stamps']): boolean => {
  for (const [path, stamp] of stamps) if (!isStill(path, stamp)) return false;
  return true;
};

/**
 * What `take` makes of one skill's folder, whole, as it is at each call. While no byte differs it is the same object.
 * `dir` is a real path; between calls only what was taken stays in memory, and no content unless that holds some.
 */
export const watchSkillFolder = <T>(
  dir: string,
  shown: string,
  take: (folder: SkillFolder) => T,
  now: () => number = Date.now,
): (() => Result<T>) => {
  let last: { readonly digest: string; readonly taken: T } | undefined;
  let stamps: Snapshot['stamps'] | undefined;
  return () => {
    if (last !== undefined && stamps !== undefined && standing(stamps)) return ok(last.taken);
    stamps = undefined;
    const at = now();
    const found = snapshotOf(dir, shown);
    if (!found.ok) return found;
    const { folder, changed } = found.value;
    if (last?.digest !== folder.digest) last = { digest: folder.digest, taken: take(folder) };
    if (isSettled(changed, at)) stamps = found.value.stamps;
    return ok(last.taken);
  };
};
