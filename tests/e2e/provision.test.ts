import assert from 'node:assert/strict';
import test from 'node:test';
import { openBench, probePolicy, skillBundle, skillText } from './harness.ts';

interface Session {
  id: string;
  state: string;
  reason?: string;
  agent: string;
  program: string;
  provisioning: {
    policyRevision: string;
    sink: string | null;
    servers: { name: string; decision: string; stage?: string; rule: string; reason?: string }[];
    skills: {
      name: string;
      decision: string;
      reason?: string;
      bundle: string;
      revision: string;
      files: number;
    }[];
  };
}
interface Transcript {
  entries: { seq: number; at: number; role: string; id?: string; state?: string; text: string }[];
}

test('two sessions, one probe alias: only the listed agent gets it, and its answer reaches the transcript', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  await bench.ask(
    'bundle',
    'install',
    await skillBundle(bench.workspace, 'test.skills', { deploy: { 'SKILL.md': skillText('deploy') } }),
  );

  const listed = await bench.ask<Session>('session', 'create', '--agent', 'listed', '--cwd', bench.workspace);
  assert.equal(listed.state, 'idle');
  assert.deepEqual(
    listed.provisioning.servers.map(({ name, decision, stage }) => ({ name, decision, stage })),
    [{ name: 'probe', decision: 'offered', stage: 'handed-over' }],
  );
  assert.equal(listed.provisioning.sink, '.claude/skills');
  assert.match(bench.read('.claude/skills/deploy/SKILL.md'), /name: deploy/);

  const said = await bench.jupiter('session', 'say', listed.id, 'use the probe', '--wait');
  assert.equal(said.code, 0, said.stderr);
  const plain = await bench.jupiter('session', 'transcript', listed.id);
  assert.match(plain.stdout, /^tool \[completed\]: probe\.probe: probe answered$/m);
  const { entries } = await bench.ask<Transcript>('session', 'transcript', listed.id);
  assert.equal(entries.filter((entry) => entry.role === 'tool').length, 1);
  for (const [index, entry] of entries.entries()) {
    assert.ok(index === 0 || entry.seq > (entries[index - 1]?.seq ?? 0));
    assert.equal(typeof entry.at, 'number');
  }

  const other = await bench.ask<Session>('session', 'create', '--agent', 'other', '--cwd', bench.workspace);
  assert.deepEqual(
    other.provisioning.servers.map(({ name, decision }) => ({ name, decision })),
    [{ name: 'probe', decision: 'withheld' }],
  );
  assert.match(other.provisioning.servers[0]?.reason ?? '', /other/);
  await bench.ask('session', 'say', other.id, 'use the probe', '--wait');
  const second = await bench.ask<Transcript>('session', 'transcript', other.id);
  assert.deepEqual(
    second.entries.filter((entry) => entry.role === 'tool'),
    [],
  );
});

test('an unknown program family gets no skills, and the transcript says so', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  await bench.ask(
    'bundle',
    'install',
    await skillBundle(bench.workspace, 'test.skills', { deploy: { 'SKILL.md': skillText('deploy') } }),
  );
  const session = await bench.ask<Session>(
    'session',
    'create',
    '--agent',
    'stranger',
    '--cwd',
    bench.workspace,
  );
  assert.equal(session.state, 'idle');
  assert.equal(session.provisioning.sink, null);
  assert.deepEqual(session.provisioning.skills, []);
  const { entries } = await bench.ask<Transcript>('session', 'transcript', session.id);
  assert.ok(
    entries.some((entry) => /some-agent/.test(entry.text) && /skill/.test(entry.text)),
    JSON.stringify(entries),
  );
});

test('what was required and is missing makes the session not-ready, and it takes no prompt', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const create = ['session', 'create', '--cwd', bench.workspace];
  const without = await bench.document<Session>(...create, '--agent', 'other', '--require-server', 'probe');
  assert.equal(without.state, 'not-ready');
  assert.match(without.reason ?? '', /probe/);
  const refused = await bench.jupiter('--json', 'session', 'say', without.id, 'hello');
  assert.equal(refused.code, 1);
  assert.equal((refused.json()['problem'] as { code: string }).code, 'session/not-ready');

  const skill = await bench.document<Session>(...create, '--agent', 'listed', '--require-skill', 'deploy');
  assert.equal(skill.state, 'not-ready');
  assert.match(skill.reason ?? '', /deploy/);
  const plain = await bench.jupiter(...create, '--agent', 'listed', '--require-skill', 'deploy');
  assert.deepEqual([plain.code, plain.stderr], [1, '']);
  assert.match(plain.stdout, /^state +not-ready: .*deploy/m);

  const met = await bench.ask<Session>(...create, '--agent', 'listed', '--require-server', 'probe');
  assert.equal(met.state, 'idle');

  // Until it is met: the next prompt looks again, and its agent is opened anew with what it lacked.
  const folder = await skillBundle(bench.workspace, 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
  });
  await bench.ask('bundle', 'install', folder);
  const said = await bench.ask<Transcript & { stopReason: string }>(
    'session',
    'say',
    skill.id,
    'use the probe',
    '--wait',
  );
  assert.equal(said.stopReason, 'end_turn');
  assert.ok(said.entries.some(({ role, text }) => role === 'tool' && text.includes('probe answered')));
  const now = await bench.ask<Session>('session', 'show', skill.id);
  assert.deepEqual([now.state, now.reason], ['idle', undefined]);
  assert.deepEqual(
    now.provisioning.skills.map(({ name, decision }) => [name, decision]),
    [['deploy', 'placed']],
  );
});

test('a broken policy grants nothing; mended, the station serves without a restart', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  bench.policy('{ "grants": { "bearpunch.sessions": "everything" } }');
  const refused = await bench.jupiter(
    '--json',
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    bench.workspace,
  );
  assert.equal(refused.code, 1);
  assert.match((refused.json()['problem'] as { code: string }).code, /^policy\//, 'it says what is broken');
  const check = await bench.jupiter('policy', 'check');
  assert.equal(check.code, 1);
  assert.match(check.stdout + check.stderr, /policy\.jsonc:1:\d+/);
  bench.policy(JSON.stringify(probePolicy()));
  const session = await bench.ask<Session>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    bench.workspace,
  );
  assert.equal(session.state, 'idle');
});
