/**
 * Servers behind the gateway, from outside: a session whose agent reaches them through the station, with a real agent
 * process, real servers and the real command line.
 */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { json, startRawHttp } from '../mcp/http-server.ts';
import {
  type Bench,
  compiled,
  demoAgent,
  everyFile,
  firstPartyGrants,
  followJupiter,
  looked,
  openBench,
  repository,
} from './harness.ts';

const node = process.execPath;
const caller = join(repository, 'tests', 'fixtures', 'agents', 'caller.ts');
const desk = join(repository, 'tests', 'fixtures', 'mcp', 'desk.ts');
const bearer = 'desk-bearer-5f2c81';

interface Session {
  id: string;
  state: string;
  pending: { request: string; title: string; tool?: string }[];
  provisioning: {
    servers: { name: string; decision: string; stage?: string; rule: string; reason?: string }[];
  };
  gate?: { total: number; calls: { server: string; tool: string; decision: string; rule: string }[] };
}
interface Handed {
  name: string;
  type?: string;
  url?: string;
  headers?: { name: string; value: string }[];
  command?: string;
  args?: string[];
  env?: { name: string; value: string }[];
}

const policy = (more: Record<string, unknown> = {}, args: readonly string[] = []) => ({
  grants: firstPartyGrants,
  agents: { caller: { program: 'caller' }, other: { program: 'caller' } },
  programs: {
    caller: { command: node, args: [...compiled, caller, ...args], inherit: ['PATH'], trust: 'full' },
    desk: { command: node, args: [...compiled, desk], inherit: ['DESK_SECRET'], trust: 'full' },
  },
  servers: {
    desk: {
      transport: { type: 'stdio', program: 'desk' },
      consumers: { sessions: ['caller'] },
      exposure: 'gateway',
    },
  },
  ...more,
});

const open = async (
  t: TestContext,
  more: Record<string, unknown> = {},
  options: { readonly env?: Record<string, string>; readonly args?: readonly string[] } = {},
): Promise<Bench> => {
  const bench = openBench(t, { policy: policy(more, options.args), env: options.env ?? {} });
  await bench.ask('up');
  return bench;
};
const create = (bench: Bench, ...more: readonly string[]): Promise<Session> =>
  bench.ask('session', 'create', '--agent', 'caller', '--cwd', bench.workspace, ...more);
const show = (bench: Bench, id: string): Promise<Session> => bench.ask('session', 'show', id);
/** What the agent told of a turn, a line each. */
const say = async (bench: Bench, id: string, ...lines: readonly string[]): Promise<readonly string[]> => {
  const { entries } = await bench.ask<{ entries: { role: string; text: string }[] }>(
    'session',
    'say',
    id,
    lines.join('\n'),
    '--wait',
  );
  return entries.filter(({ role }) => role === 'agent').flatMap(({ text }) => text.trimEnd().split('\n'));
};
const handed = (bench: Bench): Handed[] => JSON.parse(bench.read('handed.json'));
/** Waits until the station says that it is connected: its tools are listed from then on. */
const connected = (bench: Bench, name = 'desk'): Promise<true> =>
  looked(async () => {
    const { servers } = await bench.ask<{ servers: { name: string; status: string }[] }>('mcp', 'list');
    return servers.some((one) => one.name === name && one.status === 'connected') ? true : undefined;
  });
/** The first request in a session's queue, once it is there. */
const pending = async (t: TestContext, bench: Bench, id: string): Promise<Session['pending'][number]> => {
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'session', 'transcript', id, '--follow']);
  await follow.line(({ role, state }) => role === 'permission' && state === 'pending');
  const [first] = (await show(bench, id)).pending;
  assert.ok(first !== undefined);
  return first;
};

