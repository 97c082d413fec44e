/** T8: the installed hook, run by committing, reads what is staged wherever git runs it, and leaves the rest alone. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type HookOptions, installHook } from '../../host/contracts/index.ts';
import { at, lockPath, manifest, repository, type Throwaway, text, told } from './throwaway.ts';

const cli = new URL('../../host/cli/main.ts', import.meta.url);

/** A launcher as an installation has one: JavaScript that any `node` runs. */
const launcher = (repo: Throwaway): string => {
  const file = join(repo.home, "jupiter's launcher.mjs");
  writeFileSync(
    file,
    `import { main } from ${JSON.stringify(cli.href)};
     process.exitCode = await main(process.argv.slice(2));`,
  );
  return file;
};

const install = async (repo: Throwaway, more: Partial<HookOptions> = {}) => {
  const done = await installHook({ cwd: repo.dir, env: repo.env, launcher: launcher(repo), ...more });
  assert.ok(done.ok, done.ok ? '' : JSON.stringify(done.problem));
  return done.value;
};

const released = async (t: TestContext): Promise<Throwaway> => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  return repo;
};

/** Changes a released shape in manifest and lock, as someone who thinks that is enough. */
const forge = (repo: Throwaway): void => {
  for (const path of ['bundle.json', lockPath])
    repo.write(path, repo.read(path).replaceAll(/("maxLength": ?)1/g, '$17'));
};
const refused = (repo: Throwaway, ...args: string[]): string => {
  const before = repo.tried('rev-parse', 'HEAD').output;
  const { code, output } = repo.tried('commit', '-qm', 'no', ...args);
  assert.notEqual(code, 0, 'the commit went through');
  assert.equal(repo.tried('rev-parse', 'HEAD').output, before);
  return output;
};

test('T8: a commit that changes a released shape is refused; the configuration stays as it was', async (t) => {
  const repo = await released(t);
  const config = readFileSync(join(repo.dir, '.git/config'));
  await install(repo);
  forge(repo);
  repo.git('add', '-A');
  assert.match(refused(repo), /contract\/released-changed: The topic "a\.a"/);
  assert.deepEqual(readFileSync(join(repo.dir, '.git/config')), config);
  assert.equal(existsSync(repo.env.GIT_CONFIG_GLOBAL ?? ''), false);
  repo.git('checkout', '-q', 'HEAD', '--', '.');
  repo.write('bundle.json', manifest({ 'a.a': text(1), 'a.b': text(1), 'a.c': text(1) }));
  await repo.update();
  repo.commit('an addition passes');
});

test('T8: what is staged counts, not what lies in the working tree', async (t) => {
  const repo = await released(t);
  await install(repo);
  const good = { manifest: repo.read('bundle.json'), lock: repo.read(lockPath) };
  forge(repo);
  repo.git('add', '-A');
  repo.write('bundle.json', good.manifest);
  repo.write(lockPath, good.lock);
  assert.deepEqual(told(await repo.check()), [], 'the working tree is fine');
  assert.match(refused(repo), /released-changed/);

  repo.git('add', '-A');
  forge(repo);
  repo.write('note', 'x');
  repo.git('add', 'note');
  repo.git('commit', '-qm', 'the index is fine');
});

test('T8: a partially staged file: the staged half', async (t) => {
  const repo = await released(t);
  await install(repo);
  repo.write('bundle.json', manifest({ 'a.a': text(1), 'a.b': text(1), 'a.c': text(1) }));
  repo.git('add', 'bundle.json');
  await repo.update();
  assert.match(refused(repo), /contract\/unlocked: The topic "a\.c"/, 'the lock is not staged');
  repo.git('add', lockPath);
  repo.write('bundle.json', manifest({ 'a.a': text(9) }));
  repo.git('commit', '-qm', 'both halves');
});

test('T8: `commit -a` and `commit PATH` have an index of their own', async (t) => {
  const repo = await released(t);
  await install(repo);
  forge(repo);
  assert.match(refused(repo, '-a'), /released-changed/);
  assert.match(refused(repo, 'bundle.json'), /shape-changed/, 'only the manifest is in that index');
  repo.write('note', 'x');
  repo.git('add', 'note');
  repo.git('commit', '-qm', 'only the note', 'note');
});

