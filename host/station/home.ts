/**
 * The home: one directory a station keeps everything in, readable by its owner only.
 */
import { chmodSync, existsSync, lstatSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { ok, type Result, refuse } from '../problems/index.ts';

export interface Home {
  readonly dir: string;
  readonly policy: string;
  readonly database: string;
  readonly packages: string;
  readonly cache: string;
  /** Retrieved files of other servers' skills. */
  readonly remote: string;
  readonly logs: string;
  readonly run: string;
}

export const homeAt = (dir: string): Home => ({
  dir,
  policy: join(dir, 'policy.jsonc'),
  database: join(dir, 'station.db'),
  packages: join(dir, 'packages'),
  cache: join(dir, 'cache'),
  remote: join(dir, 'remote'),
  logs: join(dir, 'logs'),
  run: join(dir, 'run'),
});

const ownerOnly = 0o700;

/** Makes a home (`station/home-exists` when there is a policy already: it is never overwritten). */
export const createHome = (dir: string, policyText: string): Result<Home> => {
  const home = homeAt(dir);
  makeFolders(home);
  try {
    writeFileSync(home.policy, policyText, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    return refuse('station/home-exists', { subject: dir });
  }
  return ok(home);
};

/** As `mkdir -p`. Node's own never returns where the system refuses a folder as not found (`/proc`). */
const makeFolder = (dir: string): void => {
  if (existsSync(dir)) return;
  if (dirname(dir) !== dir) makeFolder(dirname(dir));
  try {
    mkdirSync(dir, { mode: ownerOnly });
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
};

const makeFolders = (home: Home) => {
  for (const folder of [home.dir, home.packages, home.cache, home.logs, home.run]) {
    makeFolder(folder);
  }
};

/** The home, checked: it exists, it is the caller's, and nobody else can enter (`station/home-missing`, `station/home-unsafe`). */
export const openHome = (dir: string): Result<Home> => {
  const home = homeAt(dir);
  if (!existsSync(home.policy) && !existsSync(home.database))
    return refuse('station/home-missing', { subject: dir });
  const found = lstatSync(dir);
  const uid = process.getuid?.();
  if (uid !== undefined && found.uid !== uid) {
    return refuse('station/home-unsafe', { subject: dir, evidence: `owned by user ${found.uid}` });
  }
  if (process.platform !== 'win32' && (found.mode & 0o077) !== 0) {
    return refuse('station/home-unsafe', {
      subject: dir,
      evidence: `mode ${(found.mode & 0o777).toString(8)}`,
    });
  }
  makeFolders(home);
  chmodSync(home.run, ownerOnly);
  return ok(home);
};

/** The folder of this installation that holds `package.json`. */
export const installation = (): string => {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json'))) dir = dirname(dir);
  return dir;
};