const startDesk = async (t: TestContext): Promise<string> => {
  const child = spawn(node, [...compiled, desk, 'http'], {
    env: { PATH: process.env['PATH'] ?? '', DESK_TOKEN: bearer },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once(child.stdout.setEncoding('utf8'), 'data');
  return String(line).trim();
};

test('an agent uses a server that wants a bearer, without ever holding it; the record says what passed', async (t) => {
  const url = await startDesk(t);
  const bench = await open(
    t,
    {
      origins: { desk: { url, bearer: 'DESK_TOKEN' } },
      servers: {
        desk: {
          transport: { type: 'http', origin: 'desk' },
          consumers: { sessions: ['caller'] },
          exposure: 'gateway',
        },
      },
      permissions: { allow: ['mcp__desk__look'] },
    },
    { env: { DESK_TOKEN: bearer } },
  );
  await connected(bench);
  const { id, provisioning } = await create(bench);
  assert.deepEqual(
    provisioning.servers.map(({ name, decision, rule }) => [name, decision, rule]),
    [['desk', 'offered', 'servers.desk.consumers']],
  );
  assert.deepEqual(await say(bench, id, 'call desk look'), ['looked']);
  const [blurted = ''] = await say(bench, id, 'blurt desk');
  assert.equal(blurted.split('[redacted token of a session]').length, 3, blurted);
  const session = await show(bench, id);
  assert.equal(session.provisioning.servers[0]?.stage, 'used');
  assert.deepEqual(session.gate?.calls, [
    {
      at: session.gate?.calls.map((one) => (one as unknown as { at: number }).at)[0],
      server: 'desk',
      tool: 'look',
      decision: 'allowed',
      rule: 'permissions.allow[0] (mcp__desk__look)',
    },
  ]);
  // Neither the bearer nor the session's own token is anywhere but in what the agent was handed.
  const [entry] = handed(bench);
  const token = entry?.headers?.[0]?.value.replace(/^Bearer /, '') ?? '';
  assert.match(token, /^jst_[A-Za-z0-9_-]{43}$/);
  assert.ok(!JSON.stringify(handed(bench)).includes(bearer));
  for (const [path, bytes] of everyFile(bench.home)) {
    assert.ok(!bytes.includes(bearer), path);
    assert.ok(!bytes.includes(token), path);
  }
});

test('M16: what no rule names is asked, whatever the tool says of itself; a person allows or denies it', async (t) => {
  const bench = await open(t);
  await connected(bench);
  const { id } = await create(bench);
  const turn = say(bench, id, 'call desk write');
  const asked = await pending(t, bench, id);
  assert.equal(asked.tool, 'mcp__desk__write');
  await bench.ask('session', 'respond', id, asked.request, '--allow');
  assert.deepEqual(await turn, ['wrote 1']);
  const second = say(bench, id, 'call desk write');
  const again = await pending(t, bench, id);
  await bench.ask('session', 'respond', id, again.request, '--deny');
  const [denied = ''] = await second;
  assert.match(denied, /^error: /);
  assert.deepEqual(
    (await show(bench, id)).gate?.calls.map(({ tool, decision }) => [tool, decision]),
    [
      ['write', 'allowed'],
      ['write', 'denied'],
    ],
  );
});

test('M17, M18: a rule denies, `tools` narrows, and what is not offered cannot be called by any name', async (t) => {
  const bench = await open(t, {
    servers: {
      desk: {
        transport: { type: 'stdio', program: 'desk' },
        consumers: { sessions: ['caller'] },
        exposure: 'gateway',
        tools: ['look', 'write', 'a.b/c d'],
      },
    },
    permissions: { allow: ['mcp__desk'], deny: ['mcp__desk__write'] },
  });
  await connected(bench);
  const { id } = await create(bench);
  const [listed = '', looked, wrote = '', secret = '', mapped] = await say(
    bench,
    id,
    'list desk',
    'call desk look',
    'call desk write',
    'call desk secret',
    'told desk',
  );
  const names = listed.replace('desk has ', '').split(' ');
  assert.deepEqual(names.slice(0, 2), ['look', 'write']);
  assert.match(names[2] ?? '', /^[A-Za-z0-9_-]{1,52}$/);
  assert.equal(names.length, 3);
  assert.equal(looked, 'looked');
  assert.match(wrote, /^error: .*permissions\.deny\[0\]/);
  assert.match(secret, /^(thrown|error): .*secret/);
  assert.equal(mapped, 'desk told 0 times');
  assert.deepEqual(await say(bench, id, `call desk ${names[2]}`), ['odd']);

  // A policy that cannot be read offers nothing, at once.
  bench.policy('{');
  const after = await bench.jupiter('session', 'say', id, 'call desk look', '--wait');
  assert.equal(after.code, 1);
  const direct = await fetchCall(handed(bench)[0], 'look');
  assert.notEqual(direct.status === 200 && direct.text.includes('looked'), true, direct.text);
});

/** A call as the agent's client would send it, with the token it was given. */
const fetchCall = async (entry: Handed | undefined, tool: string, more: Record<string, string> = {}) => {
  const response = await fetch(entry?.url ?? '', {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json, text/event-stream',
      'mcp-protocol-version': '2025-06-18',
      ...Object.fromEntries((entry?.headers ?? []).map(({ name, value }) => [name, value])),
      ...more,
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: { name: tool, arguments: {} },
    }),
  });
  return { status: response.status, text: await response.text() };
};

