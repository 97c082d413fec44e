/**
 * Gives memory back once there is nothing to do. Reading bundles and starting components leaves some 40 MB behind that V8
 * would keep until it needs the room, which an idle station never does (docs/decisions/0032). A collection holds the
 * thread up, so it waits for a while in which the thread was hardly used.
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';

/** How long the thread is watched before each decision, ms. */
const watchMs = 500;
/** The share of that time it may have worked and still be at rest. */
const restfulShare = 0.1;
/** Looks before it is given up: a thread that works that long collects by itself. */
const mostLooks = 120;

export interface Rest {
  /** Does what somebody waits for, on this thread or another, and has what it left behind given back some time after. */
  readonly after: <T>(work: () => Promise<T>) => Promise<T>;
  /** Nothing is given back any more. */
  readonly close: () => void;
}

export interface RestOptions {
  readonly giveBack: () => void;
  /** The share of the time since it was asked last that this thread worked, 0 to 1. */
  readonly worked?: () => number;
  /** Calls `then` after `ms`; the answer takes it back. */
  readonly later?: (then: () => void, ms: number) => () => void;
}

const utilization = (): (() => number) => {
  let before: EventLoopUtilization | undefined;
  return () => {
    const now = performance.eventLoopUtilization();
    const share = performance.eventLoopUtilization(now, before).utilization;
    before = now;
    return share;
  };
};

const unrefTimer = (then: () => void, ms: number): (() => void) => {
  const timer = setTimeout(then, ms).unref();
  return () => clearTimeout(timer);
};

export const openRest = ({ giveBack, worked = utilization(), later = unrefTimer }: RestOptions): Rest => {
  let cancel = (): void => undefined;
  let closed = false;
  const look = (looks: number): void => {
    cancel();
    if (closed) return;
    cancel = later(() => {
      if (worked() < restfulShare) giveBack();
      else if (looks < mostLooks) look(looks + 1);
    }, watchMs);
  };
  return {
    after: async (work) => {
      cancel();
      try {
        return await work();
      } finally {
        worked();
        look(1);
      }
    },
    close: () => {
      closed = true;
      cancel();
    },
  };
};
