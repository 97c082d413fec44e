import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  chmodSync,
  chownSync,
  mkdirSync,
  renameSync,
  rmSync,
  symlinkSync,
  truncateSync,
  utimesSync,
} from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  type LibraryOptions,
  type Look,
  openSkillLibrary,
  type SkillSource,
} from '../../host/skills/index.ts';
import { type Desk, got, openDesk, refused, skillText } from './desk.ts';

// Files a test has just written count as old, so that what was read is remembered.
const later = { now: () => Date.now() + 60_000 };

const open = (t: TestContext, more: LibraryOptions & { readonly now?: () => number } = {}) => {
  const desk = openDesk(t);
  mkdirSync(desk.at('home/desk/repo/deep'), { recursive: true });
  const library = openSkillLibrary({ person: desk.at('home/.jupiter/skills'), ...later, ...more });
  const look = (cwd = 'home/desk/repo/deep') => library.look({ cwd: desk.at(cwd) });
  return { desk, look, library };
};
const named = (look: Look) => Object.fromEntries(look.skills.map(({ name, origin }) => [name, origin.tier]));
const skillAt = (desk: Desk, folder: string, name: string, body?: string) =>
  desk.write(join(folder, 'SKILL.md'), skillText(name, body));

const sourceAt = (desk: Desk, bundle: string, name: string, text = skillText(name)): SkillSource => {
  desk.write(`packages/${bundle}/skills/${name}/SKILL.md`, text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const files = [{ path: 'SKILL.md', sha256, size: Buffer.byteLength(text) }];
  return {
    bundle,
    revision: `${bundle}-1`,
    name,
    folder: desk.at(`packages/${bundle}/skills/${name}`),
    files,
  };
};

test('S10: for one name the person comes before the project, the nearest project folder before those above it', async (t) => {
  const sources: SkillSource[] = [];
  const { desk, look } = open(t, { bundles: () => sources });
  for (const folder of [
    'home/.jupiter/skills',
    'home/desk/repo/.jupiter/skills',
    'home/desk/.jupiter/skills',
  ]) {
    skillAt(desk, `${folder}/deploy`, 'deploy', folder);
  }
  skillAt(desk, 'home/desk/.jupiter/skills/review', 'review', 'outer');
  skillAt(desk, 'home/desk/repo/.jupiter/skills/review', 'review', 'inner');
  sources.push(sourceAt(desk, 'b.one', 'review'), sourceAt(desk, 'b.one', 'ship'));
  const found = await look();
  assert.deepEqual(named(found), { deploy: 'person', review: 'project', ship: 'bundle' });
  assert.equal(got(found.skills[1]?.document() ?? refusedNothing()).body, 'inner\n');
  assert.deepEqual(
    found.shadowed.map(({ skill, by }) => [skill.name, skill.origin.tier, by.origin.tier]),
    [
      ['deploy', 'project', 'person'],
      ['deploy', 'project', 'person'],
      ['review', 'project', 'project'],
      ['review', 'bundle', 'project'],
    ],
  );
  assert.match(found.shadowed[0]?.reason ?? '', /the person's folder comes before the project's folder/);
  assert.deepEqual(found.problems, []);
});

const refusedNothing = () => ({ ok: false as const, problem: { code: 'missing', message: '' } });

test('what the product ships comes last, and the guide of this product reads without a fault', async (t) => {
  const shipped = new URL('../../skills', import.meta.url).pathname;
  const { desk, look } = open(t, { shipped });
  assert.deepEqual(named(await look()), { 'jupiter-station': 'shipped' });
  assert.deepEqual((await look()).skills[0]?.diagnostics, []);
  skillAt(desk, 'home/.jupiter/skills/jupiter-station', 'jupiter-station');
  assert.deepEqual(named(await look()), { 'jupiter-station': 'person' });
});

test("a folder that is the person's and an ancestor's is read once, also when it is a link", async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'home/.jupiter/skills/deploy', 'deploy');
  const found = await look();
  assert.deepEqual(
    found.roots.map(({ origin }) => origin.tier),
    ['person'],
  );
  assert.deepEqual([found.skills.length, found.shadowed.length], [1, 0]);
  symlinkSync(desk.at('home/.jupiter'), desk.at('home/desk/repo/.jupiter'));
  const linked = await look();
  // It leads out of the project, and to what was read already.
  assert.deepEqual([linked.skills.length, linked.shadowed.length], [1, 0]);
  assert.deepEqual(
    linked.problems.map(({ problem }) => problem.code),
    ['skill/link'],
  );
});

