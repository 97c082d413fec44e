/**
 * The conformance suite of the protocol against the gateway, in front of a server that has everything the suite asks
 * for: nothing fails there that does not fail at the server alone. And what nobody here wrote, through the gateway with
 * the official client.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, request, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { decide, type Gateway, openGateway, serverAlias } from '../../host/mcp/index.ts';
import { address, openDialled, program } from '../mcp/dialled.ts';
import { modernClient, olderClient } from '../mcp/gateway-clients.ts';
import { rules } from '../mcp/gateway-desk.ts';
import { everythingHandler } from './everything.ts';
import { installed } from './installed.ts';
import { runSuite } from './suite.ts';

const listening = async (t: TestContext, server: Server): Promise<string> => {
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  t.after(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/mcp`;
};

/** The server by itself. */
const alone = async (t: TestContext): Promise<string> => {
  const handler = everythingHandler();
  t.after(() => handler.close());
  const server = createServer(async (asked, answer) => {
    const parts: Buffer[] = [];
    for await (const part of asked) parts.push(part as Buffer);
    const headers = Object.entries(asked.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const body = asked.method === 'POST' ? { body: Buffer.concat(parts) } : {};
    const found = await handler.fetch(
      new Request(`http://127.0.0.1${asked.url}`, { method: asked.method ?? 'GET', headers, ...body }),
    );
    answer.writeHead(found.status, Object.fromEntries(found.headers));
    for await (const part of found.body ?? []) answer.write(part);
    answer.end();
  });
  return listening(t, server);
};

/** A program, or the server at an address, behind the gateway. */
const behind = async (t: TestContext, at: readonly string[] | string, name = 'everything') => {
  let gateway: Gateway | undefined;
  const desk = await openDialled(t, () => [
    typeof at === 'string' ? address(name, at) : program(name, process.execPath, at),
  ]);
  desk.connections.onChange((one) => gateway?.changed(one));
  const upstream = await desk.connected(name);
  const permissions = rules({ allow: [`mcp__${name}`] });
  const opened = await openGateway({
    server: { name: 'jupiter-station', version: '0.0.0' },
    shim: { command: process.execPath, args: [] },
    onBug: (error) => {
      throw error;
    },
    ports: {
      decide: (_session, wanted) => decide(permissions, wanted),
      servers: () => [{ alias: serverAlias(name), original: name, upstream, elicitation: 'agent' }],
      ask: async () => ({ allow: false, why: 'nobody is there' }),
      record: async () => {},
      observed: () => {},
      inTurn: () => false,
      skills: async () => ({ tools: [], call: async () => ({}) }),
    },
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  gateway = opened.value;
  t.after(opened.value.close);
  const token = gateway.admit('session');
  return { url: gateway.address(serverAlias(name)).url, token };
};

/** Adds the token, which the suite cannot. */
const door = async (t: TestContext, url: string, token: string): Promise<string> => {
  const server = createServer((asked, answer) => {
    const headers = { ...asked.headers, authorization: `Bearer ${token}` };
    const passed = request(url, { method: asked.method ?? 'GET', headers }, (found) => {
      answer.writeHead(found.statusCode ?? 500, found.headers);
      found.pipe(answer);
    });
    passed.on('error', () => answer.destroy());
    answer.on('close', () => passed.destroy());
    asked.pipe(passed);
  });
  return listening(t, server);
};

/** Longest run of all scenarios, ms. */
const suiteMs = 120_000;

/** Failures of every scenario of the revision, as `scenario check`. */
const failuresAt = async (t: TestContext, url: string, version: string) => {
  const { scenarios } = await runSuite(
    t,
    ['server', '--url', url, '--suite', 'all', '--spec-version', version],
    suiteMs,
  );
  const failed = new Set<string>();
  const clean = new Set<string>();
  for (const { folder, checks } of scenarios) {
    const scenario = folder.replace(/^server-/, '').replace(/-\d{4}-.*$/, '');
    const failing = checks.filter(({ status }) => status === 'FAILURE');
    for (const { id } of failing) failed.add(`${scenario} ${id}`);
    if (failing.length === 0) clean.add(scenario);
  }
  return { failed, clean };
};

/** What passes outright, whatever becomes of the server alone. */
const outright = [
  'tools-list',
  'tools-call-simple-text',
  'tools-call-image',
  'tools-call-audio',
  'tools-call-embedded-resource',
  'tools-call-mixed-content',
  'tools-call-error',
  'tools-call-with-progress',
  'resources-list',
  'resources-read-text',
  'resources-read-binary',
  'resources-templates-read',
  'prompts-list',
  'prompts-get-simple',
  'prompts-get-with-args',
  'prompts-get-embedded-resource',
  'prompts-get-with-image',
  'completion-complete',
];
const olderOutright = [
  'server-initialize',
  'ping',
  'logging-set-level',
  'tools-call-with-logging',
  'tools-call-elicitation',
  'tools-call-sampling',
  'resources-subscribe',
  'resources-unsubscribe',
];

for (const [version, wanted] of [
  ['2025-06-18', [...outright, ...olderOutright]],
  ['2025-11-25', [...outright, ...olderOutright, 'dns-rebinding-protection']],
  ['2026-07-28', [...outright, 'dns-rebinding-protection', 'http-header-validation', 'caching']],
] as const) {
  test(`M15: conformance at ${version}: no more failures than the server has alone`, async (t) => {
    const server = await alone(t);
    const one = await failuresAt(t, server, version);
    // What is called by names of its own inside of an answer needs a server of that revision.
    const program = [join(import.meta.dirname, 'everything.ts'), 'stdio'];
    const { url, token } = await behind(t, version === '2026-07-28' ? server : program);
    const other = await failuresAt(t, await door(t, url, token), version);
    const more = [...other.failed].filter((failure) => !one.failed.has(failure));
    assert.deepEqual(more, []);
    assert.deepEqual(
      wanted.filter((scenario) => !other.clean.has(scenario)),
      [],
    );
  });
}

test('server-everything of npm through the gateway: lists, calls, resources, prompts', async (t) => {
  const folder = await installed('@modelcontextprotocol/server-everything', '2026.8.31');
  const { url, token } = await behind(t, [join(folder, 'dist', 'index.js'), 'stdio']);
  for (const client of [await olderClient(t, url, token), await modernClient(t, url, token, 'modern')]) {
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'echo'));
    const echoed = await client.callTool({ name: 'echo', arguments: { message: 'é' } });
    assert.deepEqual(echoed.content, [{ type: 'text', text: 'Echo: é' }]);
    assert.ok((await client.listResources()).resources.length > 0);
    assert.ok((await client.listPrompts()).prompts.length > 0);
  }
});

test('server-filesystem of npm through the gateway: reads and writes where it may', async (t) => {
  const folder = await installed('@modelcontextprotocol/server-filesystem', '2026.8.31');
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-files-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'a.txt'), 'one\ntwo\n');
  const { url, token } = await behind(t, [join(folder, 'dist', 'index.js'), dir], 'Files (here)');
  const client = await modernClient(t, url, token, 'modern');
  const read = await client.callTool({ name: 'read_text_file', arguments: { path: join(dir, 'a.txt') } });
  assert.match(JSON.stringify(read.content), /one\\ntwo/);
  await client.callTool({ name: 'write_file', arguments: { path: join(dir, 'b.txt'), content: 'x' } });
  assert.equal(readFileSync(join(dir, 'b.txt'), 'utf8'), 'x');
});
