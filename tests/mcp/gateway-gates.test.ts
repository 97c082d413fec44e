/** X1, X5, X8, M18: who is let in at the gateway, and what a request may be; each refusal by its status. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { request } from 'node:http';
import { connect, Socket } from 'node:net';
import test from 'node:test';
import { openSockets } from '../../host/mcp/gateway/sockets.ts';
import { ask, olderClient } from './gateway-clients.ts';
import { nextAsk, openGatewayDesk, rules, yes } from './gateway-desk.ts';
import { meta, post } from './published.ts';

const callEcho = { method: 'tools/call', params: { name: 'echo', arguments: { a: 1 } } };
const listTools = { method: 'tools/list' };

/** Names of the methods the server was asked, without those of connecting. */
const reached = (sent: readonly { readonly method?: unknown }[]): readonly unknown[] =>
  sent.map(({ method }) => method).filter((method) => method === 'tools/call');

test('X1: Host or Origin of another site, no token, a wrong one, one in the query, one of another session: nothing is done', async (t) => {
  const desk = await openGatewayDesk(t);
  const other = desk.gateway.admit('s2');
  const without = desk.token.slice(0, -1);
  const rows: readonly (readonly [string, Record<string, string>, number, string?])[] = [
    ['another host', { host: 'evil.example' }, 403],
    ['another origin', { origin: 'https://evil.example' }, 403],
    ['a page without an origin', { origin: 'null' }, 403],
    ['no token', { authorization: '' }, 401],
    ['a wrong token', { authorization: `Bearer ${without}` }, 401],
    ['another scheme', { authorization: `Basic ${desk.token}` }, 401],
    ['a token in the query', { authorization: '' }, 401, `?access_token=${desk.token}`],
    ['another path', {}, 404, '/more'],
    ['a server that is not there', {}, 404, '2'],
  ];
  for (const era of ['modern', 'older'] as const) {
    for (const [what, headers, status, more = ''] of rows) {
      const answer = await ask(`${desk.url}${more}`, desk.token, { ...callEcho, era, headers });
      assert.equal(answer.status, status, what);
      assert.equal(answer.message.result, undefined, what);
      if (status === 401) assert.match(String(answer.headers['www-authenticate']), /^Bearer realm=/, what);
      assert.equal(answer.text.includes(desk.token), false, what);
    }
  }
  assert.deepEqual(reached(desk.connection.sent), []);
  assert.equal(desk.token.length, 47);
  assert.match(desk.token, /^[A-Za-z0-9_-]+$/);
  assert.notEqual(other, desk.token);
  assert.equal((await ask(desk.url, desk.token, listTools)).status, 200);
  assert.equal((await ask(desk.url, other, listTools)).status, 200);
});

