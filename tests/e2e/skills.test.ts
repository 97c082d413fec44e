import assert from 'node:assert/strict';
import { existsSync, lstatSync, mkdirSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { openBench, probePolicy, skillBundle, skillText } from './harness.ts';

interface Created {
  id: string;
  state: string;
  provisioning: { skills: { name: string; decision: string; reason?: string }[] };
}

const decisions = (session: Created) =>
  Object.fromEntries(session.provisioning.skills.map(({ name, decision }) => [name, decision]));

test("P2: a skill that collides with the user's file is refused while another is placed", async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
    review: { 'SKILL.md': skillText('review'), 'scripts/run.sh': 'echo run\n' },
  });
  await bench.ask('bundle', 'install', bundle);
  bench.file('.claude/skills/deploy/SKILL.md', 'mine, by hand\n');
  const session = await bench.ask<Created>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    bench.workspace,
  );
  assert.equal(session.state, 'idle');
  assert.deepEqual(decisions(session), { deploy: 'refused', review: 'placed' });
  assert.equal(bench.read('.claude/skills/deploy/SKILL.md'), 'mine, by hand\n');
  assert.equal(bench.read('.claude/skills/review/scripts/run.sh'), 'echo run\n');
  assert.match(session.provisioning.skills.find(({ name }) => name === 'deploy')?.reason ?? '', /SKILL\.md/);
});

test('P1: a placed file the user edited, and one they added, stay byte for byte, also for a newer revision', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const make = (body: string, version: string) =>
    skillBundle(
      dirname(bench.workspace),
      'test.skills',
      {
        deploy: { 'SKILL.md': skillText('deploy', body) },
        review: { 'SKILL.md': skillText('review', body) },
      },
      version,
    );
  await bench.ask('bundle', 'install', await make('One.', '1.0.0'));
  const create = () => bench.ask<Created>('session', 'create', '--agent', 'listed', '--cwd', bench.workspace);
  assert.deepEqual(decisions(await create()), { deploy: 'placed', review: 'placed' });
  assert.deepEqual(decisions(await create()), { deploy: 'unchanged', review: 'unchanged' });
  bench.file('.claude/skills/deploy/SKILL.md', 'edited by me\n');
  bench.file('.claude/skills/deploy/notes.md', 'my notes\n');
  await bench.ask('bundle', 'install', await make('Two.', '2.0.0'));
  assert.deepEqual(decisions(await create()), { deploy: 'refused', review: 'placed' });
  assert.equal(bench.read('.claude/skills/deploy/SKILL.md'), 'edited by me\n');
  assert.equal(bench.read('.claude/skills/deploy/notes.md'), 'my notes\n');
  assert.match(bench.read('.claude/skills/review/SKILL.md'), /Two\./);
});

test('P3: .claude linked out of the workspace: refused, nothing appears outside, the link stays', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const outside = join(dirname(bench.workspace), 'outside');
  mkdirSync(outside);
  symlinkSync(outside, join(bench.workspace, '.claude'));
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
  });
  await bench.ask('bundle', 'install', bundle);
  const session = await bench.ask<Created>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    bench.workspace,
  );
  assert.equal(session.state, 'idle');
  assert.deepEqual(decisions(session), { deploy: 'refused' });
  assert.equal(existsSync(join(outside, 'skills')), false);
  assert.ok(lstatSync(join(bench.workspace, '.claude')).isSymbolicLink());
});
