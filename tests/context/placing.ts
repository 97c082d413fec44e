/**
 * A process of its own that places or removes, for tests that kill it or run several at once. Takes one JSON
 * argument, waits for a line on its input where `wait` is set, prints the results as JSON.
 */
import { readFileSync } from 'node:fs';
import type { SkillSource } from '../../host/context/index.ts';
import { placeSkillsWith } from '../../host/context/place.ts';
import { removePlacedWith } from '../../host/context/placed.ts';
import { memoryOf } from './fixture.ts';

export interface Job {
  readonly cwd: string;
  readonly sink: string;
  readonly skills?: readonly SkillSource[];
  /** Removes what this bundle placed instead. */
  readonly remove?: string;
}
export interface Placing {
  /** All at once. */
  readonly jobs: readonly Job[];
  /** The process kills itself before this step that changes the disk, counted from 1. */
  readonly killAt?: number;
  readonly wait?: boolean;
  /** The user and group to become, once everything is loaded: who may not even read this checkout. */
  readonly become?: number;
}

const { jobs, killAt, wait, become } = JSON.parse(process.argv[2] ?? '') as Placing;
if (become !== undefined) {
  process.setgroups?.([]);
  process.setgid?.(become);
  process.setuid?.(become);
}
let steps = 0;
const onStep = (): void => {
  steps += 1;
  if (steps === killAt) process.kill(process.pid, 'SIGKILL');
};
if (wait === true) {
  process.stdout.write('ready\n');
  readFileSync(0);
}
const place = placeSkillsWith({ onStep });
const remove = removePlacedWith({ onStep });
const results = await Promise.all(
  jobs.map(({ cwd, sink, skills, remove: bundle }) => {
    const memory = memoryOf(cwd);
    return bundle === undefined
      ? place({ cwd, sink, skills: skills ?? [], memory })
      : remove({ cwd, sink, bundle, memory });
  }),
);
console.log(JSON.stringify(results));