test('T8: with GIT_DIR, GIT_WORK_TREE and GIT_INDEX_FILE set', async (t) => {
  const repo = await released(t);
  await install(repo);
  const index = join(repo.home, 'other-index');
  const elsewhere = at(repo.home, repo.home);
  Object.assign(elsewhere.env, {
    GIT_DIR: join(repo.dir, '.git'),
    GIT_WORK_TREE: repo.dir,
    GIT_INDEX_FILE: index,
  });
  elsewhere.git('read-tree', 'HEAD');
  forge(repo);
  elsewhere.git('add', '-A');
  repo.git('checkout', '-q', 'HEAD', '--', '.');
  assert.deepEqual(told(await repo.check({ staged: true })), [], "the repository's own index");
  assert.match(refused(elsewhere), /released-changed/);
  assert.ok(told(await repo.check({ env: elsewhere.env, staged: true })).includes('released-changed a.a'));
});

test('T8: variables of another repository are not followed', async (t) => {
  const repo = await released(t);
  const other = repository(t);
  other.write('bundle.json', '{');
  other.git('add', '-A');
  const env = {
    ...repo.env,
    GIT_DIR: join(other.dir, '.git'),
    GIT_INDEX_FILE: join(other.dir, '.git/index'),
  };
  const report = await repo.check({ cwd: other.dir, repo: repo.dir, env, staged: true });
  assert.deepEqual([told(report), report.seen.topics], [[], 2]);
});

test('T8: in a linked worktree', async (t) => {
  const repo = await released(t);
  repo.git('worktree', 'add', '-q', '-b', 'side', join(repo.home, 'side'));
  const side = at(join(repo.home, 'side'), repo.home);
  const { file } = await install(side);
  assert.equal(file, join(repo.dir, '.git/hooks/pre-commit'), 'worktrees share their hooks');
  for (const place of [side, repo]) {
    forge(place);
    place.git('add', '-A');
    assert.match(refused(place), /released-changed/);
    place.git('reset', '-q', '--hard');
    place.write('note', place.dir);
    place.commit('fine');
  }
});

test('T8: in a submodule, and of a superproject with one', async (t) => {
  const inner = await released(t);
  const outer = repository(t);
  await outer.release({ 'o.o': text(1) });
  outer.git('-c', 'protocol.file.allow=always', 'submodule', '--quiet', 'add', inner.dir, 'sub');
  outer.commit('add sub');
  const sub = at(join(outer.dir, 'sub'), outer.home);
  const config = readFileSync(join(outer.dir, '.git/modules/sub/config'));
  const { file } = await install(sub);
  assert.equal(file, join(outer.dir, '.git/modules/sub/hooks/pre-commit'));
  assert.deepEqual(readFileSync(join(outer.dir, '.git/modules/sub/config')), config);
  forge(sub);
  sub.git('add', '-A');
  assert.match(refused(sub), /released-changed/);
  sub.git('reset', '-q', '--hard');
  assert.deepEqual(told(await outer.check({ ci: true })), [], 'the superproject holds its own topics only');
  await install(outer);
  forge(outer);
  outer.git('add', '-A');
  assert.match(refused(outer), /The topic "o\.o"/);
});

test('T8: while a merge is concluded both parents count', async (t) => {
  const repo = await released(t);
  await install(repo);
  repo.git('checkout', '-qb', 'side');
  await repo.release({ 'a.a': text(1), 'a.b': text(1), 'a.c': text(1) });
  repo.git('checkout', '-q', 'main');
  await repo.release({ 'a.a': text(1), 'a.b': text(1), 'a.d': text(1) });
  repo.tried('merge', 'side');
  repo.git('checkout', '--ours', '.');
  repo.git('add', '-A');
  assert.match(refused(repo), /released-removed: The topic "a\.c"/);
  repo.write('bundle.json', manifest({ 'a.a': text(1), 'a.b': text(1), 'a.c': text(1), 'a.d': text(1) }));
  await repo.update();
  repo.commit('merge');
});

