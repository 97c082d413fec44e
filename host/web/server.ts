/**
 * HTTP on the loopback interface. Every request passes the same gates, in this order: Host and Origin, path, token,
 * method, content type, size and shape of the body. Until the last one nothing of what it asks for is done.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import {
  admission,
  challenge,
  isLocal,
  listenHere,
  loopback,
  oneOf,
  parseBody,
  readBytes,
  sendError,
  sendPlain,
  sendWeb,
  serverBounds,
  type Tokens,
} from '../http/index.ts';
import { bodyBytes, bodyDepth, type Channel } from '../mcp/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';

export interface WebOptions {
  /** 0: any free one. */
  readonly port: number;
  /** Values of the tokens that are let in; undefined: nothing is published. */
  readonly tokens: () => Tokens | undefined;
  readonly channel: Channel;
  readonly onBug?: (error: unknown) => void;
}
export interface WebServer {
  readonly port: number;
  /** Ends what is open. */
  readonly close: () => Promise<void>;
}

/** Connections at one time. */
const connections = 256;

const mcpPath = '/v1/mcp';

/** A refused body is not read; the connection ends with the answer. */
const closing = { connection: 'close' };

const serveMcp = async (
  request: IncomingMessage,
  response: ServerResponse,
  { tokens, channel }: WebOptions,
): Promise<void> => {
  const known = tokens();
  if (known === undefined) return sendError(response, 404, -32_000, 'Nothing is published.', closing);
  const admitted = admission(request.headers.authorization, known);
  if (admitted !== 'in') {
    const headers = { ...closing, 'www-authenticate': challenge(admitted) };
    return sendError(response, 401, -32_000, 'A token is needed.', headers);
  }
  const gone = (): AbortSignal => {
    const controller = new AbortController();
    response.once('close', () => controller.abort());
    return controller.signal;
  };
  const stream =
    request.method === 'GET' ? await channel.listen({ headers: request.headers, gone }) : undefined;
  if (stream !== undefined) return sendWeb(response, stream);
  if (request.method !== 'POST') {
    return sendError(response, 405, -32_000, 'Method not allowed.', { ...closing, allow: 'POST' });
  }
  const type = request.headers['content-type']?.split(';')[0]?.trim().toLowerCase();
  if (type !== 'application/json') {
    return sendError(response, 415, -32_000, 'The body must be application/json.', closing);
  }
  const bytes = await readBytes(request, bodyBytes);
  if (bytes === 'gone') return;
  if (bytes === 'too-large') {
    return sendError(response, 413, -32_000, `The body is larger than ${bodyBytes} bytes.`, closing);
  }
  const body = parseBody(bytes, bodyDepth);
  if ('status' in body) return sendError(response, body.status, body.code, body.message);
  const answer = await channel.answer({ headers: request.headers, body: body.value, gone });
  if (answer instanceof Response) await sendWeb(response, answer);
  else sendPlain(response, answer);
};

const serve = async (
  request: IncomingMessage,
  response: ServerResponse,
  options: WebOptions,
): Promise<void> => {
  if (!isLocal(oneOf(request.headers.host), oneOf(request.headers.origin))) {
    return sendError(response, 403, -32_000, 'This Host or Origin is not served.', closing);
  }
  const [path] = (request.url ?? '').split('?');
  if (path === mcpPath) return serveMcp(request, response, options);
  return sendError(response, 404, -32_000, 'Nothing is here.', closing);
};

/** `channel/port` where the port cannot be had. */
export const openWeb = async (options: WebOptions): Promise<Result<WebServer>> => {
  const server = createServer(serverBounds, (request, response) => {
    serve(request, response, options).catch((error: unknown) => {
      options.onBug?.(error);
      if (response.headersSent) response.destroy();
      else sendError(response, 500, -32_603, 'Internal error.', closing);
    });
  });
  server.maxConnections = connections;
  const fault = await listenHere(server, options.port);
  if (fault !== undefined) {
    const evidence = 'code' in fault ? String(fault.code) : fault.message;
    return refuse('channel/port', { subject: `${loopback}:${options.port}`, evidence });
  }
  const { port } = server.address() as AddressInfo;
  return ok({
    port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  });
};
