/** Servers that lie, change, escape, flood, send elsewhere or say nothing: each named, and nothing of them used. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { hash } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type TestContext } from 'node:test';
import { type Access, openRemoteSkills, type RemoteSkills } from '../../host/mcp/index.ts';
import { ok, type Result, refuse } from '../../host/problems/index.ts';
import { opened, temporary } from '../state/fixture.ts';

interface Hostile {
  readonly url: string;
  /** Requests so far, `method uri authorization`. */
  readonly asked: string[];
}
const hostile = async (t: TestContext, mode: string, elsewhere = ''): Promise<Hostile> => {
  const file = join(import.meta.dirname, '..', 'fixtures', 'hostile-skills.ts');
  const child = spawn(process.execPath, [file, mode, elsewhere], { stdio: ['pipe', 'pipe', 'inherit'] });
  t.after(() => child.kill('SIGKILL'));
  const asked: string[] = [];
  const port = await new Promise<string>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (/^\d+$/.test(line)) resolve(line);
      else asked.push(line);
    });
  });
  return { url: `http://127.0.0.1:${port}/mcp`, asked };
};

interface Room {
  readonly remote: RemoteSkills;
  readonly folder: string;
  readonly reports: string[];
}
/** Short waits, for servers that say nothing; any other has the usual ones. */
const impatient = (mode: string) =>
  mode === 'silent' ? { connectMs: 500 } : mode === 'silent-read' ? { retrieveMs: 3_000 } : {};

const openRoom = (t: TestContext, access: Partial<Access> = {}, mode = ''): Room => {
  const folder = join(temporary(t), 'remote');
  const reports: string[] = [];
  const remote = openRemoteSkills({
    db: opened(t).db,
    folder,
    version: '0',
    alias: () => undefined,
    access: () => ({ token: ok(undefined), named: false, ...access }),
    now: () => 1,
    report: (kind, subject, why) => reports.push([kind, subject, why?.code ?? ''].join(' ').trim()),
    ...impatient(mode),
  });
  return { remote, folder, reports };
};
const codeOf = (result: Result<unknown>): string => (result.ok ? 'ok' : result.problem.code);
const reads = ({ asked }: Hostile): readonly string[] =>
  asked.filter((line) => line.startsWith('resources/read')).map((line) => line.split(' ')[1] ?? '');

/** Adds, approves what is listed and retrieves; what is ready then. */
const use = async ({ remote }: Room, { url }: Hostile) => {
  const added = await remote.add({ address: url, label: 'x' });
  assert.ok(added.ok, JSON.stringify(added));
  const [skill] = added.value.skills;
  const approved = await remote.approve(skill?.address ?? '', skill?.digest ?? '');
  assert.ok(approved.ok, JSON.stringify(approved));
  await remote.retrieve();
  return remote.ready();
};

test('nothing is retrieved at listing or approval; then each file once, and from the cache after that', async (t) => {
  const server = await hostile(t, 'good');
  const room = openRoom(t);
  assert.equal(codeOf(await room.remote.add({ address: server.url, label: 'x' })), 'ok');
  assert.deepEqual(room.remote.ready(), { sources: [], unready: [] });
  await room.remote.retrieve();
  assert.deepEqual(reads(server), []);
  const digest = room.remote.list()[0]?.skills[0]?.digest ?? '';
  for (const other of ['', digest.slice(0, 11), `${digest.slice(0, -1)}x`, hash('sha256', 'other')])
    assert.equal(codeOf(await room.remote.approve('x/pdf', other)), 'remote/digest', other);
  assert.equal(codeOf(await room.remote.approve('x/other', digest)), 'remote/unknown');
  const { sources, unready } = await use(room, server);
  assert.deepEqual(unready, []);
  assert.deepEqual(
    sources.map(({ bundle, name, files }) => [bundle, name, files.map(({ path }) => path)]),
    [['mcp:x/pdf', 'mcp-x-pdf', ['SKILL.md', 'more.md']]],
  );
  await room.remote.retrieve();
  assert.deepEqual(reads(server), ['skill://pdf/SKILL.md', 'skill://pdf/more.md']);
  assert.deepEqual(room.reports.slice(0, 2), ['install mcp:x', `grant mcp:x/pdf ${sources[0]?.revision}`]);
});

for (const [mode, code, read] of [
  ['digest', 'remote/differs', ['skill://pdf/SKILL.md']],
  ['size', 'remote/differs', ['skill://pdf/SKILL.md']],
  ['frontmatter', 'remote/differs', ['skill://pdf/SKILL.md']],
  ['later-digest', 'remote/differs', ['skill://pdf/SKILL.md', 'skill://pdf/more.md']],
  ['silent-read', 'remote/no-answer', ['skill://pdf/SKILL.md']],
] as const) {
  test(`a server that sends other bytes than it lists (${mode}): nothing is used, nothing more is read`, async (t) => {
    const server = await hostile(t, mode);
    const room = openRoom(t, {}, mode);
    const { sources, unready } = await use(room, server);
    assert.deepEqual(sources, []);
    assert.deepEqual(
      unready.map(({ name, problem }) => [name, problem.code]),
      [['mcp-x-pdf', code]],
    );
    assert.deepEqual(reads(server), read);
    assert.ok(room.reports.includes(`refuse mcp:x/pdf ${code}`));
  });
}

