/**
 * What every HTTP server of the station does alike, whatever it serves: who is let in, where it listens, how a
 * request is read to a bound, how an answer is written.
 */
export {
  type Admission,
  admission,
  bearerOf,
  challenge,
  digest,
  isLocal,
  oneOf,
  type Tokens,
} from './access.ts';
export { type Body, isDeeper, parseBody, readBytes } from './body.ts';
export { listenHere, loopback, serverBounds } from './listen.ts';
export { type Plain, sendError, sendPlain, sendWeb } from './send.ts';
export { newToken, tokenMark } from './token.ts';
