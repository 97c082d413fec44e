/**
 * The cache of generated files: `cache/<key>/` holds them and `files.json` with the digest of each. The folder is
 * written whole under another name and renamed, so it exists complete or not at all. Nothing is used from it whose
 * bytes were not compared with their digest in the same read.
 */
import { createHash, randomUUID } from 'node:crypto';
import { mkdir, open, readdir, readFile, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import type { Surface } from './admission/rules.ts';
import { transpileLimits } from './limits.ts';
import type { GeneratedFiles } from './transpile/transpile.ts';

interface FileRecord {
  readonly name: string;
  readonly sha256: string;
  readonly size: number;
}
/** `files.json`. */
interface Listing {
  readonly component: string;
  readonly surface: Surface;
  readonly files: readonly FileRecord[];
}
export interface CacheEntry {
  readonly component: string;
  readonly surface: Surface;
  readonly files: GeneratedFiles;
  /** Digest of each file, hex. */
  readonly digests: ReadonlyMap<string, string>;
}

const listingName = 'files.json';
/** Folders under construction; a kill may leave one, and the next write of that key removes it. */
const pending = '.new-';

export const sha256 = (bytes: Uint8Array | string): string =>
  createHash('sha256').update(bytes).digest('hex');

const listingText = ({ component, surface, files }: Listing): string => {
  const body = { component, surface, files };
  return `${JSON.stringify({ ...body, sum: sha256(JSON.stringify(body)) }, undefined, 1)}\n`;
};

const parseListing = (text: string): Listing | undefined => {
  try {
    const listing: Listing = JSON.parse(text);
    // Written again it must be the same bytes: that holds for every byte of it, its own sum included.
    return listingText(listing) === text ? listing : undefined;
  } catch {
    return undefined;
  }
};

const changed = (folder: string, file: string, evidence: string): Result<never> =>
  refuse('sandbox/cache-changed', { subject: `${folder.split(/[\\/]/).at(-1)}/${file}`, evidence });

const missing = (error: unknown): boolean =>
  error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR');

const readBounded = async (path: string, size: number): Promise<Uint8Array | undefined> => {
  const file = await open(path, 'r');
  try {
    const stat = await file.stat();
    return stat.isFile() && stat.size === size ? await file.readFile() : undefined;
  } finally {
    await file.close();
  }
};

/** Reads an entry and compares every byte (`sandbox/cache-changed` names the file); undefined where there is none. */
export const readEntry = async (folder: string): Promise<Result<CacheEntry | undefined>> => {
  let names: string[];
  try {
    names = await readdir(folder);
  } catch (error) {
    if (missing(error)) return ok(undefined);
    return refuse('sandbox/cache-failed', { evidence: String(error) });
  }
  try {
    const listing = parseListing(await readFile(join(folder, listingName), 'utf8'));
    if (listing === undefined) return changed(folder, listingName, 'it is not as it was written');
    const known = new Map(listing.files.map((file) => [file.name, file]));
    const stray = names.find((name) => name !== listingName && !known.has(name));
    if (stray !== undefined) return changed(folder, stray, 'a file nobody generated');
    const total = listing.files.reduce((sum, { size }) => sum + size, 0);
    if (total > transpileLimits.outputBytes) return changed(folder, listingName, `${total} bytes`);
    const files = new Map<string, Uint8Array>();
    for (const { name, sha256: expected, size } of listing.files) {
      const bytes = await readBounded(join(folder, name), size);
      if (bytes === undefined) return changed(folder, name, `expected ${size} bytes, found another size`);
      const found = sha256(bytes);
      if (found !== expected) return changed(folder, name, `expected ${expected}, found ${found}`);
      files.set(name, bytes);
    }
    const digests = new Map(listing.files.map((file) => [file.name, file.sha256]));
    return ok({ component: listing.component, surface: listing.surface, files, digests });
  } catch (error) {
    if (missing(error)) return changed(folder, listingName, 'a file is missing');
    return refuse('sandbox/cache-failed', { evidence: String(error) });
  }
};

const writeSynced = async (path: string, bytes: Uint8Array | string): Promise<void> => {
  const file = await open(path, 'wx', 0o600);
  try {
    await file.writeFile(bytes);
    await file.sync();
  } finally {
    await file.close();
  }
};

/** Writes an entry; where another process was first, theirs stays (`sandbox/cache-failed`). */
export const writeEntry = async (
  cache: string,
  key: string,
  entry: Pick<CacheEntry, 'component' | 'surface' | 'files'>,
): Promise<Result<undefined>> => {
  const folder = join(cache, key);
  const building = join(cache, `${pending}${key}-${randomUUID()}`);
  const files = [...entry.files].map(([name, bytes]) => ({
    name,
    sha256: sha256(bytes),
    size: bytes.length,
  }));
  try {
    await mkdir(building, { recursive: true, mode: 0o700 });
    const listing = listingText({ component: entry.component, surface: entry.surface, files });
    // Side by side: a disk makes several files durable in the time of one.
    const written = await Promise.allSettled(
      [...entry.files, [listingName, listing] as const].map(([name, content]) =>
        writeSynced(join(building, name), content),
      ),
    );
    for (const one of written) if (one.status === 'rejected') throw one.reason;
    try {
      await rename(building, folder);
    } catch (error) {
      const taken =
        error instanceof Error &&
        'code' in error &&
        ['ENOTEMPTY', 'EEXIST', 'EPERM'].includes(String(error.code));
      if (!taken) throw error;
      await rm(building, { recursive: true, force: true });
    }
    return ok(undefined);
  } catch (error) {
    await rm(building, { recursive: true, force: true }).catch(() => undefined);
    return refuse('sandbox/cache-failed', { evidence: String(error) });
  }
};

/** Takes an entry away, so that it is generated again. */
export const discardEntry = async (folder: string): Promise<Problem | undefined> => {
  try {
    await rm(folder, { recursive: true, force: true });
    return undefined;
  } catch (error) {
    return problem('sandbox/cache-failed', { evidence: String(error) });
  }
};