test('a session that ended can call nothing, and no other token opens its servers', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk'] } });
  await connected(bench);
  const { id } = await create(bench);
  const [entry] = handed(bench);
  assert.equal((await fetchCall(entry, 'look')).status, 200);
  assert.equal((await fetchCall(entry, 'look', { Authorization: `Bearer ${'a'.repeat(43)}` })).status, 401);
  assert.equal(
    (await fetchCall({ ...entry, name: 'x', url: `${entry?.url}?token=x`, headers: [] }, 'look')).status,
    401,
  );
  await bench.ask('session', 'close', id);
  assert.equal((await fetchCall(entry, 'look')).status, 401);
});

test('an agent without HTTP gets a program instead, which serves the same', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk'] } }, { args: ['stdio'] });
  await connected(bench);
  const { id } = await create(bench);
  const [entry] = handed(bench);
  assert.equal(entry?.type, undefined);
  assert.deepEqual(
    entry?.env?.map(({ name }) => name),
    ['JUPITER_GATEWAY_TOKEN'],
  );
  assert.deepEqual(await say(bench, id, 'call desk look'), ['looked']);
  assert.equal((await show(bench, id)).provisioning.servers[0]?.stage, 'used');
});

test('the agent of the demo, tried where no other is installed, reaches a server behind the gateway', async (t) => {
  const bench = await open(t, {
    permissions: { allow: ['mcp__desk'] },
    agents: { caller: { program: 'demo' } },
    programs: {
      ...policy().programs,
      demo: { command: node, args: [demoAgent], inherit: ['PATH'], trust: 'full' },
    },
  });
  await connected(bench);
  const { id } = await create(bench);
  await say(bench, id, 'hello');
  assert.equal((await show(bench, id)).provisioning.servers[0]?.stage, 'used');
});

test('what a server asks of a person becomes a request in the queue, and is filled in from the command line', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk'] } });
  await connected(bench);
  const { id } = await create(bench);
  const turn = say(bench, id, 'call desk form');
  const asked = await pending(t, bench, id);
  assert.match(asked.title, /Which branch\?/);
  const unfit = await bench.jupiter('session', 'respond', id, asked.request, '--allow');
  assert.equal(unfit.code, 1);
  assert.match(unfit.stderr, /branch: string, required: Branch/);
  await bench.ask('session', 'respond', id, asked.request, '--allow', '--content', '{"branch": "main"}');
  assert.deepEqual(await turn, ['form: accept {"branch":"main"}']);
  const second = say(bench, id, 'call desk form');
  const again = await pending(t, bench, id);
  await bench.ask('session', 'respond', id, again.request, '--deny');
  assert.deepEqual(await second, ['form: decline null']);
});

