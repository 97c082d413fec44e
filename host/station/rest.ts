/**
 * Gives memory back once there is nothing to do. Reading bundles and starting components leaves some 40 MB behind that V8
 * would keep until it needs the room, which an idle station never does (docs/decisions/0032), and so does heavy traffic:
 * the young generation stays as large as it ever was. A collection holds the
 * thread up, so it waits for a while in which the thread was hardly used.
 */
import { type EventLoopUtilization, performance } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';

/** How long the thread is watched before each decision, ms. */
const watchMs = 500;
/** The share of that time it may have worked and still be at rest. */
const restfulShare = 0.1;
/** Looks before it is given up: a thread that works that long collects by itself. */
const mostLooks = 120;
/** How often the heap is looked at, ms, and by how much it must have grown since it was given back. */
const heapWatchMs = 10_000;
const growthBytes = 32 << 20;

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
  /** What V8 holds for this thread, whatever of it is in use, bytes. */
  readonly held?: () => number;
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

export const openRest = ({
  giveBack,
  worked = utilization(),
  held = () => getHeapStatistics().total_heap_size,
  later = unrefTimer,
}: RestOptions): Rest => {
  let under = 0;
  let heldAfter = held();
  let closed = false;
  let cancelLook = (): void => undefined;
  let cancelWatch = (): void => undefined;
  const look = (looks: number): void => {
    cancelLook();
    if (closed) return;
    cancelLook = later(() => {
      if (worked() >= restfulShare) {
        if (looks < mostLooks) look(looks + 1);
        return;
      }
      giveBack();
      heldAfter = held();
    }, watchMs);
  };
  const lookFromNow = (): void => {
    worked();
    look(1);
  };
  const watch = (): void => {
    cancelWatch = later(() => {
      if (under === 0 && held() - heldAfter > growthBytes) lookFromNow();
      watch();
    }, heapWatchMs);
  };
  watch();
  return {
    after: async (work) => {
      cancelLook();
      under += 1;
      try {
        return await work();
      } finally {
        under -= 1;
        lookFromNow();
      }
    },
    close: () => {
      closed = true;
      cancelLook();
      cancelWatch();
    },
  };
};
