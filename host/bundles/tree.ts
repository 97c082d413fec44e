/**
 * Reads a folder that somebody else may be changing. No link is ever followed: a file is opened with O_NOFOLLOW,
 * must be a regular file by its descriptor, is read to the size it had and not beyond, and must not have changed
 * meanwhile. Folders are held open: on Linux names are looked up below the descriptor, so a folder swapped for a
 * link leads nowhere; elsewhere each held folder must still be what its name leads to after every read.
 */
import {
  closeSync,
  constants,
  existsSync,
  fstatSync,
  lstatSync,
  opendirSync,
  openSync,
  readSync,
} from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { segmentFault, shownPath } from '../paths/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';

// Windows has none of these flags; there only the look before and after the opening refuses a link.
const { O_RDONLY, O_NOFOLLOW = 0, O_DIRECTORY = 0, O_NONBLOCK = 0 } = constants;
const belowDescriptor = process.platform === 'linux' && existsSync('/proc/self/fd');
const chunkBytes = 1024 * 1024;
// Longest stretch of reading before others get their turn, ms.
const stretchMs = 12;

interface Folder {
  readonly fd: number;
  readonly place: string;
  /** Prefix under which its entries are opened. */
  readonly base: string;
}

/** A file as the walk met it. `place` may be opened during the visit only. */
export interface TreeFile {
  /** Relative to the root, `/` between segments. */
  readonly path: string;
  readonly place: string;
  readonly size: number;
}

const codeOf = (error: unknown): string =>
  error instanceof Error && 'code' in error ? String(error.code) : 'unknown';

/** What an error of the file system means for `path` of a bundle. */
export const readFault = (error: unknown, path: string): Problem => {
  const code = codeOf(error);
  const subject = shownPath(path);
  if (code === 'ELOOP' || code === 'EMLINK') return problem('bundle/link', { subject });
  if (code === 'ENXIO') return problem('bundle/not-a-file', { subject });
  if (code === 'ENOENT' || code === 'ENOTDIR') return problem('bundle/changed-while-read', { subject });
  return problem('bundle/unreadable', { subject, evidence: code });
};

const openFolder = (place: string): Folder => {
  const fd = openSync(place, O_RDONLY | O_DIRECTORY | O_NOFOLLOW);
  return { fd, place, base: belowDescriptor ? `/proc/self/fd/${fd}` : place };
};

const stillThere = (folder: Folder): boolean => {
  if (belowDescriptor) return true;
  const named = lstatSync(folder.place, { bigint: true });
  const held = fstatSync(folder.fd, { bigint: true });
  return named.isDirectory() && named.dev === held.dev && named.ino === held.ino;
};

/** Lets others run when a stretch of work has lasted long enough. */
export const breather = (): (() => Promise<void>) => {
  let since = performance.now();
  return async () => {
    if (performance.now() - since < stretchMs) return;
    await setImmediate();
    since = performance.now();
  };
};

