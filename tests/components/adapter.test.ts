/** Adapter as a real component, against real agent processes that misbehave one way each. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { buildBundles } from '../../scripts/build-bundles.ts';
import { type MiniStation, startMini } from './mini-station.ts';

const agent = resolve('tests/fixtures/agents/agent.mjs');
const bundles = resolve('dist/bundles');
const adapter = 'bearpunch.adapter:adapter';
const owner = 'station:test';
const probe = { name: 'probe', transport: { type: 'stdio', command: 'node', args: ['probe.ts'] } };
const remote = { name: 'remote', transport: { type: 'http', url: 'http://127.0.0.1:9/mcp' } };

let cwd = '';
const open: MiniStation[] = [];
before(async () => {
  await buildBundles();
  cwd = await mkdtemp(join(tmpdir(), 'jupiter-ws-'));
});
after(async () => {
  for (const station of open) await station.stop();
  await rm(cwd, { recursive: true, force: true });
});

interface Run {
  readonly station: MiniStation;
  /** `topic` without its room, then what matters of it. */
  readonly story: () => string[];
  readonly opened: (servers?: readonly unknown[]) => Promise<void>;
  readonly prompt: (turn: string, text?: string) => void;
  readonly ended: (turn: string) => Promise<Record<string, unknown>>;
  readonly gone: () => Promise<Record<string, unknown>>;
}

const start = async (mode: string, detail = ''): Promise<Run> => {
  const station = await startMini({
    bundles,
    guests: ['adapter'],
    programs: { fixture: [process.execPath, agent, mode, detail] },
    env: { PATH: process.env.PATH ?? '' },
  });
  open.push(station);
  const { until } = station;
  return {
    station,
    story: () =>
      station.seen.map(({ topic, payload }) => {
        const what = topic.replace('bearpunch.agents.', '');
        const { role, text, state, title, turn, stopReason, problem } = payload as Record<string, string> & {
          problem?: { code: string };
        };
        return [what, turn, role, state, title, text || undefined, stopReason, problem?.code]
          .filter((part) => part !== undefined)
          .join(' ');
      }),
    opened: async (servers = []) => {
      station.ask('bearpunch.agents.open.v2', {
        session: 's1',
        agent: 'a',
        program: 'fixture',
        cwd,
        approve: 'manual',
        mcpServers: servers,
      });
      await until(({ topic, payload }) => /\.(opened|failed)$/.test(topic) && payload.turn === undefined);
    },
    prompt: (turn, text = 'hello') => {
      station.ask('bearpunch.agents.prompt', { session: 's1', turn, text });
    },
    ended: async (turn) =>
      (
        await until(
          ({ topic, payload }) =>
            (topic.endsWith('.settled') && payload.turn === turn) || topic.endsWith('.failed'),
        )
      ).payload,
    gone: async () =>
      (
        await until(
          ({ topic, payload }) =>
            topic.endsWith('.closed') || (topic.endsWith('.failed') && payload.turn === undefined),
        )
      ).payload,
  };
};

const whole = async (mode: string, detail = ''): Promise<Run> => {
  const run = await start(mode, detail);
  await run.opened([probe, remote]);
  run.prompt('t1');
  await run.ended('t1');
  return run;
};

test('a turn from open to close; HTTP servers are skipped where the agent did not declare them', async () => {
  const run = await whole('plain');
  run.station.ask('bearpunch.agents.close', { session: 's1' });
  await run.gone();
  assert.deepEqual(run.story(), ['opened', 'update t1 agent hello', 'settled t1 end_turn', 'closed']);
  const [opened] = run.station.seen;
  assert.deepEqual(opened?.payload.handedOver, ['probe']);
  assert.deepEqual(opened?.payload.skipped, [
    { name: 'remote', reason: 'the agent did not declare that it takes HTTP servers' },
  ]);
  const setup = JSON.parse(run.station.written[1] ?? '{}') as { params: unknown };
  assert.deepEqual(setup.params, {
    cwd,
    mcpServers: [{ name: 'probe', command: 'node', args: ['probe.ts'], env: [] }],
  });
  assert.deepEqual([...run.station.guest(adapter).store.keys()], []);
  assert.deepEqual(run.station.faults, []);
});

test('C1: noise goes to the log and nothing is written back because of it', async () => {
  const run = await whole('noise');
  assert.deepEqual(run.story(), ['opened', 'update t1 agent hello', 'settled t1 end_turn']);
  assert.equal(run.station.written.length, 3);
  assert.ok(run.station.logs.some((line) => line.includes('starting up')));
});