test('X5: body over its bound, deep, a batch, no JSON, another type, headers that disagree: each by its status', async (t) => {
  const desk = await openGatewayDesk(t);
  const { port, pathname } = new URL(desk.url);
  const envelope = { ...callEcho.params, _meta: meta };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: envelope });
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json, text/event-stream',
    authorization: `Bearer ${desk.token}`,
    'mcp-protocol-version': '2026-07-28',
    'mcp-method': 'tools/call',
    'mcp-name': 'echo',
  };
  const { 'mcp-name': _, 'mcp-method': __, ...fewer } = headers;
  const older = JSON.stringify({ jsonrpc: '2.0', id: 1, ...callEcho });
  const olderHeaders = { ...fewer, 'mcp-protocol-version': '2025-06-18' };
  const rows: readonly (readonly [string, string, Record<string, string>, number, number?])[] = [
    ['as it should be', body, headers, 200],
    ['1 MiB', body + ' '.repeat(1024 * 1024 - body.length), headers, 200],
    ['over 1 MiB', body + ' '.repeat(1024 * 1024 - body.length + 1), headers, 413],
    ['deep', body.replace('"a":1', `"a":${'['.repeat(70)}${']'.repeat(70)}`), headers, 400, -32_600],
    ['M18: a batch', `[${body}]`, headers, 400, -32_600],
    [
      'M18: a batch of a revision that had them',
      `[${older}]`,
      { ...olderHeaders, 'mcp-protocol-version': '2025-03-26' },
      400,
      -32_600,
    ],
    ['no JSON', '{', headers, 400, -32_700],
    ['no message', '{"jsonrpc":"2.0"}', headers, 400, -32_600],
    ['another version of JSON-RPC', older.replace('2.0', '1.0'), olderHeaders, 400, -32_600],
    ['an ID that is none', older.replace('"id":1', '"id":null'), olderHeaders, 400, -32_600],
    [
      'params that are a list',
      '{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[1]}',
      olderHeaders,
      400,
      -32_600,
    ],
    ['another content type', body, { ...headers, 'content-type': 'text/plain' }, 415],
    ['another method in the header', body, { ...headers, 'mcp-method': 'tools/list' }, 400, -32_020],
    ['another name in the header', body, { ...headers, 'mcp-name': 'write' }, 400, -32_020],
    ['a name in base64', body, { ...headers, 'mcp-name': '=?base64?ZWNobw==?=' }, 200],
    ['a name in bad base64', body, { ...headers, 'mcp-name': '=?base64?ZWNobw=?=' }, 400, -32_020],
    ['no method and name in the headers', body, fewer, 400, -32_020],
    ['no version in the headers', body, { ...headers, 'mcp-protocol-version': '' }, 400],
    [
      'an older version in the header',
      body,
      { ...headers, 'mcp-protocol-version': '2025-11-25' },
      400,
      -32_020,
    ],
    ['no envelope', JSON.stringify({ jsonrpc: '2.0', id: 1, ...callEcho }), headers, 400, -32_602],
    [
      'an envelope without capabilities',
      body.replace(/"[^"]*clientCapabilities":\{\},?/, '').replace(',}', '}'),
      headers,
      400,
      -32_602,
    ],
    [
      'a version nobody knows',
      body.replaceAll('2026-07-28', '2099-01-01'),
      { ...headers, 'mcp-protocol-version': '2099-01-01' },
      400,
      -32_022,
    ],
    ['an older version nobody knows', older, { ...olderHeaders, 'mcp-protocol-version': '1.0' }, 400],
    ['an older request', older, olderHeaders, 200],
    ['who takes no stream', older, { ...olderHeaders, accept: 'application/json' }, 406],
    ['a session nobody opened', older, { ...olderHeaders, 'mcp-session-id': 'guess' }, 404],
  ];
  for (const [what, sent, more, status, code] of rows) {
    const answer = await post(Number(port), { body: sent, headers: more }, { path: pathname });
    assert.equal(answer.status, status, `${what}: ${answer.text.slice(0, 300)}`);
    if (code !== undefined)
      assert.equal(answer.message.error?.code, code, `${what}: ${answer.text.slice(0, 300)}`);
  }
  const many = rows.filter(([, , , status]) => status === 200).length;
  assert.equal(reached(desk.connection.sent).length, many, 'nothing else was done');
  for (const method of ['PUT', 'OPTIONS']) {
    const answer = await post(Number(port), { body: '', headers }, { path: pathname, method });
    assert.equal(answer.status, 405);
    assert.equal(answer.headers['allow'], 'POST, GET, DELETE');
  }
});

test('X5: a tool whose arguments stand in headers as well is not called where they disagree', async (t) => {
  const desk = await openGatewayDesk(t);
  const call = (headers: Record<string, string>, region: unknown = 'eu-1') =>
    ask(desk.url, desk.token, {
      method: 'tools/call',
      params: { name: 'mirror', arguments: { region } },
      headers,
    });
  assert.equal((await call({ 'mcp-param-region': 'eu-1' })).status, 200);
  assert.equal((await call({ 'mcp-param-region': '=?base64?ZXUtMQ==?=' })).status, 200);
  assert.equal((await call({}, null)).status, 200);
  for (const headers of [{}, { 'mcp-param-region': 'us-1' }, { 'mcp-param-region': '=?base64?!?=' }]) {
    const answer = await call(headers as Record<string, string>);
    assert.equal(answer.status, 400);
    assert.equal(answer.message.error?.code, -32_020);
  }
  assert.equal(reached(desk.connection.sent).length, 3);
});

test('X7, X8: what another session holds is not found: clients, requests, answers', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const other = desk.gateway.admit('s2');
  const init = await ask(desk.url, desk.token, {
    method: 'initialize',
    era: 'older',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  });
  const id = String(init.headers['mcp-session-id']);
  const own = { era: 'older', headers: { 'mcp-session-id': id } } as const;
  assert.equal((await ask(desk.url, desk.token, { ...listTools, ...own })).status, 200);
  assert.equal((await ask(desk.url, other, { ...listTools, ...own })).status, 404);
  const running = ask(desk.url, desk.token, { ...callEcho, ...own, id: 7 });
  const asked = await nextAsk(desk);
  await ask(desk.url, other, {
    method: 'notifications/cancelled',
    era: 'older',
    id: undefined,
    params: { requestId: 7 },
  });
  assert.equal(asked.signal.aborted, false);
  asked.answer(yes);
  assert.equal((await running).status, 200);
  const { port, pathname } = new URL(desk.url);
  const end = (token: string) =>
    post(
      Number(port),
      { body: '', headers: { authorization: `Bearer ${token}`, 'mcp-session-id': id } },
      { path: pathname, method: 'DELETE' },
    );
  assert.equal((await end(other)).status, 404);
  assert.equal((await end(desk.token)).status, 200);
  assert.equal((await ask(desk.url, desk.token, { ...listTools, ...own })).status, 404);
});

