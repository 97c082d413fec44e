/** X3, X4: the listed bytes or an error, for every kind of file and while files change; pages and changes. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:http';
import { join } from 'node:path';
import test from 'node:test';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as AnyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { ResourceListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { openCatalog } from '../../host/mcp/channel/catalog.ts';
import { pageOf } from '../../host/mcp/channel/pages.ts';
import type { LeftOut } from '../../host/mcp/index.ts';
import {
  type Answer,
  type Desk,
  meta,
  modernRequest,
  olderRequest,
  openDesk,
  post,
  skill,
  skillsIn,
  writeFiles,
} from './published.ts';

const sha256 = (bytes: Uint8Array): string => `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
const bytesIn = ({ message }: Answer): Buffer | undefined => {
  const [content] = (message.result?.['contents'] ?? []) as { text?: string; blob?: string }[];
  if (content === undefined) return undefined;
  return content.text === undefined ? Buffer.from(content.blob ?? '', 'base64') : Buffer.from(content.text);
};
const kindOf = ({ message }: Answer): string =>
  Object.keys(((message.result?.['contents'] ?? []) as object[])[0] ?? {}).join(' ');

test('X3: PNG, empty, Latin-1, CRLF, BOM, no final newline, NUL, invalid UTF-8: the same bytes back', async (t) => {
  const everyByte = Uint8Array.from({ length: 256 }, (_, n) => n);
  const rows: readonly (readonly [string, Uint8Array, 'text' | 'blob'])[] = [
    ['logo.png', new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a, 0, 0, 255]), 'blob'],
    ['empty.md', new Uint8Array(), 'text'],
    ['latin1.txt', Buffer.from('caf\xe9', 'latin1'), 'blob'],
    ['crlf.md', Buffer.from('a\r\nb\r\n'), 'text'],
    ['bom.md', Buffer.from('\ufeffa\n'), 'text'],
    ['open.md', Buffer.from('no newline'), 'text'],
    ['zero.txt', Buffer.from('a\0b'), 'blob'],
    ['bad.txt', new Uint8Array([0x61, 0xc3, 0x28]), 'blob'],
    ['surrogate.txt', new Uint8Array([0xed, 0xa0, 0x80]), 'blob'],
    ['all.bin', everyByte, 'blob'],
    ['lines.txt', Buffer.from('\u2028\u2029\u0085\u007f\u0001"\\'), 'text'],
    ['emoji.md', Buffer.from('👩‍👩‍👧 e\u0301'), 'text'],
    ['large.bin', Buffer.alloc(3 * 1024 * 1024, everyByte), 'blob'],
    ['large.txt', Buffer.alloc(3 * 1024 * 1024, 'text "quoted"\n'), 'text'],
    ['.hidden', Buffer.from('dot'), 'text'],
    ['Q&A (1)+[x]!.md', Buffer.from('odd name'), 'text'],
    ['残量/補充.md', Buffer.from('names'), 'text'],
    ['100%.md', Buffer.from('percent'), 'text'],
  ];
  const files = Object.fromEntries(rows.map(([name, bytes]) => [`odd/${name}`, bytes]));
  const desk = await openDesk(t, { ...files, 'odd/SKILL.md': skill('odd') });
  const slow = await openDesk(t, { ...files, 'odd/SKILL.md': skill('odd') }, { onlySdk: true });
  const [entry] = skillsIn(await desk.ask('skills/list'));
  assert.equal(entry?.resources.length, rows.length + 1, JSON.stringify(desk.left));
  for (const [name, bytes, kind] of rows) {
    const uri = `skill://odd/${name.split('/').map(encodeURIComponent).join('/')}`;
    const listed: unknown = entry?.resources.find((one) => one.uri === uri);
    assert.deepEqual(listed, { uri, digest: sha256(bytes), size: bytes.length }, name);
    for (const sent of [modernRequest('resources/read', { uri }), olderRequest('resources/read', { uri })]) {
      for (const { port } of [desk, slow]) {
        const answer = await post(port, sent);
        assert.ok(bytesIn(answer)?.equals(bytes), name);
        assert.equal(kindOf(answer).includes(kind), true, name);
      }
    }
  }
});

const read = (desk: Desk, uri: string): Promise<Answer> => desk.ask('resources/read', { uri });

test('X4: a file changed or removed between listing and reading: the listed bytes or an error, and then the new ones', async (t) => {
  const desk = await openDesk(t, {
    'a/SKILL.md': skill('a'),
    'a/one.md': 'one',
    'a/two.md': 'two',
    'a/three.md': 'three',
  });
  const uri = (name: string): string => `skill://a/${name}.md`;
  const listed = skillsIn(await desk.ask('skills/list'))[0]?.resources ?? [];
  const digestOf = (name: string): string | undefined => listed.find((one) => one.uri === uri(name))?.digest;
  writeFileSync(join(desk.dir, 'a/one.md'), 'ONE');
  rmSync(join(desk.dir, 'a/two.md'));
  for (const name of ['one', 'two']) {
    // A moment later the catalog is looked at again; both outcomes are allowed, a mixture is not.
    const answer = await read(desk, uri(name));
    const bytes = bytesIn(answer);
    if (bytes !== undefined && sha256(bytes) !== digestOf(name)) assert.equal(bytes.toString(), 'ONE');
    else if (bytes === undefined) assert.ok([-32_603, -32_602].includes(answer.message.error?.code ?? 0));
  }
  // The fault is not remembered: the next request sees the folder as it is.
  const now = skillsIn(await desk.ask('skills/list'))[0]?.resources ?? [];
  assert.deepEqual(
    now.map((one) => one.uri),
    [uri('SKILL'), uri('one'), uri('three')],
  );
  assert.equal(now.find((one) => one.uri === uri('one'))?.digest, sha256(Buffer.from('ONE')));
  assert.equal(bytesIn(await read(desk, uri('one')))?.toString(), 'ONE');
  assert.equal((await read(desk, uri('two'))).message.error?.code, -32_602);
});

test('X4: while a skill is written without end, every read is of one listed digest or an error', async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a'), 'a/x.md': '0' });
  const uri = 'skill://a/x.md';
  for (let n = 1; n <= 60; n += 1) {
    writeFileSync(join(desk.dir, 'a/x.md'), String(n % 10));
    const answer = await desk.ask('skills/get', { uri: 'skill://a/SKILL.md' });
    const entry = (answer.message.result?.['skill'] ?? undefined) as
      | { resources: { uri: string; digest: string }[] }
      | undefined;
    const digest = entry?.resources.find((one) => one.uri === uri)?.digest;
    writeFileSync(join(desk.dir, 'a/x.md'), String((n + 1) % 10));
    const bytes = bytesIn(await read(desk, uri));
    if (bytes === undefined || digest === undefined) continue;
    const after = skillsIn(await desk.ask('skills/list'))[0]?.resources.find(
      (one) => one.uri === uri,
    )?.digest;
    assert.ok([digest, after].includes(sha256(bytes)));
  }
});

test('a look finds what was added, edited and removed, gives the same catalog while nothing differs, and tells a passing fault once while it lasts', async (t) => {
  const desk = await openDesk(t, {});
  const folder = join(desk.dir, 'own');
  writeFiles(folder, { 'a/SKILL.md': skill('a') });
  const told: LeftOut[] = [];
  let now = 0;
  let changes = 0;
  const catalog = openCatalog({
    sources: () => ({ bundles: [], folders: [folder], frontmatter: 'complete' }),
    report: (left) => told.push(left),
    changed: () => {
      changes += 1;
    },
    clock: () => now,
  });
  const later = () => {
    now += 10_000;
    return catalog.look();
  };
  const first = await catalog.look();
  assert.equal(catalog.fresh(), first);
  assert.equal(await later(), first, 'the same object');
  writeFiles(folder, { 'b/SKILL.md': skill('b') });
  assert.equal(await catalog.look(), first, 'still counts as now');
  const second = await later();
  assert.deepEqual([second.entries.length, changes], [2, 1]);
  writeFiles(folder, { 'a/new.md': 'x' });
  assert.equal((await later()).files.has('skill://a/new.md'), true);
  rmSync(join(folder, 'b/SKILL.md'));
  writeFiles(folder, { 'a/SKILL.md': 'broken' });
  const third = await later();
  assert.deepEqual([third.entries.length, changes, told.length], [0, 3, 1]);
  await later();
  assert.equal(told.length, 1);
  writeFiles(folder, { 'a/SKILL.md': skill('a') });
  assert.equal((await later()).entries.length, 1);
  writeFiles(folder, { 'a/SKILL.md': 'broken' });
  await later();
  assert.equal(told.length, 2, 'it came back, so it is told again');
});

test('pages: every entry once; a cursor survives what came and went; one that is not ours is refused', async (t) => {
  const names = Array.from({ length: 230 }, (_, n) => `s-${String(n).padStart(3, '0')}`);
  const many = Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`s-000/f/${n}.md`, '']));
  const desk = await openDesk(t, {
    ...many,
    ...Object.fromEntries(names.map((name) => [`${name}/SKILL.md`, skill(name)])),
  });
  const all = async (method: string, key: string, params: Record<string, unknown> = {}) => {
    const found: string[] = [];
    const lengths: number[] = [];
    let cursor: unknown;
    do {
      const { result } = (await desk.ask(method, { ...params, ...(cursor === undefined ? {} : { cursor }) }))
        .message;
      const items = (result?.[key] ?? []) as { uri: string }[];
      found.push(...items.map(({ uri }) => uri));
      lengths.push(items.length);
      cursor = result?.['nextCursor'];
    } while (cursor !== undefined);
    return { found, lengths };
  };
  const uris = names.map((name) => `skill://${name}/SKILL.md`);
  for (const [method, key] of [
    ['skills/list', 'skills'],
    ['resources/list', 'resources'],
  ] as const) {
    assert.deepEqual(await all(method, key), { found: uris, lengths: [100, 100, 30] });
  }
  assert.deepEqual(
    (await all('resources/directory/read', 'resources', { uri: 'skill://s-000/f' })).lengths,
    [100, 50],
  );

  const { nextCursor } = (await desk.ask('skills/list')).message.result ?? {};
  rmSync(join(desk.dir, 's-099'), { recursive: true });
  writeFiles(desk.dir, { 's-100a/SKILL.md': skill('s-100a') });
  await read(desk, 'skill://s-099/SKILL.md');
  let page = skillsIn(await desk.ask('skills/list', { cursor: nextCursor }));
  const end = Date.now() + 10_000;
  while (page[1]?.uri !== 'skill://s-100a/SKILL.md' && Date.now() < end) {
    page = skillsIn(await desk.ask('skills/list', { cursor: nextCursor }));
  }
  assert.deepEqual(
    page.slice(0, 3).map(({ uri }) => uri),
    ['skill://s-100/SKILL.md', 'skill://s-100a/SKILL.md', 'skill://s-101/SKILL.md'],
  );
  const made = (text: string): string => Buffer.from(text).toString('base64url');
  for (const cursor of [
    '',
    'x',
    made('before:skill://a'),
    made('after:http://x'),
    `${String(nextCursor)}=`,
    ` ${String(nextCursor)}`,
  ]) {
    assert.equal((await desk.ask('skills/list', { cursor })).message.error?.code, -32_602, cursor);
  }
});

test('a page of entries is bounded in bytes, and holds one entry at least', () => {
  const items = ['a', 'b', 'c', 'd'].map((name) => ({ uri: `skill://${name}` }));
  const page = (sizes: Readonly<Record<string, number>>, cursor?: string) =>
    pageOf(items, cursor, ({ uri }) => sizes[uri.slice(-1)] ?? 0);
  const mib = 1024 * 1024;
  const first = page({ a: mib / 2, b: mib / 2, c: 1 });
  assert.deepEqual(first?.items.length, 2);
  assert.deepEqual(page({ c: 9 * mib, d: 1 }, first?.nextCursor)?.items.length, 1);
});

/** Opens `subscriptions/listen`; resolves frames as they come. */
const listen = (desk: Desk) => {
  const frames: { method?: string }[] = [];
  let wake: (() => void) | undefined;
  const sent = modernRequest('subscriptions/listen');
  const body = JSON.stringify({
    jsonrpc: '2.0',
    id: 'l-1',
    method: 'subscriptions/listen',
    params: { notifications: { resourcesListChanged: true }, _meta: meta },
  });
  const open = request({
    host: '127.0.0.1',
    port: desk.port,
    path: '/v1/mcp',
    method: 'POST',
    headers: sent.headers,
    agent: false,
  });
  open.on('response', (response) => {
    response.setEncoding('utf8').on('data', (part: string) => {
      for (const [, data = ''] of part.matchAll(/^data: (.*)$/gm)) frames.push(JSON.parse(data));
      wake?.();
    });
    response.on('error', () => {});
  });
  open.on('error', () => {});
  open.end(body);
  return {
    frames,
    until: async (method: string): Promise<void> => {
      while (!frames.some((frame) => frame.method === method)) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    },
    close: () => open.destroy(),
  };
};

