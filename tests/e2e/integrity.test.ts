/** Bytes that changed, from outside: named at the next start and by `verify`, and nothing runs from them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { eventsOf, followJupiter, openBench, probePolicy, skillBundle, skillText } from './harness.ts';
import {
  componentBundle,
  create,
  flip,
  problemOf,
  restart,
  type Status,
  statusOf,
  type Verified,
} from './trusting.ts';

test('P11: a byte flipped in a staged component is named by verify and runs neither by a grant, a retry nor a start', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const dir = dirname(bench.workspace);
  await bench.ask('up');
  const folder = await componentBundle(dir, 'test.waits', ['store:own']);
  const installed = await bench.ask<Status>('bundle', 'install', folder);
  assert.deepEqual([installed.asks, installed.ungranted], [['store:own'], ['store:own']]);
  assert.equal(installed.components[0]?.problem?.code, 'bundle/not-granted');
  const entry = join(bench.home, 'packages', 'test.waits', installed.revision, 'it.wasm');
  flip(entry);
  const verified = await bench.jupiter('--json', 'bundle', 'verify', 'test.waits');
  assert.equal(verified.code, 1);
  const [found] = (verified.json() as unknown as Verified).bundles;
  assert.deepEqual([found?.problem?.code, found?.problem?.subject], ['bundle/digest-mismatch', 'it.wasm']);
  // Now it may run, as far as policy goes.
  await bench.ask('bundle', 'grant', 'test.waits');
  const waiting = await statusOf(bench, 'test.waits');
  assert.equal(waiting.components[0]?.state, 'failed');
  assert.equal(waiting.components[0]?.problem?.code, 'bundle/digest-mismatch');
  const retried = await bench.jupiter('--json', 'bundle', 'retry', 'test.waits:it');
  assert.equal(problemOf(retried).code, 'bundle/digest-mismatch');
  await restart(bench);
  const broken = await statusOf(bench, 'test.waits');
  assert.equal(broken.problem?.code, 'bundle/digest-mismatch');
  assert.equal(broken.components[0]?.state, 'failed');
  assert.ok((await eventsOf(bench)).includes('fail test.waits'));
  // The control: with its byte back it runs; what failed once is not tried again by itself.
  flip(entry);
  await restart(bench);
  await bench.ask('bundle', 'retry', 'test.waits:it');
  assert.equal((await statusOf(bench, 'test.waits')).components[0]?.state, 'running');
});

test('P11: a byte flipped in the transpile cache is named by verify, and the next start makes it anew', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const before = new Set(readdirSync(join(bench.home, 'cache')));
  const folder = await componentBundle(dirname(bench.workspace), 'test.cached');
  await bench.ask('bundle', 'install', folder);
  const [key = ''] = readdirSync(join(bench.home, 'cache')).filter((name) => !before.has(name));
  const [glue = ''] = readdirSync(join(bench.home, 'cache', key)).filter((name) => name !== 'files.json');
  const at = join(bench.home, 'cache', key, glue);
  const honest = readFileSync(at);
  flip(at);
  const run = await bench.jupiter('--json', 'bundle', 'verify');
  assert.equal(run.code, 1);
  const found = (run.json() as unknown as Verified).bundles.filter(({ problem }) => problem !== undefined);
  assert.deepEqual(
    found.map(({ id, problem }) => [id, problem?.code, problem?.subject]),
    [['test.cached', 'sandbox/cache-changed', `test.cached:it: ${key}/${glue}`]],
  );
  await restart(bench);
  assert.equal((await statusOf(bench, 'test.cached')).components[0]?.state, 'running');
  assert.deepEqual(readFileSync(at), honest);
  assert.ok((await eventsOf(bench)).includes('repair test.cached:it'));
  assert.equal((await bench.jupiter('bundle', 'verify')).code, 0);
});

test('P11: a byte flipped in a placed skill is named by verify and, without being asked, after the next start', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const folder = await skillBundle(dirname(bench.workspace), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
    review: { 'SKILL.md': skillText('review') },
  });
  await bench.ask('bundle', 'install', folder);
  await create(bench);
  const intact = await bench.ask<Verified>('bundle', 'verify');
  assert.deepEqual(
    intact.placed.map(({ name, problems }) => [name, problems.length]),
    [
      ['deploy', 0],
      ['review', 0],
    ],
  );
  flip(join(bench.workspace, '.claude/skills/deploy/SKILL.md'));
  const run = await bench.jupiter('--json', 'bundle', 'verify', 'test.skills');
  assert.equal(run.code, 1);
  const [deploy, review] = (run.json() as unknown as Verified).placed;
  assert.equal(deploy?.problems[0]?.code, 'context/file-edited');
  assert.equal(deploy?.problems[0]?.subject, '.claude/skills/deploy/SKILL.md');
  assert.deepEqual(review?.problems, []);
  await restart(bench);
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  const event = await follow.line(({ kind }) => kind === 'differ');
  assert.equal(event['subject'], `test.skills deploy in ${bench.workspace}/.claude/skills`);
  assert.equal((event['problem'] as { code: string }).code, 'context/file-edited');
});