test('M11, M12, M13: a server has what its entry declares and nothing else, and what it gives back is redacted', async (t) => {
  const env = { DESK_SECRET: 'desk-secret-77aa', CANARY: 'canary-1234', OTHER: 'other-5678' };
  const bench = await open(
    t,
    {
      mcpServers: {
        'Plain Desk (local)': {
          command: node,
          args: [...compiled, desk],
          // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
          env: { DESK_SECRET: '${DESK_SECRET}', LITERAL: 'literal-secret-99' },
        },
        // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
        unset: { command: node, args: [...compiled, desk], env: { DESK_SECRET: '${NOWHERE_SET}' } },
      },
      permissions: { allow: ['mcp__Plain Desk (local)', 'mcp__desk'] },
    },
    { env },
  );
  await connected(bench, 'Plain Desk (local)');
  const { id, provisioning } = await create(bench);
  const alias = provisioning.servers.find(({ rule }) => rule.includes('Plain Desk'))?.name ?? '';
  assert.match(alias, /^[A-Za-z0-9_-]{1,24}$/);
  const [names = '', told = ''] = await say(bench, id, `call ${alias} env`, `call ${alias} secret`);
  assert.ok(names.split(' ').includes('DESK_SECRET') && names.split(' ').includes('LITERAL'), names);
  assert.ok(!names.includes('CANARY') && !names.includes('OTHER'), names);
  assert.match(told, /the secret is \[redacted DESK_SECRET\]/);
  const list = await bench.jupiter('mcp', 'list');
  assert.match(list.stdout, /unset.*failed:.*NOWHERE_SET/s);
  const shown = await bench.jupiter('policy', 'show');
  assert.ok(!shown.stdout.includes('literal-secret-99'), shown.stdout);
  for (const [path, bytes] of everyFile(bench.home))
    if (!path.endsWith('policy.jsonc'))
      for (const value of ['desk-secret-77aa', 'literal-secret-99']) assert.ok(!bytes.includes(value), path);
});

test('M13: a password that went out inside of `Basic` is told in no error, log, record or list', async (t) => {
  const password = 'open-sesame-4711';
  const known = `Basic ${Buffer.from(`me:${password}`).toString('base64')}`;
  let isUp = false;
  const server = await startRawHttp(t, ({ message, headers }, response) => {
    const told = `${password} of ${headers.authorization === known ? 'the right one' : 'another'}`;
    if (!isUp) response.writeHead(500).end(told);
    else if (message.method !== 'tools/call') return false;
    else
      json(response, { jsonrpc: '2.0', id: message.id, error: { code: -32_000, message: told, data: told } });
    return true;
  });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
  const headers = { Authorization: 'Basic ${DESK_BASIC}' };
  const bench = await open(
    t,
    {
      mcpServers: { told: { type: 'http', url: server.url, headers } },
      permissions: { allow: ['mcp__told'] },
    },
    { env: { DESK_BASIC: known.replace('Basic ', '') } },
  );
  const shown: string[] = [];
  const run = async (...args: readonly string[]): Promise<string> => {
    const { stdout, stderr } = await bench.jupiter(...args);
    shown.push(stdout, stderr);
    return stdout + stderr;
  };
  await looked(async () => (/failed/.test(await run('mcp', 'list')) ? true : undefined));
  assert.match(await run('--json', 'mcp', 'list'), /\[redacted DESK_BASIC\] of the right one/);
  isUp = true;
  await run('mcp', 'reconnect', 'told');
  await connected(bench, 'told');
  assert.match(await run('mcp', 'call', 'told', 'echo'), /\[redacted DESK_BASIC\] of the right one/);
  const { id } = await create(bench);
  const [answer = ''] = await say(bench, id, 'call told echo');
  assert.match(answer, /\[redacted DESK_BASIC\] of the right one/);
  shown.push(await run('session', 'show', id), await run('session', 'transcript', id));
  assert.ok(!shown.join('').includes(password), shown.join(''));
  for (const [path, bytes] of everyFile(bench.home)) assert.ok(!bytes.includes(password), path);
});

