/**
 * Reading and writing single files of a workspace, never through a link at the last segment.
 *
 * Files here are small and many, so the calls are synchronous: a thousand files cost tens of milliseconds this way
 * and several hundred as promises. Callers give the event loop its turn between files (`turns`).
 *
 * Nothing is synced to the disk. What must survive is the kill of this process, and the kernel keeps written pages
 * and the order of renames through that. After a power cut a file may come back short; its digest then differs from
 * the record, so it is reported and left alone, never taken for placed. A sync for each file would cost more than
 * all the rest together.
 */
import { createHash, hash } from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readSync, writeSync } from 'node:fs';
import { setImmediate } from 'node:timers/promises';
import { kindAt } from '../paths/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { PlacedFile } from './record.ts';

const noFollow = constants.O_NOFOLLOW ?? 0;
// A pipe in a file's place must not stop the station.
const readFlags = constants.O_RDONLY | noFollow | (constants.O_NONBLOCK ?? 0);
const writeFlags = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow;
const fileMode = 0o644;
// Used between two turns only, never across one.
const scratch = Buffer.allocUnsafeSlow(1024 * 1024);

export const errnoOf = (error: unknown): string => (error as NodeJS.ErrnoException).code ?? 'unknown';

/** Longest stretch of work before others get their turn, milliseconds. */
const stretchMs = 4;

/** Answers a promise when it is time to let others run. */
export const turns = (): (() => Promise<void> | undefined) => {
  let since = performance.now();
  return () => {
    if (performance.now() - since < stretchMs) return undefined;
    return setImmediate().then(() => {
      since = performance.now();
    });
  };
};

export type Look =
  | { readonly kind: 'missing' | 'folder' | 'link' | 'other' }
  | { readonly kind: 'file'; readonly sha256: string; readonly size: number };

const refusedAs = (code: string): Error => Object.assign(new Error(code), { code });

/**
 * Opens a regular file for reading; throws `ELOOP` for a link (Windows has no flag for that, so it is looked at first)
 * and `ENXIO` for what is neither file nor folder: an idle pipe and `/dev/null` read like an empty file.
 */
const openPlain = (path: string): number => {
  if (noFollow === 0 && kindAt(path) === 'link') throw refusedAs('ELOOP');
  const fd = openSync(path, readFlags);
  const stat = fstatSync(fd);
  if (stat.isFile() || stat.isDirectory()) return fd;
  closeSync(fd);
  throw refusedAs('ENXIO');
};

/** Reads up to `limit` + 1 bytes in pieces; the number read. */
const readUpTo = (fd: number, limit: number, piece: (bytes: Buffer) => void): number => {
  let total = 0;
  while (total <= limit) {
    const want = Math.min(scratch.length, limit + 1 - total);
    const read = readSync(fd, scratch, 0, want, null);
    if (read > 0) piece(scratch.subarray(0, read));
    total += read;
    // A regular file gives all that was asked for, unless it ends here.
    if (read < want) break;
  }
  return total;
};

const digestOfFd = (fd: number, limit: number, also?: (bytes: Buffer) => void): [string, number] => {
  if (limit < scratch.length) {
    let digest: string | undefined;
    const size = readUpTo(fd, limit, (bytes) => {
      digest = hash('sha256', bytes);
      also?.(bytes);
    });
    return [digest ?? hash('sha256', ''), size];
  }
  const running = createHash('sha256');
  const size = readUpTo(fd, limit, (bytes) => {
    running.update(bytes);
    also?.(bytes);
  });
  return [running.digest('hex'), size];
};

const lookWithErrors: Readonly<Record<string, Look>> = {
  ENOENT: { kind: 'missing' },
  ENOTDIR: { kind: 'missing' },
  ELOOP: { kind: 'link' },
  EMLINK: { kind: 'link' },
  EISDIR: { kind: 'folder' },
  ENXIO: { kind: 'other' },
  EAGAIN: { kind: 'other' },
};

/** What stands at a path. A file longer than `limit` is read no further, its digest matches nothing. */
export const lookAt = (path: string, limit: number): Look => {
  let fd: number | undefined;
  try {
    fd = openPlain(path);
    const [sha256, size] = digestOfFd(fd, limit);
    return { kind: 'file', sha256, size };
  } catch (error) {
    const known = lookWithErrors[errnoOf(error)];
    if (known === undefined) throw error;
    return known;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

/** The bytes of a small file, or what stands there instead. */
export const bytesAt = (path: string, limit: number): Buffer | Exclude<Look['kind'], 'file'> | 'too-long' => {
  let fd: number | undefined;
  try {
    fd = openPlain(path);
    const pieces: Buffer[] = [];
    const size = readUpTo(fd, limit, (bytes) => pieces.push(Buffer.from(bytes)));
    return size > limit ? 'too-long' : Buffer.concat(pieces);
  } catch (error) {
    const known = lookWithErrors[errnoOf(error)];
    if (known === undefined || known.kind === 'file') throw error;
    return known.kind;
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

const writeAll = (fd: number, bytes: Uint8Array): void => {
  for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at, bytes.length - at);
};

/** A new file with these bytes; throws what the system throws. */
export const writeNew = (path: string, bytes: Uint8Array): void => {
  const fd = openSync(path, writeFlags, fileMode);
  try {
    writeAll(fd, bytes);
  } finally {
    closeSync(fd);
  }
};

/**
 * Copies a source to a new file while its size and digest are checked (`context/source-changed`); throws what the
 * system throws for the new file. A copy that is refused leaves its bytes for the caller to remove.
 */
export const copyChecked = (source: string, path: string, expected: PlacedFile): Result<undefined> => {
  let from: number;
  try {
    from = openPlain(source);
  } catch (error) {
    return refuse('context/source-changed', { subject: expected.path, evidence: errnoOf(error) });
  }
  let to: number | undefined;
  try {
    to = openSync(path, writeFlags, fileMode);
    const target = to;
    const [sha256, size] = digestOfFd(from, expected.size, (bytes) => writeAll(target, bytes));
    if (size !== expected.size)
      return refuse('context/source-changed', {
        subject: expected.path,
        evidence: `expected ${expected.size} bytes, found ${size > expected.size ? 'more' : size}`,
      });
    if (sha256 !== expected.sha256)
      return refuse('context/source-changed', {
        subject: expected.path,
        evidence: `expected SHA-256 ${expected.sha256}, found ${sha256}`,
      });
    return ok(undefined);
  } finally {
    closeSync(from);
    if (to !== undefined) closeSync(to);
  }
};
