/**
 * Which repository a folder belongs to, and what it holds now: in the working tree, in the index, at a commit.
 *
 * A hook is told its repository by variables (`GIT_DIR`, `GIT_INDEX_FILE`); they are followed where they mean the
 * repository of the folder asked for, and dropped where they mean another one (a hook of the outer repository that
 * looks into a submodule).
 */
import { realpathSync } from 'node:fs';
import { relative, resolve, sep } from 'node:path';
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import {
  type Environment,
  type GitPlace,
  gitOutput,
  namesRepository,
  runGit,
  withoutRepository,
} from './git.ts';

export interface Repository {
  /** Runs git at the top of the working tree. */
  readonly place: GitPlace;
  readonly top: string;
  /** From the top to the folder asked for: '' or `a/b/`. */
  readonly prefix: string;
  readonly shallow: boolean;
}

export interface Looked {
  readonly repository?: Repository;
  /** Why there is none. */
  readonly problem?: Problem;
}

interface Found {
  readonly top: string;
  readonly gitDir: string;
  readonly index: string;
  readonly shallow: boolean;
}

const discover = async (cwd: string, env: Environment): Promise<Result<Found | string>> => {
  const run = await runGit({ cwd, env }, [
    'rev-parse',
    '--is-shallow-repository',
    '--absolute-git-dir',
    '--git-path',
    'index',
    '--show-toplevel',
  ]);
  if (!run.ok) return run;
  if (run.value.code !== 0) return ok(run.value.stderr.trim());
  const [shallow = '', gitDir = '', index = '', top = ''] = run.value.stdout.toString().split('\n');
  return ok({ top, gitDir, index: resolve(cwd, index), shallow: shallow === 'true' });
};

const inside = (top: string, folder: string): string | undefined => {
  const path = relative(top, folder);
  return path === '..' || path.startsWith(`..${sep}`) || resolve(path) === path ? undefined : path;
};

/** The repository of `root`, an existing folder. */
export const openRepository = async (root: string, cwd: string, env: Environment): Promise<Looked> => {
  const folder = realpathSync.native(root);
  const bare = withoutRepository(env);
  const own = await discover(folder, bare);
  if (!own.ok) return { problem: own.problem };
  let found = own.value;
  let kept = bare;
  if (namesRepository(env)) {
    const told = await discover(cwd, env);
    if (!told.ok) return { problem: told.problem };
    if (
      typeof told.value !== 'string' &&
      (typeof found === 'string'
        ? inside(told.value.top, folder) !== undefined
        : found.top === told.value.top)
    ) {
      found = told.value;
      kept = env;
    }
  }
  if (typeof found === 'string') return { problem: problem('contract/no-repository', { evidence: found }) };
  const path = inside(realpathSync.native(found.top), folder);
  if (path === undefined) return { problem: problem('contract/no-repository', { subject: root }) };
  const prefix = path === '' ? '' : `${path.split(sep).join('/')}/`;
  const where = { GIT_DIR: found.gitDir, GIT_WORK_TREE: found.top, GIT_INDEX_FILE: found.index };
  const place = { cwd: found.top, env: { ...kept, GIT_PREFIX: undefined, ...where } };
  return { repository: { place, top: found.top, prefix, shallow: found.shallow } };
};

/** One file of the index or of a commit; paths count from the top of the repository. */
export interface Listed {
  readonly path: string;
  readonly object: string;
  readonly link: boolean;
}

const named = (name: string): string => `:(top,glob)**/${name}`;
const fields = (output: Buffer): string[] =>
  output
    .toString()
    .split('\0')
    .filter((field) => field !== '');

/** Files of the index with one of these names, and the paths that a merge left undecided. */
export const indexFiles = async (
  { place }: Repository,
  names: readonly string[],
  paths: readonly string[] = [],
): Promise<Result<{ files: Listed[]; unmerged: Set<string> }>> => {
  const specs = [...names.map(named), ...paths.map((path) => `:(top,literal)${path}`)];
  const output = await gitOutput(place, ['ls-files', '-s', '-z', '--full-name', '--', ...specs]);
  if (!output.ok) return output;
  const files: Listed[] = [];
  const unmerged = new Set<string>();
  for (const field of fields(output.value)) {
    const [, mode, object = '', stage, path = ''] = /^(\d+) ([0-9a-f]+) (\d)\t(.*)$/s.exec(field) ?? [];
    if (stage !== '0') unmerged.add(path);
    else if (mode !== '160000') files.push({ path, object, link: mode === '120000' });
  }
  return ok({ files, unmerged });
};

