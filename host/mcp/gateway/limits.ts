/** Every bound of the gateway; bodies of requests have those of the channel. */

/** Of what an agent sends over a line connection, bytes of one line. */
export { bodyBytes as lineBytes } from '../channel/limits.ts';
/** Connections at one time, of all together. */
export const connections = 4_096;
/** Of one session: an agent that calls a thousand times at once opens as many, and its streams stay open beside them. */
export const connectionsOfSession = 1_280;
/**
 * That have shown no token yet. More than wait to be accepted at a time (511), so that whoever comes among many others is
 * read before it is in the way.
 */
export const strangers = 1_024;
/** Requests of one session that wait for an answer at one time. */
export const running = 1_024;
/** Clients of one session that began with `initialize`; the one that was silent longest makes room. */
export const clients = 64;
/** Streams of one session that listen for changes. */
export const streams = 64;
/** URIs one client may be told the changes of. */
export const subscriptions = 256;
/** How often something is sent to whoever waits, so that nobody on the way gives up, ms. */
export const pulseMs = 10_000;
/** How long an agent may take to answer what a server asks in the middle of a call, ms. */
export const roundMs = 10 * 60_000;
/** Bytes that may wait in a stream whose reader is slow; it ends when there are more. */
export const streamBytes = 16 * 1024 * 1024;
/** Characters of a tool's name that are kept in a record, and of arguments that are shown. */
export const nameCharacters = 200;
export const shownCharacters = 4_000;
