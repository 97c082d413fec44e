/**
 * What is placed in a workspace: compared with its records, and taken away again. Only bytes that are still ours
 * are removed; whatever someone changed or added stays.
 */
import { readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { plainBelow } from '../paths/index.ts';
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import { errnoOf, lookAt, turns } from './bytes.ts';
import type { PlacedSkill, RemovedSkill, RemovePlaced, VerifyPlaced } from './edge.ts';
import { knownSinks } from './families.ts';
import { lockWaitMs, takeSink } from './lock.ts';
import { type PlaceOptions, sinkIn } from './place.ts';
import { entryFile, foldersOf, readRecord, type Sink, shownIn, tempName } from './plan.ts';
import { byPath, ownedBy, type PlacedRecord, recordName } from './record.ts';
import { type OnStep, removeEmpty } from './write.ts';

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

export const verifyPlaced: VerifyPlaced = async (cwd, only) => {
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
        const record = readRecord(folder, shownIn(sink.value, name));
        if (!record.ok) skills.push(unread(record.problem));
        else if (record.value !== undefined) skills.push(verified(sink.value, name, record.value));
      } catch (error) {
        const subject = shownIn(sink.value, name);
        skills.push(unread(problem('paths/unreadable', { subject, evidence: errnoOf(error) })));
      }
    }
  }
  return ok(skills);
};

/** The entry file goes first and the record last: a kill in between leaves no skill, and a record to go on with. */
const removeOne = (sink: Sink, name: string, record: PlacedRecord, step: OnStep): RemovedSkill => {
  const folder = join(sink.root, ...sink.segments, name);
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
      (path) => plainBelow(sink.root, [...sink.segments, name, ...path.split('/')]).ok,
    );
    removeEmpty(folder, plain);
    step('remove record');
    unlinkSync(join(folder, recordName));
    step('remove folder');
    if (readdirSync(folder).length === 0) rmdirSync(folder);
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
  async ({ cwd, sink: asked, bundle, keep = () => false }) => {
    const sink = sinkIn(cwd, asked);
    if (!sink.ok) return sink;
    const names = foldersIn(sink.value);
    if (!names.ok) return names;
    const turn = turns();
    const ours = (name: string): PlacedRecord | undefined => {
      try {
        const folder = join(sink.value.root, ...sink.value.segments, name);
        const record = readRecord(folder, shownIn(sink.value, name));
        const found = record.ok ? record.value : undefined;
        return (found?.pending ?? found)?.bundle === bundle ? found : undefined;
      } catch {
        // A folder that cannot be looked into is not known to be ours.
        return undefined;
      }
    };
    const mine = names.value.filter((name) => !keep(name) && ours(name) !== undefined);
    if (mine.length === 0) return ok([]);
    const lock = await takeSink(join(sink.value.root, ...sink.value.segments), waitMs);
    if (!lock.ok) return lock;
    const done: RemovedSkill[] = [];
    try {
      for (const name of mine) {
        await turn();
        const record = ours(name);
        if (record !== undefined) done.push(removeOne(sink.value, name, record, onStep));
      }
    } finally {
      lock.value();
    }
    return ok(done);
  };

export const removePlaced: RemovePlaced = removePlacedWith({});