test('a session that ended calls nothing: 401, its streams end, its calls are given up', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({ allow: ['mcp__probe__wait'] }) });
  const client = await olderClient(t, desk.url, desk.token);
  const { port, pathname } = new URL(desk.url);
  const headers = { authorization: `Bearer ${desk.token}`, accept: 'text/event-stream' };
  const stream = request({ host: '127.0.0.1', port, path: pathname, headers }).end();
  const [open] = await once(stream, 'response');
  open.resume();
  const waiting = client.callTool({ name: 'wait' });
  waiting.catch(() => {});
  await once(desk.connection.heard, 'notifications/message');
  const asking = ask(desk.url, desk.token, callEcho);
  const asked = await nextAsk(desk);
  const ended = once(open, 'end');
  const cancelled = once(desk.connection.heard, 'notifications/message');
  desk.gateway.dismiss('s1');
  await ended;
  assert.match(JSON.stringify(await cancelled), /cancelled/);
  assert.equal(asked.signal.aborted, true);
  await assert.rejects(waiting);
  await asking;
  for (const era of ['modern', 'older'] as const) {
    assert.equal((await ask(desk.url, desk.token, { ...listTools, era })).status, 401);
  }
  const again = desk.gateway.admit('s1');
  assert.equal((await ask(desk.url, desk.token, listTools)).status, 401, 'a new token ends the one before');
  assert.equal((await ask(desk.url, again, listTools)).status, 200);
  const newest = desk.gateway.admit('s1');
  assert.equal((await ask(desk.url, again, listTools)).status, 401);
  assert.equal((await ask(desk.url, newest, listTools)).status, 200);
  assert.deepEqual(desk.rows.map(({ tool, decision, rule }) => [tool, decision, rule]).sort(), [
    ['echo', 'denied', 'permissions (no rule names it), withdrawn'],
    ['wait', 'allowed', 'permissions.allow[0] (mcp__probe__wait)'],
  ]);
});

test('a server policy took back is not there, whatever the agent was told', async (t) => {
  const desk = await openGatewayDesk(t);
  assert.equal((await ask(desk.url, desk.token, callEcho)).status, 200);
  desk.policy.servers = [];
  assert.equal((await ask(desk.url, desk.token, callEcho)).status, 404);
  assert.equal(reached(desk.connection.sent).length, 1);
});