test('M14: a file of servers for one session, and what is wrong with it is told before there is one', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__extra'] } });
  const file = bench.file(
    'mcp.json',
    `{ // a comment
      "mcpServers": {
        "extra": { "command": ${JSON.stringify(node)}, "args": [${JSON.stringify(desk)}], },
        "bad": { "command": "x", "headers": {} },
        "desk": { "command": "x" },
      },
      "other": 1
    }`,
  );
  const session = await create(bench, '--mcp-config', file);
  const servers = new Map(session.provisioning.servers.map((one) => [one.name, one]));
  assert.equal(servers.get('extra')?.decision, 'offered');
  assert.equal(servers.get('bad')?.decision, 'withheld');
  assert.match(servers.get('bad')?.reason ?? '', /headers/);
  await connected(bench, 'extra');
  assert.deepEqual(await say(bench, session.id, 'call extra look'), ['looked']);
  // It is this session's alone, and goes with it.
  const other = await create(bench);
  assert.equal(
    other.provisioning.servers.find(({ name }) => name === 'extra'),
    undefined,
  );
  await bench.ask('session', 'close', session.id);
  const { servers: left } = await bench.ask<{ servers: { name: string }[] }>('mcp', 'list');
  assert.ok(!left.some(({ name }) => name === 'extra'));

  for (const [name, text, expected] of [
    ['missing.json', undefined, /missing\.json/],
    ['nokey.json', '{"servers": {}}', /mcpServers/],
  ] as const) {
    const path = join(bench.workspace, name);
    if (text !== undefined) writeFileSync(path, text);
    const refused = await bench.jupiter(
      'session',
      'create',
      '--agent',
      'caller',
      '--cwd',
      bench.workspace,
      '--mcp-config',
      path,
    );
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, expected);
  }
  const { sessions } = await bench.ask<{ sessions: unknown[] }>('session', 'list');
  assert.equal(sessions.length, 2);
});

test("a project's servers are started only where policy trusts its folder", async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__house'] } });
  mkdirSync(join(bench.workspace, '.jupiter'));
  bench.file(
    '.jupiter/settings.jsonc',
    JSON.stringify({ mcpServers: { house: { command: node, args: [...compiled, desk] } } }),
  );
  const before = await create(bench);
  const house = before.provisioning.servers.find(({ name }) => name === 'house');
  assert.equal(house?.decision, 'withheld');
  assert.match(house?.reason ?? '', /trust/);
  await bench.ask('policy', 'set', 'trustedProjects', JSON.stringify([bench.workspace]));
  const after = await create(bench);
  assert.equal(after.provisioning.servers.find(({ name }) => name === 'house')?.decision, 'offered');
  await connected(bench, 'house');
  assert.deepEqual(await say(bench, after.id, 'call house look'), ['looked']);
});

test("the station's own server: the tool Skill, by rules over its names", async (t) => {
  const bench = await open(t, {
    servers: {
      skills: { transport: { type: 'station' }, consumers: { sessions: ['caller'] }, exposure: 'gateway' },
    },
    permissions: { allow: ['Skill(deploy)'], deny: ['Skill(secret)'] },
  });
  for (const name of ['deploy', 'secret', 'other'])
    bench.file(
      `.jupiter/skills/${name}/SKILL.md`,
      `---\nname: ${name}\ndescription: What ${name} does.\n---\nDo ${name} to $1.\n`,
    );
  const { id } = await create(bench);
  const [deploy, denied = '', unknown = ''] = await say(
    bench,
    id,
    'call skills Skill {"name": "deploy", "arguments": "staging"}',
    'call skills Skill {"name": "secret"}',
  );
  assert.equal(deploy, 'Do deploy to staging.');
  assert.match(denied, /^error: /);
  assert.equal(unknown, '');
  const turn = say(bench, id, 'call skills Skill {"name": "other"}');
  const asked = await pending(t, bench, id);
  assert.match(`${asked.title} ${asked.tool}`, /other/);
  await bench.ask('session', 'respond', id, asked.request, '--allow');
  assert.match((await turn)[0] ?? '', /^Do other to/);
});