test('list_changed: whoever listens at 2026-07-28 is told, though nobody asks anything', {
  timeout: 30_000,
}, async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a') });
  assert.equal(skillsIn(await desk.ask('skills/list')).length, 1);
  const stream = listen(desk);
  t.after(stream.close);
  await stream.until('notifications/subscriptions/acknowledged');
  writeFiles(desk.dir, { 'b/SKILL.md': skill('b') });
  await stream.until('notifications/resources/list_changed');
  const discovered = (await post(desk.port, modernRequest('server/discover'))).message.result;
  assert.deepEqual(discovered?.['capabilities'], {
    resources: { listChanged: true },
    extensions: { 'io.modelcontextprotocol/skills': { directoryRead: true } },
  });
});

test('list_changed: the official client v1, of an older revision, is told on the stream it opens', {
  timeout: 30_000,
}, async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a') }, { tokens: ['a-token'] });
  const client = new OlderClient({ name: 'test', version: '1' });
  t.after(() => client.close());
  const told = new Promise<void>((resolve) => {
    client.setNotificationHandler(ResourceListChangedNotificationSchema, () => resolve());
  });
  // The client opens its stream in its own time, so the change comes when the server has it.
  const requestInit = { headers: { authorization: 'Bearer a-token' } };
  const opened = Promise.withResolvers<void>();
  const counting: typeof fetch = async (input, init) => {
    const answer = await fetch(input, init);
    if (init?.method === 'GET') opened.resolve(assert.equal(answer.status, 200));
    return answer;
  };
  const transport = new OlderTransport(new URL(desk.url), { requestInit, fetch: counting });
  await client.connect(transport as unknown as AnyTransport);
  assert.equal(client.getServerCapabilities()?.resources?.listChanged, true);
  await opened.promise;
  writeFiles(desk.dir, { 'b/SKILL.md': skill('b') });
  await told;
  const { resources } = await client.listResources();
  assert.equal(resources.length, 2);
});

test('a GET that asks for no stream of an older revision is refused; of streams there are only so many', async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a') });
  const controller = new AbortController();
  t.after(() => controller.abort());
  // Held, since the stream of an answer that nobody holds is closed.
  const held: Response[] = [];
  const get = async (headers: Record<string, string>): Promise<number> => {
    const answer = await fetch(desk.url, { headers, signal: controller.signal });
    held.push(answer);
    return answer.status;
  };
  const accept = 'text/event-stream';
  assert.equal(await get({ accept: 'application/json' }), 405);
  assert.equal(await get({ accept, 'mcp-protocol-version': '2026-07-28' }), 405);
  assert.equal(await get({ accept, 'mcp-protocol-version': '1999-01-01' }), 405);
  const statuses = await Promise.all(Array.from({ length: 65 }, () => get({ accept })));
  assert.deepEqual(
    statuses.filter((status) => status !== 200),
    [503],
  );
});
