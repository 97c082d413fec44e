/**
 * The state that is checked: the working tree, or with `staged` the index. It is listed once and read file by file;
 * what is listed and cannot be read is a problem, never an absence.
 */
import { existsSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import { readObjects } from './git.ts';
import { fileLimit } from './lock.ts';
import { indexFiles, type Listed, type Repository, workingFiles } from './repository.ts';

export interface State {
  /** Existing files with a wanted name, below the checked folder, from it, sorted. */
  readonly files: readonly string[];
  /** Files with a wanted name elsewhere in the repository, from its top. */
  readonly elsewhere: readonly string[];
  /** Undefined where there is no such file. Paths count from the checked folder. */
  readonly read: (path: string) => Promise<Result<Buffer | undefined>>;
  /** Whether git knows the file. */
  readonly tracked: (path: string) => boolean;
  readonly close: () => void;
}

/** Folders looked into where there is no git to ask, at most. */
const folderLimit = 20_000;
const skipped = new Set(['.git', 'node_modules']);

const matches = (path: string, names: readonly string[]): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  return names.some((wanted) => (wanted.startsWith('*') ? name.endsWith(wanted.slice(1)) : name === wanted));
};

const walked = (root: string, names: readonly string[]): string[] => {
  const found: string[] = [];
  const folders = [''];
  for (let i = 0; i < folders.length && i < folderLimit; i += 1) {
    const folder = folders[i] ?? '';
    for (const entry of readdirSync(join(root, folder), { withFileTypes: true })) {
      const path = folder + entry.name;
      if (entry.isDirectory() && !skipped.has(entry.name)) folders.push(`${path}/`);
      else if (!entry.isDirectory() && matches(path, names)) found.push(path);
    }
  }
  return found;
};

/** A file of the working tree, never through a link: git would keep the link, not what it leads to. */
const readWorkingFile = (path: string, subject: string): Result<Buffer | undefined> => {
  try {
    const found = lstatSync(path, { throwIfNoEntry: false });
    if (found === undefined) return ok(undefined);
    const fault = found.isFile()
      ? found.size > fileLimit
        ? 'is too large'
        : undefined
      : 'is not a plain file';
    if (fault !== undefined) return refuse('contract/file-unreadable', { subject, evidence: `it ${fault}` });
    return ok(readFileSync(path));
  } catch (error) {
    const evidence = error instanceof Error ? (error as NodeJS.ErrnoException).code : undefined;
    return refuse('contract/file-unreadable', { subject, evidence: evidence ?? 'it cannot be read' });
  }
};

const split = (paths: readonly string[], prefix: string): { files: string[]; elsewhere: string[] } => {
  const files: string[] = [];
  const elsewhere: string[] = [];
  for (const path of [...paths].sort())
    if (path.startsWith(prefix)) files.push(path.slice(prefix.length));
    else elsewhere.push(path);
  return { files, elsewhere };
};

/** The working tree below `root`; without a repository, the folder itself. */
export const workingState = async (
  root: string,
  repository: Repository | undefined,
  names: readonly string[],
  paths: readonly string[],
): Promise<Result<State>> => {
  const read = async (path: string): Promise<Result<Buffer | undefined>> =>
    readWorkingFile(join(root, path), path);
  const named = paths.filter((path) => existsSync(join(root, path)));
  if (repository === undefined) {
    const files = [...new Set([...walked(root, names), ...named])].sort();
    return ok({ files, elsewhere: [], read, tracked: () => false, close: () => undefined });
  }
  const { prefix, top } = repository;
  const wanted = named.map((path) => prefix + path);
  const listed = await workingFiles(repository, names, wanted);
  if (!listed.ok) return listed;
  const { files: found, tracked } = listed.value;
  const there = found.filter((path) => existsSync(join(top, path)));
  return ok({
    ...split([...new Set([...there, ...wanted])], prefix),
    read,
    tracked: (path) => tracked.has(prefix + path),
    close: () => undefined,
  });
};

/** The index. What a merge left undecided in it cannot be read: `contract/unmerged`. */
export const stagedState = async (
  repository: Repository,
  names: readonly string[],
  paths: readonly string[],
): Promise<Result<State>> => {
  const { prefix, place } = repository;
  const index = await indexFiles(
    repository,
    names,
    paths.map((path) => prefix + path),
  );
  if (!index.ok) return failed(index.problem);
  const { unmerged } = index.value;
  const byPath = new Map<string, Listed>(index.value.files.map((file) => [file.path, file]));
  const objects = readObjects(place, fileLimit);
  return ok({
    ...split([...new Set([...byPath.keys(), ...unmerged])], prefix),
    tracked: (path) => byPath.has(prefix + path),
    close: objects.close,
    read: async (path) => {
      if (unmerged.has(prefix + path)) return refuse('contract/unmerged', { subject: path });
      const file = byPath.get(prefix + path);
      if (file === undefined) return ok(undefined);
      if (file.link)
        return refuse('contract/file-unreadable', { subject: path, evidence: 'it is not a plain file' });
      const found = await objects.read(file.object);
      if (!found.ok) return found;
      if (found.value === undefined)
        return refuse('contract/file-unreadable', {
          subject: path,
          evidence: 'git does not have what is staged',
        });
      return ok(Buffer.from(found.value));
    },
  });
};
