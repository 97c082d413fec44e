/** The messages that wait for one component, oldest first, with a bound for whoever can be refused. */
import type { Problem } from '../problems/index.ts';
import type { Message } from '../sandbox/index.ts';

/** Text that may wait, UTF-16 units. The number of messages is a limit of policy. */
export const inboxUnits = 32 * 1024 * 1024;
/** From here on a source of station messages is paused; below, it goes on. */
export const busyMessages = 512;
/** Text of one batch, UTF-16 units: a batch is cut here, though never below one message. */
const batchUnits = 1024 * 1024;

export type Fate =
  | { readonly ok: true; readonly reply: string }
  | { readonly ok: false; readonly problem: Problem };

export interface Envelope {
  readonly message: Message;
  /** A command's shape is checked on its reply; absent on events and station messages. */
  readonly command: boolean;
  readonly onFate?: (fate: Fate) => void;
  /** Set when a batch it was in trapped: it runs alone. */
  readonly alone?: boolean;
}

export interface Inbox {
  readonly size: () => number;
  /** Whether as many messages as may, with those that are coming, or as much text as may, waits. */
  readonly isFull: (most: number, coming?: number) => boolean;
  readonly add: (envelope: Envelope) => void;
  /** Puts back at the front, in their order. */
  readonly putBack: (envelopes: readonly Envelope[]) => void;
  /** The next batch; one message when it must run alone. */
  readonly take: (most: number) => readonly Envelope[];
  readonly nextIsAlone: () => boolean;
  readonly clear: () => readonly Envelope[];
}

export const openInbox = (): Inbox => {
  let waiting: Envelope[] = [];
  let head = 0;
  let units = 0;
  const weight = (envelope: Envelope) => envelope.message.payload.length;
  return {
    size: () => waiting.length - head,
    isFull: (most, coming = 0) => waiting.length - head + coming >= most || units >= inboxUnits,
    add: (envelope) => {
      waiting.push(envelope);
      units += weight(envelope);
    },
    putBack: (envelopes) => {
      waiting = [...envelopes, ...waiting.slice(head)];
      head = 0;
      for (const envelope of envelopes) units += weight(envelope);
    },
    take: (most) => {
      let end = head;
      let taken = 0;
      while (end < waiting.length && end - head < most) {
        const next = waiting[end];
        if (next === undefined) break;
        const first = end === head;
        if (!first && (next.alone === true || taken + weight(next) > batchUnits)) break;
        taken += weight(next);
        end += 1;
        if (next.alone === true) break;
      }
      const batch = waiting.slice(head, end);
      units -= taken;
      head = end;
      if (head > 1_024 && head * 2 > waiting.length) {
        waiting = waiting.slice(head);
        head = 0;
      }
      return batch;
    },
    nextIsAlone: () => waiting[head]?.alone === true,
    clear: () => {
      const all = waiting.slice(head);
      waiting = [];
      head = 0;
      units = 0;
      return all;
    },
  };
};
