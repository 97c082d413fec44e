/** Strangers' bundles from outside: archives, bytes that changed, signatures, grants, and the ledger that tells of them. */
import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { packBundle } from '../../host/bundles/index.ts';
import { tgzOf } from '../bundles/tars.ts';
import { watGuest } from '../sandbox/guests.ts';
import {
  type Bench,
  eventsOf,
  followJupiter,
  openBench,
  probePolicy,
  type Run,
  skillBundle,
  skillText,
} from './harness.ts';

interface Status {
  id: string;
  revision: string;
  asks: string[];
  ungranted: string[];
  components: { id: string; state: string; problem?: { code: string } }[];
  problem?: { code: string; subject?: string };
}
interface Verified {
  bundles: { id: string; problem?: { code: string; subject?: string } }[];
  placed: { cwd: string; sink: string; name: string; problems: { code: string; subject: string }[] }[];
}

/** Answers one message with `done`: an outcome of zeros. */
const quietGuest = () => watGuest({ core: '(data (i32.const 8) "\\20\\00\\00\\00\\01\\00\\00\\00")' });

/** A packed bundle with one small component that asks for these permissions. */
const componentBundle = async (
  dir: string,
  id: string,
  permissions: readonly string[] = [],
  version = '1.0.0',
): Promise<string> => {
  const folder = join(dir, id);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'it.wasm'), await quietGuest());
  writeFileSync(join(folder, 'note.txt'), `version ${version}\n`);
  const components = [{ id: 'it', driver: 'wasm', entry: 'it.wasm', permissions }];
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ manifest: 2, id, version, components }));
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

const problemOf = (run: Run): { code: string; subject?: string; evidence?: string } => {
  assert.equal(run.code, 1, run.stdout + run.stderr);
  return (run.json() as { problem: { code: string } }).problem;
};
const flip = (file: string, at = 3): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};
const statusOf = async (bench: Bench, id: string): Promise<Status> => {
  const { bundles } = await bench.ask<{ bundles: Status[] }>('bundle', 'list');
  const found = bundles.find((one) => one.id === id);
  assert.ok(found, id);
  return found;
};
const create = (bench: Bench, cwd = bench.workspace) =>
  bench.ask<{ id: string; state: string; provisioning: { skills: { name: string; decision: string }[] } }>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    cwd,
  );
const restart = async (bench: Bench): Promise<void> => {
  await bench.ask('down');
  await bench.ask('up');
};

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

test('uninstall takes away what is still ours, keeps what was edited and what a live session uses, and says both', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const folder = await skillBundle(dir, 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy'), 'more.md': 'more\n' },
    review: { 'SKILL.md': skillText('review') },
  });
  await bench.ask('bundle', 'install', folder);
  const quiet = join(dir, 'quiet');
  mkdirSync(quiet);
  const over = await create(bench, quiet);
  await bench.ask('session', 'close', over.id);
  const live = await create(bench);
  writeFileSync(join(quiet, '.claude/skills/deploy/SKILL.md'), 'mine now\n');
  writeFileSync(join(quiet, '.claude/skills/deploy/notes.md'), 'my notes\n');

  const gone = await bench.ask<{
    places: {
      cwd: string;
      removed: { name: string; files: number }[];
      kept: string[];
      waits?: { code: string; subject: string };
    }[];
  }>('bundle', 'uninstall', 'test.skills');
  const at = (cwd: string) => gone.places.find((place) => place.cwd === cwd);
  assert.deepEqual(at(quiet)?.removed, [
    { name: 'deploy', files: 1 },
    { name: 'review', files: 1 },
  ]);
  assert.deepEqual(at(quiet)?.kept, ['deploy/SKILL.md']);
  assert.deepEqual(readdirSync(join(quiet, '.claude/skills')), ['deploy']);
  assert.deepEqual(readdirSync(join(quiet, '.claude/skills/deploy')).sort(), ['SKILL.md', 'notes.md']);
  assert.deepEqual(at(bench.workspace)?.removed, []);
  assert.deepEqual(
    [at(bench.workspace)?.waits?.code, at(bench.workspace)?.waits?.subject],
    ['context/in-use', live.id],
  );
  assert.ok(existsSync(join(bench.workspace, '.claude/skills/review/SKILL.md')));

  // It goes when the session does.
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '0', '--follow']);
  await bench.ask('session', 'close', live.id);
  await follow.line(
    ({ kind, subject }) =>
      kind === 'remove' && subject === `test.skills review in ${bench.workspace}/.claude/skills`,
  );
  assert.deepEqual(readdirSync(join(bench.workspace, '.claude/skills')), []);
});

test('P7: a station killed before an uninstallation has cleared the workspaces clears them at its next start', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const folder = await skillBundle(dir, 'test.skills', { deploy: { 'SKILL.md': skillText('deploy') } });
  await bench.ask('bundle', 'install', folder);
  const session = await create(bench);
  await bench.ask('bundle', 'uninstall', 'test.skills');
  assert.ok(existsSync(join(bench.workspace, '.claude/skills/deploy/SKILL.md')));
  const { pid } = await bench.ask<{ pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  await bench.ask('up');
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  await follow.line(({ kind }) => kind === 'remove');
  assert.equal(existsSync(join(bench.workspace, '.claude/skills/deploy')), false);
  assert.equal((await bench.ask('session', 'show', session.id))['state'], 'ended');
});

test('P7: a station killed between forgetting a bundle and clearing what it placed clears it at its next start', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const folder = await skillBundle(dirname(bench.workspace), 'test.skills', {
    deploy: { 'SKILL.md': skillText('deploy') },
  });
  await bench.ask('bundle', 'install', folder);
  await bench.ask('session', 'close', (await create(bench)).id);
  await bench.ask('down');
  const db = new Database(join(bench.home, 'station.db'));
  db.exec("DELETE FROM bundles WHERE id = 'test.skills'");
  db.close();
  await bench.ask('up');
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  await follow.line(({ kind }) => kind === 'remove');
  assert.equal(existsSync(join(bench.workspace, '.claude/skills/deploy')), false);
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
  const alex = await keygen('alex');
  const mallory = await keygen('mallory');
  assert.equal(statSync(alex.file).mode & 0o777, 0o600);
  const secret = readFileSync(alex.file, 'utf8').split('\n')[1] ?? '';
  const rules = (key: string) =>
    bench.policy(
      JSON.stringify(probePolicy({ keys: { alex: key }, signatures: [{ prefix: 'acme', key: 'alex' }] })),
    );
  rules(alex.key);
  await bench.ask('up');
  const folder = await skillBundle(dir, 'acme.skills', { deploy: { 'SKILL.md': skillText('deploy') } });
  const archive = join(dir, 'acme.tgz');
  const install = () => bench.jupiter('--json', 'bundle', 'install', archive);
  const pack = (...more: readonly string[]) => bench.ask('bundle', 'pack', folder, '-o', archive, ...more);
  await pack();
  assert.equal(problemOf(await install()).code, 'bundle/signature-missing');
  await pack('--sign', mallory.file);
  assert.equal(problemOf(await install()).code, 'bundle/signature-key');
  const packed = await bench.jupiter('bundle', 'pack', folder, '--sign', alex.file);
  assert.ok(packed.stdout.includes(alex.key));
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
  await pack('--sign', alex.file);
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
