/** Clients of the gateway: the official ones of both generations, and bare requests. */
import type { TestContext } from 'node:test';
import {
  Client as ModernClient,
  StreamableHTTPClientTransport as ModernHttp,
} from '@modelcontextprotocol/client';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderHttp } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { type Answer, meta, post } from './published.ts';

const bearer = (token: string) => ({ requestInit: { headers: { authorization: `Bearer ${token}` } } });

export const olderClient = async (
  t: TestContext,
  url: string,
  token: string,
  capabilities: Record<string, unknown> = {},
): Promise<OlderClient> => {
  const client = new OlderClient({ name: 'v1', version: '1' }, { capabilities });
  await client.connect(new OlderHttp(new URL(url), bearer(token)) as never);
  t.after(() => client.close());
  return client;
};

export const modernClient = async (
  t: TestContext,
  url: string,
  token: string,
  mode: 'modern' | 'legacy',
  capabilities: Record<string, unknown> = {},
): Promise<ModernClient> => {
  const client = new ModernClient({ name: 'v2', version: '1' }, {
    capabilities,
    versionNegotiation: { mode: mode === 'modern' ? 'auto' : 'legacy' },
  } as never);
  await client.connect(new ModernHttp(new URL(url), bearer(token)));
  t.after(() => client.close());
  return client;
};

export interface Asked {
  readonly method: string;
  readonly params?: Record<string, unknown>;
  readonly id?: unknown;
  readonly era?: 'modern' | 'older';
  readonly headers?: Record<string, string>;
  readonly meta?: Record<string, unknown>;
}

/** One bare request, with all that its revision wants. */
export const ask = (url: string, token: string, asked: Asked): Promise<Answer> => {
  const { method, params = {}, era = 'modern', headers = {} } = asked;
  // A notification has none.
  const id = 'id' in asked ? asked.id : 1;
  const { port, pathname } = new URL(url);
  const name = params['name'] ?? params['uri'];
  const modern = era === 'modern';
  const sent = modern ? { ...params, _meta: { ...meta, ...asked.meta } } : params;
  return post(
    Number(port),
    {
      body: JSON.stringify({ jsonrpc: '2.0', id, method, params: sent }),
      headers: {
        'content-type': 'application/json',
        accept: 'application/json, text/event-stream',
        authorization: `Bearer ${token}`,
        ...(modern
          ? {
              'mcp-protocol-version': '2026-07-28',
              'mcp-method': method,
              ...(typeof name === 'string' ? { 'mcp-name': name } : {}),
            }
          : {}),
        ...headers,
      },
    },
    { path: pathname },
  );
};
