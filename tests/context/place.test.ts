import assert from 'node:assert/strict';
import {
  chmodSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  unlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { placeSkills, type SkillSource } from '../../host/context/index.ts';
import { placeSkillsWith } from '../../host/context/place.ts';
import { memoryOf, place, record, sink, skill, temporary, tree, verdicts, write } from './fixture.ts';

describe('placing', () => {
  it('puts every file in place, with a record of bundle, revision and digests', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const tidy = skill(home, 'tidy', { 'refs/deep/a.md': 'a', 'empty.txt': '' });
    assert.deepEqual(await place(cwd, tidy), [
      { bundle: 'example.tools', revision: 'r1', name: 'tidy', decision: 'placed', reason: null, files: 3 },
    ]);
    const placed = tree(cwd);
    assert.equal(placed[`${sink}/tidy/refs/deep/a.md`], 'a');
    assert.deepEqual(JSON.parse(placed[`${sink}/tidy/${record}`] ?? ''), {
      bundle: 'example.tools',
      files: tidy.files.toSorted((a, b) => (a.path < b.path ? -1 : 1)),
      placed: 1,
      revision: 'r1',
    });
    assert.deepEqual(
      Object.keys(placed).filter((path) => /tmp|lock/.test(path)),
      [],
    );
  });

  it('P12: a second run with nothing changed writes nothing', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    write(join(cwd, sink, 'mine/SKILL.md'), 'mine');
    const skills = [skill(home, 'mine', {}), skill(home, 'tidy', { 'refs/a.md': 'a' })];
    await place(cwd, ...skills);
    const times = () =>
      Object.keys(tree(cwd)).map((path) => [path, lstatSync(join(cwd, path), { bigint: true }).ctimeNs]);
    const before = times();
    const bytes = readFileSync(join(cwd, sink, 'tidy', record));
    assert.deepEqual(verdicts(await place(cwd, ...skills)), [
      'mine: refused context/file-not-ours',
      'tidy: unchanged',
    ]);
    assert.deepEqual(times(), before);
    assert.deepEqual(readFileSync(join(cwd, sink, 'tidy', record)), bytes);
  });

  it('P1: what the user edited or added stays byte for byte, from a newer revision too', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const files = { 'a.md': 'a', 'b.md': 'b' };
    await place(cwd, skill(home, 'tidy', files), skill(home, 'other', files));
    write(join(cwd, sink, 'tidy/b.md'), 'mine');
    write(join(cwd, sink, 'tidy/notes.md'), 'notes');
    const before = tree(join(cwd, sink, 'tidy'));
    const revisions = [
      [skill(home, 'tidy', files), skill(home, 'other', files)],
      [
        skill(home, 'tidy', { 'a.md': 'a2', 'b.md': 'b2' }, { revision: 'r2' }),
        skill(home, 'other', { 'a.md': 'a2' }, { revision: 'r2' }),
      ],
      [
        skill(home, 'tidy', { 'c.md': 'c' }, { revision: 'r3' }),
        skill(home, 'other', files, { revision: 'r3' }),
      ],
    ];
    for (const skills of revisions) {
      const [tidy, other] = await place(cwd, ...skills);
      assert.equal(tidy?.decision, 'refused');
      assert.match(tidy?.reason ?? '', /^\.claude\/skills\/tidy\/b\.md: .*context\/file-edited/);
      assert.notEqual(other?.decision, 'refused');
      assert.deepEqual(tree(join(cwd, sink, 'tidy')), before);
    }
    assert.deepEqual(Object.keys(tree(join(cwd, sink, 'other'))), [record, 'SKILL.md', 'a.md', 'b.md']);
  });

  it('P1: files of the user that nothing collides with do not stop an upgrade', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    await place(cwd, skill(home, 'tidy', { 'a/x.md': 'x', 'b.md': 'b' }));
    write(join(cwd, sink, 'tidy/a/notes.md'), 'notes');
    const newer = skill(home, 'tidy', { 'c/y.md': 'y' }, { revision: 'r2' });
    assert.deepEqual(verdicts(await place(cwd, newer)), ['tidy: placed']);
    const placed = tree(join(cwd, sink, 'tidy'));
    assert.equal(placed['a/notes.md'], 'notes');
    assert.equal(placed['c/y.md'], 'y');
    assert.equal(placed['SKILL.md'], '# tidy r2');
    assert.equal(placed['a/x.md'], undefined);
    assert.equal(placed['b.md'], undefined);
  });

  it('P2: a skill of the same name that we never placed stays, even with the same bytes', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    const files = { 'a.md': 'a' };
    write(join(cwd, sink, 'tidy/SKILL.md'), '# tidy r1');
    write(join(cwd, sink, 'near/skill.md'), 'another spelling');
    const before = tree(cwd);
    const skills = [skill(home, 'tidy', files), skill(home, 'near', files), skill(home, 'other', files)];
    assert.deepEqual(verdicts(await place(cwd, ...skills)), [
      'tidy: refused context/file-not-ours',
      'near: refused context/file-not-ours',
      'other: placed',
    ]);
    rmSync(join(cwd, sink, 'other'), { recursive: true });
    assert.deepEqual(tree(cwd), before);
  });

  it('a placed file the user deleted comes back', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const tidy = skill(home, 'tidy', { 'a.md': 'a' });
    await place(cwd, tidy);
    const before = tree(cwd);
    unlinkSync(join(cwd, sink, 'tidy/a.md'));
    assert.deepEqual(verdicts(await place(cwd, tidy)), ['tidy: placed']);
    assert.deepEqual(tree(cwd), before);
  });

  it('a file may become a folder and a folder a file, where all of it is ours', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    await place(cwd, skill(home, 'tidy', { a: 'file', 'b/c/d.md': 'deep' }));
    const newer = skill(home, 'tidy', { 'a/x.md': 'x', b: 'file' }, { revision: 'r2' });
    assert.deepEqual(verdicts(await place(cwd, newer)), ['tidy: placed']);
    const placed = tree(join(cwd, sink, 'tidy'));
    assert.deepEqual([placed.a, placed['a/x.md'], placed.b], ['folder', 'x', 'file']);
    await place(cwd, skill(home, 'tidy', { 'b/c.md': 'c' }, { revision: 'r3' }));
    write(join(cwd, sink, 'tidy/b/mine.md'), 'mine');
    const before = tree(cwd);
    const again = skill(home, 'tidy', { b: 'file' }, { revision: 'r4' });
    assert.deepEqual(verdicts(await place(cwd, again)), ['tidy: refused context/file-not-ours']);
    assert.deepEqual(tree(cwd), before);
  });

  it('P5: of two bundles with one skill name the first by ID is placed, never a mixture', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const first = skill(home, 'tidy', { 'first.md': '1' }, { bundle: 'a.tools' });
    const second = skill(home, 'Tidy', { 'second.md': '2' }, { bundle: 'b.tools' });
    const [loser, winner] = await place(cwd, second, first);
    assert.deepEqual([loser?.decision, winner?.decision], ['refused', 'placed']);
    assert.match(loser?.reason ?? '', /context\/skill-conflict, "tidy" of a\.tools is placed/);
    assert.deepEqual(Object.keys(tree(join(cwd, sink))), [
      'tidy',
      `tidy/${record}`,
      'tidy/SKILL.md',
      'tidy/first.md',
    ]);
    // Uninstalled: what is left of it is ours, so the other takes the place whole.
    const heir = skill(home, 'tidy', { 'second.md': '2' }, { bundle: 'b.tools' });
    assert.deepEqual(verdicts(await place(cwd, heir)), ['tidy: placed']);
    assert.deepEqual(Object.keys(tree(join(cwd, sink, 'tidy'))), [record, 'SKILL.md', 'second.md']);
  });
});

