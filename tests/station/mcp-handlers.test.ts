/** `jupiter mcp …` over real connections; nothing answers at their addresses. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { openPolicySource } from '../../host/policy/index.ts';
import { ok } from '../../host/problems/index.ts';
import { mcpHandlers } from '../../host/station/mcp-handlers.ts';
import { openReach } from '../../host/station/reach.ts';
import { nowhere, openUndialled } from './undialled.ts';

const signal = new AbortController().signal;

const desk = async (t: TestContext) => {
  const { dir, connections } = await openUndialled(t);
  const file = join(dir, 'policy.jsonc');
  const write = (value: unknown) => writeFileSync(file, JSON.stringify(value, null, 2));
  const base = {
    agents: { one: { program: 'claude' } },
    mcpServers: { docs: nowhere, 'Odd One': nowhere },
  };
  write(base);
  const policy = openPolicySource(file).current;
  const reach = openReach({
    policy,
    connections,
    home: dir,
    changed: () => {},
    gateway: async () => ok((alias: string) => ({ url: alias, command: 'shim', args: [] })),
  });
  reach.reconcile();
  const handlers = mcpHandlers({
    policy,
    file,
    reach,
    connections,
    log: { add: async () => {}, of: () => ({ total: 0, calls: [] }), flush: () => {} },
    changed: () => void reach.reconcile(),
  });
  const project = (name: string, settings: unknown): string => {
    const folder = join(dir, name);
    mkdirSync(join(folder, '.jupiter'), { recursive: true });
    writeFileSync(join(folder, '.jupiter', 'settings.jsonc'), JSON.stringify(settings));
    return folder;
  };
  const session = (id: string, cwd: string) =>
    reach.serversFor('k', { session: id, agent: 'one', cwd, mcpConfig: null });
  return { base, write, handlers, project, session, text: () => readFileSync(file, 'utf8') };
};
const codeOf = (found: { ok: boolean; problem?: { code: string; evidence?: string } }) =>
  found.ok ? 'ok' : `${found.problem?.code} ${found.problem?.evidence ?? ''}`.trim();

test('a server is named as written or as agents call it; an unknown one is told the known, a shared name its keys', async (t) => {
  const { base, write, handlers, project, session } = await desk(t);
  const listed = await handlers['mcp.list']({}, undefined, signal);
  assert.ok(listed.ok);
  assert.deepEqual(
    listed.value.servers.map(({ name, key }) => [name, key]),
    [
      ['Odd One', 'policy/Odd One'],
      ['docs', 'policy/docs'],
    ],
  );
  const tools = (server: string) => handlers['mcp.tools']({ server }, undefined, signal);
  assert.equal(codeOf(await tools('Odd One')), 'ok');
  assert.match(codeOf(await tools('dogs')), /^mcp\/server-unknown Odd One, docs$/);
  const folders = ['a', 'b'].map((name) => project(name, { mcpServers: { house: nowhere } }));
  write({ ...base, trustedProjects: folders });
  for (const [at, folder] of folders.entries()) await session(`s-${at}`, folder);
  assert.match(codeOf(await tools('house')), /^mcp\/ambiguous project:.*\/a\/house, project:.*\/b\/house$/);
  assert.equal(codeOf(await tools(`project:${folders[0]}/house`)), 'ok');
});

test('disable and enable write policy, one name beside others, and say where it is disabled otherwise', async (t) => {
  const { base, write, handlers, project, session, text } = await desk(t);
  const disable = (server: string) => handlers['mcp.disable']({ server }, undefined, signal);
  const enable = (server: string) => handlers['mcp.enable']({ server }, undefined, signal);
  const first = await disable('docs');
  assert.ok(first.ok && first.value.status === 'disabled');
  assert.equal(codeOf(await disable('docs')), 'ok');
  assert.equal(codeOf(await disable('Odd One')), 'ok');
  assert.deepEqual(JSON.parse(text()).disabledMcpServers, ['docs', 'Odd One']);
  const again = await enable('docs');
  assert.ok(again.ok && again.value.status === 'connecting');
  assert.deepEqual(JSON.parse(text()).disabledMcpServers, ['Odd One']);
  assert.equal(codeOf(await enable('Odd One')), 'ok');
  assert.equal(JSON.parse(text()).disabledMcpServers, undefined);
  const folder = project('a', { mcpServers: { house: nowhere } });
  write(base);
  await session('s-1', folder);
  assert.match(codeOf(await enable('house')), /^mcp\/disabled-elsewhere its project is not trusted/);
  write('{');
  assert.match(codeOf(await disable('docs')), /^policy\//);
});

test('a call of a server that is not connected meets its state, and of one that is disabled the reason', async (t) => {
  const { handlers } = await desk(t);
  const call = (server: string) => handlers['mcp.call']({ server, tool: 'x', args: {} }, undefined, signal);
  assert.match(codeOf(await call('docs')), /^connections\/not-connected/);
  await handlers['mcp.disable']({ server: 'docs' }, undefined, signal);
  assert.match(codeOf(await call('docs')), /disabled/);
});

test('a server that is disabled is not dialled again: the answer says why, and what helps', async (t) => {
  const { handlers } = await desk(t);
  const reconnect = (server: string) => handlers['mcp.reconnect']({ server }, undefined, signal);
  const again = await reconnect('docs');
  assert.ok(again.ok && again.value.status === 'connecting');
  await handlers['mcp.disable']({ server: 'docs' }, undefined, signal);
  const off = await reconnect('docs');
  assert.match(codeOf(off), /^connections\/not-dialled disabled: disabled by policy/);
  assert.match(off.ok ? '' : (off.problem.fix ?? ''), /jupiter mcp enable/);
  await handlers['mcp.enable']({ server: 'docs' }, undefined, signal);
  assert.equal(codeOf(await reconnect('docs')), 'ok');
});
