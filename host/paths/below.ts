/**
 * Places below a root that strangers can write to. No segment may be a link: each is looked at before work begins
 * (`plainBelow`, `makeBelow`) and the real location is compared afterwards (`strayBelow`). The root itself is taken
 * as it is; resolve it once. Calls are synchronous: each costs some microseconds, and callers take turns.
 */
import { lstatSync, mkdirSync, realpathSync } from 'node:fs';
import { isAbsolute, join, relative, sep } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';

const codeOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** Whether `path` is `root` or lies below it, compared segment by segment: `/srv/ws_evil` is not below `/srv/ws`. */
export const isBelow = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

export type Kind = 'missing' | 'folder' | 'file' | 'link' | 'other';

/** What stands at an absolute path, without following a link. Throws what `lstat` throws, but for "not there". */
export const kindAt = (path: string): Kind => {
  const stat = lstatSync(path, { throwIfNoEntry: false });
  if (stat === undefined) return 'missing';
  if (stat.isSymbolicLink()) return 'link';
  if (stat.isDirectory()) return 'folder';
  return stat.isFile() ? 'file' : 'other';
};

/** Why a segment cannot be walked through, or undefined. */
const barrier = (kind: Kind, shown: string): Problem | undefined => {
  if (kind === 'link') return problem('paths/linked', { subject: shown });
  return kind === 'folder' || kind === 'missing'
    ? undefined
    : problem('paths/not-a-folder', { subject: shown });
};

/**
 * Whether the folder `segments` below `root` is there, no segment being a link (`paths/linked`), a file
 * (`paths/not-a-folder`) or unreadable (`paths/unreadable`).
 */
export const plainBelow = (root: string, segments: readonly string[]): Result<'folder' | 'missing'> => {
  let at = root;
  for (const [depth, segment] of segments.entries()) {
    at = join(at, segment);
    const shown = segments.slice(0, depth + 1).join('/');
    try {
      const kind = kindAt(at);
      const found = barrier(kind, shown);
      if (found !== undefined) return { ok: false, problem: found };
      if (kind === 'missing') return ok('missing');
    } catch (error) {
      return refuse('paths/unreadable', { subject: shown, evidence: codeOf(error) });
    }
  }
  return ok('folder');
};

/** Makes the folders of `segments` that are missing, one by one; each is looked at again once it is there. */
export const makeBelow = (root: string, segments: readonly string[]): Result<string> => {
  let at = root;
  for (const [depth, segment] of segments.entries()) {
    at = join(at, segment);
    const shown = segments.slice(0, depth + 1).join('/');
    try {
      let kind = kindAt(at);
      if (kind === 'missing') {
        try {
          mkdirSync(at);
        } catch (error) {
          // Someone else may have been first; what they made is judged below.
          if (codeOf(error) !== 'EEXIST') throw error;
        }
        kind = kindAt(at);
      }
      const found = barrier(kind, shown);
      if (found !== undefined) return { ok: false, problem: found };
    } catch (error) {
      return refuse('paths/not-writable', { subject: shown, evidence: codeOf(error) });
    }
  }
  return ok(at);
};

/** After work: the problem of a folder whose real location is not where it was asked for, or undefined. `root` is a real path. */
export const strayBelow = (root: string, segments: readonly string[]): Problem | undefined => {
  const asked = join(root, ...segments);
  const shown = segments.join('/');
  try {
    const real = realpathSync(asked);
    return real === asked && isBelow(root, real) ? undefined : problem('paths/linked', { subject: shown });
  } catch (error) {
    return problem('paths/unreadable', { subject: shown, evidence: codeOf(error) });
  }
};