test('a skill that changes between listing and reading loses its approval, and is not used', async (t) => {
  const server = await hostile(t, 'changes');
  const room = openRoom(t);
  const { sources, unready } = await use(room, server);
  assert.deepEqual(sources, []);
  assert.deepEqual(
    unready.map(({ problem }) => problem.code),
    ['remote/changed'],
  );
  assert.deepEqual(
    room.remote.list()[0]?.skills.map(({ state }) => state),
    ['changed'],
  );
  assert.equal(room.remote.holds('mcp:x/pdf'), false);
  assert.deepEqual(readdirSync(join(room.folder, 'x')), []);
});

for (const [mode, code] of [
  ['too-many', 'skill/too-many-files'],
  ['too-large', 'skill/too-large'],
  ['escape-dots', 'skill/path-unsafe'],
  ['escape-backslash', 'skill/path-unsafe'],
  ['escape-device', 'skill/path-unsafe'],
  ['twins', 'skill/path-unsafe'],
  ['dynamic', 'remote/dynamic'],
] as const) {
  test(`an entry that cannot be used (${mode}) is listed with its reason and cannot be approved`, async (t) => {
    const server = await hostile(t, mode);
    const { remote } = openRoom(t);
    const added = await remote.add({ address: server.url, label: 'x' });
    const [skill] = added.ok ? added.value.skills : [];
    assert.equal(skill?.state, 'refused');
    assert.equal(skill?.problem?.code, code);
    assert.equal(codeOf(await remote.approve('x/pdf', skill?.digest || '0'.repeat(12))), code);
    await remote.retrieve();
    assert.deepEqual(reads(server), []);
  });
}

for (const mode of ['escape-slash', 'escape-nul', 'other-skill', 'name', 'keys']) {
  test(`an entry that is none (${mode}) is left out with its reason`, async (t) => {
    const server = await hostile(t, mode);
    const added = await openRoom(t).remote.add({ address: server.url, label: 'x' });
    assert.ok(added.ok);
    assert.deepEqual(added.value.skills, []);
    assert.deepEqual(
      added.value.leftOut.map(({ code }) => code),
      ['remote/entry'],
    );
  });
}

for (const [mode, code, evidence] of [
  ['silent', 'remote/no-answer'],
  ['no-skills', 'remote/no-skills'],
  ['endless', 'remote/too-much'],
  // Small on the way and large when it is unpacked.
  ['packed', 'remote/too-much'],
  ['refuses', 'remote/answer', 'HTTP 500: The shelf is broken.'],
  ['endless-pages', 'remote/answer'],
] as const) {
  test(`a server that cannot be listed (${mode}) is not added`, async (t) => {
    const server = await hostile(t, mode);
    const { remote } = openRoom(t, {}, mode);
    const added = await remote.add({ address: server.url });
    assert.equal(codeOf(added), code);
    if (evidence !== undefined) assert.equal(added.ok || added.problem.evidence, evidence);
    assert.deepEqual(remote.list(), []);
  });
}

test('no redirect is followed, so a token reaches the address it was given for and no other', async (t) => {
  const other = await hostile(t, 'good');
  for (const mode of ['redirect', 'redirect-read']) {
    const server = await hostile(t, mode, other.url);
    const room = openRoom(t, { token: ok('canary-5512') });
    if (mode === 'redirect') {
      const added = await room.remote.add({ address: server.url });
      assert.equal(codeOf(added), 'remote/redirect');
      assert.match(added.ok ? '' : (added.problem.evidence ?? ''), /^307 to http:\/\/127\.0\.0\.1:\d+$/);
    } else {
      const { unready } = await use(room, server);
      assert.equal(unready[0]?.problem.code, 'remote/redirect');
    }
    assert.ok(server.asked.every((line) => line.endsWith(' Bearer canary-5512')));
  }
  assert.deepEqual(other.asked, []);
});

test('a variable that is not set is a problem, never a request without its token', async (t) => {
  const server = await hostile(t, 'good');
  const { remote } = openRoom(t, { token: refuse('remote/no-token') });
  assert.equal(codeOf(await remote.add({ address: server.url })), 'remote/no-token');
  assert.deepEqual(server.asked, []);
});

