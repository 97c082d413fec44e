/** Answers onto a connection. */
import type { ServerResponse } from 'node:http';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';

export interface Plain {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: readonly (Buffer | string)[];
}

// One write costs less than the copy for an answer up to this size, bytes.
const joined = 64 * 1024;

export const sendPlain = (response: ServerResponse, { status, headers, parts }: Plain): void => {
  let size = 0;
  for (const part of parts) size += typeof part === 'string' ? Buffer.byteLength(part) : part.length;
  response.writeHead(status, { ...headers, 'content-length': size });
  if (size <= joined) {
    const buffers = parts.map((part) => (typeof part === 'string' ? Buffer.from(part) : part));
    response.end(buffers.length === 1 ? buffers[0] : Buffer.concat(buffers, size));
    return;
  }
  response.cork();
  for (const part of parts) response.write(part);
  response.end();
  response.uncork();
};

/** An error as JSON-RPC has it, for whoever sent no message that could be answered. */
export const sendError = (
  response: ServerResponse,
  status: number,
  code: number,
  message: string,
  headers: Readonly<Record<string, string>> = {},
): void =>
  sendPlain(response, {
    status,
    headers: { 'content-type': 'application/json', ...headers },
    parts: [JSON.stringify({ jsonrpc: '2.0', error: { code, message }, id: null })],
  });

/** A web answer, streamed while the client stays. */
export const sendWeb = async (response: ServerResponse, answer: Response): Promise<void> => {
  const headers = Object.fromEntries([...answer.headers].filter(([name]) => name !== 'connection'));
  const type = answer.headers.get('content-type') ?? '';
  if (answer.body === null || !type.startsWith('text/event-stream')) {
    const bytes = Buffer.from(await answer.arrayBuffer());
    sendPlain(response, { status: answer.status, headers, parts: [bytes] });
    return;
  }
  response.writeHead(answer.status, headers);
  response.flushHeaders();
  try {
    await pipeline(Readable.fromWeb(answer.body as import('node:stream/web').ReadableStream), response);
  } catch {
    // The client left, which ends the stream.
  }
};
