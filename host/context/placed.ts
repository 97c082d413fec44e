/**
 * What is placed in a workspace: compared with its markers, and taken away again. Only bytes that are still ours are
 * removed, and folders that were made for them; whatever someone changed or added stays, and so does everything beside a
 * marker that the home does not remember.
 */
import { readdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { kindAt, plainBelow } from '../paths/index.ts';
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import { errnoOf, lookAt, turns } from './bytes.ts';
import type { PlacedMemory, PlacedSkill, RemovedSkill, RemovePlaced, VerifyPlaced } from './edge.ts';
import { knownSinks } from './families.ts';
import { lockWaitMs, takeSink } from './lock.ts';
import { type PlaceOptions, sinkIn } from './place.ts';
import {
  entryFile,
  foldersOf,
  foreignMarker,
  type Marker,
  readRecord,
  type Sink,
  shownIn,
  tempName,
} from './plan.ts';
import { byPath, ownedBy, type PlacedRecord, recordName } from './record.ts';
import { isFolder, type OnStep, removeEmpty } from './write.ts';

/** Files of a user that are named for one skill; there may be more. */
const addedLimit = 1_000;

const folderOf = (path: string): string[] => path.split('/').slice(0, -1);

/** Names of the folders in a sink; none where the sink is not there (`paths/linked`, `paths/unreadable`). */
const foldersIn = (sink: Sink): Result<readonly string[]> => {
  const way = plainBelow(sink.root, sink.segments);
  if (!way.ok) return way;
  if (way.value === 'missing') return ok([]);
  const path = join(sink.root, ...sink.segments);
  try {
    const entries = readdirSync(path, { withFileTypes: true });
    return ok(entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])).sort());
  } catch (error) {
    const subject = sink.segments.join('/');
    return { ok: false, problem: problem('paths/unreadable', { subject, evidence: errnoOf(error) }) };
  }
};

/** What stands at a recorded path, no segment of the way a link. */
const recordedLook = (sink: Sink, name: string, path: string, limit: number) => {
  const way = plainBelow(sink.root, [...sink.segments, name, ...folderOf(path)]);
  if (!way.ok) return { kind: way.problem.code === 'paths/linked' ? 'link' : 'other' } as const;
  if (way.value === 'missing') return { kind: 'missing' } as const;
  return lookAt(join(sink.root, ...sink.segments, name, path), limit);
};

const addedTo = (folder: string, record: PlacedRecord): readonly string[] => {
  const ours = new Set([recordName, ...ownedBy(record).keys()]);
  const added: string[] = [];
  const look = (below: string): void => {
    for (const entry of readdirSync(join(folder, below), { withFileTypes: true })) {
      if (added.length >= addedLimit) return;
      const path = below === '' ? entry.name : `${below}/${entry.name}`;
      if (entry.isDirectory()) look(path);
      else if (!ours.has(path) && !(below === '' && tempName.test(entry.name))) added.push(path);
    }
  };
  look('');
  return added.sort();
};

const verified = (sink: Sink, name: string, record: PlacedRecord): PlacedSkill => {
  const owned = ownedBy(record);
  const problems: Problem[] = [];
  for (const { path, sha256, size } of record.files.toSorted(byPath)) {
    const subject = shownIn(sink, name, path);
    const look = recordedLook(sink, name, path, owned.get(path)?.longest ?? size);
    if (look.kind === 'missing') {
      // While a placement is under way files come and go; that it did not end is the problem.
      if (record.pending === undefined) problems.push(problem('context/placed-missing', { subject }));
    } else if (look.kind !== 'file')
      problems.push(problem('context/file-edited', { subject, evidence: `a ${look.kind}` }));
    else if (owned.get(path)?.digests.has(look.sha256) !== true) {
      const evidence = `expected SHA-256 ${sha256} (${size} bytes), found ${look.size > size ? 'a longer file' : look.sha256}`;
      problems.push(problem('context/file-edited', { subject, evidence }));
    }
  }
  if (record.pending !== undefined)
    problems.push(problem('context/placed-unfinished', { subject: shownIn(sink, name) }));
  const { bundle, revision } = record.pending ?? record;
  const added = addedTo(join(sink.root, ...sink.segments, name), record);
  return { sink: sink.segments.join('/'), name, bundle, revision, problems, added };
};

export const verifyPlaced: VerifyPlaced = async (cwd, only, memory) => {
  const turn = turns();
  const skills: PlacedSkill[] = [];
  for (const asked of only === undefined ? knownSinks : [only]) {
    const sink = sinkIn(cwd, asked);
    if (!sink.ok) return sink;
    const names = foldersIn(sink.value);
    if (!names.ok) {
      skills.push({
        sink: asked,
        name: null,
        bundle: null,
        revision: null,
        problems: [names.problem],
        added: [],
      });
      continue;
    }
    for (const name of names.value) {
      await turn();
      const folder = join(sink.value.root, ...sink.value.segments, name);
      const unread = (found: Problem): PlacedSkill => ({
        sink: asked,
        name,
        bundle: null,
        revision: null,
        problems: [found],
        added: [],
      });
      try {
        const shown = shownIn(sink.value, name);
        const found = readRecord(folder, shown);
        const known = memory === undefined ? undefined : (memory.of(name)?.markers ?? []);
        if (known?.length === 0) continue;
        if (!found.ok) skills.push(unread(found.problem));
        else if (found.value === undefined) continue;
        else if (known?.includes(found.value.digest) === false) skills.push(unread(foreignMarker(shown)));
        else skills.push(verified(sink.value, name, found.value.record));
      } catch (error) {
        const subject = shownIn(sink.value, name);
        skills.push(unread(problem('paths/unreadable', { subject, evidence: errnoOf(error) })));
      }
    }
  }
  return ok(skills);
};

