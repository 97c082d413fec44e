/** A session outlives its agent and its station where the agent can take it up; where it cannot, it says why. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { TranscriptEntry } from '../../contracts/transcript.ts';
import {
  type Bench,
  fixtureAgent,
  looked,
  openBench,
  probePolicy,
  processesNaming,
  repository,
} from './harness.ts';

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly attached: boolean;
  readonly reason?: string;
  readonly pending: readonly { readonly request: string }[];
  readonly provisioning: {
    readonly policyRevision: string;
    readonly servers: readonly { readonly decision: string; readonly stage?: string }[];
  };
}
interface Said {
  readonly stopReason?: string;
  readonly state?: string;
  readonly entries: readonly TranscriptEntry[];
}

const marker = `life-test-${process.pid}`;
const modes = ['loads', 'resumes', 'forgets', 'plain', 'hang', 'ask'] as const;
const policy = (consumers: readonly string[] = modes) => {
  const base = probePolicy();
  return {
    ...base,
    agents: Object.fromEntries(modes.map((mode) => [mode, { program: `fixture-${mode}` }])),
    programs: {
      ...base.programs,
      ...Object.fromEntries(
        modes.map((mode) => [
          `fixture-${mode}`,
          {
            command: process.execPath,
            args: [fixtureAgent, mode, '-', marker],
            inherit: ['PATH'],
            trust: 'full',
          },
        ]),
      ),
    },
    servers: { probe: { ...base.servers.probe, consumers: { sessions: [...consumers] } } },
  };
};

const asking = (bench: Bench) => ({
  create: (agent: string) =>
    bench.document<Shown>('session', 'create', '--agent', agent, '--cwd', bench.workspace),
  say: (id: string, text: string) => bench.document<Said>('session', 'say', id, text, '--wait'),
  show: (id: string) => bench.ask<Shown>('session', 'show', id),
  transcript: async (id: string) =>
    (await bench.ask<{ entries: TranscriptEntry[] }>('session', 'transcript', id)).entries,
});
const open = async (t: TestContext) => {
  const bench = openBench(t, { policy: policy() });
  await bench.ask('up');
  return { bench, ...asking(bench) };
};
const of = (role: string, entries: readonly TranscriptEntry[]) =>
  entries.filter((entry) => entry.role === role).map(({ text }) => text);

const stops: Readonly<Record<string, (bench: Bench) => Promise<void>>> = {
  'down and up': async (bench) => void (await bench.ask('down')),
  'kill -9': async (bench) => {
    const { pid } = await bench.ask<{ pid: number }>('status');
    process.kill(pid, 'SIGKILL');
    const end = performance.now() + 15_000;
    while (processesNaming(marker).length > 0) {
      assert.ok(performance.now() < end, 'the watchdog ends the agents');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  },
};
for (const [name, stop] of Object.entries(stops)) {
  test(`C9: after ${name} a session is idle where the agent loads, and nothing replayed is counted twice`, async (t) => {
    const { bench, create, say, show, transcript } = await open(t);
    const agents = await Promise.all(modes.map((mode) => create(mode)));
    const [loads, resumes, forgets, plain, hang] = agents.map(({ id }) => id);
    const told = new Map<string, readonly TranscriptEntry[]>();
    for (const id of [loads, resumes, forgets, plain]) {
      await say(id ?? '', 'first');
      told.set(id ?? '', await transcript(id ?? ''));
    }
    await bench.ask('session', 'say', hang ?? '', 'never ends');
    await stop(bench);
    await bench.ask('up');
    assert.deepEqual(processesNaming(marker), [], 'nothing runs for a session nobody talks to');

    for (const id of [loads, resumes]) {
      const before = await show(id ?? '');
      assert.deepEqual([before.state, before.attached], ['idle', false]);
      const said = await say(id ?? '', 'second');
      assert.deepEqual([said.stopReason, of('agent', said.entries)], ['end_turn', ['1 servers, second']]);
      const entries = await transcript(id ?? '');
      assert.deepEqual(entries.slice(0, told.get(id ?? '')?.length), told.get(id ?? ''));
      assert.deepEqual(of('user', entries), ['first', 'second']);
      assert.deepEqual(of('tool', entries), []);
      const after = await show(id ?? '');
      assert.deepEqual([after.state, after.attached], ['idle', true]);
      assert.equal(after.provisioning.servers[0]?.stage, 'handed-over');
    }
    // It says that it loads, and does not: known when it is tried.
    const tried = await say(forgets ?? '', 'second');
    assert.deepEqual([tried.stopReason, tried.state], ['ended', 'ended']);
    assert.match((await show(forgets ?? '')).reason ?? '', /No such session/);
    const over = await show(plain ?? '');
    assert.equal(over.state, 'ended');
    assert.match(
      over.reason ?? '',
      /stopped while the session was idle, and the agent cannot take it up again/,
    );
    assert.match((await show(hang ?? '')).reason ?? '', /stopped while the session was running/);
  });
}

test('a session is provisioned anew when it is taken up; one that was not is closed without an agent', async (t) => {
  const { bench, create, say, show } = await open(t);
  const session = await create('loads');
  const other = await create('resumes');
  await bench.ask('down');
  bench.policy(JSON.stringify(policy(['resumes'])));
  await bench.ask('up');
  const said = await say(session.id, 'second');
  assert.deepEqual(of('agent', said.entries), ['0 servers, second']);
  const { provisioning } = await show(session.id);
  assert.equal(provisioning.servers[0]?.decision, 'withheld');
  assert.notEqual(provisioning.policyRevision, session.provisioning.policyRevision);
  const closed = await bench.ask<Shown>('session', 'close', other.id);
  assert.equal(closed.state, 'closed');
  const { entries } = await bench.ask<{ entries: TranscriptEntry[] }>('session', 'transcript', other.id);
  assert.equal(entries.at(-1)?.text, 'the session is closed');
});

test('C7: a client that leaves changes nothing, and another one picks up', async (t) => {
  const { bench, create, show, transcript } = await open(t);
  const { id } = await create('ask');
  const client = spawn(
    process.execPath,
    [join(repository, 'bin', 'jupiter.mjs'), '--home', bench.home, 'session', 'say', id, 'go', '--wait'],
    { stdio: 'ignore' },
  );
  const request = await looked(async () => (await show(id)).pending[0]?.request);
  client.kill('SIGKILL');
  await once(client, 'exit');
  assert.equal((await show(id)).state, 'running');
  await bench.ask('session', 'respond', id, request, '--allow');
  await looked(async () => ((await show(id)).state === 'running' ? undefined : true));
  assert.deepEqual(of('agent', await transcript(id)), ['answered once']);
});
