/**
 * The standing stream of the revisions before 2026-07-28: a GET that waits for what a server says unasked. This server is
 * without sessions there, so a stream stands for itself, and the one thing it says is that the list changed.
 */

import type { Headers } from './fast.ts';
import { older } from './fast.ts';
import { listeners } from './limits.ts';

export type Listener = (event: { readonly kind: 'resources_list_changed' }) => void;

const one = (value: Headers[string]): string | undefined => (typeof value === 'string' ? value : undefined);

/** Whether a GET asks for such a stream. Before revision 2025-06-18 nothing named the revision. */
export const isListening = (headers: Headers): boolean => {
  const version = headers['mcp-protocol-version'];
  const accepts = one(headers['accept'])?.includes('text/event-stream') === true;
  return accepts && (version === undefined || (typeof version === 'string' && older.has(version)));
};

const changed = Buffer.from(
  `event: message\ndata: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/resources/list_changed' })}\n\n`,
);
const headers = { 'content-type': 'text/event-stream', 'cache-control': 'no-cache, no-transform' };

/** `noted` is called when a stream came or went; 503 where too many stand. */
export const changeStream = (streams: Set<Listener>, gone: AbortSignal, noted: () => void): Response => {
  if (streams.size >= listeners) {
    const error = { code: -32_000, message: `${listeners} streams stand already.` };
    const body = JSON.stringify({ jsonrpc: '2.0', error, id: null });
    return new Response(body, { status: 503, headers: { 'content-type': 'application/json' } });
  }
  let leave = (): boolean => false;
  const body = new ReadableStream<Uint8Array>({
    start: (controller) => {
      const listener: Listener = () => {
        // A client that does not read is told once: one message says all there is to say.
        if ((controller.desiredSize ?? 0) > 0) controller.enqueue(changed);
      };
      leave = () => {
        const stood = streams.delete(listener);
        if (stood) noted();
        return stood;
      };
      streams.add(listener);
      noted();
      gone.addEventListener('abort', () => leave() && controller.close(), { once: true });
    },
    cancel: () => void leave(),
  });
  return new Response(body, { headers });
};
