/**
 * Where a home's control socket is. Normally `run/station.sock` in the home; a home whose path is too long for a socket
 * has it in a short folder of the user's own below the temporary folder, noted in `run/station.address`; Windows has a
 * named pipe. Only the user can open it: the folders are 0700 and owned by the user, the socket is 0600.
 */
import { createHash } from 'node:crypto';
import { lstatSync, mkdirSync, readFileSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { ok, type Result, refuse } from '../problems/index.ts';

// `sun_path` holds 104 bytes on macOS and 108 on Linux, one of them a zero.
const longestSocketPath = 100;

const noteIn = (home: string): string => join(home, 'run', 'station.address');
const usual = (home: string): string => join(home, 'run', 'station.sock');
const fits = (path: string): boolean => Buffer.byteLength(path) <= longestSocketPath;

const digestOf = (home: string): string => {
  const path = realpathSync(home);
  const name = process.platform === 'win32' ? path.toLowerCase() : path;
  return createHash('sha256').update(name).digest('hex').slice(0, 16);
};

const noted = (home: string): string | undefined => {
  try {
    return readFileSync(noteIn(home), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
};

/** Where a client finds the station of this home. Throws nothing: a home that does not exist has no station. */
export const controlAddress = (home: string): string | undefined => {
  if (process.platform !== 'win32') return noted(home) ?? (fits(usual(home)) ? usual(home) : undefined);
  try {
    return `\\\\.\\pipe\\jupiter-${digestOf(home)}`;
  } catch {
    return undefined;
  }
};

/** `station/home-unsafe` where others own the folder or can enter it. */
export const ownFolder = (folder: string): Result<string> => {
  if (process.platform === 'win32') return ok(folder);
  const found = lstatSync(folder);
  const open = (found.mode & 0o077) !== 0;
  if (found.isDirectory() && found.uid === process.geteuid?.() && !open) return ok(folder);
  return refuse('station/home-unsafe', {
    subject: folder,
    message: `The folder ${folder} must be the user's own and closed to others.`,
    evidence: `${found.isDirectory() ? 'a folder' : 'no folder'} of user ${found.uid}, mode ${(found.mode & 0o777).toString(8)}`,
  });
};

/** As `ownFolder`; makes the folder if it is not there. */
export const privateFolder = (folder: string): Result<string> => {
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return ownFolder(folder);
};

/** The address to listen at, noted where clients look if it is not the usual one. For the holder of the lock. */
export const claimAddress = (home: string): Result<string> => {
  rmSync(noteIn(home), { force: true });
  const address = controlAddress(home);
  if (address !== undefined) return ok(address);
  const user = `jupiter-${process.geteuid?.()}`;
  const name = `${digestOf(home)}.sock`;
  const root = fits(join(tmpdir(), user, name)) ? tmpdir() : '/tmp';
  const folder = privateFolder(join(root, user));
  if (!folder.ok) return folder;
  const short = join(folder.value, name);
  writeFileSync(noteIn(home), short, { mode: 0o600 });
  return ok(short);
};

/** Removes the socket and the note; the next station makes its own. */
export const releaseAddress = (home: string, address: string): void => {
  if (process.platform !== 'win32') rmSync(address, { force: true });
  rmSync(noteIn(home), { force: true });
};