test("the person's link to what is also a project's folder: read once, as the person's", async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'home/desk/.jupiter/skills/deploy', 'deploy');
  mkdirSync(desk.at('home/.jupiter'));
  symlinkSync(desk.at('home/desk/.jupiter/skills'), desk.at('home/.jupiter/skills'));
  const found = await look();
  assert.deepEqual([named(found), found.shadowed, found.roots.length], [{ deploy: 'person' }, [], 1]);
});

test('S9: two folders with one name are a collision; the winner and the reason are in the listing', async (t) => {
  const sources: SkillSource[] = [];
  const { desk, look } = open(t, { bundles: () => sources });
  for (const folder of ['a', 'b', 'x', 'zz'])
    skillAt(desk, `home/.jupiter/skills/${folder}`, folder === 'zz' ? 'y' : 'x');
  skillAt(desk, 'home/.jupiter/skills/yy', 'y');
  sources.push(sourceAt(desk, 'b.two', 'ship'), sourceAt(desk, 'b.one', 'ship'));
  const found = await look();
  assert.deepEqual(
    found.collisions.map(({ name, winner, losers, reason }) => [
      name,
      winner.path.split('/').at(-2),
      losers.map(({ path }) => path.split('/').at(-2)),
      reason,
    ]),
    [
      ['x', 'x', ['a', 'b'], 'the folder x is called like the skill'],
      ['y', 'yy', ['zz'], 'the folder yy comes first in byte order'],
      ['ship', 'ship', ['ship'], 'b.one comes first in the byte order of bundle IDs'],
    ],
  );
  assert.deepEqual(
    found.skills.map(({ name }) => name),
    ['ship', 'x', 'y'],
  );
});

test('S11: names in any script stay apart; names that differ only in case are one', async (t) => {
  const { desk, look } = open(t);
  for (const name of ['残量', '補充', 'Straße', 'strasse', 'deploy'])
    skillAt(desk, `home/.jupiter/skills/${name}`, name);
  const found = await look();
  assert.deepEqual(
    found.skills.map(({ name }) => name),
    ['Straße', 'deploy', '残量', '補充'],
  );
  assert.match(found.collisions[0]?.reason ?? '', /differ only in what some systems ignore/);
});

test("S12: the person's folder, or one skill in it, may be a link to a dotfiles folder: followed and said", async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'dotfiles/skills/deploy', 'deploy');
  mkdirSync(desk.at('home/.jupiter'));
  symlinkSync(desk.at('dotfiles/skills'), desk.at('home/.jupiter/skills'));
  const via = { link: desk.at('home/.jupiter/skills'), target: desk.at('dotfiles/skills') };
  const found = await look();
  assert.deepEqual(
    found.roots.map((root) => root.via),
    [via],
  );
  const [skill] = found.skills;
  assert.deepEqual([skill?.via, skill?.dir], [via, desk.at('dotfiles/skills/deploy')]);
  assert.equal(skill?.path, desk.at('home/.jupiter/skills/deploy/SKILL.md'));
  skillAt(desk, 'elsewhere/review', 'review');
  symlinkSync(desk.at('elsewhere/review'), desk.at('dotfiles/skills/review'));
  symlinkSync(desk.at('nowhere'), desk.at('dotfiles/skills/broken'));
  const more = await look();
  assert.deepEqual(
    more.skills.map(({ name, via: link }) => [name, link?.target]),
    [
      ['deploy', desk.at('dotfiles/skills')],
      ['review', desk.at('elsewhere/review')],
    ],
  );
  assert.deepEqual(
    more.problems.map(({ problem }) => problem.evidence),
    ['a link to nothing'],
  );
});

test("S13: a project's link that leaves the project is refused with the kind of its target", async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'private/diary', 'diary', 'CANARY');
  skillAt(desk, 'home/desk/repo/shared/lint', 'lint');
  const base = 'home/desk/repo/.jupiter/skills';
  mkdirSync(desk.at(base), { recursive: true });
  symlinkSync(desk.at('private/diary'), desk.at(`${base}/diary`));
  symlinkSync('../../shared/lint', desk.at(`${base}/lint`));
  const found = await look();
  assert.deepEqual(named(found), { lint: 'project' });
  assert.equal(found.skills[0]?.via?.link, desk.at(`${base}/lint`));
  assert.deepEqual(
    found.problems.map(({ path, problem }) => [path, problem.code, problem.evidence]),
    [[desk.at(`${base}/diary`), 'skill/link', 'a link to a folder outside the project']],
  );
  rmSync(desk.at(base), { recursive: true });
  symlinkSync(desk.at('private'), desk.at(base));
  const outside = await look();
  assert.deepEqual(outside.skills, []);
  assert.equal(outside.problems[0]?.problem.evidence, 'a link to a folder outside the project');
  assert.ok(!JSON.stringify([found, outside]).includes('CANARY'));
});

