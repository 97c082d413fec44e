/**
 * What placing one skill would do, found out without touching anything. Everything that could refuse the skill is
 * looked at here, before its first file changes: links on the way, files that are not ours, folders that cannot be
 * written.
 */
import { accessSync, constants, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { collision, collisionKey, kindAt, plainBelow, relativeSegments } from '../paths/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bytesAt, errnoOf, type Look, lookAt } from './bytes.ts';
import type { PlacedMemory, Remembered, SkillSource } from './edge.ts';
import {
  markerOf,
  type Owned,
  ownedBy,
  type PlacedFile,
  type PlacedRecord,
  parseRecord,
  recordBytes,
  recordName,
  recordText,
  skillFiles,
} from './record.ts';

/** The entry file of a skill: without it the folder is no skill to any agent. */
export const entryFile = 'SKILL.md';
/** Names in a skill's folder that are ours. */
const ownPrefix = '.bearpunch-';
export const tempName = /^\.bearpunch-tmp-[0-9a-f]{12}-[0-9a-z]+$/;

/** A sink in a workspace. */
export interface Sink {
  /** The real path of the workspace. */
  readonly root: string;
  readonly segments: readonly string[];
}
export const shownIn = (sink: Sink, name: string, path?: string): string =>
  [...sink.segments, name, ...(path === undefined ? [] : [path])].join('/');

export interface Plan {
  readonly verdict: 'place';
  /** Files to write; whether something of ours stands there now. */
  readonly writes: readonly { readonly file: PlacedFile; readonly replaces: boolean }[];
  /** Files of ours that this revision no longer has. */
  readonly drops: readonly string[];
  /** All bytes of ours now on disk. */
  readonly present: readonly PlacedFile[];
  readonly record: PlacedRecord | undefined;
  readonly owned: ReadonlyMap<string, Owned>;
  /** What an earlier run left behind. */
  readonly temps: readonly string[];
  readonly remembered: Remembered | undefined;
}
export type Verdict =
  | Plan
  | { readonly verdict: 'unchanged' }
  | { readonly verdict: 'refused'; readonly problem: Problem };

/** Why a skill can never be placed, whatever the workspace holds (`context/skill-invalid`). */
export const skillFault = (skill: SkillSource): Problem | undefined => {
  const invalid = (subject: string, message?: string): Problem =>
    problem('context/skill-invalid', { subject, ...(message === undefined ? {} : { message }) });
  const named = relativeSegments(skill.name);
  if (!named.ok) return invalid(skill.name, named.problem.message);
  if (named.value.length !== 1 || skill.name.startsWith(ownPrefix)) return invalid(skill.name);
  if (skill.files.length > skillFiles)
    return invalid(skill.name, `The skill has more than ${skillFiles} files.`);
  if (!skill.files.some(({ path }) => path === entryFile))
    return invalid(skill.name, `The skill has no ${entryFile}.`);
  for (const { path } of skill.files) {
    const segments = relativeSegments(path);
    if (!segments.ok) return invalid(path, segments.problem.message);
    if (path.startsWith(ownPrefix))
      return invalid(path, `Names that begin with "${ownPrefix}" are reserved.`);
  }
  const twins = collision(skill.files.map(({ path }) => path));
  return twins === undefined ? undefined : invalid(`${twins[0]} and ${twins[1]}`);
};

/** Every folder of these paths, parents first. */
export const foldersOf = (paths: Iterable<string>): readonly string[] => {
  const folders = new Set<string>();
  for (const path of paths)
    for (
      let at = path.lastIndexOf('/');
      at > 0 && !folders.has(path.slice(0, at));
      at = path.lastIndexOf('/', at - 1)
    )
      folders.add(path.slice(0, at));
  return [...folders].sort();
};
const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')));

/** The marker in a skill's folder. */
export interface Marker {
  readonly record: PlacedRecord;
  readonly digest: string;
}
/** Reads it (`context/record-unreadable`, `paths/linked`). */
export const readRecord = (folder: string, shown: string): Result<Marker | undefined> => {
  const bytes = bytesAt(join(folder, recordName), recordBytes);
  const subject = `${shown}/${recordName}`;
  if (bytes === 'missing') return ok(undefined);
  if (bytes === 'link') return refuse('paths/linked', { subject });
  const record = typeof bytes === 'string' ? undefined : parseRecord(bytes);
  const safe = record !== undefined && [...ownedBy(record).keys()].every((path) => relativeSegments(path).ok);
  return safe && typeof bytes !== 'string'
    ? ok({ record, digest: markerOf(bytes) })
    : refuse('context/record-unreadable', { subject });
};

/** A marker this home does not remember: whatever it says, what stands there is the user's. */
export const foreignMarker = (shown: string): Problem =>
  problem('context/marker-foreign', { subject: `${shown}/${recordName}` });

interface Surroundings {
  readonly folder: string;
  readonly shown: string;
  readonly owned: ReadonlyMap<string, Owned>;
  readonly wanted: ReadonlyMap<string, PlacedFile>;
}

/** The folders on the way that are there. A file on the way is passed over only if it is ours and goes. */
const presentFolders = ({ folder, shown, owned, wanted }: Surroundings): Result<ReadonlySet<string>> => {
  const present = new Set(['']);
  for (const path of foldersOf([...wanted.keys(), ...owned.keys()])) {
    if (!present.has(folderOf(path))) continue;
    const kind = kindAt(join(folder, path));
    if (kind === 'folder') present.add(path);
    else if (kind === 'link') return refuse('paths/linked', { subject: `${shown}/${path}` });
    else if (kind !== 'missing' && !owned.has(path))
      return refuse('context/file-not-ours', { subject: `${shown}/${path}` });
  }
  return ok(present);
};

/** Whether a folder that stands where a file should go holds nothing but files of ours that go. */
const onlyLeaving = (around: Surroundings, path: string): boolean =>
  readdirSync(join(around.folder, path), { withFileTypes: true }).every((entry) => {
    const inner = `${path}/${entry.name}`;
    return entry.isDirectory()
      ? onlyLeaving(around, inner)
      : around.owned.has(inner) && !around.wanted.has(inner);
  });

/** The problem of what stands at one path, or undefined where it may be written or removed. */
const fileFault = (around: Surroundings, path: string, look: Look): Problem | undefined => {
  const subject = `${around.shown}/${path}`;
  if (look.kind === 'missing') return undefined;
  if (look.kind === 'link') return problem('paths/linked', { subject });
  const owned = around.owned.get(path);
  if (look.kind === 'folder' && (!around.wanted.has(path) || onlyLeaving(around, path))) return undefined;
  if (look.kind !== 'file' || owned === undefined) return problem('context/file-not-ours', { subject });
  return owned.digests.has(look.sha256) ? undefined : problem('context/file-edited', { subject });
};

/** An entry of the folder that some system takes for one of our top names, though it is spelled otherwise. */
const twinIn = (names: readonly string[], { wanted, owned }: Surroundings): string | undefined => {
  const topOf = (path: string): string => path.split('/', 1)[0] ?? path;
  const ours = new Set([...owned.keys()].map(topOf));
  const tops = new Map([...wanted.keys()].map(topOf).map((top) => [collisionKey(top), top]));
  return names.find((name) => {
    const top = tops.get(collisionKey(name));
    return top !== undefined && top !== name && !ours.has(name);
  });
};

const unwritable = (around: Surroundings, changed: ReadonlySet<string>): Problem | undefined => {
  for (const path of changed)
    try {
      accessSync(join(around.folder, path), constants.W_OK | constants.X_OK);
    } catch (error) {
      const subject = path === '' ? around.shown : `${around.shown}/${path}`;
      return problem('context/write-failed', { subject, evidence: errnoOf(error) });
    }
  return undefined;
};

/** What goes where once nothing refuses the skill. `looks` holds every path of ours, old and new. */
const changesFor = (around: Surroundings, looks: ReadonlyMap<string, Look>) => {
  const present: PlacedFile[] = [];
  const writes: { file: PlacedFile; replaces: boolean }[] = [];
  const drops: string[] = [];
  for (const [path, look] of looks) {
    const wanted = around.wanted.get(path);
    if (look.kind === 'file') present.push({ path, sha256: look.sha256, size: look.size });
    if (wanted === undefined) {
      if (look.kind === 'file') drops.push(path);
    } else if (look.kind !== 'file' || look.sha256 !== wanted.sha256)
      writes.push({ file: wanted, replaces: look.kind === 'file' });
  }
  // An agent must not read a new skill's text beside old files: the entry file goes first and comes last.
  const entry = around.wanted.get(entryFile);
  const others = drops.length > 0 || writes.some(({ file }) => file.path !== entryFile);
  if (entry !== undefined && others && !writes.some(({ file }) => file.path === entryFile))
    writes.push({ file: entry, replaces: true });
  return { present, writes, drops };
};

/** Whether every file of a skill is there, byte for byte, no segment of its way a link. */
const standsWhole = async (
  folder: string,
  { files }: SkillSource,
  turn: () => Promise<void> | undefined,
): Promise<boolean> => {
  for (const { path, sha256, size } of files) {
    await turn();
    const way = plainBelow(folder, path.split('/').slice(0, -1));
    if (!way.ok || way.value === 'missing') return false;
    const look = lookAt(join(folder, path), size);
    if (look.kind !== 'file' || look.sha256 !== sha256) return false;
  }
  return true;
};

const planned = async (
  sink: Sink,
  skill: SkillSource,
  memory: PlacedMemory,
  turn: () => Promise<void> | undefined,
): Promise<Result<Plan | 'unchanged'>> => {
  const shown = shownIn(sink, skill.name);
  const folder = join(sink.root, ...sink.segments, skill.name);
  const way = plainBelow(sink.root, [...sink.segments, skill.name]);
  if (!way.ok) return way;
  const wanted = new Map(skill.files.map((file) => [file.path, file]));
  const remembered = memory.of(skill.name);
  if (way.value === 'missing') {
    const writes = skill.files.map((file) => ({ file, replaces: false }));
    const nothing = { drops: [], present: [], record: undefined, owned: new Map(), temps: [], remembered };
    return ok({ verdict: 'place', writes, ...nothing });
  }
  const names = readdirSync(folder);
  const found = names.includes(recordName) ? readRecord(folder, shown) : ok(undefined);
  if (!found.ok) return found;
  const record = found.value?.record;
  // A copy of a workspace, or another home's: what this revision has is there, or the user decides.
  if (found.value !== undefined && remembered?.markers.includes(found.value.digest) !== true)
    return (await standsWhole(folder, skill, turn)) ? ok('unchanged') : failed(foreignMarker(shown));
  const around: Surroundings = { folder, shown, owned: ownedBy(record), wanted };
  const twin = twinIn(names, around);
  if (twin !== undefined) return refuse('context/file-not-ours', { subject: `${shown}/${twin}` });
  const folders = presentFolders(around);
  if (!folders.ok) return folders;

  const looks = new Map<string, Look>();
  for (const path of new Set([...wanted.keys(), ...around.owned.keys()])) {
    await turn();
    const limit = Math.max(wanted.get(path)?.size ?? 0, around.owned.get(path)?.longest ?? 0);
    const look: Look = folders.value.has(folderOf(path))
      ? lookAt(join(folder, path), limit)
      : { kind: 'missing' };
    const fault = fileFault(around, path, look);
    if (fault !== undefined) return failed(fault);
    looks.set(path, look);
  }
  const changes = changesFor(around, looks);
  const temps = names.filter((name) => tempName.test(name));
  const same = record !== undefined && recordText(record) === recordText(skill);
  if (changes.writes.length + changes.drops.length + temps.length === 0 && same) return ok('unchanged');
  const changed = new Set(['']);
  for (const path of [...changes.writes.map(({ file }) => file.path), ...changes.drops])
    if (folders.value.has(folderOf(path))) changed.add(folderOf(path));
  const fault = unwritable(around, changed);
  if (fault !== undefined) return failed(fault);
  return ok({ verdict: 'place', ...changes, record, owned: around.owned, temps, remembered });
};

/** What placing this skill would do. */
export const planSkill = async (
  sink: Sink,
  skill: SkillSource,
  memory: PlacedMemory,
  turn: () => Promise<void> | undefined,
): Promise<Verdict> => {
  try {
    const plan = await planned(sink, skill, memory, turn);
    if (!plan.ok) return { verdict: 'refused', problem: plan.problem };
    return plan.value === 'unchanged' ? { verdict: 'unchanged' } : plan.value;
  } catch (error) {
    const subject = shownIn(sink, skill.name);
    return {
      verdict: 'refused',
      problem: problem('paths/unreadable', { subject, evidence: errnoOf(error) }),
    };
  }
};
