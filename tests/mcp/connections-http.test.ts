/** Servers over HTTP: sessions, credentials, what is refused, what is lost and comes back. */
import assert from 'node:assert/strict';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import test, { type TestContext } from 'node:test';
import { patientAgent } from '../../host/mcp/connections/patient.ts';
import { type Answered, isOwnAddress, type Json } from '../../host/mcp/index.ts';
import { openRedactor } from '../../host/state/index.ts';
import { startMcpHttp } from '../fixtures/mcp-http.ts';
import { address, openDialled } from './dialled.ts';
import { type Asked, json, startRawHttp } from './http-server.ts';
import { startModern } from './modern-server.ts';

const textOf = (answered: Answered): string => {
  assert.ok('result' in answered, JSON.stringify(answered));
  return (answered.result as { content: [{ text: string }] }).content[0].text;
};
const codeOf = (answered: Answered): string =>
  'problem' in answered ? answered.problem.code : JSON.stringify(answered);
const echo = { name: 'echo', arguments: {} };

test('M1: an address that takes connections and never answers stays connecting', async (t) => {
  const listener = createServer(() => {});
  await new Promise<void>((ready) => listener.listen(0, '127.0.0.1', ready));
  t.after(() => listener.close());
  const { port } = listener.address() as AddressInfo;
  const good = await startRawHttp(t);
  const desk = await openDialled(
    t,
    () => [address('mute', `http://127.0.0.1:${port}/mcp`), address('good', good.url)],
    { limits: { attemptMs: 200 } },
  );
  await desk.connected('good');
  assert.deepEqual(desk.get('mute').status(), { state: 'connecting' });
  assert.ok(!desk.seen.some((line) => line.startsWith('mute')));
});

test('M7: a session that was forgotten: one new session, one retry, for all calls that met it', async (t) => {
  for (const [status, text] of [
    [404, 'no such session'],
    [400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"No valid session ID provided"}}'],
  ] as const)
    await forgets(t, status, text);
});

const forgets = async (t: TestContext, status: number, text: string): Promise<void> => {
  const server = await startRawHttp(t, undefined, 0, { status, text });
  const desk = await openDialled(t, () => [address('raw', server.url)]);
  const connection = await desk.connected('raw');
  assert.equal(textOf(await connection.request('tools/call', echo)), 'by session-1');
  server.forget();
  const answers = await Promise.all(Array.from({ length: 5 }, () => connection.request('tools/call', echo)));
  assert.deepEqual(answers.map(textOf), Array(5).fill('by session-2'));
  assert.deepEqual(connection.status(), { state: 'connected' });
  assert.equal(server.methods().filter((method) => method === 'initialize').length, 2);
  assert.equal(server.methods().filter((method) => method === 'tools/call').length, 11);
  await desk.connections.close();
};

test('a call may take longer than the five minutes of fetch: the runtime has an agent that waits', async () => {
  assert.ok((await patientAgent()) !== undefined);
});

test('M7: forgotten again at the retry, the status says so', async (t) => {
  const server = await startRawHttp(t, ({ message }, response) => {
    if (message.method !== 'tools/call') return false;
    response.writeHead(404).end();
    return true;
  });
  const desk = await openDialled(t, () => [address('raw', server.url)], {
    limits: { backoffMs: 1_000_000, mostBackoffMs: 1_000_000 },
  });
  const connection = await desk.connected('raw');
  assert.equal(codeOf(await connection.request('tools/call', echo)), 'connections/session-forgotten');
  await desk.until('raw', ({ status }) => status().state === 'failed');
  const status = connection.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/session-forgotten');
  assert.equal(server.methods().filter((method) => method === 'tools/call').length, 2);
});

test('M8: a server that is down comes by itself; one that goes away is lost, and comes back', async (t) => {
  const probe = await startRawHttp(t);
  await probe.close();
  const desk = await openDialled(t, () => [address('raw', probe.url)]);
  const down = await desk.until('raw', ({ status }) => status().state === 'failed');
  const status = down.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/unreachable');
  const first = await startRawHttp(t, undefined, probe.port);
  const connection = await desk.connected('raw');
  assert.equal(textOf(await connection.request('tools/call', echo)), 'by session-1');
  await first.close();
  // Nobody calls: the stream for what the server says unasked shows that it went away.
  const answered = await connection.request('tools/call', echo);
  assert.equal(codeOf(answered), 'connections/lost');
  await desk.until('raw', (one) => one.status().state !== 'connected');
  await startRawHttp(t, undefined, probe.port);
  await desk.connected('raw');
  assert.equal(textOf(await connection.request('tools/call', echo)), 'by session-1');
});

