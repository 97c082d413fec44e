import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, unlinkSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { removePlaced, verifyPlaced } from '../../host/context/index.ts';
import { removePlacedWith } from '../../host/context/placed.ts';
import { memoryOf, place, record, sink, skill, temporary, tree, write } from './fixture.ts';

describe('verifying what is placed', () => {
  it('P11: a flipped byte, a missing file, a file of the user: each named; a whole skill has no problem', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const files = { 'a.md': 'aaa', 'refs/b.md': 'b' };
    await place(cwd, skill(home, 'flipped', files), skill(home, 'gone', files), skill(home, 'whole', files));
    write(join(cwd, sink, 'flipped/a.md'), 'aab');
    unlinkSync(join(cwd, sink, 'gone/refs/b.md'));
    write(join(cwd, sink, 'whole/refs/notes.md'), 'notes');
    write(join(cwd, sink, 'theirs/SKILL.md'), 'never ours');
    const before = tree(cwd);
    const result = await verifyPlaced(cwd);
    assert.ok(result.ok);
    assert.deepEqual(
      result.value.map(({ name, problems, added }) => [
        name,
        problems.map(({ code, subject }) => `${code} ${subject}`),
        added,
      ]),
      [
        ['flipped', [`context/file-edited ${sink}/flipped/a.md`], []],
        ['gone', [`context/placed-missing ${sink}/gone/refs/b.md`], []],
        ['whole', [], ['refs/notes.md']],
      ],
    );
    assert.match(
      result.value[0]?.problems[0]?.evidence ?? '',
      /expected SHA-256 [0-9a-f]{64} \(3 bytes\), found/,
    );
    assert.deepEqual(tree(cwd), before);
  });
  it('a placed file that became a link is named and not read', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    await place(cwd, skill(home, 'tidy', { 'a.md': 'a' }));
    unlinkSync(join(cwd, sink, 'tidy/a.md'));
    write(join(home, 'outside.md'), 'a');
    symlinkSync(join(home, 'outside.md'), join(cwd, sink, 'tidy/a.md'));
    const result = await verifyPlaced(cwd, sink);
    assert.deepEqual(result.ok && result.value[0]?.problems.map(({ evidence }) => evidence), ['a link']);
  });
  it('a record that cannot be read, a linked sink: named, the others go on', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    await place(cwd, skill(home, 'one', {}), skill(home, 'two', {}));
    write(join(cwd, sink, 'one', record), '{');
    symlinkSync(home, join(cwd, '.agents'));
    const result = await verifyPlaced(cwd);
    assert.deepEqual(
      result.ok && result.value.map(({ name, problems }) => [name, problems.map(({ code }) => code)]),
      [
        [null, ['paths/linked']],
        ['one', ['context/record-unreadable']],
        ['two', []],
      ],
    );
  });
});

describe('removing what a bundle placed', () => {
  it('P3: takes no empty folder behind a link that came meanwhile', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    mkdirSync(join(home, 'outside/skills'), { recursive: true });
    await place(cwd, skill(home, 'tidy', {}));
    const onStep = (step: string) => {
      if (step !== 'remove sink') return;
      rmSync(join(cwd, '.claude'), { recursive: true });
      symlinkSync(join(home, 'outside'), join(cwd, '.claude'));
    };
    const asked = { cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) };
    assert.ok((await removePlacedWith({ onStep })(asked)).ok);
    assert.equal(tree(home)['outside/skills'], 'folder');
  });
  it('takes only bytes that are still ours, of that bundle, and empty folders', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const files = { 'a.md': 'a', 'refs/b.md': 'b' };
    const other = { bundle: 'other.tools' };
    await place(
      cwd,
      skill(home, 'gone', files),
      skill(home, 'edited', files),
      skill(home, 'other', files, other),
    );
    write(join(cwd, sink, 'edited/a.md'), 'mine');
    write(join(cwd, sink, 'edited/refs/notes.md'), 'notes');
    write(join(cwd, sink, 'theirs/SKILL.md'), 'never ours');
    const result = await removePlaced({ cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) });
    assert.deepEqual(result, {
      ok: true,
      value: [
        { name: 'edited', removed: 2, kept: ['a.md'] },
        { name: 'gone', removed: 3, kept: [] },
      ],
    });
    const left = tree(join(cwd, sink));
    assert.deepEqual(
      Object.keys(left).filter((path) => !path.startsWith('other')),
      ['edited', 'edited/a.md', 'edited/refs', 'edited/refs/notes.md', 'theirs', 'theirs/SKILL.md'],
    );
    assert.equal(left['edited/a.md'], 'mine');
    assert.equal(left['other/refs/b.md'], 'b');
    assert.deepEqual(await removePlaced({ cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) }), {
      ok: true,
      value: [],
    });
  });
  it('takes folders that were made for skills and are empty, never one that was there before', async (t) => {
    const home = temporary(t);
    const there: readonly (readonly [readonly string[], readonly string[]])[] = [
      [[], []],
      [['.claude'], ['.claude']],
      [[sink], ['.claude', sink]],
      [[`${sink}/tidy`], ['.claude', sink, `${sink}/tidy`]],
      [[`${sink}/tidy/old`], ['.claude', sink, `${sink}/tidy`, `${sink}/tidy/old`]],
      [[`${sink}/tidy/refs`], ['.claude', sink, `${sink}/tidy`, `${sink}/tidy/refs`]],
    ];
    for (const [index, [before, after]] of there.entries()) {
      const cwd = join(home, `ws-${index}`);
      for (const path of ['', ...before]) mkdirSync(join(cwd, path), { recursive: true });
      await place(cwd, skill(home, 'tidy', { 'old/a.md': 'a', 'refs/b.md': 'b', 'c/d/e.md': 'e' }));
      await place(cwd, skill(home, 'tidy', { 'refs/b.md': 'b2', 'c/d/e.md': 'e' }, { revision: 'r2' }));
      const asked = { cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) };
      await removePlaced({ ...asked, keep: () => true });
      assert.equal((await verifyPlaced(cwd, sink)).ok, true);
      const removed = await removePlaced(asked);
      assert.deepEqual(removed.ok && removed.value, [{ name: 'tidy', removed: 3, kept: [] }]);
      assert.deepEqual(Object.keys(tree(cwd)), after, `before: ${before}`);
      assert.deepEqual(readdirSync(`${cwd}.memory`), [], 'nothing is remembered any more');
    }
  });
  it('P3: follows no link', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    await place(cwd, skill(home, 'tidy', { 'refs/b.md': 'b' }));
    write(join(home, 'outside/b.md'), 'b');
    unlinkSync(join(cwd, sink, 'tidy/refs/b.md'));
    const refs = join(cwd, sink, 'tidy/refs');
    rmdirSync(refs);
    symlinkSync(join(home, 'outside'), refs);
    const result = await removePlaced({ cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) });
    assert.deepEqual(result.ok && result.value[0]?.kept, ['refs/b.md']);
    assert.equal(tree(home)['outside/b.md'], 'b');
    assert.equal(tree(cwd)[`${sink}/tidy/refs`], `→ ${join(home, 'outside')}`);
  });
});
