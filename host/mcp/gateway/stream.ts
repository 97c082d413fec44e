/** An answer over HTTP: one JSON body, or a stream of events where something has to be told before it. */
import type { ServerResponse } from 'node:http';
import { sendPlain } from '../../http/index.ts';
import type { Json } from '../connections/edge.ts';
import { streamBytes } from './limits.ts';

export interface HttpAnswer {
  readonly send: (message: Json) => void;
  /** A line nobody reads, so that the connection is seen to live. */
  readonly pulse: () => void;
  readonly finish: (status: number, message: Json) => void;
  /** Without a last message. */
  readonly end: () => void;
}

const eventStream = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};

export const openAnswer = (
  response: ServerResponse,
  headers: Readonly<Record<string, string>>,
): HttpAnswer => {
  let isStream = false;
  let isDone = false;
  const write = (text: string): void => {
    if (isDone || response.destroyed) return;
    if (!isStream) {
      isStream = true;
      response.writeHead(200, { ...eventStream, ...headers });
    }
    response.write(text);
    // Whoever does not read is not waited for.
    if (response.writableLength > streamBytes) response.destroy();
  };
  const send = (message: Json): void => write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
  const end = (): void => {
    write('');
    isDone = true;
    response.end();
  };
  return {
    send,
    pulse: () => write(': \n\n'),
    finish: (status, message) => {
      if (isDone || response.destroyed) return;
      if (isStream) {
        isDone = true;
        response.end(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
        return;
      }
      isDone = true;
      sendPlain(response, {
        status,
        headers: { 'content-type': 'application/json', ...headers },
        parts: [JSON.stringify(message)],
      });
    },
    end: () => {
      if (!isDone) end();
    },
  };
};
