/** A server of the official SDK over HTTP that speaks 2026-07-28 alone. */
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import type { TestContext } from 'node:test';
import {
  createMcpHandler,
  fromJsonSchema,
  InMemoryServerEventBus,
  inputRequired,
  McpServer,
} from '@modelcontextprotocol/server';
import { z } from 'zod';

export interface Modern {
  readonly url: string;
  /** When somebody listens to changes. */
  readonly subscribed: Promise<void>;
  /** One more tool, told to who listens. */
  readonly add: (tool: string) => void;
}

const bodyOf = async (request: IncomingMessage): Promise<string> => {
  let text = '';
  for await (const part of request.setEncoding('utf8')) text += part;
  return text;
};

export const startModern = async (t: TestContext): Promise<Modern> => {
  const added: string[] = [];
  const bus = new InMemoryServerEventBus();
  const subscribed = Promise.withResolvers<void>();
  const server = (headers: Headers | undefined): McpServer => {
    const made = new McpServer(
      { name: 'modern', version: '2.0.0' },
      { capabilities: { tools: { listChanged: true } } },
    );
    const say = (text: string) => ({ content: [{ type: 'text' as const, text }] });
    made.registerTool('echo', { inputSchema: z.object({}) }, () => say('hi'));
    made.registerTool('asks', { inputSchema: z.object({}) }, (_args, ctx) => {
      const answer = ctx.mcpReq.inputResponses?.['who'] as { action: string; content?: unknown } | undefined;
      if (answer !== undefined) return say(`${answer.action} ${JSON.stringify(answer.content)}`);
      return inputRequired({
        inputRequests: {
          who: inputRequired.elicit({
            message: 'Who?',
            requestedSchema: {
              type: 'object',
              properties: { name: { type: 'string' }, size: { type: 'integer', default: 7 } },
            },
          }),
        },
      });
    });
    const marked = {
      type: 'object' as const,
      properties: {
        region: { type: 'string', 'x-mcp-header': 'Region' },
        size: { type: 'integer', 'x-mcp-header': 'Size' },
      },
    };
    made.registerTool('marked', { inputSchema: fromJsonSchema(marked) }, () =>
      say(`${headers?.get('mcp-param-region')} ${headers?.get('mcp-param-size')}`),
    );
    for (const name of added) made.registerTool(name, { inputSchema: z.object({}) }, () => say(name));
    return made;
  };
  const handler = createMcpHandler(({ requestInfo }) => server(requestInfo?.headers), {
    bus,
    legacy: 'reject',
  });
  const listener = createServer(async (request, response) => {
    const body = await bodyOf(request);
    const headers = new Headers();
    for (const [name, value] of Object.entries(request.headers)) headers.set(name, String(value));
    const method = request.method ?? 'GET';
    const url = `http://${request.headers.host}${request.url}`;
    const answer = await handler.fetch(
      new Request(url, { method, headers, ...(method === 'POST' ? { body } : {}) }),
    );
    response.writeHead(answer.status, Object.fromEntries(answer.headers));
    if (answer.body === null) response.end();
    else {
      response.flushHeaders();
      Readable.fromWeb(answer.body as never).pipe(response);
    }
    if (body.includes('"subscriptions/listen"')) subscribed.resolve();
  });
  await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
  t.after(
    () =>
      new Promise<void>((closed) => {
        listener.close(() => closed());
        listener.closeAllConnections();
      }),
  );
  return {
    url: `http://127.0.0.1:${(listener.address() as AddressInfo).port}/mcp`,
    subscribed: subscribed.promise,
    add: (tool) => {
      added.push(tool);
      handler.notify.toolsChanged();
    },
  };
};