it("P5: a skill of another server never takes a name from a bundle's, whatever its label", async (t) => {
  const home = temporary(t);
  const cwd = join(home, 'ws');
  mkdirSync(cwd);
  const remote = skill(home, 'mcp-a-tidy', { 'far.md': '1' }, { bundle: 'mcp:a/tidy' });
  const own = skill(home, 'mcp-a-tidy', { 'near.md': '2' }, { bundle: 'z.tools' });
  assert.deepEqual(
    (await place(cwd, remote, own)).map(({ bundle, decision }) => `${bundle} ${decision}`),
    ['mcp:a/tidy refused', 'z.tools placed'],
  );
});

describe('P3: nothing is written through a link, and the link stays', () => {
  const rows: readonly string[] = [
    '.claude',
    sink,
    `${sink}/tidy`,
    `${sink}/tidy/refs`,
    `${sink}/tidy/SKILL.md`,
    `${sink}/tidy/refs/a.md`,
    `${sink}/tidy/${record}`,
  ];
  for (const state of ['before anything was placed', 'where it was placed before'])
    for (const path of rows)
      it(`${path} ${state}`, async (t) => {
        const home = temporary(t);
        const cwd = join(home, 'ws');
        const outside = join(home, 'outside');
        mkdirSync(cwd);
        const files = { 'refs/a.md': 'a' };
        if (state.startsWith('where')) {
          await place(cwd, skill(home, 'tidy', files));
          renameSync(join(cwd, path), outside);
        } else {
          mkdirSync(join(cwd, path, '..'), { recursive: true });
          if (path.endsWith('.md') || path.endsWith('.json')) writeFileSync(outside, 'theirs');
          else mkdirSync(outside);
        }
        symlinkSync(outside, join(cwd, path));
        const before = tree(home);
        const newer = skill(home, 'tidy', { 'refs/a.md': 'a2' }, { revision: 'r2' });
        for (const tidy of [skill(home, 'tidy', files), newer])
          assert.deepEqual(verdicts(await place(cwd, tidy)), ['tidy: refused paths/linked']);
        const after = tree(home);
        for (const [name, text] of Object.entries(before)) assert.equal(after[name], text, name);
        const fresh = Object.keys(after).filter((name) => before[name] === undefined);
        assert.deepEqual(
          fresh.filter((name) => !name.startsWith('example.tools')),
          [],
        );
      });

  it('a link that leads nowhere is a link all the same', async (t) => {
    const home = temporary(t);
    mkdirSync(join(home, 'ws', sink, 'tidy'), { recursive: true });
    symlinkSync(join(home, 'nowhere'), join(home, 'ws', sink, 'tidy/SKILL.md'));
    assert.deepEqual(verdicts(await place(join(home, 'ws'), skill(home, 'tidy', {}))), [
      'tidy: refused paths/linked',
    ]);
    assert.equal(lstatSync(join(home, 'nowhere'), { throwIfNoEntry: false }), undefined);
  });
  it('the workspace itself may be reached through a link', async (t) => {
    const home = temporary(t);
    mkdirSync(join(home, 'ws'));
    symlinkSync(join(home, 'ws'), join(home, 'link'));
    assert.deepEqual(verdicts(await place(join(home, 'link'), skill(home, 'tidy', {}))), ['tidy: placed']);
  });
});

