/**
 * `defineComponent` turns handlers into what a component exports. Messages of a batch run in order; whatever a
 * handler throws becomes the `failed` outcome of its message and the next one runs as if nothing had happened.
 */
import { type JsonText, replyText } from './json.ts';
import { fail, type Problem, problemFrom } from './problems.ts';
import { begin, type Station, stationFor } from './station.ts';
import type { CommandId, EventId, EventOf, FirstParty, ReplyOf, RequestOf } from './topics.ts';

export interface Message<P> {
  readonly id: string;
  readonly topic: string;
  readonly payload: P;
  /** The payload as it came, JSON. */
  readonly text: string;
  /** `bundle:component`, `station`, or `station:<who>`; stamped by the host. */
  readonly source: string;
  /** Milliseconds since 1970, stamped by the host. */
  readonly at: number;
}

/** A command whose reply is `{}` may return nothing. */
type Answer<R> = Record<string, never> extends R ? R | undefined : R;

// biome-ignore lint/suspicious/noConfusingVoidType: a handler that returns nothing is meant
type Nothing = void;

export interface PlatformHandlers<T> {
  /** The station started (or started again): no process of before lives. */
  readonly started?: (message: Message<unknown>, station: Station<T>) => Nothing;
  readonly line?: (
    message: Message<{ readonly process: string; readonly line: string }>,
    station: Station<T>,
  ) => Nothing;
  readonly exited?: (
    message: Message<{
      readonly process: string;
      readonly code?: number | null;
      readonly signal?: string | null;
      readonly reason?: string | null;
    }>,
    station: Station<T>,
  ) => Nothing;
  /** A command that ran for an agent ended. */
  readonly terminalExited?: (
    message: Message<{
      readonly terminal: string;
      readonly code?: number | null;
      readonly signal?: string | null;
    }>,
    station: Station<T>,
  ) => Nothing;
  /** The fate of a command published with a token. */
  readonly reply?: (
    message: Message<{
      readonly to: string;
      readonly topic: string;
      readonly reply?: unknown;
      readonly problem?: Problem;
    }>,
    station: Station<T>,
  ) => Nothing;
  readonly woke?: (message: Message<{ readonly token: string }>, station: Station<T>) => Nothing;
  /**
   * A component that handles this one's commands, or sends it some, left service; what it ran is ended. It may come again.
   * `parked` is the problem it was given up for.
   */
  readonly left?: (
    message: Message<{ readonly component: string; readonly parked?: string }>,
    station: Station<T>,
  ) => Nothing;
}

export interface ComponentSpec<T> {
  /** Commands this component answers. */
  readonly handles?: {
    readonly [K in CommandId<T>]?: (
      message: Message<RequestOf<T, K>>,
      station: Station<T>,
    ) => Answer<ReplyOf<T, K>> | JsonText<ReplyOf<T, K>> | Nothing;
  };
  /** Events it wants to see. */
  readonly subscribes?: {
    readonly [K in EventId<T>]?: (message: Message<EventOf<T, K>>, station: Station<T>) => Nothing;
  };
  readonly platform?: PlatformHandlers<T>;
  /** Drops what is kept in memory: after a failed message it may hold what the store does not. */
  readonly forget?: () => void;
}

interface WireMessage {
  readonly id: string;
  readonly topic: string;
  readonly payload: string;
  readonly source: string;
  readonly at: number;
}
type WireOutcome =
  | { readonly tag: 'done' }
  | { readonly tag: 'replied'; readonly val: string }
  | { readonly tag: 'failed'; readonly val: Problem };
export interface Component {
  readonly handle: (batch: readonly WireMessage[]) => WireOutcome[];
}

type Handler<T> = (message: Message<never>, station: Station<T>) => unknown;
const platformTopics = {
  started: 'station.started',
  line: 'station.process.line',
  exited: 'station.process.exited',
  terminalExited: 'station.terminal.exited',
  reply: 'station.reply',
  woke: 'station.woke',
  left: 'station.left',
} as const satisfies Record<keyof PlatformHandlers<unknown>, string>;
const done: WireOutcome = { tag: 'done' };
const ignore = (): undefined => undefined;

export const defineComponent = <T = FirstParty>(spec: ComponentSpec<T>): Component => {
  const commands = new Map<string, Handler<T>>(Object.entries(spec.handles ?? {}));
  const events = new Map<string, Handler<T>>(Object.entries(spec.subscribes ?? {}));
  for (const [name, topic] of Object.entries(platformTopics)) {
    events.set(topic, (spec.platform?.[name as keyof typeof platformTopics] ?? ignore) as Handler<T>);
  }
  let last = true;
  const station = stationFor<T>(() => last);

  const run = (message: WireMessage): WireOutcome => {
    const command = commands.get(message.topic);
    const handler = command ?? events.get(message.topic);
    if (handler === undefined) {
      // A platform topic of a later release is nothing this component asked for.
      if (message.topic.startsWith('station.')) return done;
      return fail('component/topic-unhandled', 'The component has no handler for this topic.', {
        subject: message.topic,
      });
    }
    const { id, topic, payload: text, source, at } = message;
    const answer = handler({ id, topic, payload: JSON.parse(text) as never, text, source, at }, station);
    return command === undefined ? done : { tag: 'replied', val: replyText(answer) };
  };

  return {
    handle: (batch) => {
      const lastIndex = new Map<string, number>();
      batch.forEach((message, index) => {
        lastIndex.set(message.topic, index);
      });
      return batch.map((message, index): WireOutcome => {
        try {
          begin(message.id);
          last = lastIndex.get(message.topic) === index;
          return run(message);
        } catch (thrown) {
          try {
            spec.forget?.();
          } catch {
            // What the author's own clean-up threw changes nothing for the message.
          }
          return { tag: 'failed', val: problemFrom(thrown) };
        }
      });
    },
  };
};