test('M16: nobody there to answer: the call is denied when the time is over, and the record says by what', async (t) => {
  const bench = await open(t);
  await connected(bench);
  const { id } = await create(bench, '--answer-within', '0.3');
  const [denied = ''] = await say(bench, id, 'call desk write');
  assert.match(denied, /^error: .*nobody answered/);
  const { gate, pending: left } = await show(bench, id);
  assert.deepEqual(
    gate?.calls.map(({ tool, decision }) => [tool, decision]),
    [['write', 'denied']],
  );
  assert.match(gate?.calls[0]?.rule ?? '', /nobody answered/);
  assert.deepEqual(left, []);
});

test('the status is what a call meets: a server that wants to know who calls, and one that a project disabled', async (t) => {
  const url = await startDesk(t);
  const bench = await open(t, {
    mcpServers: { closed: { type: 'http', url } },
    permissions: { allow: ['mcp__closed', 'mcp__house', 'mcp__yard'] },
  });
  await bench.ask('policy', 'set', 'trustedProjects', JSON.stringify([bench.workspace]));
  await bench.ask('policy', 'set', 'disabledMcpServers', '["yard"]');
  mkdirSync(join(bench.workspace, '.jupiter'));
  // Started they would leave a file.
  const starts = (name: string) => ({
    command: node,
    args: ['-e', `require('fs').writeFileSync('${name}-started', '')`],
  });
  bench.file(
    '.jupiter/settings.jsonc',
    JSON.stringify({
      mcpServers: { house: starts('house'), yard: starts('yard') },
      disabledMcpServers: ['house', 'closed'],
    }),
  );
  const list = async () => (await bench.jupiter('mcp', 'list')).stdout;
  await looked(async () => (/closed.*needs authentication/.test(await list()) ? true : undefined));
  const { id, provisioning } = await create(bench);
  const reasons = new Map(
    provisioning.servers.map(({ name, decision, reason }) => [name, `${decision} ${reason}`]),
  );
  assert.match(reasons.get('house') ?? '', /^withheld disabled by .*settings\.jsonc/);
  assert.match(reasons.get('yard') ?? '', /^withheld disabled by policy/);
  const listed = await list();
  for (const name of ['house', 'yard']) {
    assert.match(listed, new RegExp(`${name}.*disabled`));
    const refused = await bench.jupiter('mcp', 'call', name, 'x');
    assert.match(refused.stderr, /evidence: *disabled: disabled by /);
    assert.ok(!existsSync(join(bench.workspace, `${name}-started`)), 'it is never dialled');
  }
  const met = await bench.jupiter('mcp', 'call', 'closed', 'look');
  assert.match(met.stderr, /evidence: *needs authentication\n *fix: /);
  assert.match(
    (await say(bench, id, 'call closed look'))[0] ?? '',
    /^no closed: not handed over|needs authentication/,
  );
});

