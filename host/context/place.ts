/**
 * Puts installed skills into a workspace. A file that exists is written over only if the marker beside it names it, the
 * home remembers that marker, and the file's bytes still match; a skill with any other file in its way is refused as a whole, before its first file is
 * touched, and the others go on. A second run with nothing changed reads, and writes nothing.
 */
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { collisionKey, kindAt, makeBelow, plainBelow, relativeSegments } from '../paths/index.ts';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { errnoOf, turns } from './bytes.ts';
import type { PlacedMemory, Placement, PlaceSkills, SkillSource } from './edge.ts';
import { lockWaitMs, sweepSink, takeSink } from './lock.ts';
import { planSkill, readRecord, type Sink, skillFault, type Verdict } from './plan.ts';
import { carryOut, missingFolders, type OnStep } from './write.ts';

export interface PlaceOptions {
  /** How long to wait for another placement in the same sink, milliseconds. */
  readonly waitMs?: number;
  readonly onStep?: OnStep;
}

/** The sink of a call, its workspace resolved (`context/sink-invalid`, `context/workspace-missing`). */
export const sinkIn = (cwd: string, sink: string): Result<Sink> => {
  const segments = relativeSegments(sink);
  if (!segments.ok)
    return refuse('context/sink-invalid', {
      subject: sink.slice(0, 200),
      evidence: segments.problem.message,
    });
  try {
    if (!isAbsolute(cwd))
      return refuse('context/workspace-missing', { subject: cwd, evidence: 'not absolute' });
    const root = realpathSync(cwd);
    if (!statSync(root).isDirectory())
      return refuse('context/workspace-missing', { subject: cwd, evidence: 'not a folder' });
    return ok({ root, segments: segments.value });
  } catch (error) {
    return refuse('context/workspace-missing', { subject: cwd, evidence: errnoOf(error) });
  }
};

/** One line for a record or a transcript: what, why, and the code to look up. */
const reasonOf = ({ code, message, subject, evidence }: Problem): string =>
  `${subject === undefined ? '' : `${subject}: `}${message} (${code}${evidence === undefined ? '' : `, ${evidence}`})`;

const placement = (skill: SkillSource, decision: 'placed' | 'unchanged' | Problem): Placement => ({
  bundle: skill.bundle,
  revision: skill.revision,
  name: skill.name,
  decision: typeof decision === 'string' ? decision : 'refused',
  reason: typeof decision === 'string' ? null : reasonOf(decision),
  files: typeof decision === 'string' ? skill.files.length : 0,
});

/** A skill of another server; no bundle ID has a colon. It never comes before one of a bundle. */
const isRemote = ({ bundle }: SkillSource): boolean => bundle.includes(':');

const byBundle = (a: SkillSource, b: SkillSource): number =>
  Number(isRemote(a)) - Number(isRemote(b)) || (a.bundle < b.bundle ? -1 : a.bundle > b.bundle ? 1 : 0);

/** The skills that lose their name to a bundle that sorts before theirs, each with the problem. */
export const nameConflicts = (skills: readonly SkillSource[]): ReadonlyMap<SkillSource, Problem> => {
  const winners = new Map<string, SkillSource>();
  const losers = new Map<SkillSource, Problem>();
  for (const skill of skills.toSorted(byBundle)) {
    const winner = winners.get(collisionKey(skill.name));
    if (winner === undefined) winners.set(collisionKey(skill.name), skill);
    else {
      const evidence = `"${winner.name}" of ${winner.bundle} is placed`;
      losers.set(skill, problem('context/skill-conflict', { subject: skill.name, evidence }));
    }
  }
  return losers;
};

/**
 * A plan made without the lock holds if nothing is to be done. A refusal holds if the record is what it was: whoever
 * places files writes the record first.
 */
