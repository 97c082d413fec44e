/**
 * Carries a plan out. The order is what makes a kill between any two steps harmless:
 *
 *   0. the home remembers both markers to come and the folders it makes;
 *   1. every new file and both records are written beside the skill under temporary names, sources checked on the way:
 *      until here nothing of the skill has changed, and a failure takes the temporary files away again;
 *   2. the record that names old and new bytes; from here on whatever stands in the folder is known as ours;
 *   3. the entry file is taken away, then files the revision no longer has;
 *   4. the new files, the entry file last;
 *   5. the record of the new revision.
 *
 * A run that finds the record of step 2 ends what was begun; until then the folder has no entry file, or all its
 * files, so no agent takes half a skill for a whole one.
 */
import { randomBytes } from 'node:crypto';
import { renameSync, rmdirSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { kindAt, makeBelow, strayBelow } from '../paths/index.ts';
import { failed, isProblem, ok, type Problem, problem, type Result } from '../problems/index.ts';
import { copyChecked, errnoOf, lookAt, writeNew } from './bytes.ts';
import type { PlacedMemory, Remembered, SkillSource } from './edge.ts';
import { entryFile, foldersOf, type Plan, type Sink, shownIn } from './plan.ts';
import { markerOf, recordName, recordText } from './record.ts';

/** Called before each step that changes the disk; for tests that end the process there. */
export type OnStep = (step: string) => void;

const ignore = (act: () => void): void => {
  try {
    act();
  } catch {}
};

/** Removes folders that hold nothing any more, the deepest first. */
export const removeEmpty = (folder: string, folders: readonly string[]): void => {
  for (const path of folders.toReversed()) ignore(() => rmdirSync(join(folder, path)));
};

/** Whether a folder stands there; a path through a file leads to none. */
export const isFolder = (path: string): boolean => {
  try {
    return kindAt(path) === 'folder';
  } catch (error) {
    if (errnoOf(error) === 'ENOTDIR') return false;
    throw error;
  }
};

/** Folders on the way of `segments` that are not there, or are files as yet; relative to `root`, parents first. */
export const missingFolders = (root: string, segments: readonly string[]): readonly string[] =>
  segments
    .map((_, depth) => segments.slice(0, depth + 1).join('/'))
    .filter((path) => !isFolder(join(root, path)));

interface Work {
  readonly sink: Sink;
  readonly skill: SkillSource;
  readonly plan: Plan;
  readonly folder: string;
  /** The markers: while files change, where any do, and after. */
  readonly intent: string | undefined;
  readonly final: string;
  /** Folders inside the skill that were made for it. */
  readonly made: ReadonlySet<string>;
  readonly step: OnStep;
  readonly turn: () => Promise<void> | undefined;
}

/** A problem on its way out of the steps; `carryOut` is the only place that catches it. */
const stop = (found: Problem): never => {
  throw found;
};

interface Staged {
  readonly temps: ReadonlyMap<string, string>;
  readonly intent: string | undefined;
  readonly final: string;
}

/** Step 1. Names what it makes in `made` before it makes it. */
const stage = async (work: Work, made: string[]): Promise<Staged> => {
  const { sink, skill, plan, folder, step, turn } = work;
  const mark = randomBytes(6).toString('hex');
  const temp = (name: string): string => {
    const path = join(folder, `.bearpunch-tmp-${mark}-${name}`);
    made.push(path);
    return path;
  };
  const temps = new Map<string, string>();
  for (const [index, { file }] of plan.writes.entries()) {
    await turn();
    step(`stage ${file.path}`);
    const path = temp(`${index}`);
    const copied = copyChecked(join(skill.folder, file.path), path, file);
    if (!copied.ok) stop({ ...copied.problem, subject: shownIn(sink, skill.name, file.path) });
    temps.set(file.path, path);
  }
  const final = temp('final');
  step('stage final');
  writeNew(final, Buffer.from(work.final));
  if (work.intent === undefined) return { temps, intent: undefined, final };
  const intent = temp('intent');
  step('stage intent');
  writeNew(intent, Buffer.from(work.intent));
  return { temps, intent, final };
};

/** Someone may have come between the plan and now: what is to go must still be ours. */
const stillOurs = ({ sink, skill, plan, folder }: Work, path: string): void => {
  const owned = plan.owned.get(path);
  const look = lookAt(join(folder, path), owned?.longest ?? 0);
  if (look.kind === 'missing' || (look.kind === 'file' && owned?.digests.has(look.sha256) === true)) return;
  stop(problem('context/changed-meanwhile', { subject: shownIn(sink, skill.name, path) }));
};

const remove = (work: Work, path: string): void => {
  stillOurs(work, path);
  work.step(`remove ${path}`);
  try {
    unlinkSync(join(work.folder, path));
  } catch (error) {
    if (errnoOf(error) !== 'ENOENT') throw error;
  }
};

/** Steps 3 and 4. */
const change = async (work: Work, staged: Staged): Promise<void> => {
  const { sink, skill, plan, folder, step, turn } = work;
  const whole = [...sink.segments, skill.name];
  const others = plan.drops.length > 0 || plan.writes.length > 1;
  const entry = plan.writes.find(({ file }) => file.path === entryFile);
  if (others && entry?.replaces === true) remove(work, entryFile);
  for (const path of plan.drops) {
    await turn();
    remove(work, path);
  }
  removeEmpty(
    folder,
    foldersOf(plan.drops).filter((path) => work.made.has(path)),
  );
  const written = plan.writes.filter((write) => write !== entry);
  for (const path of foldersOf(plan.writes.map(({ file }) => file.path))) {
    step(`folder ${path}`);
    const made = makeBelow(sink.root, [...whole, ...path.split('/')]);
    if (!made.ok) stop(made.problem);
  }
  const put = ({ file, replaces }: Plan['writes'][number]): void => {
    const target = join(folder, file.path);
    if (replaces) stillOurs(work, file.path);
    else if (kindAt(target) === 'folder') rmdirSync(target);
    else if (kindAt(target) !== 'missing')
      stop(problem('context/changed-meanwhile', { subject: shownIn(sink, skill.name, file.path) }));
    step(`place ${file.path}`);
    renameSync(staged.temps.get(file.path) ?? '', target);
  };
  for (const write of written) {
    await turn();
    put(write);
  }
  // Looked at once more before the folder becomes a skill, and its own place after that.
  for (const path of foldersOf(plan.writes.map(({ file }) => file.path))) {
    const stray = strayBelow(sink.root, [...whole, ...path.split('/')]);
    if (stray !== undefined) stop(stray);
  }
  if (entry !== undefined) put(entry);
  const stray = strayBelow(sink.root, whole);
  if (stray !== undefined) stop(stray);
};

const intentOf = (skill: SkillSource, { writes, drops, record, present }: Plan): string | undefined => {
  if (writes.length + drops.length === 0) return undefined;
  const { bundle, revision } = record ?? skill;
  return recordText({ bundle, revision, files: present, pending: skill });
};

/** Places a skill as planned, or says why not (`context/source-changed`, `context/write-failed`, `paths/…`). */
export const carryOut = async (
  sink: Sink,
  skill: SkillSource,
  plan: Plan,
  memory: PlacedMemory,
  step: OnStep,
  turn: () => Promise<void> | undefined,
): Promise<Result<undefined>> => {
  const folder = join(sink.root, ...sink.segments, skill.name);
  const own = [...sink.segments, skill.name].join('/');
  const intent = intentOf(skill, plan);
  const final = recordText(skill);
  const made: string[] = [];
  try {
    const missing = ['', ...foldersOf(plan.writes.map(({ file }) => file.path))].flatMap((path) =>
      missingFolders(sink.root, [own, ...(path === '' ? [] : path.split('/'))]),
    );
    const before = plan.remembered?.made.filter((path) => isFolder(join(sink.root, path))) ?? [];
    const folders = [...new Set([...before, ...missing])].sort();
    const remembered: Remembered = { bundle: skill.bundle, markers: [markerOf(final)], made: folders };
    const coming = [...(plan.remembered?.markers ?? []), markerOf(final)];
    const markers = [...new Set(intent === undefined ? coming : [...coming, markerOf(intent)])];
    memory.set(skill.name, { ...remembered, markers });
    const inside = new Set(folders.map((path) => path.slice(own.length + 1)));
    const work: Work = { sink, skill, plan, folder, intent, final, made: inside, step, turn };
    step('folder');
    const ready = makeBelow(sink.root, [...sink.segments, skill.name]);
    if (!ready.ok) return ready;
    for (const name of plan.temps) {
      step('clean');
      unlinkSync(join(folder, name));
    }
    const staged = await stage(work, made);
    if (staged.intent !== undefined) {
      step('intent');
      renameSync(staged.intent, join(folder, recordName));
      await change(work, staged);
    }
    step('final');
    renameSync(staged.final, join(folder, recordName));
    memory.set(skill.name, remembered);
    step('done');
    return ok(undefined);
  } catch (error) {
    for (const path of made) ignore(() => unlinkSync(path));
    ignore(() => {
      rmdirSync(folder);
      memory.set(skill.name, undefined);
    });
    // An error of the system has a code and a message too.
    if (!(error instanceof Error) && isProblem(error)) return failed(error);
    const subject = shownIn(sink, skill.name);
    return failed(problem('context/write-failed', { subject, evidence: errnoOf(error) }));
  }
};