test('M11: headers and bearer are read at each request; unset is a named failure, and nothing is sent', async (t) => {
  const server = await startRawHttp(t);
  const env: Record<string, string | undefined> = { PART: 'one', BEARER: 'token-1' };
  // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
  const headers = { 'X-Own': 'part ${PART}', 'Mcp-Session-Id': 'not ours to set' };
  const desk = await openDialled(
    t,
    () => [
      address('raw', server.url, headers, { bearer: 'BEARER' }),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
      address('unset', server.url, { Authorization: 'Bearer ${NOT_SET}' }),
      address('no-bearer', server.url, {}, { bearer: 'EMPTY' }),
      // biome-ignore lint/suspicious/noTemplateCurlyInString: this is how variables are written
      address('unfit', server.url, { 'X-Own': '${LINES}' }),
    ],
    { env: Object.assign(env, { EMPTY: '', LINES: 'a\r\nX-Other: b' }) },
  );
  const connection = await desk.connected('raw');
  const sent = () => {
    const last: Asked['headers'] = server.asked.at(-1)?.headers ?? {};
    return [last['x-own'], last['authorization'], last['mcp-session-id'], last['x-jupiter-call']];
  };
  await connection.request('tools/call', echo);
  assert.deepEqual(sent(), ['part one', 'Bearer token-1', 'session-1', undefined]);
  Object.assign(env, { PART: 'two', BEARER: 'token-2' });
  await connection.request('tools/call', echo);
  assert.deepEqual(sent(), ['part two', 'Bearer token-2', 'session-1', undefined]);
  const before = server.asked.length;
  env['BEARER'] = '';
  const refused = await connection.request('tools/call', echo);
  assert.ok('problem' in refused && refused.problem.code === 'connections/variable-unset');
  assert.equal(refused.problem.evidence, 'BEARER, named by its bearer');
  assert.equal(server.asked.length, before);
  for (const [name, code, evidence] of [
    ['unset', 'connections/variable-unset', 'NOT_SET, named by header Authorization'],
    ['no-bearer', 'connections/variable-unset', 'EMPTY, named by its bearer'],
    ['unfit', 'connections/variable-unfit', 'header X-Own'],
  ] as const) {
    const found = await desk.until(name, ({ status }) => status().state === 'failed');
    const call = await found.request('tools/call', echo);
    assert.ok('problem' in call && call.problem.evidence?.includes(evidence), JSON.stringify(call));
    const status = found.status();
    assert.ok(status.state === 'failed');
    assert.deepEqual([status.problem.code, status.problem.evidence], [code, evidence]);
  }
  const authorizations = server.asked.map(({ headers: { authorization } }) => authorization);
  assert.ok(authorizations.every((value) => value === 'Bearer token-1' || value === 'Bearer token-2'));
});

test('401, and 403 with a challenge, is needs authentication, at the start and later; 403 alone is a failure', async (t) => {
  let open = false;
  const refusing = (status: number, challenge?: string) =>
    startRawHttp(t, (_asked, response) => {
      if (open) return false;
      response.writeHead(status, challenge === undefined ? {} : { 'www-authenticate': challenge }).end('no');
      return true;
    });
  const servers = {
    unknown: await refusing(401, 'Bearer realm="x"'),
    bare: await refusing(401),
    scope: await refusing(403, 'Bearer error="insufficient_scope"'),
    forbidden: await refusing(403),
  };
  const desk = await openDialled(t, () =>
    Object.entries(servers).map(([name, { url }]) => address(name, url)),
  );
  for (const name of ['unknown', 'bare', 'scope'])
    await desk.until(name, ({ status }) => status().state === 'needs authentication');
  const forbidden = await desk.until('forbidden', ({ status }) => status().state === 'failed');
  const status = forbidden.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/http');
  const answered = await desk.get('unknown').request('tools/call', echo);
  assert.ok('problem' in answered && answered.problem.evidence === 'needs authentication');
  open = true;
  desk.connections.reconnect('policy/unknown');
  const connection = await desk.connected('unknown');
  open = false;
  assert.equal(codeOf(await connection.request('tools/call', echo)), 'connections/needs-authentication');
  await desk.until('unknown', (one) => one.status().state === 'needs authentication');
});

