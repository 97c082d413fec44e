/** Events about one session, for whoever waits for its next state or follows its transcript. */
import type { output } from 'zod';
import { sessions } from '../../contracts/topics/index.ts';
import type { Bus } from '../bus/index.ts';

/** Who keeps the sessions: it is asked, and its word on them counts. Another bundle may handle the same topics. */
export const keeper = 'bearpunch.sessions:sessions';

export const isOver = (state: string): boolean => state === 'closed' || state === 'ended';

export type Changed = output<typeof sessions.changed.event>;

export interface Watched {
  /** What was told since the last time; where nothing was, at the next event, after `withinMs` or when aborted. */
  readonly next: (withinMs?: number) => Promise<readonly Changed[]>;
  /** The session it watches, where that is known only now; what was told of it since the watch began is not lost. */
  readonly named: (id: string) => void;
  /** How many rows came since the last reading. */
  readonly came: (rows: number) => void;
  readonly stop: () => void;
}

/**
 * New rows are read together: a reader sees them this much later at most, ms. Where many came since the last reading it
 * is longer: each reading is a command to Sessions, and takes its time from everybody else.
 */
const rowsWaitMs = 1;
const manyRows = 16;
const manyWaitMs = 20;

export const watchSession = (
  bus: Pick<Bus, 'listen'>,
  given: string | undefined,
  signal?: AbortSignal,
): Watched => {
  let id = given;
  let pending: Changed[] = [];
  let wake: (() => void) | undefined;
  let before: Changed | undefined;
  let later: NodeJS.Timeout | undefined;
  let waitMs = rowsWaitMs;
  const stop = bus.listen(sessions.changed.id, (event, teller) => {
    const changed = event as Changed;
    if ((id !== undefined && changed.id !== id) || teller !== keeper) return;
    pending.push(changed);
    const rowsAlone =
      before !== undefined &&
      changed.settled === undefined &&
      changed.state === before.state &&
      changed.pending === before.pending;
    before = changed;
    if (!rowsAlone) return wake?.();
    later ??= setTimeout(() => {
      later = undefined;
      wake?.();
    }, waitMs);
  });
  const onAbort = () => wake?.();
  signal?.addEventListener('abort', onAbort);
  return {
    next: async (withinMs?: number): Promise<readonly Changed[]> => {
      if ((pending.length === 0 || later !== undefined) && signal?.aborted !== true) {
        let late: NodeJS.Timeout | undefined;
        await new Promise<void>((resolve) => {
          wake = resolve;
          if (withinMs !== undefined) late = setTimeout(resolve, withinMs);
        });
        clearTimeout(late);
        wake = undefined;
      }
      const seen = pending;
      pending = [];
      return seen;
    },
    named: (name) => {
      id = name;
      pending = pending.filter((changed) => changed.id === name);
    },
    came: (rows: number) => {
      waitMs = rows > manyRows ? manyWaitMs : rowsWaitMs;
    },
    stop: () => {
      stop();
      clearTimeout(later);
      signal?.removeEventListener('abort', onAbort);
    },
  };
};
