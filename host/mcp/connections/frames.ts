/**
 * Messages of the protocol out of the lines a program prints. Programs print other things as well: banners, logs,
 * titles for terminals, with and without a line end before the message. A message is found behind any of them; what is
 * none goes to the server's log; one that is cut or broken is told apart, since somebody waits for it.
 */
import type { Json } from './edge.ts';

export type Read =
  | { readonly kind: 'message'; readonly message: Json; readonly before?: string }
  | { readonly kind: 'noise' }
  /** A line over the limit, its middle left out where the NUL is. */
  | { readonly kind: 'too large'; readonly id?: number }
  /** A line that was meant as a message. `id`: of the request it answers, where that can be seen. */
  | { readonly kind: 'broken'; readonly id?: number };

/** Braces that are tried as the beginning of a message. */
const tries = 8;
const version = /"jsonrpc"\s*:\s*"2\.0"/;

const isMessage = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && 'jsonrpc' in value && value.jsonrpc === '2.0';

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
};

/** Beginning and end that are looked at for the number of a message that cannot be read. */
const headUnits = 200;
const tailUnits = 200;
const idIn = (line: string): { readonly id?: number } => {
  const ends = [line.slice(-tailUnits), line.slice(0, headUnits)];
  // At the end it stands behind everything a result may hold, so the last one is that of the message.
  const id =
    /"id"\s*:\s*"?(\d{1,15})"?\s*\}?\s*$/.exec(ends[0] ?? '')?.[1] ??
    /^[^[]*?"id"\s*:\s*"?(\d{1,15})\b/.exec(ends[1] ?? '')?.[1];
  return id === undefined ? {} : { id: Number(id) };
};

/** Lines of no more than this many characters were not cut. */
export const readLine = (line: string, uncut = Number.POSITIVE_INFINITY): Read => {
  if (line.length > uncut && line.includes('\0')) return { kind: 'too large', ...idIn(line) };
  const value = parsed(line);
  if (isMessage(value)) return { kind: 'message', message: value };
  // A line that is JSON but no message is a log; one that never names the protocol is anything else.
  if (value !== undefined || !version.test(line)) return { kind: 'noise' };
  let at = line.indexOf('{', 1);
  for (let tried = 0; at > 0 && tried < tries; tried += 1, at = line.indexOf('{', at + 1)) {
    const behind = parsed(line.slice(at));
    if (isMessage(behind)) return { kind: 'message', message: behind, before: line.slice(0, at) };
  }
  return { kind: 'broken', ...idIn(line) };
};
