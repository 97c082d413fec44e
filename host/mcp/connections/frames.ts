/**
 * Messages of the protocol out of the lines a program prints. Programs print other things as well: banners, logs,
 * titles for terminals, with and without a line end before the message. A message is found behind any of them; what is
 * none goes to the server's log; one that is cut or broken is told apart, since somebody waits for it.
 */
import type { Json } from './edge.ts';

export type Read =
  | { readonly kind: 'message'; readonly message: Json; readonly before?: string }
  | { readonly kind: 'noise' }
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

export const readLine = (line: string): Read => {
  const value = parsed(line);
  if (isMessage(value)) return { kind: 'message', message: value };
  // A line that is JSON but no message is a log; one that never names the protocol is anything else.
  if (value !== undefined || !version.test(line)) return { kind: 'noise' };
  let at = line.indexOf('{', 1);
  for (let tried = 0; at > 0 && tried < tries; tried += 1, at = line.indexOf('{', at + 1)) {
    const behind = parsed(line.slice(at));
    if (isMessage(behind)) return { kind: 'message', message: behind, before: line.slice(0, at) };
  }
  const id = /"id"\s*:\s*"?(\d{1,15})\b/.exec(line)?.[1];
  return { kind: 'broken', ...(id === undefined ? {} : { id: Number(id) }) };
};
