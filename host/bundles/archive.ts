/**
 * Reading an archive (`.tgz`): a gzip of a tar with the files of a bundle. Each entry is judged by its name, kind and
 * declared size before a byte of it is written, and whatever is wrong anywhere, nothing further is. What was unpacked
 * is then a folder like any other and is examined as one: an archive is only a way to carry it.
 */
import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs';
import { pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { collisionKey, relativeSegments, shownPath } from '../paths/index.ts';
import { type Problem, ProblemError, problem } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';
import type { ByteSink } from './examine.ts';
import { collisionFault } from './rules.ts';
import { readTar, type TarEntry } from './tar.ts';
import { readFault } from './tree.ts';

const chunkBytes = 64 * 1024;

const unreadable = (evidence: string, subject?: string): Problem =>
  problem('bundle/archive-unreadable', { evidence, ...(subject === undefined ? {} : { subject }) });

/** Names of an archive as they come; answers with the problem of one that some system would take for an earlier one. */
export const nameBook = () => {
  const files = new Map<string, string>();
  const folders = new Map<string, string>();
  const enter = (key: string, folder: string): Problem | undefined => {
    const file = files.get(key);
    if (file !== undefined) return collisionFault(file, folder);
    const known = folders.get(key);
    folders.set(key, known ?? folder);
    return known === undefined || known === folder ? undefined : collisionFault(known, folder);
  };
  return {
    add: (path: string, kind: 'file' | 'folder'): Problem | undefined => {
      const segments = path.split('/');
      const keys = collisionKey(path).split('/');
      const above = kind === 'file' ? segments.length - 1 : segments.length;
      for (let depth = 1; depth <= above; depth += 1) {
        const fault = enter(keys.slice(0, depth).join('/'), segments.slice(0, depth).join('/'));
        if (fault !== undefined) return fault;
      }
      if (kind === 'folder') return undefined;
      const key = keys.join('/');
      const other = files.get(key) ?? folders.get(key);
      files.set(key, path);
      return other === undefined ? undefined : collisionFault(other, path);
    },
  };
};

const setsUser = 0o6000;

/** What is wrong with an entry by itself. `path` is without the `./` that some tools put in front. */
export const entryFault = ({ kind, mode }: TarEntry, path: string): Problem | undefined => {
  const subject = shownPath(path);
  const segments = relativeSegments(path);
  if (!segments.ok) return segments.problem;
  if (segments.value.length > bundleBounds.depth) return overLimit('depth', segments.value.length, subject);
  if (kind === 'link' || kind === 'hard link')
    return problem('bundle/link', { subject, evidence: `a ${kind}` });
  if (kind !== 'file' && kind !== 'folder')
    return problem('bundle/not-a-file', { subject, evidence: `a ${kind} entry` });
  if (kind === 'file' && (mode & setsUser) !== 0)
    return problem('bundle/entry-mode', { subject, evidence: `mode ${mode.toString(8)}` });
  return undefined;
};

const sizeBoundOf = (path: string): 'manifestBytes' | 'signatureBytes' | 'fileBytes' =>
  path === 'bundle.json' ? 'manifestBytes' : path === 'bundle.sig.json' ? 'signatureBytes' : 'fileBytes';

/** Counts what comes; answers with the bound that is passed. */
const entryCounter = () => {
  let files = 0;
  let folders = 0;
  let total = 0;
  return (entry: TarEntry, path: string): Problem | undefined => {
    if (entry.kind === 'file') files += 1;
    else folders += 1;
    const bound = sizeBoundOf(path);
    if (entry.size > bundleBounds[bound]) return overLimit(bound, entry.size, shownPath(path));
    if (bound === 'fileBytes') total += entry.size;
    // The manifest and the signature are no content.
    if (files > bundleBounds.files + 2) return overLimit('files', files);
    if (folders > bundleBounds.folders) return overLimit('folders', folders);
    return total > bundleBounds.totalBytes ? overLimit('totalBytes', total) : undefined;
  };
};

// Read synchronously: no read is under way when the file is closed early.
function* chunksOf(fd: number): Generator<Buffer> {
  for (;;) {
    const buffer = Buffer.allocUnsafe(chunkBytes);
    const count = readSync(fd, buffer, 0, buffer.length, null);
    if (count === 0) return;
    yield buffer.subarray(0, count);
  }
}

/** Inflated bytes of a file that is open, bounded; the reason it ended is thrown. */
async function* inflated(fd: number, size: number): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: chunkBytes });
  pipeline(Readable.from(chunksOf(fd), { objectMode: false }), gunzip, () => {});
  let total = 0;
  for await (const chunk of gunzip as AsyncIterable<Buffer>) {
    total += chunk.length;
    if (total > bundleBounds.inflatedBytes) throw new ProblemError(overLimit('inflatedBytes', total));
    yield chunk;
  }
  if (gunzip.bytesWritten !== size)
    throw new ProblemError(unreadable(`something follows the gzip after ${gunzip.bytesWritten} bytes`));
}

const streamFault = (error: unknown, file: string): Problem => {
  if (error instanceof ProblemError) return error.problem;
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (/^(Z_|ERR_)/.test(code)) return unreadable(code === 'Z_DATA_ERROR' ? 'not a gzip' : code);
  if (code === '') throw error;
  return readFault(error, file);
};

const readOpen = async (
  bytes: AsyncGenerator<Buffer>,
  file: string,
  sink: ByteSink,
): Promise<readonly Problem[]> => {
  const problems: Problem[] = [];
  const found = (fault: Problem): void => {
    if (problems.length < bundleBounds.problems) problems.push(fault);
  };
  const names = nameBook();
  const over = entryCounter();
  let copy: ReturnType<ByteSink['begin']> | undefined;
  try {
    const read = await readTar(bytes, {
      entry: (entry) => {
        const slash = entry.kind === 'folder' ? entry.path.replace(/\/$/, '') : entry.path;
        if (entry.kind === 'folder' && (slash === '.' || slash === '')) return undefined;
        const path = slash.replace(/^\.\//, '');
        const limit = over(entry, path);
        if (limit !== undefined) return limit;
        const fault = entryFault(entry, path) ?? names.add(path, entry.kind === 'folder' ? 'folder' : 'file');
        if (fault !== undefined) found(fault);
        else if (problems.length === 0 && entry.kind === 'file') copy = sink.begin(path);
        return undefined;
      },
      piece: (bytes) => copy?.write(bytes),
      end: () => {
        copy?.end();
        copy = undefined;
      },
    });
    if (!read.ok) found(read.problem);
  } catch (error) {
    found(streamFault(error, file));
  } finally {
    copy?.end();
    await bytes.return(undefined);
  }
  return problems;
};

/**
 * Unpacks an archive into `sink`; answers with everything wrong with its entries, and then what `sink` got is to be
 * thrown away. `file` may be reached through links: where it lies is its owner's business.
 */
export const unpackArchive = async (file: string, sink: ByteSink): Promise<readonly Problem[]> => {
  let fd: number;
  try {
    fd = openSync(file, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
  } catch (error) {
    return [readFault(error, file)];
  }
  try {
    const stat = fstatSync(fd);
    if (!stat.isFile()) return [problem('bundle/not-a-file', { subject: shownPath(file) })];
    if (stat.size > bundleBounds.archiveBytes) return [overLimit('archiveBytes', stat.size)];
    return await readOpen(inflated(fd, stat.size), file, sink);
  } finally {
    closeSync(fd);
  }
};