test('M8, M9: the command line lists, calls, disables, enables and reconnects a server; an unknown one is told the known', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk__look'], deny: ['mcp__desk__secret'] } });
  await connected(bench);
  const tools = await bench.ask<{ tools: { name: string; as: string; decision: string }[] }>(
    'mcp',
    'tools',
    'desk',
  );
  assert.deepEqual(
    tools.tools.slice(0, 3).map(({ name, as, decision }) => [name, as, decision]),
    [
      ['look', 'mcp__desk__look', 'allow'],
      ['write', 'mcp__desk__write', 'ask'],
      ['secret', 'mcp__desk__secret', 'deny'],
    ],
  );
  assert.equal((await bench.jupiter('mcp', 'call', 'desk', 'write')).stdout, 'wrote 1\n');
  const denied = await bench.jupiter('mcp', 'call', 'desk', 'mcp__desk__secret');
  assert.equal(denied.code, 1);
  assert.match(denied.stderr, /mcp\/denied/);
  assert.match((await bench.jupiter('mcp', 'call', 'desk', 'none')).stderr, /mcp\/tool-unknown/);
  assert.match((await bench.jupiter('mcp', 'tools', 'dask')).stderr, /evidence: *desk/);
  // Its first count is gone with the child that kept it.
  for (let times = 0; times < 3; times += 1) await bench.ask('mcp', 'reconnect', 'desk');
  await connected(bench);
  assert.equal((await bench.jupiter('mcp', 'call', 'desk', 'write')).stdout, 'wrote 1\n');

  const { id } = await create(bench);
  const disabled = await bench.ask<{ status: string }>('mcp', 'disable', 'desk');
  assert.equal(disabled.status, 'disabled');
  assert.match(readFileSync(join(bench.home, 'policy.jsonc'), 'utf8'), /disabledMcpServers/);
  const [met = ''] = await say(bench, id, 'call desk look');
  assert.match(met, /^error: .*disabled/);
  const off = await bench.jupiter('mcp', 'call', 'desk', 'look');
  assert.equal(off.code, 1);
  assert.match(off.stderr, /evidence: *disabled: .*\n *fix: .*jupiter mcp enable/);
  const still = await bench.jupiter('mcp', 'reconnect', 'desk');
  assert.equal(still.code, 1);
  assert.match(
    still.stderr,
    /disabled by policy.*\n *fix: .*jupiter mcp enable.*\n *code: *connections\/not-dialled/,
  );
  await bench.ask('mcp', 'enable', 'desk');
  await connected(bench);
  assert.deepEqual(await say(bench, id, 'call desk look'), ['looked']);
});

test('a turn keeps the tools it began with; a change is told when it is over', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk'] } });
  await connected(bench);
  const { id } = await create(bench);
  const [before = '', , during = ''] = await say(bench, id, 'list desk', 'call desk grow', 'list desk');
  assert.ok(!before.includes('grown'));
  assert.equal(during, before);
  for (let grown = false; !grown; ) {
    const { tools } = await bench.ask<{ tools: { name: string }[] }>('mcp', 'tools', 'desk');
    grown = tools.some(({ name }) => name === 'grown');
  }
  const [after = ''] = await say(bench, id, 'list desk', 'call desk grown');
  assert.ok(after.includes('grown'), after);
});

test('after a stop of the station the agent is handed its servers again, with another token', async (t) => {
  const bench = await open(t, { permissions: { allow: ['mcp__desk'] } });
  await connected(bench);
  const { id } = await create(bench);
  await say(bench, id, 'call desk look');
  const [before] = handed(bench);
  await bench.ask('down');
  await bench.ask('up');
  await connected(bench);
  assert.deepEqual(await say(bench, id, 'call desk look'), ['looked']);
  const [after] = handed(bench);
  assert.notEqual(after?.headers?.[0]?.value, before?.headers?.[0]?.value);
});

test('M17: a rule or a server that cannot be read stops the start, with its place', async (t) => {
  const bench = openBench(t, { policy: policy() });
  for (const [section, value, place] of [
    ['permissions', { deny: ['mcp__desk__*'] }, /policy\.jsonc:\d+:\d+: expected "mcp__server"/],
    ['mcpServers', { bad: { command: 'x', url: 'http://h' } }, /policy\.jsonc:\d+:\d+: .*"url"/],
  ] as const) {
    bench.policy(JSON.stringify({ ...policy(), [section]: value }, null, 2));
    const refused = await bench.jupiter('up');
    assert.equal(refused.code, 1);
    assert.match(refused.stderr, place);
    assert.equal((await bench.jupiter('status')).code, 3);
  }
});