test('T8: a hook that is there runs first and is kept; installing again changes nothing', async (t) => {
  const repo = await released(t);
  const hook = join(repo.dir, '.git/hooks/pre-commit');
  mkdirSync(join(repo.dir, '.git/hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\necho ran >> ran\ntest ! -e stop\n', { mode: 0o755 });
  const { chained, changed } = await install(repo);
  assert.equal(changed, true);
  assert.equal(readFileSync(chained ?? '', 'utf8'), '#!/bin/sh\necho ran >> ran\ntest ! -e stop\n');
  const script = readFileSync(hook);
  for (let again = 0; again < 2; again += 1) {
    assert.deepEqual(await install(repo), { file: hook, chained, changed: false });
    assert.deepEqual(readFileSync(hook), script);
  }
  repo.commit('fine');
  assert.equal(repo.read('ran'), 'ran\n');
  repo.write('stop', '');
  repo.git('add', 'stop');
  refused(repo);
  repo.git('rm', '-qf', 'stop');
  forge(repo);
  repo.git('add', '-A');
  assert.match(refused(repo), /released-changed/);
});

test('T8: a hook that git would not run stays one, and a name that is taken is left alone', async (t) => {
  const repo = await released(t);
  const hook = join(repo.dir, '.git/hooks/pre-commit');
  mkdirSync(join(repo.dir, '.git/hooks'), { recursive: true });
  writeFileSync(hook, '#!/bin/sh\nexit 1\n', { mode: 0o644 });
  writeFileSync(`${hook}.before-jupiter`, 'precious');
  const { chained } = await install(repo);
  assert.equal(chained, `${hook}.before-jupiter-2`);
  assert.equal(readFileSync(`${hook}.before-jupiter`, 'utf8'), 'precious');
  repo.commit('fine');
  chmodSync(chained ?? '', 0o755);
  repo.write('note', 'x');
  repo.git('add', '-A');
  refused(repo);
});

test('T8: core.hooksPath is followed inside the repository and refused outside', async (t) => {
  const repo = await released(t);
  repo.git('config', 'core.hooksPath', '.githooks');
  const config = readFileSync(join(repo.dir, '.git/config'));
  const inside = await install(repo);
  assert.equal(inside.file, join(repo.dir, '.githooks/pre-commit'));
  assert.doesNotMatch(
    readFileSync(inside.file, 'utf8'),
    /launcher/,
    'a hook that may be committed names no path of this machine',
  );
  assert.deepEqual(readFileSync(join(repo.dir, '.git/config')), config);
  repo.git('config', 'core.hooksPath', join(repo.home, 'hooks'));
  const outside = await installHook({ cwd: repo.dir, env: repo.env });
  assert.equal(outside.ok ? 'installed' : outside.problem.code, 'contract/hook-refused');
  assert.equal(existsSync(join(repo.home, 'hooks')), false);
});

test('T8: two projects of one repository are checked by one hook', async (t) => {
  const repo = repository(t);
  for (const project of ['one', "two's"]) {
    repo.write(`${project}/bundle.json`, manifest({ [`${project[0]}.a`]: text(1) }));
    await repo.update({ repo: project });
  }
  repo.commit('both');
  await install(repo, { repo: 'one' });
  await install(repo, { repo: "two's" });
  const { changed } = await install(repo, { repo: 'one' });
  assert.equal(changed, false);
  for (const project of ['one', "two's"]) {
    repo.write(`${project}/bundle.json`, manifest({ [`${project[0]}.a`]: text(2) }));
    repo.git('add', '-A');
    assert.match(refused(repo), new RegExp(`The topic "${project[0]}\\.a"`));
    repo.git('reset', '-q', '--hard');
  }
});

test('T8: without jupiter the hook says so and stops the commit', async (t) => {
  const repo = await released(t);
  const done = await installHook({ cwd: repo.dir, env: repo.env });
  assert.ok(done.ok);
  repo.write('note', 'x');
  repo.git('add', '-A');
  assert.match(refused(repo), /jupiter was not found/);
  const script = readFileSync(done.value.file, 'utf8');
  assert.equal(spawnSync('sh', ['-n'], { input: script }).status, 0);
});
