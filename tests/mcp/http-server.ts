/** A server over HTTP without any library: of 2025-06-18, with sessions, and whatever a test makes it do. */
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { TestContext } from 'node:test';

export interface Asked {
  readonly method: string;
  readonly headers: IncomingMessage['headers'];
  readonly message: {
    readonly id?: unknown;
    readonly method?: string;
    readonly params?: Record<string, unknown>;
  };
}
type Handle = (asked: Asked, response: ServerResponse) => boolean;

export interface RawHttp {
  readonly url: string;
  readonly port: number;
  readonly asked: readonly Asked[];
  /** Of MCP, in order. */
  readonly methods: () => readonly string[];
  /** Sessions that exist are forgotten. */
  readonly forget: () => void;
  /** To every stream that is open for what is said unasked. */
  readonly say: (message: object) => void;
  readonly close: () => Promise<void>;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
};

export const json = (
  response: ServerResponse,
  value: unknown,
  headers: Record<string, string> = {},
): void => {
  const text = JSON.stringify(value);
  response.writeHead(200, { 'content-type': 'application/json', ...headers }).end(text);
};

/** `first` may answer anything itself: then it says true. */
export const startRawHttp = async (
  t: TestContext,
  first: Handle = () => false,
  port = 0,
  forgotten = { status: 404, text: 'no such session' },
): Promise<RawHttp> => {
  const asked: Asked[] = [];
  const sessions = new Set<string>();
  const streams = new Set<ServerResponse>();
  let made = 0;
  const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const text = await bodyOf(request);
    const message = text === '' ? {} : (JSON.parse(text) as Asked['message']);
    const one = { method: request.method ?? '', headers: request.headers, message };
    asked.push(one);
    if (first(one, response)) return;
    const session = String(request.headers['mcp-session-id'] ?? '');
    const answer = (result: unknown, headers = {}) =>
      json(response, { jsonrpc: '2.0', id: message.id, result }, headers);
    if (message.method === 'initialize') {
      made += 1;
      sessions.add(`session-${made}`);
      return answer(
        {
          protocolVersion: '2025-06-18',
          capabilities: { tools: { listChanged: true } },
          serverInfo: { name: 'raw-http', version: '1' },
        },
        { 'mcp-session-id': `session-${made}` },
      );
    }
    if (message.method === 'server/discover') {
      response.writeHead(400).end('Bad Request: Server not initialized');
      return;
    }
    if (!sessions.has(session)) {
      response.writeHead(forgotten.status).end(forgotten.text);
      return;
    }
    if (request.method === 'GET') {
      response.writeHead(200, { 'content-type': 'text/event-stream' }).flushHeaders();
      streams.add(response);
      response.on('close', () => streams.delete(response));
      return;
    }
    if (request.method === 'DELETE') {
      sessions.delete(session);
      response.writeHead(200).end();
      return;
    }
    if (message.id === undefined) {
      response.writeHead(202).end();
      return;
    }
    if (message.method === 'tools/list') return answer({ tools: [{ name: 'echo', inputSchema: {} }] });
    return answer({ content: [{ type: 'text', text: `by ${session}` }] });
  };
  const listener: Server = createServer((request, response) => {
    serve(request, response).catch(() => response.destroy());
  });
  await new Promise<void>((ready) => listener.listen(port, '127.0.0.1', ready));
  const address = listener.address() as AddressInfo;
  const close = (): Promise<void> =>
    new Promise((closed) => {
      listener.close(() => closed());
      listener.closeAllConnections();
    });
  t.after(close);
  return {
    url: `http://127.0.0.1:${address.port}/mcp`,
    port: address.port,
    asked,
    methods: () => asked.flatMap(({ message: { method } }) => (method === undefined ? [] : [method])),
    forget: () => sessions.clear(),
    say: (message) => {
      for (const stream of streams) stream.write(`event: message\ndata: ${JSON.stringify(message)}\n\n`);
    },
    close,
  };
};
