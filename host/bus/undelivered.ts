/**
 * Batches whose writes the disk has not confirmed yet. Nothing they ask for is done before, and what a component asks
 * for is done in the order of its batches: one that wrote nothing still waits for those of its own before it, and for
 * nobody else's.
 */
export interface Undelivered<L> {
  /** `hearers` are the lanes its events go to, each as often as it gets one. Undefined: done at once. */
  readonly hold: (
    owner: string,
    hearers: () => readonly L[],
    wrote: boolean,
    carryOut: () => void,
  ) => Promise<void> | undefined;
  /** Events on their way to a lane. */
  readonly comingTo: (lane: L) => number;
}

export const openUndelivered = <L>(durable: (then: () => void) => void): Undelivered<L> => {
  /** Batches that wait, by owner. */
  const waiting = new Map<string, number>();
  const coming = new Map<L, number>();
  const count = <K>(counts: Map<K, number>, key: K, by: number): void => {
    const now = (counts.get(key) ?? 0) + by;
    if (now === 0) counts.delete(key);
    else counts.set(key, now);
  };
  return {
    hold: (owner, hearers, wrote, carryOut) => {
      if (!wrote && !waiting.has(owner)) {
        carryOut();
        return undefined;
      }
      count(waiting, owner, 1);
      const lanes = hearers();
      for (const lane of lanes) count(coming, lane, 1);
      return new Promise((resolve) =>
        durable(() => {
          count(waiting, owner, -1);
          for (const lane of lanes) count(coming, lane, -1);
          carryOut();
          resolve();
        }),
      );
    },
    comingTo: (lane) => coming.get(lane) ?? 0,
  };
};