/** Reads a regular file of at most `bound` bytes in order; `take` must use each chunk at once. Returns its size. */
export const readRegular = async (
  file: TreeFile,
  bound: 'manifestBytes' | 'signatureBytes' | 'fileBytes',
  take: (chunk: Buffer) => void,
  breathe: () => Promise<void> = breather(),
): Promise<Result<number>> => {
  let fd: number;
  try {
    fd = openSync(file.place, O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
  } catch (error) {
    return failed(readFault(error, file.path));
  }
  try {
    const before = fstatSync(fd, { bigint: true });
    if (!before.isFile()) return refuse('bundle/not-a-file', { subject: shownPath(file.path) });
    const size = Number(before.size);
    if (size > bundleBounds[bound]) return failed(overLimit(bound, size, shownPath(file.path)));
    // One byte more than the file had, so that one which grew shows in the same read.
    const buffer = Buffer.allocUnsafe(Math.min(size + 1, chunkBytes));
    let total = 0;
    for (;;) {
      const count = readSync(fd, buffer, 0, buffer.length, null);
      total += count;
      if (count === 0 || total > size) break;
      take(buffer.subarray(0, count));
      await breathe();
    }
    const after = fstatSync(fd, { bigint: true });
    if (total !== size || after.size !== before.size || after.mtimeNs !== before.mtimeNs)
      return refuse('bundle/changed-while-read', {
        subject: shownPath(file.path),
        evidence: `expected ${size} bytes, observed ${total === size ? Number(after.size) : total}`,
      });
    return ok(size);
  } catch (error) {
    return failed(readFault(error, file.path));
  } finally {
    closeSync(fd);
  }
};

interface Entry {
  readonly name: string;
  readonly kind: 'file' | 'folder' | 'link' | 'other';
  readonly size: number;
}

const byBytes = (a: Entry, b: Entry): number =>
  // A folder sorts as `name/`, so that depth first is the byte order of whole paths.
  Buffer.compare(
    Buffer.from(a.kind === 'folder' ? `${a.name}/` : a.name),
    Buffer.from(b.kind === 'folder' ? `${b.name}/` : b.name),
  );

const entriesOf = (folder: Folder, most: number): readonly Entry[] => {
  const found: Entry[] = [];
  const listing = opendirSync(folder.base, { bufferSize: 256 });
  try {
    for (let item = listing.readSync(); item !== null; item = listing.readSync()) {
      const stat = lstatSync(`${folder.base}/${item.name}`);
      const kind = stat.isFile()
        ? 'file'
        : stat.isDirectory()
          ? 'folder'
          : stat.isSymbolicLink()
            ? 'link'
            : 'other';
      found.push({ name: item.name, kind, size: stat.size });
      if (found.length > most) break;
    }
  } finally {
    listing.closeSync();
  }
  return found.sort(byBytes);
};

export interface TreeWalk {
  /** `bundle.json` of the root, before any other file; absent where there is none. */
  readonly manifest: (file: TreeFile) => Promise<void>;
  /** Every other file, in the byte order of whole paths. */
  readonly visit: (file: TreeFile) => Promise<void>;
  readonly found: (problem: Problem) => void;
}

/**
 * Walks everything below `root`; what is no file is a problem by name, and what has an unusable name is not entered.
 * Returns the paths met. Over a bound the walk ends.
 */
export const walkTree = async (root: string, walk: TreeWalk): Promise<readonly string[]> => {
  const met: string[] = [];
  const held: Folder[] = [];
  let files = 0;
  let folders = 0;
  const step = async (entry: Entry, folder: Folder, prefix: string, depth: number): Promise<boolean> => {
    const path = `${prefix}${entry.name}`;
    const place = `${folder.base}/${entry.name}`;
    if (path === 'bundle.json' && entry.kind !== 'link') return true;
    if (entry.kind === 'link') walk.found(problem('bundle/link', { subject: shownPath(path) }));
    else if (entry.kind === 'other') walk.found(problem('bundle/not-a-file', { subject: shownPath(path) }));
    else if (entry.kind === 'file') {
      met.push(path);
      files += 1;
      if (files > bundleBounds.files) return stop(overLimit('files', files));
      await walk.visit({ path, place, size: entry.size });
      if (!held.every(stillThere))
        return stop(problem('bundle/changed-while-read', { subject: shownPath(path) }));
    } else {
      folders += 1;
      if (folders > bundleBounds.folders) return stop(overLimit('folders', folders));
      if (segmentFault(entry.name) !== undefined) {
        met.push(path);
        return true;
      }
      if (depth >= bundleBounds.depth) return stop(overLimit('depth', depth + 1, shownPath(path)));
      return enter(place, `${path}/`, depth + 1);
    }
    return true;
  };
  const stop = (problem: Problem): false => {
    walk.found(problem);
    return false;
  };
  const enter = async (place: string, prefix: string, depth: number): Promise<boolean> => {
    let folder: Folder;
    try {
      folder = openFolder(place);
    } catch (error) {
      walk.found(readFault(error, prefix === '' ? '.' : prefix));
      return true;
    }
    held.push(folder);
    try {
      const entries = entriesOf(folder, bundleBounds.files + bundleBounds.folders - files - folders);
      const manifest = prefix === '' ? entries.find((entry) => entry.name === 'bundle.json') : undefined;
      if (manifest !== undefined && manifest.kind !== 'link')
        await walk.manifest({
          path: 'bundle.json',
          place: `${folder.base}/bundle.json`,
          size: manifest.size,
        });
      for (const entry of entries) if (!(await step(entry, folder, prefix, depth))) return false;
      return true;
    } catch (error) {
      walk.found(readFault(error, prefix === '' ? '.' : prefix));
      return true;
    } finally {
      held.pop();
      closeSync(folder.fd);
    }
  };
  await enter(root, '', 1);
  return met;
};
