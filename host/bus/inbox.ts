/**
 * The messages that wait for one component, with a bound for whoever can be refused. Messages of one flow (what one
 * agent printed and all that followed from it, one request of a client) stay in their order; flows take turns, so
 * that an agent that floods holds up nobody but itself.
 */
import type { Problem } from '../problems/index.ts';
import type { Message } from '../sandbox/index.ts';

/** Text that may wait, UTF-16 units. The number of messages is a limit of policy. */
export const inboxUnits = 32 * 1024 * 1024;
/** From here on a source of station messages is paused; below, it goes on. */
export const busyMessages = 512;
/** A flow with fewer messages than this is let in although others fill the inbox. */
export const fairMessages = 32;
/** So many more messages than flows: somebody has a backlog. */
const backlog = 8;
/** Text of one batch, UTF-16 units: a batch is cut here, though never below one message. */
const batchUnits = 1024 * 1024;

export type Fate =
  | { readonly ok: true; readonly reply: string }
  | { readonly ok: false; readonly problem: Problem };

export interface Envelope {
  readonly message: Message;
  /** What it belongs to; what follows from it belongs to the same. */
  readonly flow: string;
  /** A command's shape is checked on its reply; absent on events and station messages. */
  readonly command: boolean;
  readonly onFate?: (fate: Fate) => void;
  /** Set when a batch it was in trapped: it runs alone. */
  readonly alone?: boolean;
}

export interface Inbox {
  readonly size: () => number;
  /** Whether several flows wait, one of them at least with more than a turn's worth. */
  readonly isShared: () => boolean;
  readonly sizeOf: (flow: string) => number;
  /** Whether as many messages as may, with those that are coming, or as much text as may, waits. */
  readonly isFull: (most: number, coming?: number) => boolean;
  readonly add: (envelope: Envelope) => void;
  /** Puts back at the front, in their order. */
  readonly putBack: (envelopes: readonly Envelope[]) => void;
  /**
   * The next batch: one message when it must run alone; at most `ofOne` of a flow while others wait as well. Every other
   * batch is then of those alone that have no more than that: they need not wait for what others have under way with them.
   */
  readonly take: (most: number, ofOne?: number) => readonly Envelope[];
  readonly nextIsAlone: () => boolean;
  readonly clear: () => readonly Envelope[];
}

/** First in, first out, without moving what waits. */
interface Queue {
  items: Envelope[];
  head: number;
}
const queue = (): Queue => ({ items: [], head: 0 });
const length = ({ items, head }: Queue): number => items.length - head;
const drop = (from: Queue): void => {
  from.head += 1;
  if (from.head <= 1_024 || from.head * 2 <= from.items.length) return;
  from.items = from.items.slice(from.head);
  from.head = 0;
};

export const openInbox = (): Inbox => {
  /** What was taken and put back: it comes before everything else. */
  let front = queue();
  /** Flows in the order of their turns: the first is next. */
  const flows = new Map<string, Queue>();
  let count = 0;
  let units = 0;
  let lightWent = false;
  const weight = (envelope: Envelope) => envelope.message.payload.length;

  const next = (): { readonly from: Queue; readonly envelope: Envelope } | undefined => {
    const ahead = front.items[front.head];
    if (ahead !== undefined) return { from: front, envelope: ahead };
    const [from] = flows.values();
    const envelope = from?.items[from.head];
    return from === undefined || envelope === undefined ? undefined : { from, envelope };
  };
  const remove = ({ from, envelope }: { readonly from: Queue; readonly envelope: Envelope }): void => {
    drop(from);
    count -= 1;
    units -= weight(envelope);
    if (from === front) return;
    // Its turn is over: it stands behind the others with what it has left.
    flows.delete(envelope.flow);
    if (length(from) > 0) flows.set(envelope.flow, from);
  };

  const isHeavy = (flow: string, ofOne: number): boolean => {
    const own = flows.get(flow);
    return own !== undefined && length(own) > ofOne;
  };
  /** Puts those with a backlog behind the others, where there are others. */
  const lightFirst = (ofOne: number): boolean => {
    const heavy: [string, Queue][] = [];
    for (const [flow, own] of flows) {
      if (length(own) <= ofOne) {
        for (const [name, waits] of heavy) {
          flows.delete(name);
          flows.set(name, waits);
        }
        return true;
      }
      heavy.push([flow, own]);
    }
    return false;
  };

  return {
    size: () => count,
    isShared: () => flows.size > 1 && count - length(front) - flows.size >= backlog,
    sizeOf: (flow) => {
      const own = flows.get(flow);
      return own === undefined ? 0 : length(own);
    },
    isFull: (most, coming = 0) => count + coming >= most || units >= inboxUnits,
    add: (envelope) => {
      const own = flows.get(envelope.flow) ?? queue();
      own.items.push(envelope);
      flows.set(envelope.flow, own);
      count += 1;
      units += weight(envelope);
    },
    putBack: (envelopes) => {
      front = { items: [...envelopes, ...front.items.slice(front.head)], head: 0 };
      count += envelopes.length;
      for (const envelope of envelopes) units += weight(envelope);
    },
    take: (most, ofOne = most) => {
      const batch: Envelope[] = [];
      const turns = new Map<string, number>();
      const several = flows.size > 1;
      const light = several && ofOne < most && length(front) === 0 && !lightWent && lightFirst(ofOne);
      lightWent = light;
      let taken = 0;
      while (batch.length < most) {
        const found = next();
        if (found === undefined) break;
        const { envelope } = found;
        if (batch.length > 0 && (envelope.alone === true || taken + weight(envelope) > batchUnits)) break;
        if (light && isHeavy(envelope.flow, ofOne)) {
          if (lightFirst(ofOne)) continue;
          break;
        }
        const turn = turns.get(envelope.flow) ?? 0;
        if (several && turn >= ofOne) break;
        turns.set(envelope.flow, turn + 1);
        remove(found);
        batch.push(envelope);
        taken += weight(envelope);
        if (envelope.alone === true) break;
      }
      return batch;
    },
    nextIsAlone: () => next()?.envelope.alone === true,
    clear: () => {
      const all: Envelope[] = [];
      for (let found = next(); found !== undefined; found = next()) {
        remove(found);
        all.push(found.envelope);
      }
      return all;
    },
  };
};