test('C2: frames glued behind titles and banners are read', async () => {
  const run = await whole('glued');
  assert.deepEqual(run.story(), ['opened', 'update t1 agent hello', 'settled t1 end_turn']);
});

test('C5: an agent that exits, dies or closes its output in a turn ends the turn at once', async () => {
  for (const mode of ['exit0', 'killed', 'mute']) {
    const run = await whole(mode);
    const { problem } = (await run.gone()) as { problem: { code: string; message: string } };
    assert.equal(problem.code, 'agent/exited');
    assert.match(
      problem.message,
      mode === 'exit0' ? /middle of a turn \(exit code 0\)/ : /middle of a turn \(signal SIGKILL\)/,
    );
    assert.deepEqual(
      run.story().filter((line) => line.startsWith('failed')),
      ['failed agent/exited'],
    );
    assert.deepEqual([...run.station.guest(adapter).store.keys()], [], mode);
  }
});

test('C6: close ends an agent that ignores it', async () => {
  const run = await whole('stubborn');
  run.station.ask('bearpunch.agents.close', { session: 's1' });
  await run.gone();
  assert.equal(run.story().at(-1), 'closed');
});

test('C7: a permission is answered by kind, after a turn it is still asked, for another session denied', async () => {
  for (const [allow, expected] of [
    [true, 'once'],
    [false, 'never'],
  ] as const) {
    const run = await start('ask');
    await run.opened();
    run.prompt('t1');
    const asked = await run.station.until(({ topic }) => topic.endsWith('.permission'));
    assert.equal(asked.payload.title, 'fixture.tool 0');
    assert.throws(
      () => run.station.ask('bearpunch.agents.respond', { session: 's1', request: 'r9', allow }),
      /no such request/,
    );
    run.station.ask('bearpunch.agents.respond', {
      session: 's1',
      request: String(asked.payload.request),
      allow,
    });
    await run.ended('t1');
    assert.ok(run.story().includes(`update t1 agent answered ${expected}`));
  }
  const late = await start('askafter');
  await late.opened();
  late.prompt('t1');
  const asked = await late.station.until(({ topic }) => topic.endsWith('.permission'));
  assert.equal(asked.payload.turn, undefined);
  const other = await whole('askother');
  assert.ok(other.story().includes('update t1 agent answered never'));
  const recorded = await other.station.until(({ topic }) => topic.endsWith('.permission'));
  assert.match(String(recorded.payload.denied), /session it was not given/);
});

test('cancel answers what is pending as cancelled; an agent that ignores it is ended', async () => {
  const run = await start('ask');
  await run.opened();
  run.prompt('t1');
  await run.station.until(({ topic }) => topic.endsWith('.permission'));
  run.station.ask('bearpunch.agents.cancel', { session: 's1' });
  assert.equal((await run.ended('t1')).stopReason, 'cancelled');
  assert.ok(run.station.written.some((line) => line.includes('"outcome":"cancelled"')));

  const hung = await start('hang');
  await hung.opened();
  hung.prompt('t1');
  hung.station.ask('bearpunch.agents.cancel', { session: 's1' });
  const wake = hung.station.wakes.find(({ token }) => token.startsWith('cancel:'));
  assert.equal(wake?.afterMs, 5_000);
  hung.station.inject(adapter, {
    topic: 'station.woke',
    payload: JSON.stringify({ token: wake?.token }),
    source: 'station',
  });
  const { problem } = (await hung.ended('t1')) as { problem: { code: string } };
  assert.equal(problem.code, 'agent/cancel-ignored');
});

test('C8: what an agent leaves out, nulls and invents costs nothing but that', async () => {
  const run = await whole('loose');
  assert.deepEqual(run.story(), [
    'opened',
    'update t1 tool first title',
    'update t1 tool completed',
    'update t1 tool in_progress second title',
    'update t1 note {"sessionUpdate":"invented_kind","value":7}',
    'update t1 agent neighbours kept',
    'settled t1 end_turn',
  ]);
  assert.ok(run.station.written.some((line) => line.includes('-32601')));
  assert.deepEqual(run.station.faults, []);
  const settled = await run.ended('t1');
  assert.equal('usage' in settled, false);
});

test('C11: an agent that wants authentication fails with the methods it offers', async () => {
  const run = await start('auth');
  await run.opened();
  const { problem } = (await run.gone()) as { problem: { code: string; message: string } };
  assert.equal(problem.code, 'agent/auth-required');
  assert.match(problem.message, /API key, Browser login/);
  const later = await whole('auth', 'turn');
  const turn = (await later.ended('t1')) as { turn?: string; problem: { code: string; message: string } };
  assert.deepEqual([turn.turn, turn.problem.code], ['t1', 'agent/auth-required']);
  assert.match(turn.problem.message, /API key, Browser login/);
});

