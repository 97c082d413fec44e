/** T9, T11: what can be seen is checked, what cannot is said, and a lock that moved is followed. */
import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type CheckReport, checkContracts } from '../../host/contracts/index.ts';
import { at, folder, lockPath, manifest, only, repository, type Throwaway, text, told } from './throwaway.ts';

const noted = (report: CheckReport): string[] =>
  report.notes.map(({ code }) => code.replace('contract/', ''));
const without = (lock: string, id: string): string =>
  lock
    .split('\n')
    .filter((line) => !line.includes(`"id":"${id}"`))
    .join('\n');

const cloned = (repo: Throwaway, ...args: string[]): Throwaway => {
  repo.git('clone', '-q', ...args, `file://${repo.dir}`, join(repo.home, 'clone'));
  return at(join(repo.home, 'clone'), repo.home);
};

test('T9: a shallow clone: what is there is checked; CI fails unless told what to compare with', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  const clone = cloned(repo, '--depth', '1');
  const report = await clone.check();
  assert.deepEqual([told(report), noted(report)], [[], ['history-shallow']]);
  assert.deepEqual(told(await clone.check({ ci: true })), ['history-shallow']);
  assert.deepEqual(told(await clone.check({ ci: true, against: ['origin/main'] })), []);
  clone.write('bundle.json', manifest({ 'a.a': text(1) }));
  clone.write(lockPath, without(clone.read(lockPath), 'a.b'));
  assert.deepEqual(told(await clone.check()), ['released-removed a.b'], 'the boundary commit counts');
});

test('T9: a detached head', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  repo.git('checkout', '-q', '--detach');
  assert.deepEqual(told(await repo.check({ ci: true })), []);
  repo.write(lockPath, without(repo.read(lockPath), 'a.a'));
  assert.deepEqual(told(await repo.check({ ci: true })), ['unlocked a.a', 'released-removed a.a']);
});

test('T9: before the first commit', async (t) => {
  const repo = repository(t);
  repo.write('bundle.json', manifest({ 'a.a': text(1) }));
  assert.deepEqual(told(await repo.check()), ['lock-missing']);
  await repo.update();
  repo.git('add', '-A');
  assert.deepEqual(told(await repo.check({ ci: true })), []);
  assert.deepEqual(told(await repo.check({ staged: true })), []);
});

test('T9: no repository', async (t) => {
  const dir = folder(t);
  const bare = at(dir, dir);
  bare.write('one/bundle.json', manifest({ 'a.a': text(1) }));
  bare.write('node_modules/other/bundle.json', manifest({ 'z.z': text(1) }));
  await bare.update();
  const report = await bare.check();
  assert.deepEqual([told(report), noted(report), report.seen.topics], [[], ['no-repository'], 1]);
  assert.deepEqual(told(await bare.check({ ci: true })), ['no-repository']);
  const named = await checkContracts({ cwd: dir, against: ['v1'], env: bare.env });
  assert.equal(!named.ok && named.problem.code, 'contract/no-repository', 'what was named is not seen');
  bare.write('one/bundle.json', manifest({ 'a.a': text(2) }));
  assert.deepEqual(told(await bare.check()), ['shape-changed a.a'], 'the lock is compared all the same');
});

test('T9: no git program', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  const env = { ...repo.env, PATH: folder(t) };
  assert.deepEqual(noted(await repo.check({ env })), ['git-missing']);
  assert.deepEqual(told(await repo.check({ env, ci: true })), ['git-missing']);
});

test('T9: a clone that lacks an old version of the lock', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  const old = repo.git('rev-parse', `HEAD:${lockPath}`).trim();
  await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  rmSync(join(repo.dir, '.git/objects', old.slice(0, 2), old.slice(2)));
  assert.deepEqual(noted(await repo.check()), ['history-incomplete']);
  assert.match(told(await repo.check({ ci: true })).join(), /^history-incomplete/);
});

test('T9: an unknown reference is a problem, never "nothing to compare with"', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  for (const ref of ['nowhere', '--all', 'main --not main', `main:${lockPath}`]) {
    const report = await checkContracts({ cwd: repo.dir, env: repo.env, against: [ref] });
    assert.equal(report.ok ? 'checked' : report.problem.code, 'contract/ref-unknown', ref);
  }
});

test('T9: a lock and no manifest is said, and fails in CI', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  repo.git('rm', '-q', 'bundle.json');
  assert.deepEqual(noted(await repo.check()), ['manifest-missing']);
  assert.deepEqual(told(await repo.check({ ci: true })), [`manifest-missing ${lockPath}`]);
});

