/** Strangers’ bundles from outside: archives, signatures, grants, and the ledger that tells of them. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import { tgzOf } from '../bundles/tars.ts';
import { eventsOf, followJupiter, openBench, probePolicy, skillBundle, skillText } from './harness.ts';
import {
  componentBundle,
  create,
  problemOf,
  restart,
  type Status,
  statusOf,
  type Verified,
} from './trusting.ts';

test('an archive is packed the same twice, diagnosed and installed as a folder is; hostile ones leave nothing (P8, P9)', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const dir = dirname(bench.workspace);
  await bench.ask('up');
  const folder = await skillBundle(dir, 'test.skills', { deploy: { 'SKILL.md': skillText('deploy') } });
  const one = join(dir, 'one.tgz');
  const packed = await bench.ask<{ revision: string }>('bundle', 'pack', folder, '-o', one);
  await bench.ask('bundle', 'pack', folder, '-o', join(dir, 'two.tgz'));
  assert.deepEqual(readFileSync(one), readFileSync(join(dir, 'two.tgz')));
  assert.equal((await bench.ask('bundle', 'diagnose', one))['revision'], packed.revision);
  assert.equal((await bench.ask('bundle', 'install', one))['revision'], packed.revision);
  assert.deepEqual(
    (await create(bench)).provisioning.skills.map(({ decision }) => decision),
    ['placed'],
  );

  const hostile = join(dir, 'hostile.tgz');
  const zeros = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  const cases: readonly (readonly [Uint8Array, string])[] = [
    [tgzOf([{ path: '../../x', body: 'out' }]), 'paths/unsafe'],
    [
      tgzOf([
        { path: 'l', type: 'SymbolicLink', linkpath: dir },
        { path: 'l/x', body: 'out' },
      ]),
      'bundle/link',
    ],
    [tgzOf([{ path: 'big', size: 4 * 1024 ** 3 }]), 'bundle/limit-exceeded'],
    [
      Buffer.concat([tgzOf([{ path: 'a' }]), ...Array.from({ length: 128 }, () => zeros)]),
      'bundle/limit-exceeded',
    ],
  ];
  const before = readdirSync(dir).sort();
  for (const [bytes, code] of cases) {
    writeFileSync(hostile, bytes);
    for (const command of ['install', 'diagnose']) {
      const run = await bench.jupiter('--json', 'bundle', command, hostile);
      assert.equal(run.code, 1);
      assert.ok(run.stdout.includes(`"${code}"`), `${command}: ${run.stdout}`);
    }
  }
  rmSync(hostile);
  assert.deepEqual(readdirSync(dir).sort(), before);
  const left = readdirSync(join(bench.home, 'packages'));
  assert.deepEqual(
    left.filter((name) => name.startsWith('.')),
    [],
  );
  assert.equal(
    (await eventsOf(bench)).filter((event) => event.startsWith(`refuse ${hostile}`)).length,
    cases.length,
  );
});

test('signatures: a component that waited for a grant starts only if policy still lets its bundle in', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const folder = await componentBundle(dirname(bench.workspace), 'acme.waits', ['store:own']);
  await bench.ask('bundle', 'install', folder);
  const { grants, ...rest } = probePolicy();
  const granted = { ...rest, grants: { ...grants, 'acme.waits': ['store:own'] } };
  bench.policy(JSON.stringify({ ...granted, signatures: [{ prefix: 'acme', key: 'nobody' }] }));
  const refused = await statusOf(bench, 'acme.waits');
  assert.equal(refused.components[0]?.state, 'failed');
  assert.equal(refused.components[0]?.problem?.code, 'bundle/signature-missing');
  bench.policy(JSON.stringify(granted));
  assert.equal((await bench.jupiter('bundle', 'retry', 'acme.waits:it')).code, 0);
  assert.equal((await statusOf(bench, 'acme.waits')).components[0]?.state, 'running');
});

test('signatures: stripped, by the wrong key or tampered is refused by name at install and at start; the key is never shown', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  const dir = dirname(bench.workspace);
  const keygen = (name: string) =>
    bench.ask<{ file: string; key: string }>('bundle', 'keygen', '-o', join(dir, `${name}.pem`));
  const acme = await keygen('acme');
  const mallory = await keygen('mallory');
  assert.equal(statSync(acme.file).mode & 0o777, 0o600);
  const secret = readFileSync(acme.file, 'utf8').split('\n')[1] ?? '';
  const rules = (key: string) =>
    bench.policy(
      JSON.stringify(probePolicy({ keys: { acme: key }, signatures: [{ prefix: 'acme', key: 'acme' }] })),
    );
  rules(acme.key);
  await bench.ask('up');
  const folder = await skillBundle(dir, 'acme.skills', { deploy: { 'SKILL.md': skillText('deploy') } });
  const archive = join(dir, 'acme.tgz');
  const install = () => bench.jupiter('--json', 'bundle', 'install', archive);
  const pack = (...more: readonly string[]) => bench.ask('bundle', 'pack', folder, '-o', archive, ...more);
  await pack();
  assert.equal(problemOf(await install()).code, 'bundle/signature-missing');
  await pack('--sign', mallory.file);
  assert.equal(problemOf(await install()).code, 'bundle/signature-key');
  const packed = await bench.jupiter('bundle', 'pack', folder, '--sign', acme.file);
  assert.ok(packed.stdout.includes(acme.key));
  assert.ok(!`${packed.stdout}${packed.stderr}`.includes(secret));
  // Somebody changes the skill, packs it again and keeps the signature.
  const signature = readFileSync(join(folder, 'bundle.sig.json'));
  const evil = join(dir, 'evil');
  await bench.ask('bundle', 'pack', folder, '-o', evil);
  writeFileSync(join(evil, 'skills/deploy/SKILL.md'), skillText('deploy', 'Do evil.'));
  await bench.ask('bundle', 'pack', evil);
  writeFileSync(join(evil, 'bundle.sig.json'), signature);
  assert.equal(
    problemOf(await bench.jupiter('--json', 'bundle', 'install', evil)).code,
    'bundle/signature-wrong',
  );
  await pack('--sign', acme.file);
  const { revision } = (await install()).json() as { revision: string };
  assert.deepEqual(
    (await create(bench)).provisioning.skills.map(({ decision }) => decision),
    ['placed'],
  );

  const stored = join(bench.home, 'packages', 'acme.skills', revision, 'bundle.sig.json');
  renameSync(stored, join(dir, 'stripped'));
  const verified = await bench.jupiter('--json', 'bundle', 'verify', 'acme.skills');
  assert.equal(
    (verified.json() as unknown as Verified).bundles[0]?.problem?.code,
    'bundle/signature-missing',
  );
  // A session that begins now gets nothing of it, and a start does not take it into service.
  assert.deepEqual((await create(bench)).provisioning.skills, []);
  await restart(bench);
  assert.equal((await statusOf(bench, 'acme.skills')).problem?.code, 'bundle/signature-missing');
  renameSync(join(dir, 'stripped'), stored);
  await restart(bench);
  assert.equal((await statusOf(bench, 'acme.skills')).problem, undefined);
  rules(mallory.key);
  assert.deepEqual((await create(bench)).provisioning.skills, []);
  await restart(bench);
  assert.equal((await statusOf(bench, 'acme.skills')).problem?.code, 'bundle/signature-key');
});

test('grants: install says what is missing, grant and revoke edit policy with its comments, the ledger tells', async (t) => {
  const policy = `${JSON.stringify(probePolicy(), null, 2).replace('"grants": {', '// what may do what\n  "grants": {')}\n`;
  const bench = openBench(t, { policy });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const folder = await componentBundle(dir, 'test.asks', ['bus:publish', 'store:own']);
  const shown = await bench.jupiter('bundle', 'install', folder);
  assert.match(shown.stdout, /asks for {2}bus:publish, store:own/);
  assert.match(shown.stdout, /not granted {2}bus:publish, store:own/);
  assert.match(shown.stdout, /jupiter bundle grant test\.asks/);
  await bench.ask('bundle', 'grant', 'test.asks', 'store:own');
  assert.deepEqual((await statusOf(bench, 'test.asks')).ungranted, ['bus:publish']);
  const granted = await bench.ask<{ permissions: string[] }>('bundle', 'grant', 'test.asks');
  assert.deepEqual(granted.permissions, ['bus:publish']);
  assert.equal((await statusOf(bench, 'test.asks')).components[0]?.state, 'running');
  const text = readFileSync(join(bench.home, 'policy.jsonc'), 'utf8');
  assert.match(text, /\/\/ what may do what/);
  assert.match(text, /"test\.asks": \["store:own", "bus:publish"\]/);

  // A revision that asks for more: it says so, and what serves goes on.
  const more = await componentBundle(
    dir,
    'test.asks',
    ['bus:publish', 'process:spawn', 'store:own'],
    '2.0.0',
  );
  const next = await bench.ask<Status>('bundle', 'install', more);
  assert.deepEqual(next.ungranted, ['process:spawn']);
  assert.equal(next.components[0]?.state, 'running');
  await bench.ask('bundle', 'revoke', 'test.asks');
  const bad = await bench.jupiter('--json', 'bundle', 'grant', 'test.asks', 'root');
  assert.equal(problemOf(bad).code, 'bundle/permission-unknown');
  const missing = await bench.jupiter('--json', 'bundle', 'grant', 'test.nowhere');
  assert.equal(problemOf(missing).code, 'bundle/not-installed');
  const events = await eventsOf(bench);
  const about = (kind: string) => events.filter((one) => one.startsWith(`${kind} test.asks`));
  assert.deepEqual(about('grant'), ['grant test.asks store:own', 'grant test.asks bus:publish']);
  assert.deepEqual(about('revoke'), ['revoke test.asks bus:publish, store:own']);
  assert.equal(about('install').length, 2);
  assert.equal(about('start').length, 1);
});

test('events: read back in order after a restart, told live to who follows, bounded by what is asked', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  await follow.line(({ kind, subject }) => kind === 'start' && subject === 'bearpunch.sessions:sessions');
  const folder = await skillBundle(dir, 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
    review: { 'SKILL.md': skillText('review') },
  });
  await bench.ask('bundle', 'install', folder);
  const installed = await follow.line(
    ({ kind, subject }) => kind === 'install' && `${subject}`.startsWith('test.'),
  );
  assert.equal(typeof installed['at'], 'number');
  bench.file('.claude/skills/deploy/SKILL.md', 'mine, by hand\n');
  await create(bench);
  const place = `in ${bench.workspace}/.claude/skills`;
  await follow.line(({ kind, subject }) => kind === 'place' && subject === `test.skills review ${place}`);
  await follow.line(({ kind, subject }) => kind === 'withhold' && subject === `test.skills deploy ${place}`);
  const before = await eventsOf(bench);
  await restart(bench);
  const after = await eventsOf(bench);
  assert.deepEqual(after.slice(0, before.length), before);
  const two = await bench.ask<{ events: unknown[]; dropped: number }>('status', '--events', '2');
  assert.equal(two.events.length, 2);
  assert.equal(two.dropped, 0);
  const plain = await bench.jupiter('status', '--events', '1000');
  assert.match(plain.stdout, /withhold +test\.skills deploy .*context\/withheld/);
  assert.equal((await bench.jupiter('status', '--events', 'many')).code, 2);
  assert.equal((await bench.jupiter('status', '--follow')).code, 2);
});

test('events: one subject that repeats itself is dropped after its bound, and how many were is said', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const broken = bench.file('broken.tgz', 'no archive');
  const line = /(\d+) older or repeated events were dropped/;
  const events = async () => (await bench.jupiter('status', '--events', '1000')).stdout;
  assert.doesNotMatch(await events(), line);
  for (let times = 0; times < 130; times += 1) await bench.jupiter('bundle', 'install', broken);
  const shown = await events();
  const told = shown.split('\n').filter((one) => one.includes('refuse')).length;
  assert.equal(told + Number(line.exec(shown)?.[1]), 130);
});