test('addresses and labels that are none, and labels that are taken', async (t) => {
  const server = await hostile(t, 'good');
  const other = await hostile(t, 'good');
  const { remote } = openRoom(t);
  for (const address of [
    'skills.example',
    'ftp://skills.example/mcp',
    'http://skills.example/mcp',
    'https://user:word@skills.example/mcp',
    'https://skills.example/mcp#x',
  ])
    assert.equal(codeOf(await remote.add({ address })), 'remote/url', address);
  for (const label of ['', 'A', 'a--b', 'a/b', '../x', 'x'.repeat(25)])
    assert.equal(codeOf(await remote.add({ address: server.url, label })), 'remote/label', label);
  assert.equal(codeOf(await remote.add({ address: server.url, label: 'x' })), 'ok');
  assert.equal(codeOf(await remote.add({ address: other.url, label: 'x' })), 'remote/label-taken');
  assert.equal(codeOf(await remote.add({ address: server.url, label: 'y' })), 'remote/label-taken');
  // The same address again lists it again.
  assert.equal(codeOf(await remote.add({ address: server.url })), 'ok');
  assert.equal(remote.list().length, 1);
});

test('the same URI from two servers is two skills, with names, files and approvals of their own', async (t) => {
  const { remote, folder } = openRoom(t);
  for (const label of ['one', 'two']) {
    const { url } = await hostile(t, 'good');
    assert.equal(codeOf(await remote.add({ address: url, label })), 'ok');
  }
  const digest = remote.list()[0]?.skills[0]?.digest ?? '';
  await remote.approve('one/pdf', digest);
  await remote.retrieve();
  assert.deepEqual(
    remote.ready().sources.map(({ name }) => name),
    ['mcp-one-pdf'],
  );
  assert.equal(existsSync(join(folder, 'two')), false);
  assert.equal(codeOf(await remote.remove('one')), 'ok');
  assert.equal(existsSync(join(folder, 'one')), false);
  assert.deepEqual(remote.ready(), { sources: [], unready: [] });
});

test('a skill the server does not list is added by its URI; one it does not serve is not', async (t) => {
  const server = await hostile(t, 'good');
  const { remote } = openRoom(t);
  const added = await remote.add({ address: server.url, label: 'x', skills: ['skill://pdf/SKILL.md'] });
  assert.deepEqual(added.ok && added.value.skills.map(({ address }) => address), ['x/pdf']);
  assert.ok(!server.asked.some((line) => line.startsWith('skills/list')));
});

test('a cached file that was changed on disk is not taken; it is retrieved again', async (t) => {
  const server = await hostile(t, 'good');
  const room = openRoom(t);
  await use(room, server);
  const files = readdirSync(room.folder, { recursive: true, encoding: 'utf8' }).map((path) =>
    join(room.folder, path),
  );
  const raw = files.find((path) => /documents\/[0-9a-f]{64}$/.test(path)) ?? '';
  writeFileSync(raw, readFileSync(raw, 'utf8').replace('See', 'Sue'));
  assert.equal(room.remote.ready().unready[0]?.problem.code, 'remote/not-retrieved');
  await room.remote.retrieve();
  assert.equal(room.remote.ready().sources.length, 1);
  // Of the same length, as somebody who means it would write it.
  const more = files.find((path) => path.endsWith('skill/more.md')) ?? '';
  writeFileSync(more, 'Evil.');
  writeFileSync(more, 'Evil.\n');
  assert.equal(room.remote.ready().unready[0]?.problem.code, 'remote/not-retrieved');
  await room.remote.retrieve();
  assert.equal(readFileSync(more, 'utf8'), 'More.\n');
  // What is written anew for placing is compared too.
  const placed = files.find((path) => path.endsWith('skill/SKILL.md')) ?? '';
  const before = readFileSync(placed, 'utf8');
  writeFileSync(placed, before.replace('grants nothing', 'grants all'));
  assert.equal(room.remote.ready().sources.length, 1);
  assert.equal(readFileSync(placed, 'utf8'), before);
});

test('a file of the longest name is kept; what cannot be written is said', async (t) => {
  const server = await hostile(t, 'long-name');
  const room = openRoom(t);
  assert.equal((await use(room, server)).sources[0]?.files.length, 3);
  const other = openRoom(t);
  writeFileSync(other.folder, 'no folder');
  const { unready } = await use(other, server);
  assert.deepEqual(
    unready.map(({ problem }) => [problem.code, problem.evidence]),
    [['remote/not-retrieved', 'ENOTDIR']],
  );
});

test('a skill inside an approved one is a file of it, and no skill to any agent', async (t) => {
  const room = openRoom(t);
  const { sources } = await use(room, await hostile(t, 'nested'));
  const [source] = sources;
  assert.deepEqual(source?.files.map(({ path }) => path).sort(), [
    'SKILL.md',
    'b/skill.md',
    'inner/SKILL.md',
    'more.md',
  ]);
  for (const path of ['inner/SKILL.md', 'b/skill.md'])
    assert.equal(readFileSync(join(source?.folder ?? '', path), 'utf8'), 'See more.md.\n');
});
