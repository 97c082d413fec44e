/**
 * What the present is compared with: the locks at named commits, or every version of them in the history. A lock that
 * stood elsewhere and is gone belongs to the present one if it shares an ID with it, or went away as this one came.
 */
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { readObjects } from './git.ts';
import { lockHistory, type Release, type Released, releasedEntries } from './history.ts';
import { fileLimit, readLock } from './lock.ts';
import { commitFiles, commitOf, type Repository } from './repository.ts';
import { lockNames, type Present, type Subject } from './subjects.ts';

export interface Base {
  /** By the path of the lock, from the top of the repository. */
  readonly byPath: ReadonlyMap<string, Released>;
  /** By the path of a lock: what went away in a commit in which it came. */
  readonly departed: ReadonlyMap<string, ReadonlySet<string>>;
  readonly versions: number;
  readonly commits: number;
  readonly limits: readonly Problem[];
}

export interface Past {
  readonly bases: readonly Base[];
  /** What could not be seen. */
  readonly limits: readonly Problem[];
}

const names: readonly string[] = Object.values(lockNames);

/** The locks in the tree of one commit, by their names or at `paths` (`contract/ref-unknown`). */
export const refBase = async (
  repository: Repository,
  ref: string,
  paths: readonly string[],
): Promise<Result<Base>> => {
  const commit = await commitOf(repository.place, ref);
  if (!commit.ok) return commit;
  if (commit.value === undefined) return refuse('contract/ref-unknown', { subject: ref });
  const listed = await commitFiles(repository, commit.value, names, paths);
  if (!listed.ok) return listed;
  const byPath = new Map<string, Released>();
  const limits: Problem[] = [];
  const objects = readObjects(repository.place, fileLimit);
  for (const { path, object } of listed.value) {
    const bytes = await objects.read(object);
    if (!bytes.ok) {
      objects.close();
      return bytes;
    }
    if (bytes.value === undefined)
      limits.push(problem('contract/history-incomplete', { subject: `${ref}:${path}` }));
    else byPath.set(path, entriesAt(bytes.value, { commit: commit.value, at: null, path }));
  }
  objects.close();
  return ok({ byPath, departed: new Map(), versions: byPath.size, commits: 1, limits });
};

const entriesAt = (bytes: Buffer, release: Release): Released =>
  new Map(readLock(bytes.toString('utf8')).all.map((entry) => [entry.text, { entry, release }]));

/** Every version of the locks, by their names or at `paths`, that the commits reachable from `tips` brought. */
export const historyBase = async (
  repository: Repository,
  tips: readonly string[],
  paths: readonly string[],
): Promise<Result<Base>> => {
  const history = await lockHistory(repository, tips, names, paths);
  if (!history.ok) return history;
  const { versions, commits, departed } = history.value;
  const objects = readObjects(repository.place, fileLimit);
  const read = await releasedEntries(objects, versions);
  objects.close();
  if (!read.ok) return read;
  const limits = read.value.lost
    .slice(0, 10)
    .map(({ commit, path }) =>
      problem('contract/history-incomplete', { subject: `${commit.slice(0, 12)}:${path}` }),
    );
  return ok({ byPath: read.value.byPath, departed, versions: versions.length, commits, limits });
};

/** The same past, each entry with the commit that really released it, found in the history behind the commits compared with. */
export const attributed = async (
  repository: Repository,
  past: Past,
  paths: readonly string[],
): Promise<Result<Past>> => {
  const tips = new Set<string>();
  for (const { byPath } of past.bases)
    for (const released of byPath.values())
      for (const { release } of released.values()) tips.add(release.commit);
  const history = await historyBase(repository, [...tips], paths);
  if (!history.ok) return history;
  const first = new Map<string, Release>();
  for (const released of history.value.byPath.values())
    for (const [text, { release }] of released) if (!first.has(text)) first.set(text, release);
  const named = (released: Released): Released =>
    new Map(
      [...released].map(([text, item]) => [text, { ...item, release: first.get(text) ?? item.release }]),
    );
  const bases = past.bases.map((base) => ({
    ...base,
    byPath: new Map([...base.byPath].map(([path, released]) => [path, named(released)])),
  }));
  return ok({ ...past, bases });
};

/** Everything of the past that belongs to one lock. */
export const releases = (past: Past, present: Present, subject: Subject): Released => {
  const own = present.prefix + subject.file;
  const found: Released = new Map();
  const ids = new Set(subject.lock?.entries.keys());
  const take = (released: Released): void => {
    for (const [text, item] of released) {
      const known = found.get(text);
      // A commit of the history knows its time, the tree of a named commit does not: the first one with a time stays.
      if (known === undefined || (known.release.at === null && item.release.at !== null))
        found.set(text, item);
      ids.add(item.entry.id);
    }
  };
  for (const base of past.bases) take(base.byPath.get(own) ?? new Map());
  const gone = past.bases.flatMap((base) =>
    [...base.byPath].flatMap(([path, released]) => {
      if (path === own || present.locks.has(path) || !isOf(subject, path, released)) return [];
      return [{ released, moved: cameFrom(base, own).has(path) || !base.byPath.has(own) }];
    }),
  );
  for (const { released, moved } of gone)
    if (moved || [...released.values()].some(({ entry }) => ids.has(entry.id))) take(released);
  return found;
};

/** What a lock may have been before, step by step. */
const cameFrom = (base: Base, own: string): ReadonlySet<string> => {
  const found = new Set([own]);
  for (const path of found) for (const before of base.departed.get(path) ?? []) found.add(before);
  return found;
};

const isOf = (subject: Subject, path: string, released: Released): boolean => {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name === lockNames[subject.kind]) return true;
  if (names.includes(name)) return false;
  return [...released.values()].every(({ entry }) => (entry.kind === 'wit') === (subject.kind === 'wit'));
};
