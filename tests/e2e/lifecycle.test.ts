/** Revisions of components in service, from outside: what an operator does and sees, over restarts and kills. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { processLives } from '../../host/processes/index.ts';
import { componentBundle, hostile, stillborn, witness } from '../fixtures/components/bundles.ts';
import { type Bench, eventsOf, firstPartyGrants, openBench } from './harness.ts';

interface Problem {
  readonly code: string;
  readonly evidence?: string;
}
interface Component {
  readonly id: string;
  readonly state: string;
  readonly serving?: string;
  readonly candidate?: { readonly revision: string; readonly problem: Problem };
  readonly retained?: string;
  readonly problem?: Problem;
}
interface Bundle {
  readonly id: string;
  readonly revision: string;
  readonly completeness: string;
  readonly components: readonly Component[];
  readonly problem?: Problem;
}

const id = 'test.pair';
const policy = (more: Record<string, unknown> = {}, grants: Record<string, readonly string[]> = {}) => ({
  grants: { ...firstPartyGrants, ...grants },
  agents: { echo: { program: 'echo', provider: 'bearpunch.echo:echo' } },
  programs: {},
  ...more,
});

const open = async (t: TestContext, given = policy()) => {
  const bench = openBench(t, { policy: given });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const seen = async (): Promise<Bundle | undefined> => {
    const { bundles } = await bench.ask<{ bundles: Bundle[] }>('bundle', 'list');
    return bundles.find((one) => one.id === id);
  };
  const listed = async (): Promise<Bundle> => {
    const found = await seen();
    assert.ok(found !== undefined, 'it is listed');
    return found;
  };
  const pair = (version: string, alpha: string, beta: Promise<Uint8Array>) =>
    componentBundle(dir, id, version, { alpha: { bytes: witness({ says: alpha }) }, beta: { bytes: beta } });
  const install = (folder: string) => bench.ask<Bundle>('bundle', 'install', folder);
  return { bench, dir, seen, listed, pair, install };
};

/** What witnesses say of one more session; waits until as many have spoken. */
const heard = async (bench: Bench, speakers: number): Promise<readonly string[]> => {
  const log = join(bench.home, 'logs', 'station.log');
  const said = () =>
    readFileSync(log, 'utf8')
      .split('\n')
      .filter((line) => line.includes('"component":"test.'))
      .map((line) => JSON.parse(line) as { component: string; msg: string });
  const before = said().length;
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  const end = Date.now() + 10_000;
  for (;;) {
    const news = said().slice(before);
    const words = new Set(news.map(({ component, msg }) => `${component} ${msg}`));
    if (words.size >= speakers || Date.now() > end) return [...words].sort();
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
};

test('W13: an upgrade of which one component does not start: the other takes over, the old one serves on, also after a kill, and retry tries again', async (t) => {
  const { bench, listed, pair, install } = await open(t);
  const one = await install(await pair('1.0.0', 'alpha one', witness({ says: 'beta one' })));
  assert.equal(one.completeness, 'complete');
  assert.deepEqual(
    one.components.map(({ serving }) => serving),
    [one.revision, one.revision],
  );

  const run = await bench.jupiter(
    '--json',
    'bundle',
    'install',
    await pair('2.0.0', 'alpha two', stillborn()),
  );
  assert.equal(run.code, 1, 'it says that not all of it serves');
  const two = run.json() as unknown as Bundle;
  assert.notEqual(two.revision, one.revision);
  const mixed = async () => {
    const found = await listed();
    assert.equal(found.revision, two.revision);
    assert.equal(found.completeness, 'mixed');
    const [alpha, beta] = found.components;
    assert.deepEqual(
      [alpha?.state, alpha?.serving, alpha?.retained, alpha?.candidate],
      ['running', two.revision, one.revision, undefined],
    );
    assert.deepEqual([beta?.state, beta?.serving], ['running', one.revision]);
    assert.equal(beta?.candidate?.revision, two.revision);
    assert.equal(beta?.candidate?.problem.code, 'sandbox/start-failed');
    assert.match(beta?.candidate?.problem.evidence ?? '', /unreachable/);
    assert.deepEqual(await heard(bench, 2), [`${id}:alpha alpha two`, `${id}:beta beta one`]);
  };
  await mixed();
  const plain = await bench.jupiter('bundle', 'list');
  assert.match(plain.stdout, new RegExp(`mixed; alpha running, ${one.revision.slice(0, 12)} retained`));
  assert.match(plain.stdout, new RegExp(`beta running from ${one.revision.slice(0, 12)}`));
  assert.match(
    plain.stdout,
    new RegExp(`beta: candidate ${two.revision.slice(0, 12)}: sandbox/start-failed`),
  );

  await bench.ask('down');
  await bench.ask('up');
  await mixed();
  const { pid } = await bench.ask<{ pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  await bench.ask('up');
  await mixed();

  const again = await bench.jupiter('--json', 'bundle', 'retry', `${id}:beta`);
  assert.equal(again.code, 1);
  assert.equal((again.json() as unknown as { problem: Problem }).problem.code, 'sandbox/start-failed');
  await mixed();

  const three = await install(await pair('3.0.0', 'alpha three', witness({ says: 'beta three' })));
  assert.equal(three.completeness, 'complete');
  assert.deepEqual(
    three.components.map(({ serving, retained, candidate }) => [serving, retained, candidate]),
    [
      [three.revision, two.revision, undefined],
      [three.revision, one.revision, undefined],
    ],
  );
  assert.deepEqual(await heard(bench, 2), [`${id}:alpha alpha three`, `${id}:beta beta three`]);
});

test('W13: after a restart the failed candidate is not tried, and the old revision runs only from its own bytes', async (t) => {
  const { bench, listed, pair, install } = await open(t);
  const one = await install(await pair('1.0.0', 'alpha one', witness({ says: 'beta one' })));
  const upgrade = await bench.jupiter(
    '--json',
    'bundle',
    'install',
    await pair('2.0.0', 'alpha two', stillborn()),
  );
  assert.equal(upgrade.code, 1);
  await bench.ask('down');
  rmSync(join(bench.home, 'packages', id, one.revision), { recursive: true });
  await bench.ask('up');
  const { components, completeness } = await listed();
  assert.equal(completeness, 'incomplete');
  const [alpha, beta] = components;
  assert.equal(alpha?.state, 'running');
  assert.equal(beta?.state, 'failed');
  assert.equal(beta?.problem?.code, 'bundle/package-missing');
  assert.equal(beta?.candidate?.problem.code, 'sandbox/start-failed', 'still what it was');
});

test('a revision that the sandbox refuses, and a first one that does not start, are not installed', async (t) => {
  const { bench, seen, listed, pair, install } = await open(t);
  const first = await bench.jupiter('--json', 'bundle', 'install', await pair('1.0.0', 'a', stillborn()));
  assert.equal((first.json() as unknown as { problem: Problem }).problem.code, 'sandbox/start-failed');
  assert.equal(await seen(), undefined);
  const one = await install(await pair('1.0.0', 'alpha one', witness({ says: 'beta one' })));
  const refused = await bench.jupiter('--json', 'bundle', 'install', await pair('2.0.0', 'b', hostile()));
  assert.equal((refused.json() as unknown as { problem: Problem }).problem.code, 'sandbox/name-refused');
  const { revision, completeness } = await listed();
  assert.deepEqual([revision, completeness], [one.revision, 'complete']);
  assert.deepEqual(readdirSync(join(bench.home, 'packages', id)), [one.revision], 'nothing of it is left');
});

test('a revision that asks for more than is granted waits while the old one serves, and takes over once it is granted', async (t) => {
  const { bench, dir, listed, install } = await open(t);
  const bundle = (version: string, says: string, permissions: readonly string[]) =>
    componentBundle(dir, id, version, { alpha: { bytes: witness({ says, permissions }), permissions } });
  const one = await install(await bundle('1.0.0', 'one', []));
  const two = await install(await bundle('2.0.0', 'two', ['store:own']));
  const waits = async () => {
    const { completeness, components } = await listed();
    assert.equal(completeness, 'mixed');
    assert.equal(components[0]?.serving, one.revision);
    assert.equal(components[0]?.candidate?.problem.code, 'bundle/not-granted');
    assert.equal(components[0]?.candidate?.problem.evidence, 'store:own');
    assert.deepEqual(await heard(bench, 1), [`${id}:alpha one`]);
  };
  await waits();
  await bench.ask('down');
  await bench.ask('up');
  await waits();
  bench.policy(JSON.stringify(policy({}, { [id]: ['store:own'] })));
  const { completeness, components } = await listed();
  assert.equal(completeness, 'complete');
  assert.deepEqual(
    [components[0]?.serving, components[0]?.retained, components[0]?.candidate],
    [two.revision, one.revision, undefined],
  );
  assert.deepEqual(await heard(bench, 1), [`${id}:alpha two`]);

  // The same where the grant comes while no station runs.
  const three = await install(await bundle('3.0.0', 'three', ['bus:publish', 'store:own']));
  await bench.ask('down');
  bench.policy(JSON.stringify(policy({}, { [id]: ['store:own', 'bus:publish'] })));
  await bench.ask('up');
  assert.equal((await listed()).components[0]?.serving, three.revision);
});

test('limits of policy hold for a bundle, and a change takes effect at the next command', async (t) => {
  const { bench, dir, listed, install } = await open(t);
  const busy = { bytes: witness({ says: 'busy', busyMs: 300 }) };
  await install(await componentBundle(dir, id, '1.0.0', { alpha: busy }));
  assert.deepEqual(await heard(bench, 1), [`${id}:alpha busy`], 'control');
  bench.policy(JSON.stringify(policy({ limits: { [id]: { callDeadlineMs: 50 } } })));
  await listed();
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  const end = Date.now() + 15_000;
  let component = (await listed()).components[0];
  while (component?.state !== 'parked' && Date.now() < end) {
    await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
    component = (await listed()).components[0];
  }
  assert.equal(component?.state, 'parked');
  assert.equal(component?.problem?.code, 'sandbox/deadline');
  assert.match(component?.problem?.evidence ?? '', /50 ms/);
  const plain = await bench.jupiter('bundle', 'list');
  assert.match(plain.stdout, /alpha: sandbox\/deadline/);
  bench.policy(JSON.stringify(policy()));
  const { components } = await listed();
  assert.equal(components[0]?.state, 'running', 'other limits are another chance');
  assert.deepEqual(await heard(bench, 1), [`${id}:alpha busy`]);

  // A policy that cannot be read sets no limits: what runs goes on under those it has.
  bench.policy(JSON.stringify(policy({ limits: { [id]: { callDeadlineMs: 10_000 } } })));
  await listed();
  const starts = async () => (await eventsOf(bench)).filter((event) => event === `start ${id}:alpha`).length;
  const before = await starts();
  bench.policy('{ "grants": ');
  await listed();
  assert.equal(await starts(), before);
});

test('W14: uninstall while a call is in flight: what fits the bound is drained, then it is gone', async (t) => {
  const { bench, dir, seen, install } = await open(t);
  const busy = { bytes: witness({ says: 'busy', busyMs: 1_000 }) };
  await install(await componentBundle(dir, id, '1.0.0', { alpha: busy }));
  const before = Date.now();
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  await bench.ask('bundle', 'uninstall', id);
  assert.ok(Date.now() - before > 900, 'it waited for the call');
  assert.equal(await seen(), undefined);
  assert.equal(existsSync(join(bench.home, 'packages', id)), false);
  const log = readFileSync(join(bench.home, 'logs', 'station.log'), 'utf8');
  assert.ok(log.includes('"msg":"busy"'), 'the call in flight was finished, and what it asked for done');
});

test('W14: a call that outlasts the bound: the answer says so, the bundle is leaving, and it ends by itself with that call', async (t) => {
  const limits = { [id]: { callDeadlineMs: 60_000 } };
  const { bench, dir, seen, listed, install } = await open(t, policy({ limits }));
  const busy = { bytes: witness({ says: 'busy', busyMs: 5_500 }) };
  const folder = await componentBundle(dir, id, '1.0.0', { alpha: busy });
  await install(folder);
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  const answer = await bench.jupiter('--json', 'bundle', 'uninstall', id);
  assert.equal(answer.code, 1);
  const { problem } = answer.json() as unknown as { problem: Problem };
  assert.equal(problem.code, 'bundle/draining');
  assert.match(problem.evidence ?? '', /^test\.pair:alpha: \d+ in flight$/);
  const leaving = await listed();
  assert.equal(leaving.problem?.code, 'bundle/leaving');
  assert.equal(leaving.components[0]?.state, 'stopping');
  for (const args of [
    ['uninstall', id],
    ['retry', `${id}:alpha`],
    ['install', folder],
  ] as const) {
    const refused = await bench.jupiter('--json', 'bundle', ...args);
    assert.equal((refused.json() as unknown as { problem: Problem }).problem.code, 'bundle/leaving', args[0]);
  }
  const end = Date.now() + 30_000;
  while ((await seen()) !== undefined && Date.now() < end)
    await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(await seen(), undefined);
  assert.equal(existsSync(join(bench.home, 'packages', id)), false);
});

test('W14: an uninstall that was under way when the station was killed is finished at the next start', async (t) => {
  const limits = { [id]: { callDeadlineMs: 60_000 } };
  const { bench, dir, seen, install } = await open(t, policy({ limits }));
  const busy = { bytes: witness({ says: 'busy', busyMs: 20_000 }) };
  await install(await componentBundle(dir, id, '1.0.0', { alpha: busy }));
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  const { pid } = await bench.ask<{ pid: number }>('status');
  assert.equal((await bench.jupiter('bundle', 'uninstall', id)).code, 1);
  process.kill(pid, 'SIGKILL');
  await bench.ask('up');
  assert.equal(await seen(), undefined);
  assert.equal(existsSync(join(bench.home, 'packages', id)), false);
});

test('W14: down while a call outlasts the bound: the answer says so, and the station ends by itself with that call', async (t) => {
  const limits = { [id]: { callDeadlineMs: 60_000 } };
  const { bench, dir, install } = await open(t, policy({ limits }));
  const busy = { bytes: witness({ says: 'busy', busyMs: 5_500 }) };
  await install(await componentBundle(dir, id, '1.0.0', { alpha: busy }));
  await bench.ask('session', 'create', '--agent', 'echo', '--cwd', bench.workspace);
  const { pid } = await bench.ask<{ pid: number }>('status');
  const answer = await bench.jupiter('--json', 'down');
  assert.equal(answer.code, 1);
  const { problem } = answer.json() as unknown as { problem: Problem };
  assert.equal(problem.code, 'station/draining');
  assert.match(problem.evidence ?? '', /test\.pair:alpha: \d+ in flight/);
  const end = Date.now() + 30_000;
  while (processLives(pid) && Date.now() < end) await new Promise((resolve) => setTimeout(resolve, 100));
  assert.equal(processLives(pid), false);
  assert.equal((await bench.jupiter('status')).code, 3, 'nobody is there any more');
});

test('revisions nothing uses are collected: the active one, two earlier ones and what serves stay', async (t) => {
  const { bench, dir, listed, install } = await open(t);
  const revisions: string[] = [];
  for (let number = 1; number <= 6; number += 1) {
    const beta = number === 1 ? witness({ says: 'beta one' }) : stillborn(String(number));
    const folder = await componentBundle(dir, id, `${number}.0.0`, {
      alpha: { bytes: witness({ says: `alpha ${number % 2}` }) },
      beta: { bytes: beta },
    });
    const run = await bench.jupiter('--json', 'bundle', 'install', folder);
    revisions.push((run.json() as unknown as Bundle).revision);
  }
  const [first, , , ...newest] = revisions;
  const kept = readdirSync(join(bench.home, 'packages', id)).sort();
  assert.deepEqual(kept, [first, ...newest].sort());
  await bench.ask('down');
  await bench.ask('up');
  assert.deepEqual(readdirSync(join(bench.home, 'packages', id)).sort(), kept);
  assert.deepEqual(await heard(bench, 2), [`${id}:alpha alpha 0`, `${id}:beta beta one`]);
  await install(await componentBundle(dir, id, '7.0.0', { alpha: { bytes: witness({ says: 'alpha 1' }) } }));
  assert.deepEqual(
    await heard(bench, 1),
    [`${id}:alpha alpha 1`],
    'a component the new revision dropped is gone',
  );
  // Coming back it is a new one: what it once served from is not started beside one that fails.
  const back = await componentBundle(dir, id, '8.0.0', {
    alpha: { bytes: witness({ says: 'alpha 1' }) },
    beta: { bytes: stillborn() },
  });
  assert.equal((await bench.jupiter('--json', 'bundle', 'install', back)).code, 1);
  await bench.ask('down');
  await bench.ask('up');
  const beta = (await listed()).components.find((one) => one.id === 'beta');
  assert.deepEqual([beta?.serving, beta?.retained, beta?.state], [undefined, undefined, 'failed']);
});
