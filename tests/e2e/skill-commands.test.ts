import assert from 'node:assert/strict';
import { appendFileSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { openBench, probePolicy, skillBundle, skillText } from './harness.ts';

interface Entries {
  entries: { role: string; text: string }[];
}

test('session say "/deploy staging" expands the skill of that name; every other text goes through as it is', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    review: { 'SKILL.md': skillText('review', 'Review $1.') },
  });
  await bench.ask('bundle', 'install', bundle);
  const project = join(bench.workspace, '.jupiter', 'skills', 'deploy');
  mkdirSync(project, { recursive: true });
  writeFileSync(join(project, 'SKILL.md'), skillText('deploy', 'Deploy to $1, then say $ARGUMENTS.'));

  const { id } = await bench.ask<{ id: string }>(
    'session',
    'create',
    '--agent',
    'echo',
    '--cwd',
    bench.workspace,
  );
  const say = (text: string) => bench.ask('session', 'say', id, text, '--wait');
  await say('/deploy staging $1 now');
  await say('/review main');
  await say('/compact the talk');
  await say('/usr/bin/deploy is full');
  await say('say /deploy staging');
  const { entries } = await bench.ask<Entries>('session', 'transcript', id);
  const said = entries.filter(({ role }) => role === 'user').map(({ text }) => text.trim());
  assert.deepEqual(said, [
    'Deploy to staging, then say staging $1 now.',
    'Review main.',
    '/compact the talk',
    '/usr/bin/deploy is full',
    'say /deploy staging',
  ]);
});

test('skills list names those of bundles while a station runs; skills verify finds an edited placed file', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    review: { 'SKILL.md': skillText('review', 'Review $1.') },
  });
  await bench.ask('bundle', 'install', bundle);
  const listed = await bench.ask<{ skills: { name: string; origin: { tier: string } }[] }>(
    'skills',
    'list',
    '--cwd',
    bench.workspace,
  );
  assert.equal(listed.skills.find(({ name }) => name === 'review')?.origin.tier, 'bundle');

  await bench.ask('session', 'create', '--agent', 'listed', '--cwd', bench.workspace);
  const verify = () => bench.jupiter('--json', 'skills', 'verify', '--cwd', bench.workspace);
  const whole = await verify();
  assert.equal(whole.code, 0, whole.stderr);
  assert.deepEqual(
    (whole.json() as { skills: { name: string }[] }).skills.map(({ name }) => name),
    ['review'],
  );
  appendFileSync(join(bench.workspace, '.claude/skills/review/SKILL.md'), 'mine\n');
  const edited = await verify();
  assert.equal(edited.code, 1);
  assert.match(edited.stdout, /SKILL\.md/);
});
