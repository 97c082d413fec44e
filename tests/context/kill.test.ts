import assert from 'node:assert/strict';
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { after, describe, it, type TestContext } from 'node:test';
import {
  type Placement,
  placeSkills,
  removePlaced,
  type SkillSource,
  verifyPlaced,
} from '../../host/context/index.ts';
import { memoryOf, place, record, sink, skill, temporary, tree, verdicts, write } from './fixture.ts';
import type { Job, Placing } from './placing.ts';

const script = join(import.meta.dirname, 'placing.ts');
/** Dozens of children load the same modules. */
const compiled = mkdtempSync(join(tmpdir(), 'context-compiled-'));
const env = { ...process.env, NODE_COMPILE_CACHE: compiled };
after(() => rmSync(compiled, { recursive: true, force: true }));

const run = (placing: Placing): NodeJS.Signals | null =>
  spawnSync(process.execPath, [script, JSON.stringify(placing)], {
    env,
    stdio: ['ignore', 'ignore', 'inherit'],
  }).signal;

/** Files in the skill's folder, without ours that are no content and without the user's. */
const content = (cwd: string): Record<string, string> => {
  const folder = join(cwd, sink, 'tidy');
  if (!existsSync(folder)) return {};
  const all = Object.entries(tree(folder)).filter(
    ([path, text]) => text !== 'folder' && !path.startsWith('.bearpunch-') && !path.endsWith('notes.md'),
  );
  return Object.fromEntries(all);
};

/** Kills at every step in turn; `check` sees the workspace after each kill. Steps seen. */
const killEverywhere = async (
  t: TestContext,
  prepare: (cwd: string) => Promise<void>,
  job: Omit<Job, 'cwd'>,
  check: (cwd: string, step: number) => Promise<void>,
): Promise<number> => {
  const home = temporary(t);
  const before = join(home, 'before');
  mkdirSync(before);
  await prepare(before);
  for (let killAt = 1; ; killAt += 1) {
    const cwd = join(home, 'ws');
    cpSync(before, cwd, { recursive: true });
    if (existsSync(`${before}.memory`)) cpSync(`${before}.memory`, `${cwd}.memory`, { recursive: true });
    const signal = run({ jobs: [{ ...job, cwd }], killAt });
    await check(cwd, killAt);
    rmSync(cwd, { recursive: true });
    rmSync(`${cwd}.memory`, { recursive: true, force: true });
    if (signal === null) return killAt - 1;
    assert.equal(signal, 'SIGKILL');
  }
};

const wholeOr = (cwd: string, step: number, ...wholes: readonly Record<string, string>[]): void => {
  const found = content(cwd);
  if (found['SKILL.md'] === undefined) return;
  const whole = wholes.some((one) => JSON.stringify(one) === JSON.stringify(found));
  assert.ok(whole, `half a skill after step ${step}: ${JSON.stringify(found)}`);
};

