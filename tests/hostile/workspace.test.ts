/** A workspace that someone prepared: what stands in it is never written over, and never stops the station. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { hash } from 'node:crypto';
import { linkSync, lstatSync, mkdirSync, readFileSync, rmSync, unlinkSync, utimesSync } from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { describe, it, type TestContext } from 'node:test';
import { placeSkills, removePlaced, type SkillSource, verifyPlaced } from '../../host/context/index.ts';
import { placeSkillsWith } from '../../host/context/place.ts';
import { recordText } from '../../host/context/record.ts';
import {
  memoryOf,
  place,
  record,
  sink,
  skill,
  temporary,
  tree,
  verdicts,
  write,
} from '../context/fixture.ts';

const workspace = (t: TestContext) => {
  const home = temporary(t);
  const cwd = join(home, 'ws');
  mkdirSync(cwd);
  return { home, cwd };
};
const pipe = (path: string) => execFileSync('mkfifo', [path]);
const onUnix = { skip: process.platform === 'win32' };

describe('what stands in the way', () => {
  it('P1: a pipe in the place of an empty file of ours is not ours', onUnix, async (t) => {
    const { home, cwd } = workspace(t);
    const tidy = skill(home, 'tidy', { 'empty.txt': '' });
    await place(cwd, tidy);
    const path = join(cwd, sink, 'tidy/empty.txt');
    unlinkSync(path);
    pipe(path);
    assert.deepEqual(verdicts(await place(cwd, tidy, skill(home, 'other', {}))), [
      'tidy: refused context/file-not-ours',
      'other: placed',
    ]);
    const newer = skill(home, 'tidy', { 'empty.txt': 'no longer empty' }, { revision: 'r2' });
    assert.deepEqual(verdicts(await place(cwd, newer)), ['tidy: refused context/file-not-ours']);
    assert.ok(lstatSync(path).isFIFO());
  });

  it(
    'P2: pipes and sockets in the place of files, records and folders stop nothing but their skill',
    onUnix,
    async (t) => {
      const { home, cwd } = workspace(t);
      const folder = join(cwd, sink);
      for (const name of ['entry', 'record', 'socket']) mkdirSync(join(folder, name), { recursive: true });
      pipe(join(folder, 'entry/SKILL.md'));
      pipe(join(folder, 'record/.bearpunch-placed.json'));
      pipe(join(folder, 'folder'));
      const server = createServer().listen(join(folder, 'socket/SKILL.md'));
      t.after(() => server.close());
      await new Promise((resolve) => server.once('listening', resolve));
      const names = ['entry', 'record', 'folder', 'socket', 'free'];
      assert.deepEqual(verdicts(await place(cwd, ...names.map((name) => skill(home, name, {})))), [
        'entry: refused context/file-not-ours',
        'record: refused context/record-unreadable',
        'folder: refused paths/not-a-folder',
        'socket: refused context/file-not-ours',
        'free: placed',
      ]);
    },
  );

  it('P2: a user file that shares its bytes with ours through a hard link keeps them', onUnix, async (t) => {
    const { home, cwd } = workspace(t);
    await place(cwd, skill(home, 'tidy', { 'a.md': 'first' }));
    linkSync(join(cwd, sink, 'tidy/a.md'), join(cwd, 'mine.md'));
    const newer = skill(home, 'tidy', { 'a.md': 'second' }, { revision: 'r2' });
    assert.deepEqual(verdicts(await place(cwd, newer)), ['tidy: placed']);
    assert.equal(readFileSync(join(cwd, 'mine.md'), 'utf8'), 'first');
  });

  it('P2: a folder that is spelled otherwise is another one, or the same and the user’s', async (t) => {
    const { home, cwd } = workspace(t);
    write(join(cwd, sink, 'TIDY/SKILL.md'), 'mine');
    write(join(cwd, sink, 'other/skill.md'), 'mine');
    const placed = verdicts(await place(cwd, skill(home, 'tidy', {}), skill(home, 'other', {})));
    assert.equal(placed[1], 'other: refused context/file-not-ours');
    assert.equal(readFileSync(join(cwd, sink, 'TIDY/SKILL.md'), 'utf8'), 'mine');
    assert.equal(readFileSync(join(cwd, sink, 'other/skill.md'), 'utf8'), 'mine');
  });

  it('P6: a claim that is dated in the future holds no sink', async (t) => {
    const { home, cwd } = workspace(t);
    const claim = join(cwd, sink, '.bearpunch-lock-00000000-1-0-000000000000');
    write(claim, '');
    utimesSync(claim, new Date('2099-01-01'), new Date('2099-01-01'));
    const placed = await placeSkillsWith({ waitMs: 0 })({
      cwd,
      sink,
      skills: [skill(home, 'tidy', {})],
      memory: memoryOf(cwd),
    });
    assert.deepEqual(verdicts(placed.ok ? placed.value : []), ['tidy: placed']);
  });

  it('a workspace with spaces, line ends and other scripts in its name', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'a b\nc\t"ü"  \u202ex');
    mkdirSync(cwd);
    assert.deepEqual(verdicts(await place(cwd, skill(home, 'tidy', {}))), ['tidy: placed']);
    assert.deepEqual(verdicts(await place(cwd, skill(home, 'tidy', {}))), ['tidy: unchanged']);
  });

  it('a workspace that goes away while skills are placed: each skill says so', async (t) => {
    const { home, cwd } = workspace(t);
    const skills = ['one', 'two', 'three'].map((name) => skill(home, name, { 'a.md': 'a' }));
    for (const at of ['folder', 'stage SKILL.md', 'intent', 'final']) {
      mkdirSync(cwd, { recursive: true });
      const placed = await placeSkillsWith({
        onStep: (step) => {
          if (step === at) rmSync(cwd, { recursive: true, force: true });
        },
      })({ cwd, sink, skills, memory: memoryOf(cwd) });
      assert.ok(placed.ok);
      assert.equal(placed.value.length, 3);
      for (const { decision, reason } of placed.value) {
        assert.equal(decision, 'refused', at);
        assert.match(reason ?? '', /\((context|paths)\//);
      }
      rmSync(cwd, { recursive: true, force: true });
    }
    assert.deepEqual((await placeSkills({ cwd, sink, skills, memory: memoryOf(cwd) })).ok, false);
  });

  it('P1: two homes in one workspace: the first one’s files are the user’s to the second; what is the same is unchanged', async (t) => {
    const { home, cwd } = workspace(t);
    const first = skill(join(home, 'one'), 'tidy', { 'a.md': 'a', 'only-first.md': '1' });
    const second = skill(join(home, 'two'), 'tidy', { 'a.md': 'b' }, { revision: 'r2' });
    const other = memoryOf(join(home, 'other-home'));
    const fromOther = async (one: SkillSource) => {
      const placed = await placeSkills({ cwd, sink, skills: [one], memory: other });
      return verdicts(placed.ok ? placed.value : []);
    };
    assert.deepEqual(verdicts(await place(cwd, first)), ['tidy: placed']);
    const before = tree(cwd);
    assert.deepEqual(await fromOther(second), ['tidy: refused context/marker-foreign']);
    assert.deepEqual(await fromOther(first), ['tidy: unchanged']);
    const asked = { cwd, sink, bundle: 'example.tools', memory: other };
    const kept = [{ name: 'tidy', removed: 0, kept: ['SKILL.md', 'a.md', 'only-first.md'] }];
    assert.deepEqual(await removePlaced(asked), { ok: true, value: kept });
    assert.deepEqual(await verifyPlaced(cwd, sink, other), { ok: true, value: [] });
    assert.deepEqual(tree(cwd), before);
    // The one that placed them goes on with them.
    assert.deepEqual(verdicts(await place(cwd, second)), ['tidy: placed']);
  });

  it('P1: a marker that someone wrote makes nothing ours, however well it fits; a file that differs then is refused', async (t) => {
    const { home, cwd } = workspace(t);
    const tidy = skill(home, 'tidy', { 'a.md': 'a' });
    const text = 'hours of work';
    const mine = [{ path: 'SKILL.md', sha256: hash('sha256', text), size: text.length }];
    const forged = { bundle: 'example.tools', revision: tidy.revision, files: mine };
    const prepared: readonly (readonly [string, () => Promise<unknown>])[] = [
      ['never placed', async () => {}],
      ['placed before', () => place(cwd, tidy)],
    ];
    for (const [when, prepare] of prepared) {
      await prepare();
      write(join(cwd, sink, 'tidy/SKILL.md'), text);
      for (const marker of [recordText(forged), recordText({ ...forged, files: [], pending: forged })]) {
        write(join(cwd, sink, 'tidy', record), marker);
        const before = tree(cwd);
        const refused = ['tidy: refused context/marker-foreign'];
        assert.deepEqual(verdicts(await place(cwd, tidy)), refused, when);
        const removed = await removePlaced({ cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) });
        assert.deepEqual(removed.ok && removed.value, [{ name: 'tidy', removed: 0, kept: ['SKILL.md'] }]);
        assert.deepEqual(tree(cwd), before, when);
        const found = await verifyPlaced(cwd, sink, memoryOf(cwd));
        const problems = found.ok && found.value.map((one) => one.problems.map(({ code }) => code));
        assert.deepEqual(problems, when === 'never placed' ? [] : [['context/marker-foreign']], when);
      }
      rmSync(join(cwd, sink, 'tidy'), { recursive: true });
    }
  });
});
