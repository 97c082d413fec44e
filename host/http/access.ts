/**
 * Who is let in. The server listens on the loopback interface only; a page of another site that a browser sends there
 * is known by its Host or Origin, and everybody else by a bearer token. Tokens are compared by their hashes, so that a
 * comparison takes as long for a near miss as for any other.
 */
import { hash, timingSafeEqual } from 'node:crypto';

// A name that another site could point at this machine is none of these.
const own = /^(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;
const ownOrigin = /^https?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])(?::\d{1,5})?$/i;

/** Whether a request was meant for this machine and comes from it, as far as a browser tells. */
export const isLocal = (host: string | undefined, origin: string | undefined): boolean =>
  host !== undefined && own.test(host) && (origin === undefined || ownOrigin.test(origin));

/** Of a header that may come once: the first. */
export const oneOf = (value: string | string[] | undefined): string | undefined =>
  typeof value === 'string' ? value : value?.[0];

export type Tokens = readonly string[] | 'none';
export type Admission = 'in' | 'no-token' | 'wrong-token';

/** SHA-256. */
export const digest = (text: string): Buffer => hash('sha256', text, 'buffer');
const bearer = /^Bearer +([A-Za-z0-9._~+/-]+=*) *$/i;

/** The token of an `Authorization` header, RFC 6750; undefined where it holds none. */
export const bearerOf = (authorization: string): string | undefined => bearer.exec(authorization)?.[1];

/** `tokens` are values; an empty list lets nobody in. */
export const admission = (authorization: string | undefined, tokens: Tokens): Admission => {
  if (tokens === 'none') return 'in';
  if (authorization === undefined) return 'no-token';
  const token = bearerOf(authorization);
  if (token === undefined) return 'wrong-token';
  const given = digest(token);
  let found = false;
  for (const one of tokens) if (timingSafeEqual(given, digest(one))) found = true;
  return found ? 'in' : 'wrong-token';
};

/** The challenge of a 401, RFC 6750. */
export const challenge = (refused: Exclude<Admission, 'in'>): string =>
  refused === 'no-token' ? 'Bearer realm="jupiter"' : 'Bearer realm="jupiter", error="invalid_token"';
