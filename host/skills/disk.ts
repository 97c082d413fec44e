/**
 * A folder that somebody else may be writing to. No link is followed below it: it is held open, on Linux names are
 * looked up below its descriptor, so a folder swapped for a link leads nowhere; elsewhere the comparison of inode,
 * size and times after reading finds the swap.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  readSync,
  realpathSync,
  type Stats,
  statSync,
} from 'node:fs';
import { isAbsolute, relative, sep } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';

// Windows has none of these flags; there only the comparison afterwards refuses a link.
const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;
const belowDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd');

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

/** Inode, size and times in one text: while it is the same, the file is. */
export const stampOf = (stat: Stats): string =>
  stat.isDirectory()
    ? `${stat.ino}:${stat.mtimeMs}:${stat.ctimeMs}`
    : `${stat.ino}:${stat.size}:${stat.mtimeMs}:${stat.ctimeMs}`;

/** Whether what changed last at `changed` can be trusted to its times at `now`, both ms. */
export const isSettled = (changed: number, now: number): boolean => now - changed > settledAfter;

/** The stamp of what stands at a path now, links not followed; undefined where nothing does. */
export const stampAt = (path: string): string | undefined => {
  try {
    const stat = lstatSync(path, { throwIfNoEntry: false });
    return stat === undefined ? undefined : stampOf(stat);
  } catch {
    return undefined;
  }
};

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

export interface Held {
  /** Prefix under which its entries are opened. */
  readonly base: string;
  readonly stat: Stats;
  readonly close: () => void;
}

/** Holds a folder open. `real` has no link in it; a place that has become one is `skill/changed`. */
export const holdFolder = (real: string, subject: string): Result<Held> => {
  let fd: number;
  try {
    fd = openSync(real, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  } catch (error) {
    return { ok: false, problem: readFault(error, subject) };
  }
  const base = belowDescriptor ? `/proc/self/fd/${fd}` : real;
  try {
    if (belowDescriptor && readlinkSync(base) !== real) {
      closeSync(fd);
      return refuse('skill/changed', { subject });
    }
    return ok({ base, stat: fstatSync(fd), close: () => closeSync(fd) });
  } catch (error) {
    closeSync(fd);
    return { ok: false, problem: readFault(error, subject) };
  }
};

/** A folder below one that is held. */
export const holdBelow = (place: string, subject: string): Result<Held> => {
  try {
    const fd = openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
    const base = belowDescriptor ? `/proc/self/fd/${fd}` : place;
    return ok({ base, stat: fstatSync(fd), close: () => closeSync(fd) });
  } catch (error) {
    return { ok: false, problem: readFault(error, subject) };
  }
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
