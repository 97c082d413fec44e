/** Where skills were placed, and what is taken away again when their bundle is gone. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  realpathSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import type { BundleSkill } from '../../host/bundles/index.ts';
import { ok, type Result, refuse } from '../../host/problems/index.ts';
import { openEventLog, openState } from '../../host/state/index.ts';
import { type LiveSession, openPlacements, type PlacementsOptions } from '../../host/station/placements.ts';

const sink = '.claude/skills';

const openBench = (t: TestContext) => {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-placements-')));
  const state = openState(join(root, 'station.db'));
  if (!state.ok) throw new Error(state.problem.message);
  const { db, write } = state.value;
  t.after(() => {
    state.value.close();
    rmSync(root, { recursive: true, force: true });
  });
  const installed = new Set<string>();
  const dropped = new Set<string>();
  let live: Result<readonly LiveSession[]> = ok([]);
  let at = 0;
  const events = openEventLog(
    state.value,
    () => 1,
    (text) => text,
  );
  const options: PlacementsOptions = {
    db,
    write,
    now: () => {
      at += 1;
      return at;
    },
    events,
    installed: (id) => installed.has(id),
    has: (_id, name) => !dropped.has(name),
    live: async () => live,
  };
  const placements = openPlacements(options);
  const workspace = (name: string): string => {
    mkdirSync(join(root, name), { recursive: true });
    return join(root, name);
  };
  const skill = (bundle: string, name: string): BundleSkill => {
    const folder = join(root, 'packages', bundle, name);
    mkdirSync(folder, { recursive: true });
    const text = `# ${name}\n`;
    writeFileSync(join(folder, 'SKILL.md'), text);
    const sha256 = createHash('sha256').update(text).digest('hex');
    return { bundle, revision: 'r', name, folder, files: [{ path: 'SKILL.md', sha256, size: text.length }] };
  };
  return {
    db,
    root,
    installed,
    dropped,
    placements,
    reopened: () => openPlacements(options),
    workspace,
    skill,
    places: () => db.prepare<[], number>('SELECT COUNT(*) FROM placements').pluck().get(),
    told: () => events.newest(100).map(({ kind, subject }) => `${kind} ${subject}`),
    live: (next: Result<readonly LiveSession[]>) => {
      live = next;
    },
  };
};

const session = (cwd: string, bundle: string, more: Partial<LiveSession> = {}): LiveSession => ({
  id: 's-1',
  cwd,
  sink,
  skills: [{ bundle, name: 'one', placed: true }],
  ...more,
});

test('which live session keeps a placement: the same place and bundle, and a skill it really got', async (t) => {
  const bench = openBench(t);
  const cwd = bench.workspace('w');
  symlinkSync(cwd, join(bench.root, 'way'));
  const table: readonly (readonly [string, Result<readonly LiveSession[]>, string])[] = [
    ['this one', ok([session(cwd, 'a')]), 'context/in-use'],
    ['by another name of the workspace', ok([session(join(bench.root, 'way'), 'a')]), 'context/in-use'],
    ['nobody can say', refuse('bus/no-handler'), 'bus/no-handler'],
    ['another workspace', ok([session(bench.workspace('v'), 'a')]), 'gone'],
    ['another sink', ok([session(cwd, 'a', { sink: '.agents/skills' })]), 'gone'],
    ['another bundle', ok([session(cwd, 'b')]), 'gone'],
    [
      'it was refused',
      ok([session(cwd, 'a', { skills: [{ bundle: 'a', name: 'one', placed: false }] })]),
      'gone',
    ],
    ['none', ok([]), 'gone'],
  ];
  for (const [name, live, expected] of table) {
    const placed = await bench.placements.place(cwd, sink, [bench.skill('a', 'one')]);
    assert.ok(placed.ok && placed.value[0]?.decision === 'placed', name);
    bench.live(live);
    const [cleared] = await bench.placements.clear();
    assert.equal(cleared?.waits?.code ?? 'gone', expected, name);
    assert.equal(existsSync(join(cwd, sink, 'one')), expected !== 'gone', name);
    assert.equal(bench.places(), expected === 'gone' ? 0 : 1, name);
    bench.live(ok([]));
    await bench.placements.clear();
  }
});

test('what an installed bundle has placed stays; a place is remembered before its first file', async (t) => {
  const bench = openBench(t);
  bench.installed.add('a');
  const cwd = bench.workspace('w');
  // Placing fails as a whole, and the place is known all the same: a kill in between would look like this.
  writeFileSync(join(cwd, '.claude'), 'a file in the way');
  await bench.placements.place(cwd, sink, [bench.skill('a', 'one')]);
  assert.equal(bench.places(), 1);
  rmSync(join(cwd, '.claude'));
  await bench.placements.place(cwd, sink, [bench.skill('a', 'one'), bench.skill('b', 'two')]);
  assert.equal(bench.places(), 2);
  const cleared = await bench.placements.clear();
  assert.deepEqual(
    cleared.map(({ bundle, removed }) => [bundle, removed]),
    [['b', [{ name: 'two', files: 1 }]]],
  );
  assert.ok(existsSync(join(cwd, sink, 'one')));
  assert.deepEqual(await bench.placements.clear(), []);
  assert.deepEqual(
    bench.told().filter((event) => !event.startsWith('withhold')),
    [`remove b two in ${cwd}/${sink}`, `place b two in ${cwd}/${sink}`, `place a one in ${cwd}/${sink}`],
  );
});

test('what a revision no longer has goes, what it still has stays; a session that has it keeps it until it ends', async (t) => {
  const bench = openBench(t);
  bench.installed.add('a');
  const [busy, quiet] = [bench.workspace('busy'), bench.workspace('quiet')];
  for (const cwd of [busy, quiet])
    await bench.placements.place(cwd, sink, [bench.skill('a', 'one'), bench.skill('a', 'two')]);
  assert.deepEqual(await bench.placements.clear(), []);
  bench.dropped.add('one');
  bench.live(ok([session(busy, 'a')]));
  assert.deepEqual(await bench.placements.clear(), [], 'nobody said that it has another revision');
  bench.placements.revised('a');
  const cleared = await bench.placements.clear();
  assert.deepEqual(
    cleared.map(({ cwd, removed, waits }) => [cwd, removed, waits?.code]),
    [
      [busy, [], 'context/in-use'],
      [quiet, [{ name: 'one', files: 1 }], undefined],
    ],
  );
  const there = (cwd: string) => ['one', 'two'].filter((name) => existsSync(join(cwd, sink, name)));
  assert.deepEqual([there(busy), there(quiet)], [['one', 'two'], ['two']]);
  // A session that was only given what stays keeps nothing.
  bench.live(ok([session(busy, 'a', { skills: [{ bundle: 'a', name: 'two', placed: true }] })]));
  await bench.placements.clear();
  assert.deepEqual(there(busy), ['two']);
  assert.equal(bench.places(), 2, 'both places still hold something');
});

test('a workspace that is gone is forgotten; one that cannot be written is tried again', async (t) => {
  const bench = openBench(t);
  const gone = bench.workspace('gone');
  await bench.placements.place(gone, sink, [bench.skill('a', 'one')]);
  rmSync(gone, { recursive: true });
  const [first] = await bench.placements.clear();
  assert.deepEqual([first?.removed, first?.problems, bench.places()], [[], [], 0]);
  const cwd = bench.workspace('w');
  await bench.placements.place(cwd, sink, [bench.skill('a', 'one')]);
  rmSync(join(cwd, '.claude'), { recursive: true });
  symlinkSync(bench.workspace('elsewhere'), join(cwd, '.claude'));
  const [second] = await bench.placements.clear();
  assert.deepEqual([second?.problems[0]?.code, bench.places()], ['paths/linked', 1]);
});

test('places are bounded: beyond ten thousand the oldest is forgotten, a vanished workspace before it', async (t) => {
  const bench = openBench(t);
  const fill = bench.db.prepare('INSERT INTO placements (cwd, sink, bundle, at) VALUES (?, ?, ?, ?)');
  const kept = bench.workspace('kept');
  bench.db.transaction(() => {
    for (let count = 0; count < 10_000; count += 1) fill.run(kept, `s${count}`, 'a', count - 20_000);
    fill.run(join(bench.root, 'vanished'), sink, 'a', 0);
  })();
  await bench.placements.place(bench.workspace('w'), sink, [bench.skill('a', 'one')]);
  assert.equal(bench.places(), 10_000);
  const has = (cwd: string, place: string) =>
    bench.db.prepare('SELECT 1 FROM placements WHERE cwd = ? AND sink = ?').get(cwd, place) !== undefined;
  assert.equal(has(join(bench.root, 'vanished'), sink), false);
  assert.equal(has(kept, 's0'), false);
  assert.equal(has(kept, 's1'), true);
  assert.equal(has(join(bench.root, 'w'), sink), true);
});

test('verify reads every place once, of all bundles or of one', async (t) => {
  const bench = openBench(t);
  const one = bench.workspace('one');
  const two = bench.workspace('two');
  await bench.placements.place(one, sink, [bench.skill('a', 'one'), bench.skill('b', 'two')]);
  await bench.placements.place(two, sink, [bench.skill('a', 'one')]);
  writeFileSync(join(two, sink, 'one', 'SKILL.md'), 'mine\n');
  const shown = async (bundle?: string) =>
    (await bench.placements.verify(bundle)).map(
      ({ cwd, name, problems }) =>
        `${cwd === one ? 'one' : 'two'} ${name} ${problems.map(({ code }) => code)}`,
    );
  assert.deepEqual(await shown(), ['one one ', 'one two ', 'two one context/file-edited']);
  assert.deepEqual(await shown('b'), ['one two ']);
  assert.deepEqual(await shown('c'), []);
});

test('P1: what this home wrote it knows again after a restart; nothing is remembered of a place that is forgotten', async (t) => {
  const bench = openBench(t);
  const cwd = bench.workspace('w');
  const placed = async (placements = bench.placements) => {
    const done = await placements.place(cwd, sink, [bench.skill('a', 'one')]);
    return done.ok && done.value[0]?.decision;
  };
  const rows = () => bench.db.prepare<[], number>('SELECT COUNT(*) FROM placed').pluck().get();
  assert.equal(await placed(), 'placed');
  assert.equal(rows(), 2, 'the skill, and the sink that was made');
  // Its file is gone, so it is written again: only who knows the marker may.
  unlinkSync(join(cwd, sink, 'one/SKILL.md'));
  const other = openBench(t);
  const refused = await other.placements.place(cwd, sink, [bench.skill('a', 'one')]);
  assert.match((refused.ok && refused.value[0]?.reason) || '', /context\/marker-foreign/);
  assert.equal(await placed(bench.reopened()), 'placed');
  writeFileSync(join(cwd, sink, 'one/notes.md'), 'mine');
  const [cleared] = await bench.placements.clear();
  assert.deepEqual(cleared?.removed, [{ name: 'one', files: 1 }]);
  assert.equal(rows(), 0);
  assert.deepEqual(readdirSync(join(cwd, sink, 'one')), ['notes.md']);
});