describe('P16: a sink that is no place below the workspace is refused before any file is touched', () => {
  const sinks = [
    '',
    '.',
    '..',
    '/abs',
    'a/../..',
    'a/..',
    'a//b',
    'a/',
    'a\\b',
    'a\u0000b',
    'C:\\x',
    'c:x',
    'con',
    'a. ',
    './a',
  ];
  for (const wrong of sinks)
    it(JSON.stringify(wrong), async (t) => {
      const home = temporary(t);
      mkdirSync(join(home, 'ws'));
      const tidy = skill(home, 'tidy', {});
      const before = tree(home);
      const result = await placeSkills({
        cwd: join(home, 'ws'),
        sink: wrong,
        skills: [tidy],
        memory: memoryOf(join(home, 'ws')),
      });
      assert.equal(result.ok ? 'placed' : result.problem.code, 'context/sink-invalid');
      assert.deepEqual(tree(home), before);
    });
});

describe('a workspace that is none', () => {
  it('is refused as a whole', async (t) => {
    const home = temporary(t);
    writeFileSync(join(home, 'file'), '');
    for (const cwd of ['relative', '', join(home, 'gone'), join(home, 'file'), `${home}\u0000`]) {
      const result = await placeSkills({
        cwd,
        sink,
        skills: [skill(home, 'tidy', {})],
        memory: memoryOf(join(home, 'ws')),
      });
      assert.equal(result.ok ? 'placed' : result.problem.code, 'context/workspace-missing', cwd);
    }
  });
});