test('M13: what a refusal echoes is redacted', async (t) => {
  const secret = 'hunter2-of-the-station';
  const server = await startRawHttp(t, ({ headers }, response) => {
    response.writeHead(418).end(`you sent ${headers.authorization}`);
    return true;
  });
  const redactor = openRedactor(() => new Set(['TOKEN']), { TOKEN: secret });
  const desk = await openDialled(t, () => [address('echoes', server.url, {}, { bearer: 'TOKEN' })], {
    env: { TOKEN: secret },
    redact: redactor.text,
  });
  const found = await desk.until('echoes', ({ status }) => status().state === 'failed');
  const status = JSON.stringify(found.status());
  assert.match(status, /HTTP 418: you sent Bearer \[redacted TOKEN\]/);
  assert.ok(!status.includes(secret));
});

test('M4: large answers, whole or as events, up to the limit; what is over it fails alone', async (t) => {
  const server = await startRawHttp(t, ({ message }, response) => {
    if (message.method !== 'tools/call') return false;
    const { bytes = 0, as = '' } = (message.params?.['arguments'] ?? {}) as { bytes?: number; as?: string };
    const answer = { jsonrpc: '2.0', id: message.id, result: { content: [{ text: 'x'.repeat(bytes) }] } };
    if (as === 'json') json(response, answer);
    else if (as === 'chunks') {
      response.writeHead(200, { 'content-type': 'application/json' });
      response.write(JSON.stringify(answer).slice(0, 10));
      response.end(JSON.stringify(answer).slice(10));
    } else {
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      for (let n = 0; n < 14; n += 1)
        response.write(
          `data: ${JSON.stringify({ jsonrpc: '2.0', method: 'notifications/own', params: { text: 'y'.repeat(500_000) } })}\n\n`,
        );
      response.end(`event: message\ndata: ${JSON.stringify(answer)}\n\n`);
    }
    return true;
  });
  const desk = await openDialled(t, () => [address('raw', server.url)], {
    limits: { messageBytes: 6_000_000 },
  });
  const connection = await desk.connected('raw');
  const call = (as: string, bytes: number) =>
    connection.request('tools/call', { name: 'large', arguments: { as, bytes } });
  for (const as of ['json', 'chunks', 'events']) {
    assert.equal(textOf(await call(as, 5_000_000)).length, 5_000_000);
    assert.equal(codeOf(await call(as, 7_000_000)), 'connections/too-large', as);
    assert.equal(textOf(await call(as, 10)).length, 10);
  }
  assert.equal(server.methods().filter((method) => method === 'initialize').length, 1);
});

test('M6: list_changed on the stream of a session, and by subscription since 2026-07-28', async (t) => {
  const older = await startRawHttp(t);
  const newer = await startModern(t);
  const desk = await openDialled(t, () => [address('older', older.url), address('newer', newer.url)]);
  await desk.connected('older');
  const streams = () => older.asked.filter(({ method }) => method === 'GET').length;
  while (streams() === 0) await new Promise(setImmediate);
  const lists = () => older.methods().filter((method) => method === 'tools/list').length;
  assert.equal(lists(), 1);
  for (let n = 0; n < 50; n += 1) older.say({ jsonrpc: '2.0', method: 'notifications/tools/list_changed' });
  while (lists() < 2) await new Promise(setImmediate);
  const connection = await desk.connected('newer');
  const names = () => connection.tools().map(({ name }) => name);
  assert.deepEqual(names(), ['echo', 'asks', 'marked']);
  await newer.subscribed;
  newer.add('added');
  await desk.until('newer', () => names().includes('added'));
});

test('M15: 2025-06-18 and 2026-07-28 over HTTP; the newest is taken where both are spoken', async (t) => {
  const older = await startRawHttp(t);
  const both = await startMcpHttp();
  t.after(both.close);
  const newer = await startModern(t);
  const desk = await openDialled(t, () => [
    address('older', older.url),
    address('both', both.url),
    address('newer', newer.url),
  ]);
  const revisions: string[] = [];
  for (const name of ['older', 'both', 'newer']) {
    const connection = await desk.connected(name);
    revisions.push(connection.about()?.protocolVersion ?? '');
  }
  assert.deepEqual(revisions, ['2025-06-18', '2026-07-28', '2026-07-28']);
  const probed = await desk.get('both').request('tools/call', { name: 'probe', arguments: {} });
  assert.equal(textOf(probed), 'probe answered over http');
  assert.deepEqual(desk.get('newer').about()?.serverInfo, { name: 'modern', version: '2.0.0' });
});