test('C7: what offers no option that allows it is denied at once', async () => {
  const run = await whole('ask', 'refuse');
  const { payload } = await run.station.until(({ topic }) => topic.endsWith('.permission'));
  assert.equal(payload.denied, 'it offered no option that allows it');
  assert.ok(run.story().includes('update t1 agent answered never'));
});

test('C12: a protocol version we do not speak is said with both', async () => {
  const run = await start('version', '9');
  await run.opened();
  const { problem } = (await run.gone()) as { problem: { code: string; message: string } };
  assert.equal(problem.code, 'agent/protocol-mismatch');
  assert.match(problem.message, /version 9 .*version 1/);
});

test('an agent that never answers fails when the watchdog wakes, and says at which step', async () => {
  const waiting = async (mode: string) => {
    const run = await start(mode);
    run.station.ask('bearpunch.agents.open', {
      session: 's1',
      agent: 'a',
      program: 'fixture',
      cwd,
      approve: 'manual',
    });
    assert.deepEqual(run.station.wakes, [{ component: adapter, token: 'handshake:s1', afterMs: 60_000 }]);
    return run;
  };
  const over = async (run: Run) => {
    run.station.inject(adapter, {
      topic: 'station.woke',
      payload: '{"token":"handshake:s1"}',
      source: 'station',
    });
    const { problem } = (await run.gone()) as {
      problem: { code: string; message: string; evidence?: string };
    };
    assert.equal(problem.code, 'agent/handshake-timeout');
    assert.match(problem.message, /initialize/);
    return problem.evidence;
  };
  assert.equal(await over(await waiting('silent')), undefined);
  // C2, C8: one that does answer, but not in the protocol.
  const bare = await waiting('bare');
  const end = performance.now() + 10_000;
  while (!bare.station.logs.some((line) => line.includes('10001'))) {
    assert.ok(performance.now() < end, 'what it printed is logged');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.match((await over(bare)) ?? '', /no frame of JSON-RPC 2\.0: \{"id":10001,"result":/);
});

test('C15: a program that cannot be started is the failure of the session, named', async () => {
  const run = await start('plain');
  run.station.ask('bearpunch.agents.open', {
    session: 's1',
    agent: 'a',
    program: 'absent',
    cwd,
    approve: 'manual',
  });
  const { problem } = (await run.gone()) as { problem: { code: string; subject: string } };
  assert.deepEqual([problem.code, problem.subject], ['process/not-found', 'absent']);
});

test('only who opened an agent commands it, and no session is opened twice', async () => {
  const run = await start('plain');
  await run.opened();
  for (const name of ['prompt', 'cancel', 'close', 'respond', 'configure']) {
    const [asked] = run.station.guest(adapter).handle([
      {
        topic: `bearpunch.agents.${name}`,
        payload: JSON.stringify({
          session: 's1',
          turn: 't',
          text: 'x',
          request: 'r',
          allow: true,
          option: 'o',
          value: 'v',
        }),
        source: 'evil.bundle:thing',
      },
    ]);
    assert.ok(asked?.outcome.tag === 'failed');
    assert.equal(asked.outcome.val.code, 'agent/not-owner', name);
  }
  await assert.rejects(run.opened(), /runs for this session already/);
  assert.equal(owner, 'station:test');
});

test('an instance that starts anew over the same store goes on in the middle of a turn', async () => {
  const run = await start('ask');
  await run.opened();
  run.prompt('t1');
  const asked = await run.station.until(({ topic }) => topic.endsWith('.permission'));
  run.station.guest(adapter).restart();
  run.station.ask('bearpunch.agents.respond', {
    session: 's1',
    request: String(asked.payload.request),
    allow: true,
  });
  assert.equal((await run.ended('t1')).stopReason, 'end_turn');
  // After a start of the station nothing of before is left.
  run.station.inject(adapter, { topic: 'station.started', payload: '{}', source: 'station' });
  assert.deepEqual([...run.station.guest(adapter).store.keys()], []);
});

test('an instance that starts anew while an agent starts hands it the servers it was opened with', async () => {
  const run = await start('plain');
  const opening = run.opened([probe]);
  run.station.guest(adapter).restart();
  await opening;
  assert.deepEqual(run.station.seen[0]?.payload.handedOver, ['probe']);
});