test('T9: nothing to hold is no failure', async (t) => {
  const repo = repository(t);
  repo.commit('empty');
  assert.deepEqual(told(await repo.check({ ci: true })), []);
  await repo.update();
  assert.equal(repo.git('status', '--porcelain'), '');
});

const moves: readonly (readonly [string, (repo: Throwaway) => void])[] = [
  [
    'renamed',
    (repo) => {
      repo.write('schema/.keep', '');
      repo.git('mv', lockPath, 'schema/topics.lock.json');
      repo.commit('move');
    },
  ],
  [
    'copied, then removed',
    (repo) => {
      repo.write('schema/topics.lock.json', repo.read(lockPath));
      repo.commit('copy');
      repo.git('rm', '-q', lockPath);
      repo.commit('remove');
    },
  ],
  [
    'removed, then put elsewhere',
    (repo) => {
      const lock = repo.read(lockPath);
      repo.git('rm', '-q', lockPath);
      repo.commit('remove');
      repo.write('schema/topics.lock.json', lock);
      repo.commit('put');
    },
  ],
  [
    'moved by way of another name',
    (repo) => {
      repo.write('schema/.keep', '');
      repo.git('mv', lockPath, 'schema/topic-lock.txt');
      repo.commit('one');
      repo.git('mv', 'schema/topic-lock.txt', 'schema/topics.lock.json');
      repo.commit('two');
    },
  ],
];
for (const [what, move] of moves)
  test(`T11: a lock that moved is followed: ${what}`, async (t) => {
    const repo = repository(t);
    const first = await repo.release({ 'a.a': text(1), 'a.b': text(1) });
    const before = repo.git('rev-parse', 'HEAD').trim();
    move(repo);
    assert.deepEqual(told(await repo.check({ ci: true })), []);
    repo.write('bundle.json', manifest({ 'a.a': text(1) }));
    repo.write('schema/topics.lock.json', without(repo.read('schema/topics.lock.json'), 'a.b'));
    repo.commit('remove an entry');
    const found = only(await repo.check());
    assert.deepEqual(
      [found.code, found.subject, found.releases[0]?.commit],
      ['contract/released-removed', 'a.b', first],
    );
    assert.deepEqual(told(await repo.check({ against: [before] })), ['released-removed a.b']);
  });

test('T11: moved and changed in one commit', async (t) => {
  const repo = repository(t);
  const first = await repo.release({ 'a.b': text(1) });
  const other = repository(t);
  await other.release({ 'a.b': text(2) });
  repo.git('rm', '-q', lockPath);
  repo.write('bundle.json', manifest({ 'a.b': text(2) }));
  repo.write('schema/topics.lock.json', other.read(lockPath));
  repo.commit('move and change');
  const found = only(await repo.check());
  assert.deepEqual([found.code, found.releases[0]?.commit], ['contract/released-changed', first]);
});

test('T11: moved from a name of its own to another', async (t) => {
  const repo = repository(t);
  repo.write('bundle.json', manifest({ 'a.a': text(1), 'a.b': text(1) }));
  await repo.update({ lock: 'one.lock' });
  repo.commit('first');
  repo.git('mv', 'one.lock', 'two.lock');
  repo.write('bundle.json', manifest({ 'a.a': text(1) }));
  repo.write('two.lock', without(repo.read('two.lock'), 'a.b'));
  repo.commit('move, and one entry less');
  assert.deepEqual(told(await repo.check({ lock: 'two.lock' })), ['released-removed a.b']);
});

test('T11: two projects in one repository keep a lock each', async (t) => {
  const repo = repository(t);
  for (const project of ['one', 'two']) {
    repo.write(`${project}/bundle.json`, manifest({ [`${project}.a`]: text(1) }));
    await repo.update({ repo: project });
  }
  repo.commit('both');
  for (const project of ['one', 'two'])
    assert.deepEqual(told(await repo.check({ repo: project, ci: true })), []);
  const both = await checkContracts({ cwd: repo.dir, env: repo.env });
  assert.equal(both.ok ? 'checked' : both.problem.code, 'contract/lock-ambiguous');
  repo.git('rm', '-rq', 'two');
  repo.commit('two is gone');
  assert.deepEqual(told(await repo.check({ repo: 'one' })), [], 'the other project is not this one moved');
});
