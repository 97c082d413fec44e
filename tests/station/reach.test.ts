/** Which session reaches which server, with the real connections; nothing answers at their addresses. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Policy, readPolicy } from '../../host/policy/index.ts';
import { ok } from '../../host/problems/index.ts';
import { openReach } from '../../host/station/reach.ts';
import { nowhere, openUndialled } from './undialled.ts';

const base = {
  agents: { one: { program: 'claude' }, two: { program: 'claude', provider: 'other.bundle:agent' } },
  origins: { o: { url: nowhere.url } },
  servers: {
    desk: {
      transport: { type: 'http', origin: 'o' },
      consumers: { sessions: ['one'] },
      exposure: 'gateway',
      tools: ['look'],
    },
    near: { transport: { type: 'http', origin: 'o' }, consumers: { sessions: ['one'] }, exposure: 'direct' },
    skills: { transport: { type: 'station' }, consumers: { sessions: ['one'] }, exposure: 'gateway' },
  },
  mcpServers: { 'For All': nowhere },
};
const keeper = 'bearpunch.sessions:sessions';

const desk = async (t: TestContext, more: { readonly mostSessions?: number } = {}) => {
  const { dir, connections } = await openUndialled(t);
  let text = JSON.stringify(base);
  let gateways = 0;
  let changes = 0;
  const policy = (): Policy => readPolicy(Buffer.from(text), 'policy.jsonc');
  const reach = openReach({
    policy,
    connections,
    home: dir,
    ...more,
    changed: () => {
      changes += 1;
    },
    gateway: async () => {
      gateways += 1;
      return ok((alias: string) => ({ url: `http://gate/${alias}`, command: 'shim', args: [alias] }));
    },
  });
  const ask = (
    session: string,
    agent: string,
    more: { cwd?: string; mcpConfig?: string } = {},
    who = keeper,
  ) => reach.serversFor(who, { session, agent, cwd: more.cwd ?? dir, mcpConfig: more.mcpConfig ?? null });
  const names = (session: string) => reach.servers(session).map(({ original }) => original);
  return {
    dir,
    reach,
    connections,
    ask,
    names,
    gateways: () => gateways,
    changes: () => changes,
    write: (value: unknown) => {
      text = typeof value === 'string' ? value : JSON.stringify(value);
    },
    keys: () => reach.entries().map(({ key }) => key),
  };
};

test('an agent reaches what names it as consumer, what is for all, and the station itself; the record has their names', async (t) => {
  const { ask, names, reach } = await desk(t);
  const found = await ask('s-1', 'one');
  assert.ok(found.ok);
  assert.deepEqual(
    found.value.offered.map(({ name, transport }) => [name, transport.type]),
    [
      ['desk', 'gateway'],
      ['near', 'http'],
      ['skills', 'gateway'],
      [names('s-1')[1] === 'For All' ? reach.servers('s-1')[1]?.alias : '', 'gateway'],
    ],
  );
  assert.deepEqual(names('s-1'), ['desk', 'For All', 'skills']);
  assert.deepEqual(reach.servers('s-1')[0]?.tools, ['look']);
  await ask('s-2', 'two');
  assert.deepEqual(names('s-2'), ['For All']);
  assert.deepEqual(names('s-unknown'), []);
});

test('what policy takes away is gone at the next look, and a policy that cannot be read leaves nothing', async (t) => {
  const { ask, names, write, keys, dir } = await desk(t);
  writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: { own: nowhere } }));
  await ask('s-1', 'one', { mcpConfig: join(dir, 'mcp.json') });
  assert.ok(names('s-1').includes('desk'));
  write({ ...base, servers: {} });
  assert.deepEqual(names('s-1'), ['For All', 'own']);
  assert.deepEqual(keys(), ['policy/For All', 'session:s-1/own']);
  write('{');
  assert.deepEqual(names('s-1'), []);
});

test('a policy that was changed and changed back leaves no session with a connection that is gone', async (t) => {
  const { ask, reach, connections, write } = await desk(t);
  await ask('s-1', 'one');
  const found = () => reach.servers('s-1').find(({ original }) => original === 'For All')?.upstream;
  const before = found();
  for (const between of ['{ broken', { ...base, mcpServers: {} }]) {
    write(between);
    reach.reconcile();
    write(base);
    const after = found();
    assert.ok(after !== undefined && after !== before);
    assert.equal(after, connections.get('policy/For All'));
  }
});

test('whoever looks first after policy changed, what its servers hold secret is known', async (t) => {
  const { ask, reach, changes, write } = await desk(t);
  await ask('s-1', 'one');
  const before = changes();
  write({
    ...base,
    mcpServers: { ...base.mcpServers, more: { ...nowhere, headers: { 'X-Key': 'abcdef' } } },
  });
  reach.servers('s-1');
  assert.equal(changes(), before + 1);
  reach.reconcile();
  assert.equal(changes(), before + 1);
});

test('only who asked first may ask again for a session, and only the provider has its agent let in', async (t) => {
  const { ask, reach } = await desk(t);
  await ask('s-1', 'one');
  const stolen = await ask('s-1', 'two', {}, 'evil.bundle:thing');
  assert.equal(stolen.ok ? '' : stolen.problem.code, 'mcp/not-its-session');
  assert.equal(reach.of('s-1')?.agent, 'one');
  assert.equal(reach.provides('bearpunch.adapter:adapter', 's-1'), true);
  assert.equal(reach.provides('other.bundle:agent', 's-1'), false);
  assert.equal(reach.provides('bearpunch.adapter:adapter', 's-2'), false);
  assert.equal((await ask('s-1', 'one')).ok, true);
});

test("a session's own servers and those of a trusted project come with it and go with it", async (t) => {
  const { ask, names, reach, dir, write, keys, connections } = await desk(t);
  const cwd = join(dir, 'repo');
  mkdirSync(join(cwd, '.jupiter'), { recursive: true });
  writeFileSync(
    join(cwd, '.jupiter', 'settings.jsonc'),
    JSON.stringify({ mcpServers: { house: nowhere }, disabledMcpServers: ['desk'] }),
  );
  writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: { own: nowhere, desk: nowhere } }));
  write({ ...base, trustedProjects: [cwd] });
  const found = await ask('s-1', 'one', { cwd, mcpConfig: join(dir, 'mcp.json') });
  assert.ok(found.ok);
  const reasons = new Map(found.value.withheld.map(({ name, rule, reason }) => [`${name} ${rule}`, reason]));
  assert.match(reasons.get('desk servers.desk') ?? '', /disabled by .*settings\.jsonc/);
  assert.ok(
    [...reasons.keys()].some((key) => key.startsWith('desk ') && key.includes('mcp.json')),
    [...reasons.keys()].join(),
  );
  assert.deepEqual(names('s-1').sort(), ['For All', 'desk', 'house', 'own', 'skills']);
  assert.ok(connections.get('session:s-1/own') !== undefined);
  // Another session of another folder has neither, and its desk is not disabled.
  await ask('s-2', 'one');
  assert.deepEqual(names('s-2').sort(), ['For All', 'desk', 'skills']);
  assert.equal(reach.entries().find(({ key }) => key === 'policy/desk')?.disabled, undefined);
  assert.equal(connections.get('policy/desk')?.status().state, 'connecting');
  reach.forget('s-1');
  assert.ok(!keys().some((key) => key.startsWith('session:') || key.startsWith('project:')), keys().join());
  assert.equal(connections.get('session:s-1/own'), undefined);
  assert.deepEqual(names('s-1'), []);
});

test("what is wrong with a project's settings is told with what its sessions are not given", async (t) => {
  const { ask, dir } = await desk(t);
  mkdirSync(join(dir, '.jupiter'));
  writeFileSync(join(dir, '.jupiter', 'settings.jsonc'), '{"mcpServers": {');
  const found = await ask('s-1', 'one');
  assert.ok(found.ok);
  const told = found.value.withheld.find(({ name }) => name.endsWith('settings.jsonc'));
  assert.match(told?.reason ?? '', /settings\.jsonc:1:/);
});

test('the gateway is opened for a session that has something behind it, and for no other', async (t) => {
  const { ask, gateways, write } = await desk(t);
  write({ ...base, servers: { near: base.servers.near }, mcpServers: {} });
  await ask('s-1', 'one');
  assert.equal(gateways(), 0);
  write(base);
  await ask('s-2', 'one');
  assert.equal(gateways(), 1);
});

test('a component that fills what it may have takes no room of another one, and leaves none behind', async (t) => {
  const { ask, names, reach, dir, keys } = await desk(t, { mostSessions: 5 });
  const greedy = 'greedy.bundle:one';
  writeFileSync(join(dir, 'mcp.json'), JSON.stringify({ mcpServers: { own: nowhere } }));
  for (let n = 0; n < 5; n += 1)
    await ask(`g-${n}`, 'two', n === 0 ? { mcpConfig: join(dir, 'mcp.json') } : {}, greedy);
  const over = await ask('g-5', 'two', {}, greedy);
  assert.equal(over.ok ? '' : over.problem.code, 'mcp/too-many-sessions');
  assert.ok((await ask('g-1', 'two', {}, greedy)).ok, 'one it has may be asked for again');
  assert.ok((await ask('s-1', 'one')).ok);
  reach.forget('g-1');
  assert.ok((await ask('g-5', 'two', {}, greedy)).ok, 'one that is over makes room');
  assert.ok(keys().includes('session:g-0/own'));
  reach.departed(greedy);
  reach.departed(keeper);
  assert.deepEqual(names('g-2'), []);
  assert.ok(!keys().some((key) => key.startsWith('session:')));
  assert.ok(names('s-1').length > 0, 'what Sessions keeps is taken up again');
  assert.ok((await ask('g-2', 'two', {}, greedy)).ok);
});
