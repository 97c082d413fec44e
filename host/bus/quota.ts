/**
 * What a component may use over many messages: bytes in its store and lines in the log. A message that would pass
 * either is refused whole, like any other whose effects cannot be kept.
 */
import { type Problem, problem } from '../problems/index.ts';
import type { Effect } from '../sandbox/index.ts';
import type { ComponentStore } from '../state/index.ts';
import type { BusComponent } from './edge.ts';

const minuteMs = 60_000;

/** Bytes an entry takes in the store. */
const weight = (key: string, value: string): number => Buffer.byteLength(key) + Buffer.byteLength(value);

export interface StoreQuota {
  /** Why the writes of one message cannot be kept, or undefined; kept ones count for the messages after it. */
  readonly refusalFor: (effects: readonly Effect[]) => Problem | undefined;
}

/**
 * The quota over one batch. Only growth is refused: a component over a quota that was lowered may still remove and
 * shrink. What an entry replaces is looked up only where the batch comes near the bound.
 */
export const storeQuota = (store: ComponentStore, component: BusComponent): StoreQuota => {
  const { name, limits } = component;
  let used: number | undefined;
  /** Bytes of the entries this batch has written so far. */
  const sizes = new Map<string, number>();
  /** Upper bound of what the kept messages add, while nothing had to be looked up. */
  let added = 0;
  const exact = (writes: readonly Effect[], before: number): number => {
    let total = before;
    for (const write of writes) {
      if (write.kind !== 'put' && write.kind !== 'remove') continue;
      const size = write.kind === 'put' ? weight(write.key, write.value) : 0;
      total += size - (sizes.get(write.key) ?? store.sizeOf(name, write.key));
      sizes.set(write.key, size);
    }
    return total;
  };
  let looking = false;
  const keptBefore: Effect[] = [];
  return {
    refusalFor: (effects) => {
      const writes = effects.filter((effect) => effect.kind === 'put' || effect.kind === 'remove');
      if (writes.length === 0) return undefined;
      used ??= store.used(name);
      if (!looking) {
        const grows = writes.reduce(
          (sum, write) => sum + (write.kind === 'put' ? weight(write.key, write.value) : 0),
          0,
        );
        if (used + added + grows <= limits.storeBytes) {
          added += grows;
          keptBefore.push(...writes);
          return undefined;
        }
        looking = true;
        used = exact(keptBefore, used);
      }
      const after = exact(writes, used);
      if (after > limits.storeBytes && after > used) {
        return problem('bus/store-quota', {
          subject: name,
          evidence: `${after} bytes; ${limits.storeBytes} are allowed (storeBytes)`,
        });
      }
      used = after;
      return undefined;
    },
  };
};

export interface LogRate {
  /** Why a message that logs `lines` cannot be kept; a kept one counts. `now` in milliseconds. */
  readonly refusalFor: (component: BusComponent, lines: number, now: number) => Problem | undefined;
  readonly forget: (component: string) => void;
}

/** A bucket for each component that fills evenly and holds one minute's worth. */
export const openLogRate = (): LogRate => {
  const buckets = new Map<string, { left: number; at: number }>();
  return {
    refusalFor: ({ name, limits }, lines, now) => {
      if (lines === 0) return undefined;
      const most = limits.logLinesPerMinute;
      const { left, at } = buckets.get(name) ?? { left: most, at: now };
      const filled = Math.min(most, left + (most * Math.max(0, now - at)) / minuteMs);
      if (lines > filled) {
        buckets.set(name, { left: filled, at: now });
        return problem('bus/log-rate', {
          subject: name,
          evidence: `${lines} more lines; ${most} a minute are allowed (logLinesPerMinute)`,
        });
      }
      buckets.set(name, { left: filled - lines, at: now });
      return undefined;
    },
    forget: (component) => void buckets.delete(component),
  };
};
