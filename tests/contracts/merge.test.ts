/** T6, T7: both parents of a merge count, and the lock merges line by line. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asText } from '../../host/contracts/index.ts';
import { lockPath, manifest, only, repository, type Throwaway, text, told } from './throwaway.ts';

const base = { 'b.b': text(1), 'm.m': text(1), 'x.x': text(1) };

/** A bundle each, so that only the lock has to be merged. */
const add = async (repo: Throwaway, branch: string, id: string, max: number): Promise<string> => {
  repo.git('checkout', '-q', '-B', branch, 'main');
  repo.write(`${branch}/bundle.json`, manifest({ [id]: text(max) }));
  assert.deepEqual((await repo.update()).findings, []);
  return repo.commit(`add ${id}`);
};

const twoBranches = async (repo: Throwaway): Promise<void> => {
  await repo.release(base);
  await add(repo, 'left', 'c.c', 1);
  await add(repo, 'right', 'p.p', 1);
};

for (const [into, from] of [
  ['left', 'right'],
  ['right', 'left'],
] as const)
  test(`T6: two branches each add a topic: ${from} merged into ${into}`, async (t) => {
    const repo = repository(t);
    await twoBranches(repo);
    repo.git('checkout', '-q', into);
    repo.git('merge', '-q', '--no-edit', from);
    assert.deepEqual(told(await repo.check()), []);
    const lock = repo.read(lockPath);
    await repo.update();
    assert.equal(repo.read(lockPath), lock, 'the merged lock is the one update writes');
    assert.deepEqual(told(await repo.check({ against: ['left', 'right', 'main'] })), []);
  });

test('T6: rebased, cherry-picked and octopus-merged', async (t) => {
  const repo = repository(t);
  await twoBranches(repo);
  await add(repo, 'third', 'y.y', 1);
  repo.git('checkout', '-q', 'main');
  repo.git('merge', '-q', '--no-edit', 'left', 'right', 'third');
  assert.deepEqual(told(await repo.check()), []);
  repo.git('checkout', '-q', 'right');
  repo.git('rebase', '-q', 'left');
  repo.git('cherry-pick', 'third');
  assert.deepEqual(told(await repo.check()), []);
});

test('T6: two additions at one place: git asks, update keeps both', async (t) => {
  const repo = repository(t);
  await repo.release(base);
  await add(repo, 'left', 'c.c', 1);
  await add(repo, 'right', 'd.d', 1);
  assert.notEqual(repo.tried('merge', '--no-edit', 'left').code, 0);
  assert.deepEqual(told(await repo.check()), ['lock-conflict']);
  assert.deepEqual(told(await repo.update()), []);
  repo.commit('merge');
  assert.deepEqual(told(await repo.check()), []);
  assert.match(repo.read(lockPath), /"c\.c"[^\n]*\n,\{"id":"d\.d"/);
});

for (const side of ['ours', 'theirs'] as const)
  test(`T7: one ID with two shapes from two branches fails at the merge, naming both: ${side} kept`, async (t) => {
    const repo = repository(t);
    await repo.release(base);
    const left = await add(repo, 'left', 'c.c', 1);
    const right = await add(repo, 'right', 'c.c', 2);
    assert.notEqual(repo.tried('merge', '--no-edit', 'left').code, 0);
    assert.deepEqual(
      told(await repo.update()).includes('lock-duplicate c.c'),
      true,
      'update decides nothing',
    );
    repo.git('checkout', `--${side}`, lockPath);
    repo.git('rm', '-rq', '--cached', side === 'ours' ? 'left' : 'right');
    repo.write(`${side === 'ours' ? 'left' : 'right'}/bundle.json`, manifest({}));
    for (const when of ['before', 'after']) {
      if (when === 'after') repo.commit('merge');
      const report = await repo.check();
      const found = only(report);
      assert.equal(found.code, 'contract/released-changed', when);
      assert.deepEqual(
        new Set(found.releases.map(({ commit }) => commit)),
        new Set([left, right]),
        `${when} the merge is committed`,
      );
      assert.match(asText(report), /was [12], is [12]/);
    }
  });

test('T7: a merge that drops what the other side released fails', async (t) => {
  const repo = repository(t);
  await twoBranches(repo);
  repo.git('checkout', '-q', 'left');
  repo.git('merge', '-q', '--no-edit', '-s', 'ours', 'right');
  const found = only(await repo.check());
  assert.deepEqual([found.code, found.subject], ['contract/released-removed', 'p.p']);
});

test('T7: a branch that is ahead with another shape is seen before the merge', async (t) => {
  const repo = repository(t);
  await repo.release(base);
  const left = await add(repo, 'left', 'c.c', 1);
  await add(repo, 'right', 'c.c', 2);
  assert.deepEqual(told(await repo.check()), [], 'alone it is fine');
  const found = only(await repo.check({ against: ['left'] }));
  assert.deepEqual([found.code, found.releases[0]?.commit], ['contract/released-changed', left]);
});

test('T7: --against compares with each reference named, and names the commit that released', async (t) => {
  const repo = repository(t);
  const first = await repo.release(base);
  repo.git('tag', '-a', 'v1', '-m', 'v1');
  await repo.release({ ...base, 'n.n': text(1) });
  repo.git('checkout', '-q', '--detach');
  repo.write('bundle.json', manifest({ ...base, 'b.b': text(2) }));
  const forged = repository(t);
  await forged.release({ ...base, 'b.b': text(2) });
  repo.write(lockPath, forged.read(lockPath));
  const one = await repo.check({ against: ['v1'] });
  assert.deepEqual(told(one), ['released-changed b.b']);
  assert.equal(one.findings[0]?.releases[0]?.commit, first);
  assert.deepEqual(told(await repo.check({ against: ['v1', 'main'] })), [
    'released-changed b.b',
    'released-removed n.n',
  ]);
});
