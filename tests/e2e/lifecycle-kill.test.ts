/** Killed at random moments of installing, upgrading, granting and uninstalling: what is there after it is whole and true. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { processLives } from '../../host/processes/index.ts';
import { componentBundle, stillborn, witness } from '../fixtures/components/bundles.ts';
import { firstPartyGrants, openBench } from './harness.ts';
import type { Verified } from './trusting.ts';

interface Component {
  readonly id: string;
  readonly state: string;
  readonly serving?: string;
  readonly candidate?: { readonly revision: string; readonly problem: { readonly code: string } };
  readonly problem?: { readonly code: string };
}
interface Bundle {
  readonly id: string;
  readonly revision: string;
  readonly components: readonly Component[];
  readonly problem?: { readonly code: string };
}
interface Document {
  readonly revision?: string;
  readonly problem?: { readonly code: string };
}

const id = 'test.pair';
const rounds = Number(process.env['KILL_ROUNDS'] ?? 6);

/** A small generator, so that a failing run can be repeated with its seed. */
const random = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
  return seed / 2_147_483_648;
};

test('killed at random moments of install, upgrade, grant and uninstall, what a start finds is whole and true', async (t) => {
  const seed = Number(process.env['KILL_SEED'] ?? Date.now() % 1_000_000);
  t.diagnostic(`seed ${seed}`);
  const next = random(seed);
  const bench = openBench(t, {
    policy: {
      grants: firstPartyGrants,
      agents: { echo: { program: 'echo', provider: 'bearpunch.echo:echo' } },
    },
  });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const asking = { bytes: witness({ says: 'asks', permissions: ['store:own'] }), permissions: ['store:own'] };
  const folders = [
    await componentBundle(dir, id, '1.0.0', {
      alpha: { bytes: witness({ says: 'one' }) },
      beta: { bytes: witness({ says: 'one' }) },
    }),
    await componentBundle(dir, id, '2.0.0', {
      alpha: { bytes: witness({ says: 'two' }) },
      beta: { bytes: stillborn() },
    }),
    await componentBundle(dir, id, '3.0.0', { alpha: { bytes: witness({ says: 'three' }) } }),
    await componentBundle(dir, id, '4.0.0', { alpha: { bytes: witness({ says: 'two' }) }, beta: asking }),
  ];
  const works = [
    ...folders.map((folder) => ['bundle', 'install', folder]),
    ...folders.map((folder) => ['bundle', 'install', folder]),
    ['bundle', 'uninstall', id],
    ['bundle', 'grant', id],
    ['bundle', 'revoke', id],
    ['bundle', 'retry', `${id}:beta`],
  ];
  const seen = async (): Promise<Bundle | undefined> => {
    const { bundles } = await bench.ask<{ bundles: Bundle[] }>('bundle', 'list');
    return bundles.find((one) => one.id === id);
  };
  const revisions = new Map<string, string>();
  for (const folder of folders) {
    const { revision } = await bench.ask<{ revision: string }>('bundle', 'diagnose', folder);
    revisions.set(folder, revision);
  }
  /** What was installed by the last answer. */
  let confirmed: string | undefined;
  for (let round = 0; round < rounds; round += 1) {
    const { pid } = await bench.ask<{ pid: number }>('status');
    const done: string[] = [];
    let under: readonly string[] = [];
    let dead = false;
    const load = (async () => {
      while (!dead) {
        const args = works[Math.floor(next() * works.length)] ?? [];
        under = args;
        done.push(args.slice(1).join(' ').replace(dir, ''));
        const run = await bench.jupiter('--json', ...args);
        const answer = run.json() as Document;
        if (
          answer.problem?.code === 'station/connection-lost' ||
          answer.problem?.code === 'station/not-running'
        )
          return;
        under = [];
        if (answer.problem !== undefined) continue;
        if (args[1] === 'install') confirmed = answer.revision;
        if (args[1] === 'uninstall') confirmed = undefined;
      }
    })();
    await new Promise((resolve) => setTimeout(resolve, next() * 1_200));
    dead = true;
    process.kill(pid, 'SIGKILL');
    while (processLives(pid)) await new Promise((resolve) => setImmediate(resolve));
    await load;
    const what = `seed ${seed}, round ${round}: ${done.join('; ')}`;

    assert.equal((await bench.jupiter('up')).code, 0, what);
    const now = await seen();
    const verified = await bench.jupiter('--json', 'bundle', 'verify');
    assert.equal(verified.code, 0, `${what}: ${verified.stdout}`);
    for (const { id: one, problem } of (verified.json() as unknown as Verified).bundles)
      assert.equal(problem, undefined, `${what}: ${one}`);
    const packages = join(bench.home, 'packages');
    assert.deepEqual(
      readdirSync(packages).filter((name) => name.startsWith('.')),
      [],
      what,
    );
    const there = existsSync(join(packages, id)) ? readdirSync(join(packages, id)) : [];
    if (now === undefined) assert.deepEqual(there, [], what);
    else {
      assert.equal(now.problem, undefined, what);
      assert.ok([...revisions.values()].includes(now.revision), what);
      assert.ok(there.includes(now.revision), what);
      for (const { serving, candidate, state, problem } of now.components) {
        if (serving !== undefined) assert.ok(there.includes(serving), `${what}: ${JSON.stringify(now)}`);
        if (candidate !== undefined) assert.equal(candidate.revision, now.revision, what);
        const waits =
          problem?.code === 'bundle/not-granted' || candidate?.problem.code === 'bundle/not-granted';
        const failed = candidate?.problem.code === 'sandbox/start-failed';
        assert.ok(
          state === 'running' ? serving !== undefined : waits || failed,
          `${what}: ${JSON.stringify(now)}`,
        );
      }
    }
    // What an answer said is done is done; what had none is done or not.
    const allowed = [
      confirmed,
      ...(under[1] === 'install' ? [revisions.get(under[2] ?? '')] : []),
      ...(under[1] === 'uninstall' ? [undefined] : []),
    ];
    assert.ok(allowed.includes(now?.revision), `${what}: ${now?.revision} of ${allowed}`);
    confirmed = now?.revision;
  }
  // And all of it can be done again.
  const run = await bench.jupiter('--json', 'bundle', 'install', folders[0] ?? '');
  assert.equal(run.code, 0, run.stdout);
  await bench.ask('bundle', 'uninstall', id);
  assert.equal(await seen(), undefined);
});
