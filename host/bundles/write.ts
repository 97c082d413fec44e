/**
 * Writing bundles: whole files into a folder made for them, and all of it on the disk before anything names it.
 */
import { randomBytes } from 'node:crypto';
import {
  closeSync,
  fsyncSync,
  mkdirSync,
  openSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { open } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import type { ByteSink } from './examine.ts';

// Files made durable at a time: the threads Node has for it.
const syncsAtOnce = 4;

const codeOf = (error: unknown): string => {
  if (error instanceof Error && 'code' in error) return String(error.code);
  throw error;
};

/** The problem of a failed write; anything but an error of the file system is a bug and is thrown on. */
export const writeFault = (error: unknown): Problem =>
  problem('bundle/write-failed', { evidence: codeOf(error) });

export interface FolderSink extends ByteSink {
  /** Throws what any of the writes before met. */
  readonly check: () => void;
  /** Makes every file and folder durable. Throws as `check` does. */
  readonly sync: () => Promise<void>;
}

/**
 * Makes `root`, which must not exist, and writes files below it. Paths must have passed `relativeSegments`. A write
 * that fails is kept for `sync`, so that it is not taken for a fault of the bundle being read.
 */
export const folderSink = (root: string, onFile: () => void = () => {}): FolderSink => {
  const files: string[] = [];
  const folders = new Set([root]);
  let failure: unknown;
  const kept = (work: () => void): void => {
    if (failure !== undefined) return;
    try {
      work();
    } catch (error) {
      failure = error;
    }
  };
  const check = (): void => {
    if (failure !== undefined) throw failure;
  };
  const makeFolder = (folder: string): void => {
    if (folders.has(folder)) return;
    makeFolder(dirname(folder));
    mkdirSync(folder, { mode: 0o755 });
    folders.add(folder);
  };
  mkdirSync(root, { mode: 0o755 });
  return {
    begin: (path) => {
      const place = join(root, ...path.split('/'));
      let fd = -1;
      kept(() => {
        makeFolder(dirname(place));
        fd = openSync(place, 'wx', 0o644);
        files.push(place);
      });
      return {
        write: (chunk) =>
          kept(() => {
            for (let done = 0; done < chunk.length; ) done += writeSync(fd, chunk, done);
          }),
        end: () => {
          if (fd >= 0) closeSync(fd);
          onFile();
        },
      };
    },
    check,
    sync: async () => {
      check();
      const waiting = [...files];
      const next = async (): Promise<void> => {
        for (let file = waiting.pop(); file !== undefined; file = waiting.pop()) {
          const handle = await open(file, 'r+');
          try {
            await handle.sync();
          } finally {
            await handle.close();
          }
        }
      };
      await Promise.all(Array.from({ length: syncsAtOnce }, next));
      for (const folder of folders) syncFolder(folder);
    },
  };
};

/** Makes the names in a folder durable. Windows does it by itself and cannot be asked. */
export const syncFolder = (folder: string): void => {
  if (process.platform === 'win32') return;
  const fd = openSync(folder, 'r');
  try {
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};

/** Replaces one file at once: readers see the old bytes or the new ones. */
export const replaceFile = (place: string, bytes: Uint8Array): Result<undefined> => {
  const temporary = `${place}.${randomBytes(8).toString('hex')}`;
  try {
    writeFileSync(temporary, bytes, { flag: 'wx', mode: 0o644, flush: true });
    renameSync(temporary, place);
    return ok(undefined);
  } catch (error) {
    rmSync(temporary, { force: true });
    return refuse('bundle/write-failed', { evidence: codeOf(error) });
  }
};
