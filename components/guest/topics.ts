/**
 * The first-party topics as types. Only types are imported: zod never enters a guest. An author with topics of
 * their own writes the same map by hand, `{ 'acme.notes.add': { request: …; reply: … } }`, or uses `TopicsOf`.
 */
import type { output, ZodType } from 'zod';
import type { agents, sessions } from '../../contracts/topics/index.ts';

export type CommandShape = { readonly request: unknown; readonly reply: unknown };
export type EventShape = { readonly event: unknown };
export type TopicMap = Readonly<Record<string, CommandShape | EventShape>>;

type Shape<T> = T extends {
  readonly kind: 'command';
  readonly request: infer Q extends ZodType;
  readonly reply: infer R extends ZodType;
}
  ? { readonly request: output<Q>; readonly reply: output<R> }
  : T extends { readonly kind: 'event'; readonly event: infer E extends ZodType }
    ? { readonly event: output<E> }
    : never;

/** The map of a module that exports topics made with `command` and `event`. */
export type TopicsOf<Room> = {
  readonly [K in keyof Room as Room[K] extends { readonly kind: string; readonly id: infer Id extends string }
    ? Id
    : never]: Shape<Room[K]>;
};

export type FirstParty = TopicsOf<typeof agents> & TopicsOf<typeof sessions>;

export type CommandId<T> = {
  [K in keyof T]: T[K] extends CommandShape ? K : never;
}[keyof T] &
  string;
export type EventId<T> = {
  [K in keyof T]: T[K] extends EventShape ? K : never;
}[keyof T] &
  string;
export type TopicId<T> = CommandId<T> | EventId<T>;

export type RequestOf<T, K extends keyof T> = T[K] extends CommandShape ? T[K]['request'] : never;
export type ReplyOf<T, K extends keyof T> = T[K] extends CommandShape ? T[K]['reply'] : never;
export type EventOf<T, K extends keyof T> = T[K] extends EventShape ? T[K]['event'] : never;
/** What a publisher of a topic sends: a command's request or the event. */
export type PayloadOf<T, K extends keyof T> = T[K] extends CommandShape
  ? T[K]['request']
  : T[K] extends EventShape
    ? T[K]['event']
    : never;
