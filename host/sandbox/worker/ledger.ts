/**
 * The effects of a batch, message by message. `begin` walks forward through the batch; what is asked for before it
 * has named a message belongs to nobody and is refused. Numbers and text of one message are bounded.
 */
import type { ComponentLimits } from '../limits.ts';
import type { Effect, Message } from '../protocol.ts';
import { HostFault } from './arguments.ts';

export interface Ledger {
  readonly open: (messages: readonly Message[]) => void;
  readonly close: () => void;
  readonly begin: (id: string) => void;
  /** ID of the message being handled (`sandbox/effect-outside` where there is none). */
  readonly current: (what: string) => string;
  /** The same, or undefined. */
  readonly known: () => string | undefined;
  readonly add: (effect: Effect, units: number) => void;
  /** Counts text against a message's bound, its outcome for instance. */
  readonly spend: (place: number, units: number) => void;
  readonly effectsOf: (place: number) => readonly Effect[];
  /** The last write of each key in this batch so far; `null` where it was removed. */
  readonly writes: () => ReadonlyMap<string, string | null>;
}

/** `onBegin` hears the place of the message now being handled, for the host to see when it has to stop the guest. */
export const ledger = (limits: ComponentLimits, onBegin: (place: number) => void): Ledger => {
  let batch: readonly Message[] = [];
  let effects: Effect[][] = [];
  let units: number[] = [];
  let writes = new Map<string, string | null>();
  let place = -1;
  let begun = -1;
  const spend = (at: number, count: number): void => {
    const total = (units[at] ?? 0) + count;
    units[at] = total;
    if (total > limits.effectUnits) {
      throw new HostFault(
        'sandbox/effects-limit',
        `more than ${limits.effectUnits} UTF-16 units of text in the effects and outcome of one message (effectUnits)`,
      );
    }
  };
  const inside = (what: string): number => {
    if (place < 0) throw new HostFault('sandbox/effect-outside', what);
    return place;
  };
  return {
    open: (messages) => {
      batch = messages;
      effects = messages.map(() => []);
      units = messages.map(() => 0);
      writes = new Map();
      begun = -1;
      place = messages.length === 1 ? 0 : -1;
      onBegin(place);
    },
    close: () => {
      place = -1;
      batch = [];
    },
    begin: (id) => {
      const found = batch.findIndex((message, index) => index > begun && message.id === id);
      if (found < 0) {
        throw new HostFault(
          'sandbox/host-argument',
          'bus.begin: expected a later message of the batch, each once',
        );
      }
      begun = found;
      place = found;
      onBegin(found);
    },
    current: (what) => batch[inside(what)]?.id ?? '',
    known: () => batch[place]?.id,
    add: (effect, count) => {
      const at = inside(effect.kind);
      const list = effects[at];
      if (list === undefined || list.length >= limits.effects) {
        throw new HostFault(
          'sandbox/effects-limit',
          `more than ${limits.effects} effects in one message (effects)`,
        );
      }
      spend(at, count);
      list.push(effect);
      if (effect.kind === 'put') writes.set(effect.key, effect.value);
      else if (effect.kind === 'remove') writes.set(effect.key, null);
    },
    spend,
    effectsOf: (at) => effects[at] ?? [],
    writes: () => writes,
  };
};
