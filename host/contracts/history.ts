/**
 * What was ever released: every entry that any version of a lock held, with the first commit that held it. A version
 * shares most of its bytes with the one read before it; only what lies between the common beginning and the common
 * end is looked at.
 */
import { ok, type Result, refuse } from '../problems/index.ts';
import { gitOutput, type ObjectReader } from './git.ts';
import { type Entry, entryOf, readLock } from './lock.ts';
import type { Repository } from './repository.ts';

export interface Release {
  readonly commit: string;
  /** Seconds since 1970, as the committer's clock had it; null where the commit was named and not looked into. */
  readonly at: number | null;
  /** Where the lock stood in that commit. */
  readonly path: string;
}

export interface Version extends Release {
  readonly object: string;
}

export interface LockHistory {
  /** Oldest first, each object once a path. */
  readonly versions: readonly Version[];
  readonly commits: number;
  /** By the path of a lock: what went away in a commit in which it came. */
  readonly departed: ReadonlyMap<string, ReadonlySet<string>>;
}

/** Most versions of locks that are read. */
const versionLimit = 100_000;

/**
 * Every version of the locks with one of these names or paths that a commit reachable from `tips` brought. Both sides
 * of every merge count; a lock that came by a move is followed to what was deleted in the same commit.
 */
export const lockHistory = async (
  repository: Repository,
  tips: readonly string[],
  names: readonly string[],
  paths: readonly string[],
): Promise<Result<LockHistory>> => {
  const followed = new Set(paths);
  const departed = new Map<string, Set<string>>();
  const asked = new Set<string>();
  for (;;) {
    const looked = await look(repository, tips, names, [...followed]);
    if (!looked.ok) return looked;
    const before = followed.size;
    for (const [commit, came] of looked.value.arrivals) {
      if (asked.has(commit)) continue;
      asked.add(commit);
      const left = await departures(repository, commit);
      if (!left.ok) return left;
      for (const path of left.value) followed.add(path);
      for (const path of came) departed.set(path, new Set([...(departed.get(path) ?? []), ...left.value]));
    }
    if (followed.size === before) return ok({ ...looked.value, departed });
  }
};

const logArguments = [
  ...[
    'log',
    '--full-history',
    '-m',
    '--raw',
    '--no-abbrev',
    '--no-renames',
    '--no-ext-diff',
    '--no-textconv',
  ],
  ...[
    '--no-color',
    '--no-decorate',
    '--no-notes',
    '-z',
    '--topo-order',
    '--reverse',
    '--format=commit %H %ct',
  ],
];

const look = async (
  { place }: Repository,
  tips: readonly string[],
  names: readonly string[],
  paths: readonly string[],
): Promise<
  Result<Omit<LockHistory, 'departed'> & { readonly arrivals: ReadonlyMap<string, readonly string[]> }>
> => {
  const specs = [
    ...names.map((name) => `:(top,glob)**/${name}`),
    ...paths.map((path) => `:(top,literal)${path}`),
  ];
  const output = await gitOutput(place, [...logArguments, ...tips, '--', ...specs]);
  if (!output.ok) return output;
  const versions: Version[] = [];
  const seen = new Set<string>();
  const commits = new Set<string>();
  const arrivals = new Map<string, string[]>();
  let commit = '';
  let at = 0;
  const fields = output.value.toString().split('\0');
  for (let i = 0; i < fields.length; i += 1) {
    const field = (fields[i] ?? '').trimStart();
    if (field.startsWith('commit ')) {
      const [, name = '', seconds = ''] = field.trimEnd().split(' ');
      commit = name;
      at = Number(seconds);
      commits.add(commit);
      continue;
    }
    const [, , , object = '', status = ''] = field.startsWith(':') ? field.split(' ') : [];
    if (status === '') continue;
    i += 1;
    const path = fields[i] ?? '';
    if (status === 'A') arrivals.set(commit, [...(arrivals.get(commit) ?? []), path]);
    if (status === 'D' || seen.has(`${object} ${path}`)) continue;
    seen.add(`${object} ${path}`);
    versions.push({ commit, at, path, object });
  }
  if (versions.length > versionLimit)
    return refuse('contract/git-failed', { evidence: `more than ${versionLimit} versions of the lock` });
  return ok({ versions, commits: commits.size, arrivals });
};

