/**
 * Reading what somebody else may be writing to. A file is opened without following a link in its last segment, and
 * everything met on the way is compared again, by inode, size and times, when reading is done (`isStill`): a folder
 * that was a link for a moment led to other inodes, so what was read through it is never used.
 */
import {
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';

// Windows has none of these flags; there only the comparison afterwards refuses a link.
const { O_RDONLY, O_NOFOLLOW = 0, O_NONBLOCK = 0 } = constants;

/** A file younger than this may be written once more without its time moving on, ms (kernels tick in 1–10 ms). */
const settledAfter = 50;

export const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

/** What the error of a file system means for a path of a skill. */
export const readFault = (error: unknown, subject: string): Problem => {
  const code = codeOf(error);
  if (code === 'ELOOP' || code === 'EMLINK') return problem('skill/link', { subject });
  if (code === 'ENXIO') return problem('skill/not-a-file', { subject });
  if (code === 'ENOENT' || code === 'ENOTDIR') return problem('skill/changed', { subject, evidence: code });
  return problem('skill/unreadable', { subject, evidence: code });
};

/** Inode, size and times: while they are the same, the file is. A folder's size says nothing. */
export interface Stamp {
  readonly ino: number;
  readonly size: number;
  readonly mtimeMs: number;
  readonly ctimeMs: number;
}
export const stampOf = (stat: Stats): Stamp => ({
  ino: stat.ino,
  size: stat.isDirectory() ? 0 : stat.size,
  mtimeMs: stat.mtimeMs,
  ctimeMs: stat.ctimeMs,
});

/** Whether what stands at a path now, links not followed, still has a stamp. */
export const isStill = (path: string, stamp: Stamp): boolean => {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return (
      stat !== undefined &&
      stat.ino === stamp.ino &&
      stat.mtimeMs === stamp.mtimeMs &&
      stat.ctimeMs === stamp.ctimeMs &&
      (stat.size === stamp.size || stat.isDirectory())
    );
  } catch {
    return false;
  }
};

/** Whether what changed last at `changed` can be trusted to its times at `now`, both ms. */
export const isSettled = (changed: number, now: number): boolean => now - changed > settledAfter;

export const isBelow = (root: string, path: string): boolean => {
  const way = relative(root, path);
  return way === '' || (way !== '..' && !way.startsWith(`..${sep}`) && !isAbsolute(way));
};

/** A refused link: what it leads to by kind and side, never by name or content. */
export const linkProblem = (link: string, root: string, subject: string, where: string): Problem => {
  let kind = 'nothing';
  let side = '';
  try {
    const stat = statSync(link);
    kind = stat.isDirectory() ? 'a folder' : stat.isFile() ? 'a file' : 'something else';
    side = isBelow(root, realpathSync(link)) ? ` inside ${where}` : ` outside ${where}`;
  } catch {
    // It leads nowhere, or where this user may not look.
  }
  return problem('skill/link', { subject, evidence: `a link to ${kind}${side}` });
};

export interface OpenFile {
  readonly fd: number;
  readonly stat: Stats;
}

/** Opens a regular file; the caller closes it. */
export const openRegular = (place: string, subject: string): Result<OpenFile> => {
  let fd: number;
  try {
    fd = openSync(place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return { ok: false, problem: readFault(error, subject) };
  }
  const stat = fstatSync(fd);
  if (stat.isFile()) return ok({ fd, stat });
  closeSync(fd);
  return refuse('skill/not-a-file', { subject });
};

const chunkBytes = 256 * 1024;
// One buffer for all reading: reading is synchronous and every chunk is used up before the next.
let chunk: Buffer | undefined;

/** Reads an open file to the size it had and not beyond, chunk by chunk; `take` must not keep a chunk. */
export const readThrough = (
  { fd, stat }: OpenFile,
  subject: string,
  take: (part: Buffer, last: boolean) => void,
): Result<number> => {
  chunk ??= Buffer.allocUnsafeSlow(chunkBytes);
  let total = 0;
  try {
    for (;;) {
      // One byte more than is left, so that a file that grew shows in the same read.
      const want = Math.min(chunkBytes, stat.size - total + 1);
      const count = readSync(fd, chunk, 0, want, null);
      total += count;
      if (count < want || total > stat.size) {
        if (total !== stat.size) return refuse('skill/changed', { subject });
        take(chunk.subarray(0, count), true);
        return ok(total);
      }
      take(chunk.subarray(0, count), false);
    }
  } catch (error) {
    return { ok: false, problem: readFault(error, subject) };
  }
};