describe('what a source must be', () => {
  it('P11: a byte that differs from what was admitted is found before the skill is touched', async (t) => {
    const home = temporary(t);
    const cwd = join(home, 'ws');
    mkdirSync(cwd);
    const files = { 'a.md': 'aaaa', 'b.md': 'b' };
    await place(cwd, skill(home, 'tidy', files));
    const before = tree(cwd);
    const changes: readonly (readonly [string, string, RegExp])[] = [
      ['same size', 'axaa', /a\.md: .*expected SHA-256 [0-9a-f]{64}, found [0-9a-f]{64}/],
      ['longer', 'aaaaa', /a\.md: .*expected 4 bytes, found more/],
      ['shorter', 'a', /a\.md: .*expected 4 bytes, found 1/],
    ];
    for (const [how, text, reason] of changes) {
      const newer = skill(home, 'tidy', { 'a.md': 'A222', 'b.md': 'b2' }, { revision: `r-${how}` });
      write(join(newer.folder, 'a.md'), text);
      const fine = skill(home, 'fine', files, { revision: `r-${how}` });
      const placements = await place(cwd, newer, fine);
      assert.deepEqual(verdicts(placements), ['tidy: refused context/source-changed', 'fine: placed'], how);
      assert.match(placements[0]?.reason ?? '', reason);
      rmSync(join(cwd, sink, 'fine'), { recursive: true });
      assert.deepEqual(tree(cwd), before, how);
    }
  });
  it('a link or nothing in its place is refused too, and no folder is left', async (t) => {
    const home = temporary(t);
    mkdirSync(join(home, 'ws'));
    const linked = skill(home, 'linked', { 'a.md': 'a' });
    rmSync(join(linked.folder, 'a.md'));
    symlinkSync(join(linked.folder, 'SKILL.md'), join(linked.folder, 'a.md'));
    const gone = skill(home, 'gone', { 'a.md': 'a' });
    rmSync(join(gone.folder, 'a.md'));
    const code = 'refused context/source-changed';
    assert.deepEqual(verdicts(await place(join(home, 'ws'), linked, gone)), [
      `linked: ${code}`,
      `gone: ${code}`,
    ]);
    assert.deepEqual(tree(join(home, 'ws', sink)), {});
  });
  const rows: readonly (readonly [string, string, Readonly<Record<string, string>>])[] = [
    ['a name that leaves the sink', '../tidy', {}],
    ['a name of two segments', 'a/b', {}],
    ['a reserved name', '.bearpunch-x', {}],
    ['a file that leaves the skill', 'tidy', { '../x.md': 'x' }],
    ['a file in the place of the record', 'tidy', { [record]: '{}' }],
    ['two files that are one on some system', 'tidy', { 'Readme.md': '1', 'README.md': '2' }],
  ];
  for (const [title, name, files] of rows)
    it(`${title} is refused`, async (t) => {
      const home = temporary(t);
      mkdirSync(join(home, 'ws'));
      const source = { ...skill(home, 'safe', {}), name };
      const listed = Object.entries(files).map(([path]) => ({ path, sha256: '0'.repeat(64), size: 1 }));
      const before = tree(join(home, 'ws'));
      const result = await place(join(home, 'ws'), { ...source, files: [...source.files, ...listed] });
      assert.match(result[0]?.reason ?? '', /context\/skill-invalid/);
      assert.deepEqual(tree(join(home, 'ws')), before);
    });
});