/** Files that end like a lock and went away in a commit: where a lock that arrived in it may have come from. */
const departures = async ({ place }: Repository, commit: string): Promise<Result<string[]>> => {
  const output = await gitOutput(place, [
    ...['diff-tree', '-r', '-m', '-z', '--no-commit-id', '--no-renames', '--diff-filter=D', '--name-only'],
    ...[commit, '--', ':(top,glob)**/*lock*'],
  ]);
  return output.ok
    ? ok([...new Set(output.value.toString().split('\0'))].filter((path) => path !== ''))
    : output;
};

/** Line by line: each entry's line with its first release. */
export type Released = Map<string, { readonly entry: Entry; readonly release: Release }>;

/** Reads the versions oldest first and keeps what each brought, by the path of its lock. */
export const releasedEntries = async (
  objects: ObjectReader,
  versions: readonly Version[],
): Promise<Result<{ readonly byPath: ReadonlyMap<string, Released>; readonly lost: readonly Version[] }>> => {
  const byPath = new Map<string, Released>();
  const lost: Version[] = [];
  const read = new Map<string, string>();
  // The version read last, if its lines were entries and stand in `released` of the same path.
  objects.announce([...new Set(versions.map(({ object }) => object))]);
  let before: { readonly bytes: Buffer; readonly path: string } | undefined;
  for (const version of versions) {
    const released = byPath.get(version.path) ?? new Map();
    byPath.set(version.path, released);
    // The same bytes at another path, as after a move: what they hold was released at the first one.
    const first = read.get(version.object);
    const earlier = first === undefined ? undefined : byPath.get(first);
    if (earlier !== undefined) {
      for (const [text, found] of earlier) if (!released.has(text)) released.set(text, found);
      continue;
    }
    const found = await objects.read(version.object);
    if (!found.ok) return found;
    if (found.value === undefined) {
      lost.push(version);
      continue;
    }
    read.set(version.object, version.path);
    const { commit, at, path } = version;
    const release: Release = { commit, at, path };
    const base = before?.path === path ? before.bytes : Buffer.alloc(0);
    const { entries, exact } = entriesBetween(base, found.value);
    for (const entry of entries) if (!released.has(entry.text)) released.set(entry.text, { entry, release });
    before = exact ? { bytes: found.value, path } : undefined;
  }
  return ok({ byPath, lost });
};

/**
 * Entries of `now` in lines that `before`, whose lines are all known, does not share with it at its beginning or end.
 * A version in another layout, or with line ends of another system, is read as a whole and is not `exact`.
 */
const entriesBetween = (
  before: Buffer,
  now: Buffer,
): { readonly entries: readonly (Entry & { readonly text: string })[]; readonly exact: boolean } => {
  const common = Math.min(before.length, now.length);
  const start = lineStart(now, commonPrefix(before, now, common));
  const tail = commonSuffix(before, now, common - start);
  // The line that the common end begins in is looked at too: in `before` it may begin otherwise.
  const feed = now.indexOf(10, now.length - tail);
  const end = feed < 0 ? now.length : feed + 1;
  const entries: (Entry & { text: string })[] = [];
  for (let from = start; from < end; ) {
    const stop = now.indexOf(10, from);
    const line = now.toString('utf8', from, stop < 0 ? end : stop);
    from = stop < 0 ? end : stop + 1;
    if (line === '' || line === ']' || line === '[{"lock":1}') continue;
    const entry = entryOf(line, 0);
    if (entry === undefined) return { entries: readLock(now.toString('utf8')).all, exact: false };
    entries.push(entry);
  }
  return { entries, exact: true };
};

const step = 64 * 1024;

const commonPrefix = (a: Buffer, b: Buffer, most: number): number => {
  let length = 0;
  while (length < most) {
    const size = Math.min(step, most - length);
    if (a.compare(b, length, length + size, length, length + size) !== 0) break;
    length += size;
  }
  while (length < most && a[length] === b[length]) length += 1;
  return length;
};

const commonSuffix = (a: Buffer, b: Buffer, most: number): number => {
  let length = 0;
  while (length < most) {
    const size = Math.min(step, most - length);
    const [endA, endB] = [a.length - length, b.length - length];
    if (a.compare(b, endB - size, endB, endA - size, endA) !== 0) break;
    length += size;
  }
  while (length < most && a[a.length - 1 - length] === b[b.length - 1 - length]) length += 1;
  return length;
};

const lineStart = (text: Buffer, offset: number): number =>
  offset === 0 ? 0 : text.lastIndexOf(10, offset - 1) + 1;
