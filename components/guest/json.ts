/** A reply that is JSON text already: sent as it is, so that what a store holds as text need not be parsed. */
const mark = Symbol('json');

/** JSON text of a `T`. The author vouches for it; the station checks the reply against its shape all the same. */
export interface JsonText<T> {
  readonly [mark]: string;
  /** Never there: it only carries the type. */
  readonly as?: T;
}
export const jsonText = <T>(text: string): JsonText<T> => ({ [mark]: text });

/** The text of a `JsonText`, the JSON of anything else; `{}` for nothing. */
export const replyText = (answer: unknown): string =>
  typeof answer === 'object' && answer !== null && mark in answer
    ? (answer as JsonText<unknown>)[mark]
    : JSON.stringify(answer ?? {});