const planUnlocked = async (
  sink: Sink,
  skill: SkillSource,
  memory: PlacedMemory,
  turn: () => Promise<void> | undefined,
): Promise<Verdict | undefined> => {
  const folder = join(sink.root, ...sink.segments, skill.name);
  const record = (): string => {
    try {
      const found = readRecord(folder, skill.name);
      return found.ok ? (found.value?.digest ?? '') : found.problem.code;
    } catch (error) {
      return errnoOf(error);
    }
  };
  const before = record();
  const verdict = await planSkill(sink, skill, memory, turn);
  if (verdict.verdict === 'place') return undefined;
  return verdict.verdict === 'unchanged' || before === record() ? verdict : undefined;
};

/** Tries at a sink that somebody who removes the last skill there takes away meanwhile. */
const sinkTries = 3;

/** Makes the sink, and remembers first which folders it made; takes it. */
const takeMade = async (
  sink: Sink,
  memory: PlacedMemory,
  waitMs: number,
  onStep: OnStep,
): Promise<Result<() => void>> => {
  for (let left = sinkTries - 1; ; left -= 1) {
    const missing = missingFolders(sink.root, sink.segments);
    if (missing.length > 0) {
      const known = memory.of('')?.made ?? [];
      memory.set('', { bundle: '', markers: [], made: [...new Set([...known, ...missing])].sort() });
    }
    onStep('sink');
    const made = makeBelow(sink.root, sink.segments);
    if (!made.ok) return made;
    const lock = await takeSink(made.value, waitMs);
    if (lock.ok || left === 0 || kindAt(made.value) !== 'missing') return lock;
  }
};

const placeLocked = async (
  sink: Sink,
  skills: readonly SkillSource[],
  memory: PlacedMemory,
  decide: (skill: SkillSource, decision: 'placed' | 'unchanged' | Problem) => void,
  { waitMs, onStep }: Required<PlaceOptions>,
): Promise<void> => {
  const turn = turns();
  const all = (found: Problem): void => {
    for (const skill of skills)
      decide(skill, { ...found, subject: found.subject ?? sink.segments.join('/') });
  };
  const lock = await takeMade(sink, memory, waitMs, onStep);
  if (!lock.ok) return all(lock.problem);
  try {
    for (const skill of skills) {
      await turn();
      const plan = await planSkill(sink, skill, memory, turn);
      if (plan.verdict === 'unchanged') decide(skill, 'unchanged');
      else if (plan.verdict === 'refused') decide(skill, plan.problem);
      else {
        const done = await carryOut(sink, skill, plan, memory, onStep, turn);
        decide(skill, done.ok ? 'placed' : done.problem);
      }
    }
  } finally {
    lock.value();
  }
};

export const placeSkillsWith =
  ({ waitMs = lockWaitMs, onStep = () => {} }: PlaceOptions): PlaceSkills =>
  async ({ cwd, sink: asked, skills, memory }) => {
    const sink = sinkIn(cwd, asked);
    if (!sink.ok) return sink;
    const decided = new Map<SkillSource, Placement>();
    const decide = (skill: SkillSource, decision: 'placed' | 'unchanged' | Problem): void => {
      decided.set(skill, placement(skill, decision));
    };
    const turn = turns();
    if (plainBelow(sink.value.root, sink.value.segments).ok)
      sweepSink(join(sink.value.root, ...sink.value.segments));
    const conflicts = nameConflicts(skills);
    const open: SkillSource[] = [];
    for (const skill of skills) {
      await turn();
      const fault = skillFault(skill) ?? conflicts.get(skill);
      const verdict: Verdict | undefined =
        fault === undefined
          ? await planUnlocked(sink.value, skill, memory, turn)
          : { verdict: 'refused', problem: fault };
      if (verdict?.verdict === 'refused') decide(skill, verdict.problem);
      else if (verdict?.verdict === 'unchanged') decide(skill, 'unchanged');
      else open.push(skill);
    }
    if (open.length > 0) await placeLocked(sink.value, open, memory, decide, { waitMs, onStep });
    return ok(skills.map((skill) => decided.get(skill)).filter((one) => one !== undefined));
  };

export const placeSkills: PlaceSkills = placeSkillsWith({});
