/** X1, X2, X5: what is refused before anything is done, each by its status. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { admission, isDeeper, isLocal } from '../../host/http/index.ts';
import { modernRequest, olderRequest, openDesk, post, type Sent, skill, skillsIn } from './published.ts';

const token = 'a-token.of_the~test+x/=';
const withHeaders = (sent: Sent, headers: Record<string, string>): Sent => ({
  ...sent,
  headers: { ...sent.headers, ...headers },
});
const bearer = { authorization: `Bearer ${token}` };
const list = modernRequest('skills/list');

test('X1: Host or Origin of another site, no token, a wrong token, a token in the query: nothing is done', async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a') }, { tokens: [token, 'second'] });
  const ask = (headers: Record<string, string>, path?: string) =>
    post(desk.port, withHeaders(list, headers), path === undefined ? {} : { path });
  const refused: readonly (readonly [string, Record<string, string>, number, string?])[] = [
    ['another host', { ...bearer, host: 'evil.example' }, 403],
    ['a host that begins like ours', { ...bearer, host: 'localhost.evil.example' }, 403],
    ['a host with a user', { ...bearer, host: 'localhost@evil.example' }, 403],
    ['another origin', { ...bearer, origin: 'https://evil.example' }, 403],
    ['an origin that begins like ours', { ...bearer, origin: 'http://127.0.0.1.evil.example' }, 403],
    ['a page without an origin', { ...bearer, origin: 'null' }, 403],
    ['no token', {}, 401],
    ['a wrong token', { authorization: `Bearer ${token}x` }, 401],
    ['another scheme', { authorization: `Basic ${token}` }, 401],
    ['an empty token', { authorization: 'Bearer ' }, 401],
    ['a token in the query', {}, 401, `/v1/mcp?access_token=${encodeURIComponent(token)}`],
  ];
  for (const [what, headers, status, path] of refused) {
    const answer = await ask(headers, path);
    assert.equal(answer.status, status, what);
    assert.equal(answer.message.result, undefined, what);
    if (status === 401) assert.match(String(answer.headers['www-authenticate']), /^Bearer realm=/, what);
    assert.equal(answer.text.includes(token), false, what);
  }
  for (const headers of [
    bearer,
    { authorization: 'bearer second' },
    { ...bearer, origin: 'http://localhost:3000', host: '[::1]:80' },
  ]) {
    assert.equal(skillsIn(await ask(headers)).length, 1);
  }
});

test('X1: an empty or unset token lets nobody in; nothing published is not found; "none" asks for nothing', async (t) => {
  const files = { 'a/SKILL.md': skill('a') };
  const empty = await openDesk(t, files, { tokens: [] });
  assert.equal((await post(empty.port, withHeaders(list, { authorization: 'Bearer x' }))).status, 401);
  const nothing = await openDesk(t, files, { tokens: undefined });
  assert.equal((await post(nothing.port, list)).status, 404);
  const open = await openDesk(t, files);
  assert.equal((await post(open.port, list)).status, 200);
  assert.equal((await post(open.port, list, { path: '/v1/other' })).status, 404);
  for (const method of ['GET', 'DELETE', 'OPTIONS']) {
    const answer = await post(open.port, { ...list, body: '' }, { method });
    assert.equal(answer.status, 405, method);
    assert.equal(answer.headers['allow'], 'POST');
  }
});

test('X1: rules of Host, Origin and token as a table', () => {
  for (const [host, origin, local] of [
    ['localhost:80', undefined, true],
    ['LOCALHOST', 'https://127.0.0.1', true],
    ['127.0.0.1:1', 'http://[::1]:2', true],
    [undefined, undefined, false],
    ['127.0.0.2', undefined, false],
    ['localhost:80', 'file://', false],
    ['localhost:80', '', false],
    ['localhost:123456', undefined, false],
  ] as const) {
    assert.equal(isLocal(host, origin), local, `${host} ${origin}`);
  }
  assert.equal(admission('Bearer a', ['b', 'a']), 'in');
  assert.equal(admission('Bearer a, Bearer b', ['a']), 'wrong-token');
  assert.equal(admission(undefined, 'none'), 'in');
});

test('X2: a URI that would have to be normalised first names nothing', async (t) => {
  const desk = await openDesk(t, {
    'a/b/SKILL.md': skill('b'),
    'b/SKILL.md': skill('b'),
    'b/x y.md': 'space',
    'b/sub/z.md': 'z',
  });
  const good = ['skill://b/SKILL.md', 'skill://b/x%20y.md', 'skill://b/sub/z.md', 'skill://a/b/SKILL.md'];
  for (const uri of good) assert.ok((await desk.ask('resources/read', { uri })).message.result, uri);
  const bad = [
    'skill://a/../b/SKILL.md',
    'skill://b/./SKILL.md',
    'skill://b/%2e%2e/b/SKILL.md',
    'skill://b/sub%2Fz.md',
    'skill://b%2FSKILL.md',
    'skill://b/sub\\z.md',
    'skill://b/SKILL.md\0',
    'skill://b/%00',
    'skill://b//SKILL.md',
    'skill:///b/SKILL.md',
    'skill://b/SKILL.md?',
    'skill://b/SKILL.md?x=1',
    'skill://b/SKILL.md#top',
    'skill://b/SKILL.md/',
    'SKILL://b/SKILL.md',
    'Skill://b/SKILL.md',
    'skill://B/SKILL.md',
    'skill://b/skill.md',
    'skill://b/x y.md',
    'skill://b/x+y.md',
    'skill://b/%53KILL.md',
    'skill://user@b/SKILL.md',
    'skill://b:80/SKILL.md',
    ' skill://b/SKILL.md',
    'skill://b/SKILL.md\n',
    'skill://',
    'file:///etc/passwd',
    'x'.repeat(10_000),
  ];
  for (const uri of bad) {
    for (const method of ['resources/read', 'skills/get', 'resources/directory/read']) {
      // What no header can hold is left out of it, as clients do.
      const sent = modernRequest(method, { uri });
      const { 'mcp-name': _name, ...headers } = sent.headers;
      for (const request of [
        olderRequest(method, { uri }),
        /^[\x21-\x7e]+$/.test(uri) ? sent : { ...sent, headers },
      ]) {
        const { message, status } = await post(desk.port, request);
        assert.equal(message.result, undefined, `${method} ${uri}`);
        if (status === 200) assert.equal(message.error?.code, -32_602, `${method} ${uri}`);
        else assert.equal(status, uri.length > 9_000 ? 431 : 400, `${method} ${uri}`);
      }
    }
  }
  for (const uri of ['skill://b/', 'skill://b/sub/', 'skill://a']) {
    const { error } = (await desk.ask('resources/directory/read', { uri })).message;
    assert.equal(error?.code, -32_602, uri);
  }
});

test('X5: body over 1 MiB, deep JSON, batch, wrong content type, wrong mcp-method header: each by its status', async (t) => {
  const desk = await openDesk(t, { 'a/SKILL.md': skill('a') });
  const with1 = (body: string | Uint8Array, headers: Record<string, string> = {}): Sent => ({
    body,
    headers: { ...list.headers, ...headers },
  });
  const padded = (length: number): string => {
    const bare = String(list.body);
    return bare + ' '.repeat(length - bare.length);
  };
  // A message like any other but for one parameter nobody reads.
  const deep = (levels: number): string =>
    String(list.body).replace('"_meta"', `"more":${'['.repeat(levels)}${']'.repeat(levels)},"_meta"`);
  const older = olderRequest('skills/list');
  const rows: readonly (readonly [string, Sent, number, number?])[] = [
    ['1 MiB', with1(padded(1024 * 1024)), 200],
    ['over 1 MiB', with1(padded(1024 * 1024 + 1)), 413],
    ['over 1 MiB in pieces', with1(padded(1024 * 1024 + 1), { 'transfer-encoding': 'chunked' }), 413],
    ['as deep as may be', with1(deep(62)), 200],
    ['deep', with1(deep(63)), 400, -32_600],
    ['very deep', with1(deep(200_000)), 400, -32_600],
    ['a batch', with1(`[${list.body}]`), 400, -32_600],
    ['a batch of an older revision', { ...older, body: `[${older.body}]` }, 400, -32_600],
    ['an empty batch', with1('[]'), 400, -32_600],
    ['no JSON', with1('{'), 400, -32_700],
    ['nothing', with1(''), 400, -32_700],
    ['a number', with1('5'), 400, -32_600],
    ['no UTF-8', with1(new Uint8Array([0x22, 0xff, 0x22])), 400, -32_700],
    ['another content type', with1(String(list.body), { 'content-type': 'text/plain' }), 415],
    ['a form', with1(String(list.body), { 'content-type': 'application/x-www-form-urlencoded' }), 415],
    [
      'a content type that begins like it',
      with1(String(list.body), { 'content-type': 'application/jsonp' }),
      415,
    ],
    ['with a charset', with1(String(list.body), { 'content-type': 'Application/JSON; charset=utf-8' }), 200],
    ['another method in the header', with1(String(list.body), { 'mcp-method': 'skills/get' }), 400, -32_020],
    [
      'another revision in the header',
      with1(String(list.body), { 'mcp-protocol-version': '2025-11-25' }),
      400,
      -32_020,
    ],
    [
      'a revision nobody knows',
      with1(String(list.body).replaceAll('2026-07-28', '2099-01-01'), {
        'mcp-protocol-version': '2099-01-01',
      }),
      400,
      -32_022,
    ],
    ['headers over 16 KiB', with1(String(list.body), { 'x-long': 'x'.repeat(17_000) }), 431],
  ];
  for (const [what, sent, status, code] of rows) {
    const answer = await post(desk.port, sent);
    assert.equal(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`);
    if (code !== undefined)
      assert.equal(answer.message.error?.code, code, `${what}: ${answer.text.slice(0, 300)}`);
  }
});

test('X5: depth is counted outside of strings', () => {
  const at = (text: string, most: number): boolean => isDeeper(Buffer.from(text), most);
  assert.equal(at('[[1]]', 2), false);
  assert.equal(at('[[1]]', 1), true);
  assert.equal(at('["[[[[\\"[[", {}]', 2), false);
  assert.equal(at('["\\\\", [[1]]]', 2), true);
  assert.equal(at('[1][1][1]', 1), false);
});
