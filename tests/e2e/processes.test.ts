import assert from 'node:assert/strict';
import test from 'node:test';
import { type Bench, fixtureAgent, looked, openBench, probePolicy, processesNaming } from './harness.ts';

interface Session {
  id: string;
  state: string;
  reason?: string;
}

/** Bounded wait for a condition the operating system alone knows. */
const until = async (condition: () => boolean, what: string): Promise<void> => {
  const end = performance.now() + 15_000;
  while (!condition()) {
    assert.ok(performance.now() < end, what);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

let markers = 0;
const benchWith = (t: test.TestContext, ...mode: string[]): { bench: Bench; marker: string } => {
  markers += 1;
  const marker = `processes-test-${process.pid}-${markers}`;
  const policy = probePolicy();
  const bench = openBench(t, {
    policy: {
      ...policy,
      programs: {
        ...policy.programs,
        'claude-acp': {
          command: process.execPath,
          args: [fixtureAgent, ...mode, marker],
          inherit: ['PATH'],
          trust: 'full',
        },
      },
    },
  });
  return { bench, marker };
};
const create = (bench: Bench) =>
  bench.document<Session>('session', 'create', '--agent', 'listed', '--cwd', bench.workspace);

test('C6: an agent that ignores SIGTERM and has a grandchild is gone after close', async (t) => {
  const { bench, marker } = benchWith(t, 'stubborn', '-');
  await bench.ask('up');
  const session = await create(bench);
  assert.ok(processesNaming(marker).length >= 2, 'agent and grandchild run');
  const closed = await bench.ask<Session>('session', 'close', session.id);
  assert.equal(closed.state, 'closed');
  await until(() => processesNaming(marker).length === 0, 'the whole group is gone after close');
});

test('C6: … after down', async (t) => {
  const { bench, marker } = benchWith(t, 'stubborn', '-');
  await bench.ask('up');
  await create(bench);
  assert.ok(processesNaming(marker).length >= 2);
  await bench.ask('down');
  assert.deepEqual(processesNaming(marker), []);
});

test('C6: … after the station itself is killed', async (t) => {
  const { bench, marker } = benchWith(t, 'stubborn', '-');
  await bench.ask('up');
  await create(bench);
  assert.ok(processesNaming(marker).length >= 2);
  const { pid } = await bench.ask<{ pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  await until(() => processesNaming(marker).length === 0, 'the watchdog ends the group');
});

test('C5: an agent killed in mid-turn ends the turn and the session in a named state', async (t) => {
  const { bench, marker } = benchWith(t, 'killed', '-');
  await bench.ask('up');
  const session = await create(bench);
  const said = await bench.jupiter('--json', 'session', 'say', session.id, 'go', '--wait');
  const after = await bench.ask<Session>('session', 'show', session.id);
  assert.equal(after.state, 'ended', said.stdout);
  assert.equal(said.code, 1, 'the turn failed');
  assert.notEqual(after.reason ?? '', '');
  await until(() => processesNaming(marker).length === 0, 'no process is left');
});

test('C15: a program that is not there: the message names the alias and the PATH searched', async (t) => {
  const policy = probePolicy();
  const bench = openBench(t, {
    policy: {
      ...policy,
      programs: { ...policy.programs, 'claude-acp': { command: 'no-such-agent-here', trust: 'full' } },
    },
  });
  await bench.ask('up');
  const session = await create(bench);
  assert.equal(session.state, 'ended');
  assert.match(session.reason ?? '', /claude-acp/);
  const { entries } = await bench.ask<{ entries: { text: string }[] }>('session', 'transcript', session.id);
  const text = entries.map((entry) => entry.text).join('\n');
  assert.match(text, /claude-acp/);
  assert.equal(text.split(process.env['PATH'] ?? '?').length, 2, `the PATH once: ${text}`);
});

test('cancel ends a turn; a permission is answered by its ID', async (t) => {
  const { bench } = benchWith(t, 'ask', '-');
  await bench.ask('up');
  const session = await create(bench);
  const turn = bench.jupiter('--json', 'session', 'say', session.id, 'ask me', '--wait');
  interface Shown {
    state: string;
    pending: { request: string; at: number; title: string }[];
  }
  const pending = () =>
    looked(async () => (await bench.ask<Shown>('session', 'show', session.id)).pending[0]);
  const request = await pending();
  assert.equal(typeof request.at, 'number');
  const unknown = await bench.jupiter(
    '--json',
    'session',
    'respond',
    session.id,
    'no-such-request',
    '--allow',
  );
  assert.equal(unknown.code, 1);
  await bench.ask('session', 'respond', session.id, request.request, '--allow');
  assert.equal((await turn).code, 0);

  const second = bench.jupiter('--json', 'session', 'say', session.id, 'ask me again', '--wait');
  await pending();
  await bench.ask('session', 'cancel', session.id);
  await second;
  const after = await bench.ask<Shown>('session', 'show', session.id);
  assert.equal(after.state, 'idle');
  assert.deepEqual(after.pending, []);
});