test('S5, S15, S16: one good skill is listed beside those that cannot be, each with its file and reason', async (t) => {
  const { desk, look } = open(t);
  const base = 'home/.jupiter/skills';
  skillAt(desk, `${base}/good`, 'good');
  desk.write(`${base}/latin/SKILL.md`, Buffer.from('---\nname: latin\n---\nf\xfcr', 'latin1'));
  desk.write(`${base}/open/SKILL.md`, '---\nname: open\n');
  skillAt(desk, `${base}/evil`, '../../evil');
  skillAt(desk, `${base}/large`, 'large');
  truncateSync(desk.write(`${base}/large/video.bin`, ''), 20_000_000);
  mkdirSync(desk.at(`${base}/odd/SKILL.md`), { recursive: true });
  mkdirSync(desk.at(`${base}/notes`));
  desk.write(`${base}/README.md`, 'no skill');
  skillAt(desk, `${base}/.hidden`, 'hidden');
  const found = await look();
  assert.deepEqual(named(found), { good: 'person' });
  assert.deepEqual(
    found.problems.map(({ path, problem }) => [path.slice(desk.at(base).length), problem.code]),
    [
      ['/evil/SKILL.md', 'skill/name-invalid'],
      ['/large/SKILL.md', 'skill/file-too-large'],
      ['/latin/SKILL.md', 'skill/not-text'],
      ['/open/SKILL.md', 'skill/frontmatter-unclosed'],
    ],
  );
});

test('S5: a skill without read permission is named, and the others are listed', async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'home/.jupiter/skills/good', 'good');
  chmodSync(skillAt(desk, 'home/.jupiter/skills/closed', 'closed'), 0);
  chmodSync(desk.dir, 0o755);
  const root = process.geteuid?.() === 0;
  // Root may read everything, so it looks as somebody else.
  if (root) process.seteuid?.(65_534);
  try {
    const found = await look();
    assert.deepEqual(named(found), { good: 'person' });
    assert.deepEqual(
      found.problems.map(({ path, problem }) => [path, problem.code, problem.evidence]),
      [[desk.at('home/.jupiter/skills/closed/SKILL.md'), 'skill/unreadable', 'EACCES']],
    );
  } finally {
    if (root) process.seteuid?.(0);
  }
});

test('S17: an edit, a new skill, a removed one and a mended one are seen at the next look', async (t) => {
  const { desk, look } = open(t);
  const base = 'home/.jupiter/skills';
  skillAt(desk, `${base}/deploy`, 'deploy');
  skillAt(desk, `${base}/stays`, 'stays');
  desk.write(`${base}/broken/SKILL.md`, '---\n');
  const before = await look();
  assert.equal(
    (await look()).skills.find(({ name }) => name === 'stays'),
    before.skills[1],
  );
  desk.write(`${base}/deploy/SKILL.md`, '---\nname: deploy\ndescription: New words.\n---\n');
  skillAt(desk, `${base}/broken`, 'broken');
  const edited = await look();
  assert.deepEqual(
    edited.skills.map(({ name, description }) => [name, description]),
    [
      ['broken', 'What broken does.'],
      ['deploy', 'New words.'],
      ['stays', 'What stays does.'],
    ],
  );
  // What did not change was not read again: it is the same object.
  assert.equal(edited.skills[2], before.skills[1]);
  const old = before.skills[0];
  assert.equal(refused(old?.document() ?? got(refusedNothing())).code, 'skill/changed');
  assert.equal(refused(old?.files() ?? got(refusedNothing())).code, 'skill/changed');
  rmSync(desk.at(`${base}/deploy`), { recursive: true });
  assert.deepEqual(Object.keys(named(await look())), ['broken', 'stays']);
  renameSync(desk.at(base), desk.at('home/gone'));
  assert.deepEqual((await look()).skills, []);
});