/** Files of the working tree with one of these names or paths: known to git (`tracked`), or new and not ignored. */
export const workingFiles = async (
  { place }: Repository,
  names: readonly string[],
  paths: readonly string[],
): Promise<Result<{ files: string[]; tracked: Set<string> }>> => {
  const specs = [...names.map(named), ...paths.map((path) => `:(top,literal)${path}`)];
  const listing = ['ls-files', '-t', '-z', '--full-name', '--cached', '--others', '--exclude-standard'];
  const output = await gitOutput(place, [...listing, '--', ...specs]);
  if (!output.ok) return output;
  const files = new Set<string>();
  const tracked = new Set<string>();
  // Each field is a letter, a space and a path; `?` stands for what git does not know.
  for (const field of fields(output.value)) {
    const path = field.slice(2);
    files.add(path);
    if (!field.startsWith('?')) tracked.add(path);
  }
  return ok({ files: [...files], tracked });
};

/** Files of a commit with one of these names. */
export const commitFiles = async (
  { place }: Repository,
  commit: string,
  names: readonly string[],
  paths: readonly string[] = [],
): Promise<Result<Listed[]>> => {
  // `ls-tree` knows no glob: the names are sifted here.
  const output = await gitOutput(place, ['ls-tree', '-r', '-z', '--full-tree', commit]);
  if (!output.ok) return output;
  const wanted = (path: string): boolean =>
    names.includes(path.slice(path.lastIndexOf('/') + 1)) || paths.includes(path);
  return ok(
    fields(output.value).flatMap((field) => {
      const [, mode, object = '', path = ''] = /^(\d+) \w+ ([0-9a-f]+)\t(.*)$/s.exec(field) ?? [];
      return wanted(path) && mode !== '160000' ? [{ path, object, link: mode === '120000' }] : [];
    }),
  );
};

/** The commits the working state builds on: HEAD, and what is being merged into it. None before the first commit. */
export const parents = async ({ place }: Repository): Promise<Result<string[]>> => {
  const found: string[] = [];
  const head = await commitOf(place, 'HEAD');
  if (!head.ok) return head;
  if (head.value !== undefined) found.push(head.value);
  const merging = await runGit(place, ['rev-parse', '--verify', '--quiet', 'MERGE_HEAD']);
  if (!merging.ok) return merging;
  if (merging.value.code === 0) {
    // An octopus merge has one line for each head; `rev-parse` reads the first only.
    const file = await gitOutput(place, ['rev-parse', '--git-path', 'MERGE_HEAD']);
    if (!file.ok) return file;
    found.push(...(await mergeHeads(resolve(place.cwd, file.value.toString().trim()))));
  }
  return ok(found);
};

const mergeHeads = async (file: string): Promise<string[]> => {
  const { readFile } = await import('node:fs/promises');
  const text = await readFile(file, 'utf8').catch(() => '');
  return text.split('\n').filter((line) => /^[0-9a-f]{40,64}$/.test(line));
};

/** The commit a name stands for, or undefined. */
export const commitOf = async (place: GitPlace, name: string): Promise<Result<string | undefined>> => {
  const run = await runGit(place, [
    'rev-parse',
    '--verify',
    '--quiet',
    '--end-of-options',
    `${name}^{commit}`,
  ]);
  if (!run.ok) return run;
  return ok(run.value.code === 0 ? run.value.stdout.toString().trim() : undefined);
};

/** The folder that all working trees of the repository share, absolute. */
export const commonFolder = async ({ place }: Repository): Promise<Result<string>> => {
  const output = await gitOutput(place, ['rev-parse', '--git-common-dir']);
  return output.ok ? ok(resolve(place.cwd, output.value.toString().replace(/\n$/, ''))) : output;
};