/** The last of a skill: its folder, if it was made for it and is empty, and what the home remembers of it. */
const leave = (sink: Sink, name: string, memory: PlacedMemory): void => {
  const made = memory.of(name)?.made.includes(shownIn(sink, name)) === true;
  if (made && plainBelow(sink.root, [...sink.segments, name]).ok)
    removeEmpty(sink.root, [shownIn(sink, name)]);
  memory.set(name, undefined);
};

/** Takes away the sink and what leads to it, as far as it was made for skills and is empty. */
const leaveSink = (sink: Sink, memory: PlacedMemory): void => {
  const remembered = memory.of('');
  if (remembered === undefined || !plainBelow(sink.root, sink.segments).ok) return;
  removeEmpty(sink.root, remembered.made);
  const left = remembered.made.filter((path) => isFolder(join(sink.root, path)));
  memory.set('', left.length === 0 ? undefined : { ...remembered, made: left });
};

/** The entry file goes first and the marker last: a kill in between leaves no skill, and a marker to go on with. */
const removeOne = (
  sink: Sink,
  name: string,
  record: PlacedRecord,
  memory: PlacedMemory,
  step: OnStep,
): RemovedSkill => {
  const folder = join(sink.root, ...sink.segments, name);
  const made = new Set(memory.of(name)?.made);
  const owned = ownedBy(record);
  const kept: string[] = [];
  let removed = 0;
  try {
    for (const path of [entryFile, ...[...owned.keys()].filter((one) => one !== entryFile).sort()]) {
      const ours = owned.get(path);
      if (ours === undefined) continue;
      const look = recordedLook(sink, name, path, ours.longest);
      if (look.kind === 'missing') continue;
      if (look.kind !== 'file' || !ours.digests.has(look.sha256)) {
        kept.push(path);
        continue;
      }
      step(`remove ${path}`);
      unlinkSync(join(folder, path));
      removed += 1;
    }
    for (const temp of readdirSync(folder).filter((entry) => tempName.test(entry)))
      unlinkSync(join(folder, temp));
    const plain = foldersOf(owned.keys()).filter(
      (path) =>
        made.has(shownIn(sink, name, path)) &&
        plainBelow(sink.root, [...sink.segments, name, ...path.split('/')]).ok,
    );
    removeEmpty(folder, plain);
    step('remove record');
    unlinkSync(join(folder, recordName));
    step('remove folder');
    leave(sink, name, memory);
    return { name, removed, kept };
  } catch (error) {
    const subject = shownIn(sink, name);
    return {
      name,
      removed,
      kept,
      problem: problem('context/write-failed', { subject, evidence: errnoOf(error) }),
    };
  }
};

export const removePlacedWith =
  ({ waitMs = lockWaitMs, onStep = () => {} }: PlaceOptions): RemovePlaced =>
  async ({ cwd, sink: asked, bundle, memory, keep = () => false }) => {
    const sink = sinkIn(cwd, asked);
    if (!sink.ok) return sink;
    const names = foldersIn(sink.value);
    if (!names.ok) return names;
    const turn = turns();
    const folderAt = (name: string): string => join(sink.value.root, ...sink.value.segments, name);
    const markerAt = (name: string): Marker | undefined => {
      try {
        const found = readRecord(folderAt(name), shownIn(sink.value, name));
        const marker = found.ok ? found.value : undefined;
        return (marker?.record.pending ?? marker?.record)?.bundle === bundle ? marker : undefined;
      } catch {
        // A folder that cannot be looked into is not known to be ours.
        return undefined;
      }
    };
    const remembered = (name: string, marker: Marker): boolean =>
      memory.of(name)?.markers.includes(marker.digest) === true;
    /** A removal that was cut off after its last file left a folder, and nothing in it. */
    const cutOff = (name: string): boolean =>
      memory.of(name)?.bundle === bundle && kindAt(join(folderAt(name), recordName)) === 'missing';
    const mine = names.value.filter((name) => !keep(name) && (markerAt(name) !== undefined || cutOff(name)));
    const done: RemovedSkill[] = [];
    if (mine.length > 0) {
      const lock = await takeSink(join(sink.value.root, ...sink.value.segments), waitMs);
      if (!lock.ok) return lock;
      try {
        for (const name of mine) {
          await turn();
          const marker = markerAt(name);
          if (marker === undefined) {
            if (cutOff(name)) leave(sink.value, name, memory);
          } else if (remembered(name, marker))
            done.push(removeOne(sink.value, name, marker.record, memory, onStep));
          else done.push({ name, removed: 0, kept: [...ownedBy(marker.record).keys()].sort() });
        }
      } finally {
        lock.value();
      }
    }
    onStep('remove sink');
    leaveSink(sink.value, memory);
    return ok(done);
  };

export const removePlaced: RemovePlaced = removePlacedWith({});