test('S17: an edit of the same length within one tick of the clock is seen, too', async (t) => {
  const { desk, look } = open(t, { now: Date.now });
  const file = skillAt(desk, 'home/.jupiter/skills/deploy', 'deploy', 'One.');
  for (const body of ['Two.', 'Six.', 'Ten.']) {
    const before = (await look()).skills[0]?.digest;
    desk.write('home/.jupiter/skills/deploy/SKILL.md', skillText('deploy', body));
    assert.notEqual((await look()).skills[0]?.digest, before, file);
  }
});

test('S17: what changed a moment ago is read again, since its times may not move on with the next change', async (t) => {
  const young = open(t, { now: () => 0 });
  skillAt(young.desk, 'home/.jupiter/skills/deploy', 'deploy');
  const [first] = (await young.look()).skills;
  const [second] = (await young.look()).skills;
  assert.notEqual(first, second);
  assert.equal(first?.digest, second?.digest);
});

test('S17: files are hashed once and again when one of them differs in size or time', async (t) => {
  for (const whole of [false, true]) {
    const { desk, library } = open(t);
    skillAt(desk, 'home/.jupiter/skills/deploy', 'deploy');
    const data = desk.write('home/.jupiter/skills/deploy/sub/data.txt', 'one');
    const look = () => library.look({ cwd: desk.dir, whole });
    const first = got((await look()).skills[0]?.files() ?? refusedNothing());
    assert.equal(got((await look()).skills[0]?.files() ?? refusedNothing()), first);
    utimesSync(data, 1, 1);
    const touched = got((await look()).skills[0]?.files() ?? refusedNothing());
    assert.notEqual(touched, first);
    assert.equal(touched.digest, first.digest);
    desk.write('home/.jupiter/skills/deploy/sub/data.txt', 'two');
    assert.notEqual(got((await look()).skills[0]?.files() ?? refusedNothing()).digest, first.digest);
    desk.write('home/.jupiter/skills/deploy/sub/more.txt', '');
    assert.equal(got((await look()).skills[0]?.files() ?? refusedNothing()).files.length, 3);
  }
});

test('a bundle whose bytes are not the admitted ones is not listed; its files are the admitted list', async (t) => {
  const sources: SkillSource[] = [];
  const { desk, look } = open(t, { bundles: () => sources });
  const source = sourceAt(desk, 'b.one', 'ship');
  sources.push(source);
  const found = await look();
  assert.equal(found.skills[0]?.digest, source.files[0]?.sha256);
  assert.deepEqual(got(found.skills[0]?.files() ?? refusedNothing()).files, source.files);
  desk.write('packages/b.one/skills/ship/SKILL.md', skillText('ship', 'Tampered.'));
  assert.equal(refused(found.skills[0]?.document() ?? got(refusedNothing())).code, 'skill/changed');
  assert.equal(refused(found.skills[0]?.files() ?? got(refusedNothing())).code, 'skill/changed');
  sources[0] = { ...source, revision: 'b.one-2' };
  assert.deepEqual(
    (await look()).problems.map(({ problem }) => problem.code),
    ['skill/changed'],
  );
  sources.length = 0;
  assert.deepEqual((await look()).skills, []);
});

test("a project folder of another user is not read, unless the working directory is that user's", {
  skip: process.getuid?.() !== 0 && 'needs root to give files away',
}, async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'home/.jupiter/skills/own', 'own');
  skillAt(desk, 'home/desk/.jupiter/skills/deploy', 'deploy');
  chownSync(desk.at('home/desk/.jupiter/skills'), 12_345, 12_345);
  const found = await look();
  assert.deepEqual(named(found), { own: 'person' });
  assert.deepEqual(
    found.problems.map(({ problem }) => problem.code),
    ['skill/foreign-owner'],
  );
  chownSync(desk.at('home/desk/repo/deep'), 12_345, 12_345);
  assert.deepEqual(named(await look()), { deploy: 'project', own: 'person' });
});

test('a working directory that is not there is a problem, and the other places are still read', async (t) => {
  const { desk, look } = open(t);
  skillAt(desk, 'home/.jupiter/skills/deploy', 'deploy');
  const found = await look('home/nowhere');
  assert.deepEqual(named(found), { deploy: 'person' });
  assert.deepEqual(
    found.problems.map(({ problem }) => problem.code),
    ['skill/unreadable'],
  );
});
