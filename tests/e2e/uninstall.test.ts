/** What bundles placed is taken back, from outside: by uninstalling, by a newer revision, and after a kill. */
import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import Database from 'better-sqlite3';
import { followJupiter, openBench, probePolicy, skillBundle, skillText } from './harness.ts';
import { create } from './trusting.ts';

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
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  await bench.ask('session', 'close', live.id);
  await follow.line(
    ({ kind, subject }) =>
      kind === 'remove' && subject === `test.skills review in ${bench.workspace}/.claude/skills`,
  );
  assert.equal(existsSync(join(bench.workspace, '.claude')), false, 'the station made it, and it is empty');
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

test('skills a newer revision no longer has go from the workspaces, except where edited or in use; install says so', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const skills = {
    deploy: { 'SKILL.md': skillText('deploy'), 'more.md': 'more\n' },
    review: { 'SKILL.md': skillText('review') },
  };
  await bench.ask('bundle', 'install', await skillBundle(dir, 'test.skills', skills));
  const quiet = join(dir, 'quiet');
  mkdirSync(quiet);
  await bench.ask('session', 'close', (await create(bench, quiet)).id);
  writeFileSync(join(quiet, '.claude/skills/deploy/more.md'), 'mine now\n');
  const live = await create(bench);

  const { deploy: _gone, ...left } = skills;
  const next = await skillBundle(dir, 'test.skills', left, '2.0.0');
  const plain = await bench.jupiter('bundle', 'install', next);
  assert.equal(plain.code, 0);
  assert.ok(plain.stdout.includes(`removed  ${quiet}/.claude/skills/deploy  1 file`), plain.stdout);
  assert.ok(
    plain.stdout.includes(`kept  ${quiet}/.claude/skills/deploy/more.md  it was changed`),
    plain.stdout,
  );
  assert.match(plain.stdout, new RegExp(`kept {2}${bench.workspace}/.claude/skills {2}context/in-use`));
  assert.deepEqual(readdirSync(join(quiet, '.claude/skills')).sort(), ['deploy', 'review']);
  assert.deepEqual(readdirSync(join(quiet, '.claude/skills/deploy')), ['more.md']);
  assert.ok(existsSync(join(bench.workspace, '.claude/skills/deploy/SKILL.md')), 'a session uses it');

  // The station is killed before that session is over: its next start knows what is left to do.
  const { pid } = await bench.ask<{ pid: number }>('status');
  process.kill(pid, 'SIGKILL');
  await bench.ask('up');
  const follow = followJupiter(t, ['--home', bench.home, '--json', 'status', '--events', '--follow']);
  await bench.ask('session', 'close', live.id);
  await follow.line(
    ({ kind, subject }) =>
      kind === 'remove' && subject === `test.skills deploy in ${bench.workspace}/.claude/skills`,
  );
  assert.deepEqual(readdirSync(join(bench.workspace, '.claude/skills')), ['review']);
});