describe('P7: a kill between any two steps', () => {
  it('of a first placement leaves no half skill, and the next run ends it', async (t) => {
    const packages = temporary(t);
    const tidy = skill(packages, 'tidy', { 'a.md': 'a', 'refs/b.md': 'b' });
    const whole = { 'SKILL.md': '# tidy r1', 'a.md': 'a', 'refs/b.md': 'b' };
    const steps = await killEverywhere(
      t,
      async () => {},
      { sink, skills: [tidy] },
      async (cwd, step) => {
        wholeOr(cwd, step, whole);
        const [placed] = await place(cwd, tidy);
        assert.notEqual(placed?.decision, 'refused', `step ${step}: ${placed?.reason}`);
        assert.deepEqual(content(cwd), whole);
        assert.deepEqual(readdirSync(join(cwd, sink)), ['tidy'], 'a lock stayed');
        assert.deepEqual(readdirSync(join(cwd, sink, 'tidy')).sort(), [record, 'SKILL.md', 'a.md', 'refs']);
      },
    );
    assert.ok(steps >= 10, `only ${steps} steps`);
  });

  it('of an upgrade leaves the old or the new skill or none, and files of the user', async (t) => {
    const packages = temporary(t);
    const old = skill(packages, 'tidy', { 'a.md': 'a', 'refs/b.md': 'b', 'same.md': 's' });
    const newer = skill(
      packages,
      'tidy',
      { 'a.md': 'a2', 'c/d.md': 'd', 'same.md': 's' },
      { revision: 'r2' },
    );
    const third = skill(packages, 'tidy', { 'a.md': 'a3', 'refs/b.md': 'b' }, { revision: 'r3' });
    const wholes = [
      { 'SKILL.md': '# tidy r1', 'a.md': 'a', 'refs/b.md': 'b', 'same.md': 's' },
      { 'SKILL.md': '# tidy r2', 'a.md': 'a2', 'c/d.md': 'd', 'same.md': 's' },
    ];
    await killEverywhere(
      t,
      async (cwd) => {
        await place(cwd, old);
        write(join(cwd, sink, 'tidy/refs/notes.md'), 'mine');
      },
      { sink, skills: [newer] },
      async (cwd, step) => {
        wholeOr(cwd, step, ...wholes);
        // Whatever revision comes next, what lies there is known as ours.
        const next = step % 2 === 0 ? newer : third;
        const [placed] = await place(cwd, next);
        assert.notEqual(placed?.decision, 'refused', `step ${step}: ${placed?.reason}`);
        const end = { 'SKILL.md': '# tidy r3', 'a.md': 'a3', 'refs/b.md': 'b' };
        assert.deepEqual(content(cwd), step % 2 === 0 ? wholes[1] : end);
        assert.equal(tree(cwd)[`${sink}/tidy/refs/notes.md`], 'mine');
        assert.deepEqual(
          readdirSync(join(cwd, sink, 'tidy')).filter((name) => name.includes('tmp')),
          [],
        );
        const verified = await verifyPlaced(cwd);
        assert.deepEqual(verified.ok && verified.value.map(({ problems }) => problems), [[]]);
      },
    );
  });

  it('of an upgrade, then an edit by the user: the edit stays', async (t) => {
    const packages = temporary(t);
    const old = skill(packages, 'tidy', { 'a.md': 'a' });
    const newer = skill(packages, 'tidy', { 'a.md': 'a2' }, { revision: 'r2' });
    await killEverywhere(
      t,
      async (cwd) => void (await place(cwd, old)),
      { sink, skills: [newer] },
      async (cwd, step) => {
        write(join(cwd, sink, 'tidy/a.md'), 'mine');
        const before = tree(join(cwd, sink, 'tidy'));
        assert.deepEqual(
          verdicts(await place(cwd, newer)),
          ['tidy: refused context/file-edited'],
          `step ${step}`,
        );
        assert.deepEqual(tree(join(cwd, sink, 'tidy')), before);
      },
    );
  });

  it('of a removal leaves no half skill, and the next removal ends it', async (t) => {
    const packages = temporary(t);
    const tidy = skill(packages, 'tidy', { 'a.md': 'a', 'refs/b.md': 'b' });
    const whole = { 'SKILL.md': '# tidy r1', 'a.md': 'a', 'refs/b.md': 'b' };
    await killEverywhere(
      t,
      async (cwd) => void (await place(cwd, tidy)),
      { sink, remove: 'example.tools' },
      async (cwd, step) => {
        wholeOr(cwd, step, whole);
        const result = await removePlaced({ cwd, sink, bundle: 'example.tools', memory: memoryOf(cwd) });
        assert.ok(result.ok);
        assert.equal(existsSync(join(cwd, '.claude')), false, `step ${step}`);
        const [again] = await place(cwd, tidy);
        assert.equal(again?.decision, 'placed', `step ${step}: ${again?.reason}`);
        assert.deepEqual(content(cwd), whole);
      },
    );
  });
});

it('P6: twenty placements at once from five processes: every file whole, no record lost', async (t) => {
  const packages = temporary(t);
  const cwd = join(temporary(t), 'ws');
  mkdirSync(cwd);
  const files = { 'a.md': 'a'.repeat(20_000), 'refs/b.md': 'b' };
  const shared = ['r1', 'r2'].map((revision) => skill(packages, 'shared', files, { revision }));
  const own = Array.from({ length: 20 }, (_, index) => skill(packages, `own-${index}`, files));
  const jobs = own.map((one, index): Job => {
    const skills = [one, shared[index % 2], own[(index + 1) % 20]];
    return { cwd, sink, skills: skills.filter((each): each is SkillSource => each !== undefined) };
  });
  const children = Array.from({ length: 5 }, (_, index) => {
    const placing: Placing = { jobs: jobs.slice(index * 4, index * 4 + 4), wait: true };
    return spawn(process.execPath, [script, JSON.stringify(placing)], { stdio: ['pipe', 'pipe', 'inherit'] });
  });
  await Promise.all(children.map((child) => once(child.stdout, 'readable')));
  for (const child of children) child.stdin.end();
  for (const output of await Promise.all(children.map((child) => text(child.stdout)))) {
    const results = JSON.parse(output.slice(output.indexOf('\n'))) as {
      ok: boolean;
      value: Placement[];
    }[];
    for (const { value } of results)
      assert.deepEqual(
        value.filter(({ decision }) => decision === 'refused'),
        [],
      );
  }
  const verified = await verifyPlaced(cwd, sink);
  assert.ok(verified.ok);
  assert.equal(verified.value.length, 21);
  assert.deepEqual(
    verified.value.flatMap(({ problems, added }) => [...problems, ...added]),
    [],
  );
  assert.deepEqual(
    readdirSync(join(cwd, sink)).filter((name) => name.startsWith('.')),
    [],
  );
  const { 'SKILL.md': text1, [record]: text2 } = tree(join(cwd, sink, 'shared'));
  const { revision } = JSON.parse(text2 ?? '') as { revision: string };
  assert.equal(text1, `# shared ${revision}`);
  const again = await placeSkills({ cwd, sink, skills: own, memory: memoryOf(cwd) });
  assert.deepEqual(
    again.ok && again.value.map(({ decision }) => decision),
    own.map(() => 'unchanged'),
  );
});