describe('a record that cannot be trusted', () => {
  const outside = { path: '../../../own.txt', sha256: '0'.repeat(64), size: 3 };
  const rows: readonly (readonly [string, string])[] = [
    ['no JSON', '{'],
    ['another shape', '{"placed": 1}'],
    [
      'a path that leaves the skill',
      JSON.stringify({ bundle: 'b', files: [outside], placed: 1, revision: 'r' }),
    ],
  ];
  for (const [title, text] of rows)
    it(`${title}: nothing there counts as ours`, async (t) => {
      const home = temporary(t);
      const cwd = join(home, 'ws');
      mkdirSync(cwd);
      await place(cwd, skill(home, 'tidy', {}));
      write(join(cwd, sink, 'tidy', record), text);
      const before = tree(cwd);
      const newer = skill(home, 'tidy', { 'a.md': 'a' }, { revision: 'r2' });
      assert.deepEqual(verdicts(await place(cwd, newer)), ['tidy: refused context/record-unreadable']);
      assert.deepEqual(tree(cwd), before);
    });
});

it('P15: a file where the sink should be is a named refusal for each skill', async (t) => {
  const home = temporary(t);
  const cwd = join(home, 'ws');
  write(join(cwd, '.claude'), 'a file');
  const code = 'refused paths/not-a-folder';
  const skills = [skill(home, 'a', {}), skill(home, 'b', {})];
  assert.deepEqual(verdicts(await place(cwd, ...skills)), [`a: ${code}`, `b: ${code}`]);
  chmodSync(join(cwd, '.claude'), 0o600);
  assert.equal(readFileSync(join(cwd, '.claude'), 'utf8'), 'a file');
});

describe('what someone does while a skill is placed', () => {
  const during = (home: string, steps: Readonly<Record<string, () => void>>) => async (one: SkillSource) => {
    const onStep = (step: string): void => steps[step]?.();
    const result = await placeSkillsWith({ onStep })({
      cwd: join(home, 'ws'),
      sink,
      skills: [one],
      memory: memoryOf(join(home, 'ws')),
    });
    return result.ok ? verdicts(result.value) : result.problem;
  };
  it('a new file in the place of one of ours stays', async (t) => {
    const home = temporary(t);
    mkdirSync(join(home, 'ws'));
    const mine = join(home, 'ws', sink, 'tidy/a.md');
    const placed = during(home, { 'stage final': () => write(mine, 'mine') });
    assert.deepEqual(await placed(skill(home, 'tidy', { 'a.md': 'a' })), [
      'tidy: refused context/changed-meanwhile',
    ]);
    assert.equal(readFileSync(mine, 'utf8'), 'mine');
    assert.equal(tree(join(home, 'ws', sink, 'tidy'))['SKILL.md'], undefined);
  });
  it('an edit of a placed file stays', async (t) => {
    const home = temporary(t);
    mkdirSync(join(home, 'ws'));
    await place(join(home, 'ws'), skill(home, 'tidy', { 'a.md': 'a' }));
    const mine = join(home, 'ws', sink, 'tidy/a.md');
    const placed = during(home, { intent: () => write(mine, 'mine') });
    const newer = skill(home, 'tidy', { 'a.md': 'a2' }, { revision: 'r2' });
    assert.deepEqual(await placed(newer), ['tidy: refused context/changed-meanwhile']);
    assert.equal(readFileSync(mine, 'utf8'), 'mine');
    assert.deepEqual(Object.keys(tree(join(home, 'ws', sink, 'tidy'))), [record, 'a.md']);
  });
  for (const path of ['tidy/refs', 'tidy'])
    it(`P3: ${path} became a link: found afterwards, and no skill is vouched for`, async (t) => {
      const home = temporary(t);
      mkdirSync(join(home, 'ws'));
      const swap = (): void => {
        renameSync(join(home, 'ws', sink, path), join(home, 'moved'));
        symlinkSync(join(home, 'moved'), join(home, 'ws', sink, path));
      };
      const placed = during(home, { [path === 'tidy' ? 'place SKILL.md' : 'place refs/b.md']: swap });
      const tidy = skill(home, 'tidy', { 'refs/b.md': 'b' });
      assert.deepEqual(await placed(tidy), ['tidy: refused paths/linked']);
      const written = tree(home);
      const kept = written[path === 'tidy' ? `moved/${record}` : `ws/${sink}/tidy/${record}`];
      assert.match(kept ?? '', /"pending"/);
    });
});
