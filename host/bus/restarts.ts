/** When a component that was lost may be started again, and when it is given up. Bookkeeping over given times. */
import { type Problem, problem } from '../problems/index.ts';

const backoffFirstMs = 100;
const backoffLongestMs = 30_000;
/** Failures in a row, without one message handled between them, after which it is parked. */
const failuresToPark = 6;
const hourMs = 3_600_000;

/** Wait so long and start it, or park it. */
export type Verdict = { readonly afterMs: number } | { readonly park: Problem };

export interface Restarts {
  /** It failed by itself: what now. */
  readonly failed: (why: Problem, now: number, mostAnHour: number) => Verdict;
  /** It is replaced because a message of it was rolled back: what now. */
  readonly replaced: (why: Problem, now: number, mostAnHour: number) => Verdict;
  /** It handled something: a failure after this is the first in a row again. */
  readonly worked: () => void;
  /** A person, or a new revision, gives it another chance. */
  readonly reset: () => void;
}

export const openRestarts = (): Restarts => {
  let inARow = 0;
  let starts: number[] = [];
  const start = (why: Problem, now: number, mostAnHour: number, afterMs: number): Verdict => {
    starts = starts.filter((at) => now - at < hourMs);
    if (starts.length >= mostAnHour) {
      const evidence = `${starts.length} in the last hour; ${mostAnHour} are allowed (restartsPerHour); last: ${why.code}`;
      return { park: problem('bus/restart-limit', { evidence }) };
    }
    starts.push(now);
    return { afterMs };
  };
  return {
    failed: (why, now, mostAnHour) => {
      inARow += 1;
      if (inARow >= failuresToPark) return { park: why };
      const afterMs = inARow < 2 ? 0 : Math.min(backoffFirstMs * 2 ** (inARow - 2), backoffLongestMs);
      return start(why, now, mostAnHour, afterMs);
    },
    replaced: (why, now, mostAnHour) => start(why, now, mostAnHour, 0),
    worked: () => {
      inARow = 0;
    },
    reset: () => {
      inARow = 0;
      starts = [];
    },
  };
};
