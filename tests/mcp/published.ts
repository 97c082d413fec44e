/** A folder of skills, published on a port of its own; everything ends with the test. */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { type LeftOut, openChannel, type Sources } from '../../host/mcp/index.ts';
import { openWeb } from '../../host/web/index.ts';

export type Files = Readonly<Record<string, string | Uint8Array>>;
export const serverInfo = { name: 'jupiter-station', version: '0.0.0' };

export const writeFiles = (dir: string, files: Files): void => {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), content);
  }
};

export const skill = (name: string, body = 'Do it.', more = ''): string =>
  `---\nname: ${name}\ndescription: What ${name} is for.\n${more}---\n${body}\n`;

export interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly text: string;
  /** The JSON-RPC message, also out of an event stream. */
  readonly message: {
    readonly id?: unknown;
    readonly result?: Record<string, unknown>;
    readonly error?: { code: number; message: string; data?: unknown };
  };
}

export const meta = {
  'io.modelcontextprotocol/protocolVersion': '2026-07-28',
  'io.modelcontextprotocol/clientInfo': { name: 'test', version: '1' },
  'io.modelcontextprotocol/clientCapabilities': {},
};

export interface Sent {
  readonly body: string | Uint8Array;
  readonly headers: Readonly<Record<string, string>>;
}

export const modernRequest = (
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
): Sent => ({
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params: { ...params, _meta: meta } }),
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': method,
    ...(method === 'resources/read' && typeof params['uri'] === 'string'
      ? { 'mcp-name': params['uri'] }
      : {}),
  },
});

export const olderRequest = (
  method: string,
  params: Record<string, unknown> = {},
  id: unknown = 1,
): Sent => ({
  body: JSON.stringify({ jsonrpc: '2.0', id, method, params }),
  headers: {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    'mcp-protocol-version': '2025-11-25',
  },
});

export const post = (
  port: number,
  { body, headers }: Sent,
  { path = '/v1/mcp', method = 'POST' }: { readonly path?: string; readonly method?: string } = {},
): Promise<Answer> =>
  new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (response) => {
      let text = '';
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part;
      });
      response.on('end', () => {
        const data =
          text
            .split('\n')
            .find((line) => line.startsWith('data: '))
            ?.slice(6) ?? text;
        const message = /^\s*\{/.test(data) ? JSON.parse(data) : {};
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text, message });
      });
      response.on('error', reject);
    });
    sent.on('error', reject);
    sent.end(body);
  });

export interface Desk {
  readonly dir: string;
  readonly port: number;
  readonly left: LeftOut[];
  readonly url: string;
  readonly ask: (method: string, params?: Record<string, unknown>) => Promise<Answer>;
}

export interface DeskOptions {
  readonly tokens?: readonly string[] | 'none' | undefined;
  readonly frontmatter?: 'complete' | 'authored';
  readonly sources?: (dir: string) => Partial<Sources>;
  readonly onlySdk?: boolean;
}

export const openDesk = async (t: TestContext, files: Files, options: DeskOptions = {}): Promise<Desk> => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-channel-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFiles(dir, files);
  const left: LeftOut[] = [];
  const channel = openChannel({
    server: serverInfo,
    sources: () => ({
      bundles: [],
      folders: [dir],
      frontmatter: options.frontmatter ?? 'complete',
      ...options.sources?.(dir),
    }),
    report: (one) => left.push(one),
    onlySdk: options.onlySdk ?? false,
  });
  const tokens = 'tokens' in options ? options.tokens : 'none';
  const web = await openWeb({ port: 0, tokens: () => tokens, channel });
  if (!web.ok) throw new Error(web.problem.message);
  const { port, close } = web.value;
  t.after(async () => {
    await channel.close();
    await close();
  });
  return {
    dir,
    port,
    left,
    url: `http://127.0.0.1:${port}/v1/mcp`,
    ask: (method, params) => post(port, modernRequest(method, params)),
  };
};

export interface ListedSkill {
  readonly uri: string;
  readonly frontmatter: Readonly<Record<string, unknown>>;
  readonly resources: readonly { readonly uri: string; readonly digest: string; readonly size: number }[];
}
/** The entries of a `skills/list` answer. */
export const skillsIn = ({ message }: Answer): readonly ListedSkill[] =>
  (message.result?.['skills'] ?? []) as readonly ListedSkill[];
