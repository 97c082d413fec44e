/** One request as it leaves, and what may become of it on the way. */
import type { Json } from '../json.ts';
import type { Answered, RequestOptions } from './edge.ts';

/** The server has no session of this name any more: nothing was done, the request may be sent again. */
export const forgotten = Symbol('session forgotten');
export type Outcome = Answered | typeof forgotten;

export interface Sent {
  readonly id: number;
  readonly signal: AbortSignal;
}
export interface Wire {
  /** `failed` at most once, when what was sent did not reach the server or its answer cannot come. */
  readonly send: (message: Json, sent: Sent | undefined, failed: (why: Outcome) => void) => void;
  /** 2026-07-28 and later: nothing is asked outside of an answer, and each request says who calls. */
  readonly modern: boolean;
  /** A request is cancelled by ending its stream; otherwise by a notification. */
  readonly ownStreams: boolean;
  /** `_meta` of every request and notification. */
  readonly envelope?: (asks: boolean, what?: Json) => Json;
  /** Of the server: the subject of its problems. */
  readonly name: string;
}

export const withMeta = (params: Json, meta: Json): Json => ({
  ...params,
  _meta: { ...meta, ...(params['_meta'] as Json | undefined) },
});

/** The params of a call under this number: its progress token, the envelope, and `extra` of a further round. */
export const leavingParams = (
  wire: Pick<Wire, 'envelope'>,
  id: number,
  { params: given, options }: { readonly params: Json; readonly options: RequestOptions },
  extra: Json = {},
): Json => {
  let params = given;
  const wants = options.onProgress !== undefined;
  const meta = params['_meta'] as Json | undefined;
  if (wants || meta?.['progressToken'] !== undefined) {
    // Somebody else's token means nothing here, and could be taken for one of ours.
    const { progressToken: _theirs, ...rest } = meta ?? {};
    params = { ...params, _meta: wants ? { ...rest, progressToken: id } : rest };
  }
  if (wire.envelope !== undefined) {
    const { _meta: own, ...rest } = params;
    const stamp = wire.envelope(options.onAsk !== undefined, options.asks);
    params = { ...rest, _meta: { ...(own as Json), ...stamp } };
  }
  return { ...params, ...extra };
};