test('M20: more requests than may wait are refused by a number', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const { port, pathname } = new URL(desk.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${desk.token}\r\nconnection: upgrade\r\nupgrade: jupiter-mcp-lines\r\n\r\n`,
  );
  await once(socket, 'data');
  const refused = once(socket, 'data');
  const line = (id: number) => `${JSON.stringify({ jsonrpc: '2.0', id, ...callEcho })}\n`;
  socket.write(Array.from({ length: 1_025 }, (_, n) => line(n)).join(''));
  const [answer] = await refused;
  assert.match(String(answer), /"id":1024,"error".*1024 are waiting.*gateway\/busy/);
  assert.equal(desk.asked.length, 1_024);
});

test('no session keeps out another, and nobody without a token does: connections are counted by session', async (t) => {
  const desk = await openGatewayDesk(t);
  const other = desk.gateway.admit('s2');
  const { port, pathname } = new URL(desk.url);
  const held: Socket[] = [];
  t.after(() => held.forEach((one) => void one.destroy()));
  const open = async (): Promise<Socket> => {
    const socket = connect(Number(port), '127.0.0.1').on('error', () => {});
    held.push(socket);
    await once(socket, 'connect');
    return socket;
  };
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' });
  const status = async (socket: Socket, token: string): Promise<number> => {
    socket.write(
      `POST ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${token}\r\naccept: */*\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
    );
    const [answer] = await once(socket, 'data');
    return Number(String(answer).slice(9, 12));
  };
  const idle: Socket[] = [];
  for (let n = 0; n < 1_100; n += 100) idle.push(...(await Promise.all(Array.from({ length: 100 }, open))));
  assert.equal((await ask(desk.url, desk.token, listTools)).status, 200);
  const statuses: number[] = [];
  const first = await open();
  statuses.push(await status(first, desk.token));
  for (let n = 0; n < 1_300; n += 100)
    statuses.push(
      ...(await Promise.all(Array.from({ length: 100 }, async () => status(await open(), desk.token)))),
    );
  assert.deepEqual(Map.groupBy(statuses, (one) => one).get(429)?.length, 21);
  assert.equal(statuses.filter((one) => one === 200).length, 1_280);
  assert.equal((await ask(desk.url, other, listTools)).status, 200);
  assert.equal(await status(first, desk.token), 200, 'what it holds goes on');
  assert.ok(idle.filter(({ destroyed, closed }) => destroyed || closed).length >= 76);
  // One that ends makes room.
  first.destroy();
  await once(first, 'close');
  assert.equal((await ask(desk.url, other, listTools)).status, 200);
  assert.equal(await status(await open(), desk.token), 200);
});

test('when all connections are taken, whoever holds most gives one up', () => {
  const sockets = openSockets();
  const named = (id: string) => ({ id }) as unknown as Parameters<typeof sockets.claim>[1];
  const take = (session: ReturnType<typeof named>, count: number): readonly Socket[] =>
    Array.from({ length: count }, () => {
      const socket = new Socket();
      sockets.opened(socket);
      sockets.claim(socket, session);
      return socket;
    });
  const [few, some, most] = [named('few'), named('some'), named('most')];
  const kept = [...take(few, 10), ...take(some, 1_200), ...take(named('more'), 1_200)];
  const greedy = take(most, 1_280);
  const rest = take(named('rest'), 406);
  assert.equal(greedy.filter(({ destroyed }) => destroyed).length, 0);
  const late = take(few, 3);
  assert.deepEqual(
    greedy.map(({ destroyed }) => destroyed),
    greedy.map((_, at) => at >= 1_277),
  );
  assert.ok([...kept, ...rest, ...late].every(({ destroyed }) => !destroyed));
});

test('two requests of one ID: refused of one client, kept apart where each stands alone', {
  timeout: 15_000,
}, async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const init = await ask(desk.url, desk.token, {
    method: 'initialize',
    era: 'older',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'a', version: '1' } },
  });
  const own = { 'mcp-session-id': String(init.headers['mcp-session-id']) };
  const cancel = (headers: Record<string, string>) =>
    ask(desk.url, desk.token, {
      method: 'notifications/cancelled',
      era: 'older',
      id: undefined,
      headers,
      params: { requestId: 7 },
    });
  const call = (headers: Record<string, string>) =>
    ask(desk.url, desk.token, { ...callEcho, era: 'older', id: 7, headers });

  const first = call(own);
  const asked = await nextAsk(desk);
  const second = await call(own);
  assert.deepEqual([second.status, second.message.error?.code], [400, -32_600]);
  assert.equal(desk.asked.length, 0, 'and nothing of it was done');
  await cancel(own);
  assert.equal(asked.signal.aborted, true, 'a cancellation reaches the one that waits');
  assert.equal((await first).message.result, undefined);
  const again = call(own);
  (await nextAsk(desk)).answer(yes);
  assert.equal((await again).status, 200, 'once it is over the ID is free');

  const alone = [call({}), call({})];
  const waiting = [await nextAsk(desk), await nextAsk(desk)];
  await cancel({});
  assert.deepEqual(
    waiting.map(({ signal }) => signal.aborted),
    [false, false],
    'whose is meant cannot be said',
  );
  for (const { answer } of waiting) answer(yes);
  for (const { status } of await Promise.all(alone)) assert.equal(status, 200);
  const only = call({});
  const last = await nextAsk(desk);
  await cancel({});
  assert.equal(last.signal.aborted, true);
  await only;

  const { port, pathname } = new URL(desk.url);
  const socket = connect(Number(port), '127.0.0.1');
  t.after(() => socket.destroy());
  socket.write(
    `GET ${pathname} HTTP/1.1\r\nhost: 127.0.0.1\r\nauthorization: Bearer ${desk.token}\r\nconnection: upgrade\r\nupgrade: jupiter-mcp-lines\r\n\r\n`,
  );
  await once(socket, 'data');
  const line = `${JSON.stringify({ jsonrpc: '2.0', id: 7, ...callEcho })}\n`;
  const told = once(socket, 'data');
  socket.write(line + line);
  const inLines = await nextAsk(desk);
  const [refusal] = await told;
  assert.match(String(refusal), /"code":-32600.*"id":null/, 'an answer of that ID is that of the first');
  const answered = once(socket, 'data');
  inLines.answer(yes);
  assert.match(String((await answered)[0]), /"id":7,"result"/);
});
