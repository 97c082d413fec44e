import assert from 'node:assert/strict';
import test from 'node:test';
import { processLives } from '../../host/processes/index.ts';
import { fixtureAgent, openBench, probePolicy, processesNaming, skillBundle, skillText } from './harness.ts';

interface Summary {
  id: string;
  state: string;
  reason?: string;
}

/** A small generator, so that a failing run can be repeated with its seed. */
const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

/** Ends exactly the process the station named as its own, and waits until it has ended. */
const killStation = async (pid: number): Promise<void> => {
  process.kill(pid, 'SIGKILL');
  while (processLives(pid)) await new Promise((resolve) => setImmediate(resolve));
};

test('killed at 20 random moments under load, the station loses nothing it confirmed and shows every session truly', async (t) => {
  const seed = Date.now() % 1_000_000;
  t.diagnostic(`seed ${seed}`);
  const next = random(seed);
  const marker = `kill-test-${process.pid}`;
  const policy = probePolicy();
  const bench = openBench(t, {
    policy: {
      ...policy,
      programs: {
        ...policy.programs,
        'claude-acp': {
          command: process.execPath,
          args: [fixtureAgent, 'flood', '100000', marker],
          inherit: ['PATH'],
          trust: 'full',
        },
      },
    },
  });
  await bench.ask('up');
  await bench.ask(
    'bundle',
    'install',
    await skillBundle(bench.workspace, 'test.skills', { deploy: { 'SKILL.md': skillText('deploy') } }),
  );
  const confirmed = new Map<string, { said: string[] }>();
  for (let round = 0; round < 20; round += 1) {
    const { pid } = await bench.ask<{ pid: number }>('status');
    let dead = false;
    const load = (async () => {
      while (!dead) {
        const created = await bench.jupiter(
          '--json',
          'session',
          'create',
          '--agent',
          'listed',
          '--cwd',
          bench.workspace,
        );
        if (created.code !== 0) return;
        const session = created.json() as unknown as Summary;
        confirmed.set(session.id, { said: [] });
        const text = `confirmed ${round} ${session.id}`;
        const said = await bench.jupiter('--json', 'session', 'say', session.id, text);
        if (said.code === 0) confirmed.get(session.id)?.said.push(text);
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, next() * 900));
    await killStation(pid);
    dead = true;
    await load;

    await bench.ask('up');
    const { sessions } = await bench.ask<{ sessions: Summary[] }>('session', 'list');
    const states = new Map(sessions.map((session) => [session.id, session]));
    for (const [id, { said }] of confirmed) {
      const session = states.get(id);
      assert.ok(session !== undefined, `round ${round}: session ${id} was confirmed and is gone`);
      assert.equal(session.state, 'ended', `round ${round}: the agent of ${id} is gone`);
      assert.ok((session.reason ?? '') !== '', 'it says why');
      if (said.length === 0) continue;
      const { entries } = await bench.ask<{ entries: { role: string; text: string }[] }>(
        'session',
        'transcript',
        id,
      );
      for (const text of said)
        assert.ok(
          entries.some((entry) => entry.role === 'user' && entry.text === text),
          text,
        );
      confirmed.set(id, { said: [] });
    }
    const { bundles } = await bench.ask<{ bundles: { id: string; problem?: unknown }[] }>('bundle', 'list');
    assert.ok(bundles.some((bundle) => bundle.id === 'test.skills' && bundle.problem === undefined));
    // On a busy machine the first rounds may end before any session was confirmed, and then nothing was placed.
    if (confirmed.size > 0) assert.match(bench.read('.claude/skills/deploy/SKILL.md'), /name: deploy/);
  }
  await bench.ask('down');
  assert.deepEqual(processesNaming(marker), [], 'no agent is left');
});
