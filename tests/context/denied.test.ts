import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { chmodSync, chownSync, mkdirSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { Placement } from '../../host/context/index.ts';
import { place, sink, skill, temporary, tree, verdicts, write } from './fixture.ts';
import type { Placing } from './placing.ts';

const root = process.getuid?.() === 0;
/** Nobody: root may write everywhere, so the tests give up that right where they have it. */
const nobody = 65_534;

const own = (path: string): void => {
  if (!root) return;
  chownSync(path, nobody, nobody);
  for (const entry of readdirSync(path, { withFileTypes: true })) {
    if (entry.isDirectory()) own(join(path, entry.name));
    else chownSync(join(path, entry.name), nobody, nobody);
  }
};
const placedByNobody = (placing: Placing): readonly Placement[] => {
  const asked: Placing = { ...placing, ...(root ? { become: nobody } : {}) };
  const child = spawnSync(
    process.execPath,
    [join(import.meta.dirname, 'placing.ts'), JSON.stringify(asked)],
    { encoding: 'utf8' },
  );
  assert.equal(child.status, 0, child.stderr);
  const [result] = JSON.parse(child.stdout) as { ok: boolean; value: Placement[] }[];
  return result?.value ?? [];
};

describe('P15: what cannot be written is a named refusal for each skill', () => {
  it('a workspace without permission to write', (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const skills = [skill(home, 'a', {}), skill(home, 'b', {})];
    own(home);
    chmodSync(cwd, 0o555);
    const placements = placedByNobody({ jobs: [{ cwd, sink, skills }] });
    chmodSync(cwd, 0o755);
    const code = 'refused paths/not-writable';
    assert.deepEqual(verdicts(placements), [`a: ${code}`, `b: ${code}`]);
    assert.match(placements[0]?.reason ?? '', /^\.claude: .*EACCES/);
    assert.deepEqual(tree(cwd), {});
  });

  it('one folder without permission: that skill is not touched, the others are placed', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const files = { 'a.md': 'a', 'refs/b.md': 'b' };
    await place(cwd, skill(home, 'one', files), skill(home, 'two', files));
    write(join(cwd, sink, 'blind/SKILL.md'), 'theirs');
    const before = tree(join(cwd, sink, 'one'));
    const changed = { 'a.md': 'a2', 'refs/b.md': 'b2' };
    const skills = ['one', 'two', 'blind'].map((name) => skill(home, name, changed, { revision: 'r2' }));
    own(home);
    chmodSync(join(cwd, sink, 'one/refs'), 0o555);
    chmodSync(join(cwd, sink, 'blind'), 0o000);
    const placements = placedByNobody({ jobs: [{ cwd, sink, skills }] });
    chmodSync(join(cwd, sink, 'one/refs'), 0o755);
    chmodSync(join(cwd, sink, 'blind'), 0o755);
    assert.deepEqual(verdicts(placements), [
      'one: refused context/write-failed',
      'two: placed',
      'blind: refused paths/unreadable',
    ]);
    assert.match(placements[0]?.reason ?? '', /^\.claude\/skills\/one\/refs: .*EACCES/);
    assert.deepEqual(tree(join(cwd, sink, 'one')), before);
  });

  const mounted = (path: string, ...options: readonly string[]): boolean =>
    root &&
    process.platform === 'linux' &&
    spawnSync('mount', ['-t', 'tmpfs', ...options, 'tmpfs', path]).status === 0;

  const unmounted = (path: string): void => void spawnSync('umount', [path]);

  it('a full disk: nothing of the skill is touched, and it is placed once there is room', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    if (!mounted(cwd, '-o', 'size=64k')) return t.skip('needs the right to mount a small tmpfs');
    try {
      const small = skill(home, 'tidy', { 'a.md': 'a' });
      await place(cwd, small);
      const before = tree(cwd);
      const large = skill(home, 'tidy', { 'a.md': 'a2', 'b.bin': 'x'.repeat(100_000) }, { revision: 'r2' });
      const fresh = skill(home, 'fresh', { 'b.bin': 'x'.repeat(100_000) });
      const placements = await place(cwd, fresh, large);
      const code = 'refused context/write-failed';
      assert.deepEqual(verdicts(placements), [`fresh: ${code}`, `tidy: ${code}`]);
      assert.match(placements[0]?.reason ?? '', /ENOSPC/);
      assert.deepEqual(tree(cwd), before);
      assert.equal(spawnSync('mount', ['-o', 'remount,size=1m', cwd]).status, 0);
      assert.deepEqual(verdicts(await place(cwd, fresh, large)), ['fresh: placed', 'tidy: placed']);
    } finally {
      unmounted(cwd);
    }
  });

  it('a read-only workspace', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    if (!mounted(cwd)) return t.skip('needs the right to mount a tmpfs');
    try {
      const tidy = skill(home, 'tidy', {});
      await place(cwd, tidy);
      spawnSync('mount', ['-o', 'remount,ro', cwd]);
      const newer = skill(home, 'tidy', { 'a.md': 'a' }, { revision: 'r2' });
      assert.deepEqual(verdicts(await place(cwd, tidy)), ['tidy: unchanged']);
      const [refused] = await place(cwd, newer);
      assert.match(refused?.reason ?? '', /EROFS/);
    } finally {
      unmounted(cwd);
    }
  });
});
