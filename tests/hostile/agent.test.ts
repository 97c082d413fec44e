/** An agent that works against its station: nothing it says does harm where it is kept or shown. */
import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test, { type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { everyFile, firstPartyGrants, openBench, probePolicy, repository } from '../e2e/harness.ts';

const benchWith = (t: TestContext, mode: readonly string[], env: Record<string, string> = {}) => {
  const policy = probePolicy();
  return openBench(t, {
    env,
    policy: {
      ...policy,
      programs: {
        ...policy.programs,
        'claude-acp': {
          command: process.execPath,
          args: [join(repository, 'tests', 'fixtures', 'hostile-agent.mjs'), ...mode],
          inherit: ['PATH', ...Object.keys(env)],
          trust: 'full',
        },
      },
    },
  });
};
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
const driving = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028-\u202e\u2066-\u2069]/;
const create = ['session', 'create', '--agent', 'listed', '--cwd'];

test('a credential an agent tells in every way it can is in no record, log, file or output', async (t) => {
  const canary = `can/ary-"q"-${Math.random().toString(36).slice(2)}-${Math.random().toString(36).slice(2)}`;
  const bench = benchWith(t, ['secret', 'CANARY_TOKEN'], { CANARY_TOKEN: canary });
  await bench.ask('up');
  const session = await bench.ask<{ id: string }>(...create, bench.workspace);
  const shown = [await bench.jupiter('session', 'say', session.id, 'go', '--wait')];
  for (const args of [
    ['session', 'transcript', session.id],
    ['session', 'show', session.id],
    ['session', 'list'],
    ['status'],
  ])
    shown.push(await bench.jupiter('--json', ...args));
  // Someone wrote the value itself into the policy: the file is theirs, what the station tells of it is not.
  const text = await bench.ask<{ text: string }>('policy', 'show');
  bench.policy(`${text.text}\n// ${canary}\n`);
  for (const args of [
    ['policy', 'show'],
    ['--json', 'policy', 'show'],
  ])
    shown.push(await bench.jupiter(...args));
  bench.policy(text.text);
  await bench.ask('session', 'close', session.id);
  await bench.ask('down');

  const value = Buffer.from(canary);
  const forms = [
    canary,
    JSON.stringify(canary).slice(1, -1),
    value.toString('hex').toUpperCase(),
    ...[0, 1, 2].map((cut) => Buffer.from(value.subarray(cut, 24 + cut)).toString('base64')),
  ];
  const files = everyFile(dirname(bench.home)).map(
    ([name, bytes]) => [name, bytes.toString('latin1')] as const,
  );
  for (const [where, found] of [
    ...files,
    ...shown.map((run) => ['output', run.stdout + run.stderr] as const),
  ])
    for (const form of forms) assert.ok(!found.includes(form), `${where} holds it as ${form.slice(0, 6)}…`);

  // Nor is it there for whoever puts its pieces together.
  const database = new Database(join(bench.home, 'station.db'), { readonly: true });
  const rows = database
    .prepare<[], string>("SELECT value FROM store WHERE key LIKE 't/%' ORDER BY key")
    .pluck()
    .all();
  database.close();
  const said = rows
    .map((row) => JSON.parse(row) as { role: string; text: string })
    .filter(({ role }) => role === 'agent')
    .map((row) => row.text)
    .join('');
  assert.match(said, /streams [^ ]{0,3}\[redacted CANARY_TOKEN\]$/);
});

test('what drives a terminal reaches none, in no form of output', async (t) => {
  const bench = benchWith(t, ['terminal']);
  await bench.ask('up');
  const session = await bench.ask<{ id: string }>(...create, bench.workspace);
  const runs = [await bench.jupiter('session', 'say', session.id, 'go', '--wait')];
  for (const args of [
    ['session', 'transcript', session.id],
    ['--json', 'session', 'transcript', session.id],
    ['session', 'show', session.id],
    ['policy', 'show'],
  ])
    runs.push(await bench.jupiter(...args));
  await bench.ask('session', 'close', session.id);
  runs.push(await bench.jupiter('session', 'transcript', session.id, '--follow'));
  runs.push(await bench.jupiter('--json', 'session', 'transcript', session.id, '--follow'));
  for (const { code, stdout, stderr } of runs) {
    assert.equal(code, 0, stderr);
    assert.doesNotMatch(stdout + stderr, driving);
  }
  const text = runs[2]?.json() as { entries: { text: string }[] };
  assert.ok(
    text.entries.some((entry) => entry.text.includes('\u202e')),
    'a document still holds what was said',
  );
});

test('W12: a component that lost its grant can still end what it started', async (t) => {
  const bench = benchWith(t, ['plain', `revoked-${process.pid}`]);
  await bench.ask('up');
  const session = await bench.ask<{ id: string }>(...create, bench.workspace);
  assert.equal((await bench.ask<{ processes: number }>('status')).processes, 1);
  const grants = { ...firstPartyGrants, 'bearpunch.adapter': ['store:own', 'bus:publish'] };
  bench.policy(JSON.stringify(probePolicy({ grants })));
  const said = await bench.jupiter('session', 'say', session.id, 'go', '--wait');
  assert.match(said.stdout, /bus\/not-granted/);
  await bench.ask('session', 'close', session.id);
  const end = performance.now() + 10_000;
  while ((await bench.ask<{ processes: number }>('status')).processes > 0)
    assert.ok(performance.now() < end, 'its agent is still running');
});

test('a transcript longer than one answer is read whole, each entry up to its bound', async (t) => {
  const bench = benchWith(t, ['long', '100']);
  await bench.ask('up');
  const session = await bench.ask<{ id: string }>(...create, bench.workspace);
  const said = await bench.ask<{ stopReason: string; entries: { role: string; text: string }[] }>(
    ...['session', 'say', session.id, 'go', '--wait'],
  );
  assert.equal(said.stopReason, 'end_turn');
  const { entries } = await bench.ask<{ entries: { role: string; text: string }[] }>(
    ...['session', 'transcript', session.id],
  );
  for (const found of [said.entries, entries]) {
    const spoken = found.filter(({ role }) => role === 'agent');
    assert.equal(spoken.length, 10);
    for (const { text } of spoken) assert.match(text.slice(-80), /\[cut: 1451424 of 2500000 characters\]$/);
    assert.equal(found.filter(({ role }) => role === 'tool').length, 10);
  }
});