test('2026-07-28: what a server asks inside of its answer reaches the call; parameters that are headers are sent', async (t) => {
  const server = await startModern(t);
  const desk = await openDialled(t, () => [address('newer', server.url)]);
  const connection = await desk.connected('newer');
  const asked: Json[] = [];
  const answered = await connection.request(
    'tools/call',
    { name: 'asks', arguments: {} },
    {
      onAsk: async ({ method, params }) => {
        asked.push({ method, message: params['message'] });
        return { action: 'accept', content: { name: 'Ada' } };
      },
    },
  );
  assert.deepEqual(asked, [{ method: 'elicitation/create', message: 'Who?' }]);
  assert.equal(textOf(answered), 'accept {"name":"Ada","size":7}');
  // Without an answerer the server is told that nobody can be asked.
  const refused = await connection.request('tools/call', { name: 'asks', arguments: {} });
  assert.ok('error' in refused, JSON.stringify(refused));
  const unanswered = await connection.request(
    'tools/call',
    { name: 'asks', arguments: {} },
    { onAsk: async () => undefined },
  );
  assert.deepEqual(unanswered, {
    error: { code: -32_601, message: 'elicitation/create: nobody answers it here' },
  });
  const marked = await connection.request('tools/call', {
    name: 'marked',
    arguments: { region: 'Zürich', size: 3 },
  });
  assert.equal(textOf(marked), '=?base64?WsO8cmljaA==?= 3');
});

test('the gateway of the station is never dialled', async (t) => {
  const server = await startRawHttp(t);
  const desk = await openDialled(t, () => [address('own', `${server.url}?x=1`)], {
    isOwn: (url) => url.port === String(server.port),
  });
  const own = await desk.until('own', ({ status }) => status().state === 'failed');
  const status = own.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/own-address');
  assert.equal(server.asked.length, 0);
});

test('which addresses are the station itself', () => {
  for (const [address, own] of [
    ['http://127.0.0.1:4720/mcp', true],
    ['http://127.1.2.3:4720/', true],
    ['http://127.1:4720/', true],
    ['http://2130706433:4720/', true],
    ['http://localhost:4720/', true],
    ['http://LOCALHOST.:4720/', true],
    ['http://a.localhost:4720/', true],
    ['http://0.0.0.0:4720/', true],
    ['http://0:4720/', true],
    ['http://[::1]:4720/', true],
    ['http://[0:0::1]:4720/', true],
    ['http://[::]:4720/', true],
    ['http://[::ffff:127.0.0.1]:4720/', true],
    ['https://127.0.0.1:4721/', true],
    ['http://localhost/', true],
    ['http://127.0.0.1:4722/', false],
    ['https://localhost/', false],
    ['http://localhost.example:4720/', false],
    ['https://team.example:4720/', false],
    ['http://[::2]:4720/', false],
  ] as const)
    assert.equal(isOwnAddress(new URL(address), [4720, 4721, 80]), own, address);
});

test('a call that is given up ends at the server, of either revision', async (t) => {
  const ended: string[] = [];
  const hanging = await startRawHttp(t, ({ message }, response) => {
    if (message.method !== 'tools/call') return false;
    response.on('close', () => ended.push('stream'));
    return true;
  });
  const desk = await openDialled(t, () => [address('raw', hanging.url)]);
  const connection = await desk.connected('raw');
  const stop = new AbortController();
  const call = connection.request('tools/call', echo, { signal: stop.signal });
  while (!hanging.methods().includes('tools/call')) await new Promise(setImmediate);
  stop.abort();
  assert.equal(codeOf(await call), 'connections/cancelled');
  while (ended.length === 0 || !hanging.methods().includes('notifications/cancelled'))
    await new Promise(setImmediate);
  assert.deepEqual(connection.status(), { state: 'connected' });
});

test('a server that ends each stream at once and says `retry: 0` is not asked again without a pause', async (t) => {
  const taken: number[] = [];
  const third = Promise.withResolvers<void>();
  const server = await startRawHttp(t, ({ method }, response) => {
    if (method !== 'GET') return false;
    taken.push(performance.now());
    if (taken.length === 3) third.resolve();
    response.writeHead(200, { 'content-type': 'text/event-stream' }).end('id: 1\nretry: 0\ndata: \n\n');
    return true;
  });
  const desk = await openDialled(t, () => [address('eager', server.url)]);
  await desk.connected('eager');
  await third.promise;
  const [first = 0, , last = 0] = taken;
  assert.ok(last - first >= 400, `${last - first} ms for two more streams`);
});
