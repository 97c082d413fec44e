/** What a server asks in the middle of a call, and cancellation in both directions. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { ElicitRequestSchema } from '@modelcontextprotocol/sdk/types.js';
import { ask, modernClient, olderClient } from './gateway-clients.ts';
import { nextAsk, no, openGatewayDesk, yes } from './gateway-desk.ts';

const schema = { type: 'object', properties: { colour: { type: 'string' } } } as const;
const form = { message: 'Which colour?', requestedSchema: schema };
const url = { mode: 'url', message: 'Sign in.', url: 'https://sign.example/in', elicitationId: 'e1' };
const asks = (params: Record<string, unknown>, method = 'elicitation/create') => ({
  name: 'ask',
  arguments: { method, params },
});
const textOf = (found: unknown): unknown =>
  JSON.parse((found as { content: { text: string }[] }).content[0]?.text ?? '');

test('elicitation becomes a request in the queue: a form with its content, an address, a refusal', async (t) => {
  const desk = await openGatewayDesk(t);
  for (const connect of [
    (...[on, to, token]: Parameters<typeof olderClient>) =>
      olderClient(on, to, token, { elicitation: {}, roots: {} }),
    (...[on, to, token]: Parameters<typeof olderClient>) => modernClient(on, to, token, 'modern'),
  ]) {
    const client = await connect(t, desk.url, desk.token);
    const asking = client.callTool(asks(form));
    const asked = await nextAsk(desk);
    assert.deepEqual(asked.ask, {
      session: 's1',
      title: 'probe asks',
      tool: 'mcp__probe__ask',
      text: 'Which colour?',
      kind: 'elicitation',
      schema,
    });
    asked.answer({ ...yes, content: { colour: 'red' } });
    assert.deepEqual(textOf(await asking), { action: 'accept', content: { colour: 'red' } });
    const visiting = client.callTool(asks(url));
    const visit = await nextAsk(desk);
    assert.equal(visit.ask.title, 'probe asks to open sign.example');
    assert.match(visit.ask.text, /^https:\/\/sign\.example\/in\nOpen it yourself if you trust sign\.example/);
    assert.match(visit.ask.text, /\nSign in\.$/);
    assert.equal(visit.ask.schema, undefined);
    visit.answer(yes);
    assert.deepEqual(textOf(await visiting), { action: 'accept' });
    const refusing = client.callTool(asks(form));
    (await nextAsk(desk)).answer(no);
    assert.deepEqual(textOf(await refusing), { action: 'decline' });
  }
});

test('an address nobody should be sent to is asked of nobody; one that is shown is shown whole, before all a server says', {
  timeout: 15_000,
}, async (t) => {
  const desk = await openGatewayDesk(t);
  for (const address of [
    'javascript:alert(1)',
    'file:///etc/passwd',
    'https://bank.example@evil.example/',
    `https://a.example/${'a'.repeat(2_000)}`,
    'no address',
    7,
  ]) {
    const answer = await ask(desk.url, desk.token, {
      method: 'tools/call',
      params: asks({ ...url, url: address }),
    });
    assert.match(answer.text, /unsupported/, String(address));
  }
  const other = await ask(desk.url, desk.token, {
    method: 'tools/call',
    params: asks({ ...form, mode: 'x' }),
  });
  assert.match(other.text, /unsupported/);
  assert.equal(desk.asked.length, 0);
  const address = `https://xn--e1afmkfd.example/${'b'.repeat(1_900)}`;
  const asking = ask(desk.url, desk.token, {
    method: 'tools/call',
    params: asks({ ...url, url: address, message: 'm'.repeat(9_000) }),
  });
  const asked = await nextAsk(desk);
  assert.ok(asked.ask.text.startsWith(`${address}\nBrowsers may show its host as пример.example.\n`));
  assert.equal(asked.ask.text.length, 4_000);
  asked.answer(no);
  await asking;
});

test('a request that wants an address opened first: a person is asked, and it is made again; an agent that can is told', {
  timeout: 15_000,
}, async (t) => {
  const desk = await openGatewayDesk(t, { elicitation: 'agent' });
  const { mode, ...modeless } = url;
  const second = { ...url, url: 'https://other.example/', elicitationId: 'e2' };
  const fail = (elicitations: readonly unknown[], times?: number) => ({
    name: 'fail',
    arguments: { error: { code: -32_042, message: 'Sign in first', data: { elicitations } }, times },
  });
  const call = (era: 'modern' | 'older', params: ReturnType<typeof fail>, headers = {}) =>
    ask(desk.url, desk.token, { method: 'tools/call', params, era, headers });
  for (const era of ['modern', 'older'] as const) {
    const calling = call(era, fail([url, second], 1));
    const first = await nextAsk(desk);
    assert.deepEqual(
      [first.ask.kind, first.ask.title, first.ask.tool],
      ['elicitation', 'probe asks to open sign.example', 'mcp__probe__fail'],
    );
    first.answer(yes);
    const next = await nextAsk(desk);
    assert.match(next.ask.title, /other\.example$/);
    next.answer(yes);
    assert.match((await calling).text, /done/, era);
    assert.equal(desk.rows.length, 1, 'one call, decided once');
    desk.rows.length = 0;
  }
  const refusing = call('modern', fail([url], 1));
  (await nextAsk(desk)).answer(no);
  const refused = await refusing;
  assert.deepEqual(refused.message.error, fail([url]).arguments.error);
  assert.match((await call('modern', fail([url], 1))).text, /done/);

  const endless = call('modern', fail([url], 99));
  for (let times = 0; times < 3; times += 1) (await nextAsk(desk)).answer(yes);
  assert.equal((await endless).message.error?.code, -32_042);
  for (const none of [[], [modeless], [{ ...url, url: 'javascript:1' }], Array(11).fill(url)])
    assert.equal((await call('modern', fail(none, 99))).message.error?.code, -32_042);
  assert.equal(desk.asked.length, 0);

  const init = (elicitation: object) =>
    ask(desk.url, desk.token, {
      method: 'initialize',
      era: 'older',
      params: {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation },
        clientInfo: { name: 'a', version: '1' },
      },
    });
  const can = { 'mcp-session-id': String((await init({ url: {} })).headers['mcp-session-id']) };
  assert.deepEqual((await call('older', fail([url], 99), can)).message.error, fail([url]).arguments.error);
  const cannot = { 'mcp-session-id': String((await init({})).headers['mcp-session-id']) };
  const queued = call('older', fail([url], 99), cannot);
  (await nextAsk(desk)).answer(no);
  await queued;
});

test('elicitation goes to the agent where policy says so and its client can; else into the queue', async (t) => {
  const desk = await openGatewayDesk(t, { elicitation: 'agent' });
  const heard: unknown[] = [];
  const answer = { action: 'accept', content: { colour: 'blue' } } as const;

  const older = await olderClient(t, desk.url, desk.token, { elicitation: {} });
  older.setRequestHandler(ElicitRequestSchema, async ({ params }) => {
    heard.push(params.message);
    return { ...answer };
  });
  assert.deepEqual(textOf(await older.callTool(asks(form))), answer);

  const modern = await modernClient(t, desk.url, desk.token, 'modern', {
    elicitation: { form: {}, url: {} },
  });
  modern.setRequestHandler('elicitation/create', async ({ params }) => {
    heard.push(params.message);
    return { ...answer };
  });
  assert.deepEqual(textOf(await modern.callTool(asks(form))), answer);
  assert.deepEqual(textOf(await modern.callTool(asks(url))), answer);
  assert.deepEqual(heard, ['Which colour?', 'Which colour?', 'Sign in.']);
  assert.equal(desk.asked.length, 0);
  assert.equal(desk.rows.length, 3, 'a call that comes again is decided once');

  // Only forms, or nothing at all.
  for (const [client, params] of [
    [older, url],
    [await olderClient(t, desk.url, desk.token), form],
    [await modernClient(t, desk.url, desk.token, 'modern'), form],
  ] as const) {
    const asking = client.callTool(asks(params));
    (await nextAsk(desk)).answer(no);
    assert.deepEqual(textOf(await asking), { action: 'decline' });
  }
});

test('sampling and roots go to the client that declared them, and to nobody else', async (t) => {
  const desk = await openGatewayDesk(t);
  const client = await modernClient(t, desk.url, desk.token, 'modern', { roots: {} });
  client.setRequestHandler('roots/list', async () => ({ roots: [{ uri: 'file:///w' }] }));
  assert.deepEqual(textOf(await client.callTool(asks({}, 'roots/list'))), { roots: [{ uri: 'file:///w' }] });
  const sampling = { messages: [], maxTokens: 1 };
  const { error } = textOf(await client.callTool(asks(sampling, 'sampling/createMessage'))) as {
    error: { code: number };
  };
  assert.equal(error.code, -32_601);
  assert.equal(desk.asked.length, 0);
});

test('X8: a call that waits for an answer is taken up by its own session only, once, and by what was decided', async (t) => {
  const desk = await openGatewayDesk(t, { elicitation: 'agent' });
  const other = desk.gateway.admit('s2');
  const meta = { 'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } } };
  const start = await ask(desk.url, desk.token, { method: 'tools/call', params: asks(form), meta });
  assert.equal(start.message.result?.['resultType'], 'input_required');
  const { requestState, inputRequests } = start.message.result ?? {};
  const [[key = '', asked] = []] = Object.entries(inputRequests as Record<string, unknown>);
  assert.deepEqual(asked, { method: 'elicitation/create', params: form });
  const inputResponses = { [key]: { action: 'accept', content: { colour: 'green' } } };
  const again = (token: string, more: Record<string, unknown> = {}) =>
    ask(desk.url, token, {
      method: 'tools/call',
      params: { ...asks(form), requestState, inputResponses, ...more },
      meta,
    });
  assert.equal((await again(other)).message.error?.code, -32_602);
  assert.equal((await again(desk.token, { name: 'echo' })).message.error?.code, -32_602);
  assert.equal((await again(desk.token, { requestState: 'guess' })).message.error?.code, -32_602);
  const sent = desk.connection.sent.filter(({ method }) => method === 'tools/call').length;
  const done = await again(desk.token, { arguments: { method: 'other' } });
  assert.match(JSON.stringify(done.message.result), /green/);
  assert.equal(done.message.result?.['resultType'], 'complete');
  assert.equal((await again(desk.token)).message.error?.code, -32_602, 'once');
  assert.equal(desk.connection.sent.filter(({ method }) => method === 'tools/call').length, sent);
});

test('a call that is cancelled is cancelled at the server: by the notification before, by leaving since', async (t) => {
  const desk = await openGatewayDesk(t);
  const older = await olderClient(t, desk.url, desk.token);
  const modern = await modernClient(t, desk.url, desk.token, 'modern');
  for (const way of [
    (signal: AbortSignal) => older.callTool({ name: 'wait' }, undefined, { signal }),
    (signal: AbortSignal) => modern.callTool({ name: 'wait' }, { signal }),
  ]) {
    const controller = new AbortController();
    const began = once(desk.connection.heard, 'notifications/message');
    way(controller.signal).catch(() => {});
    await began;
    const cancelled = once(desk.connection.heard, 'notifications/message');
    controller.abort();
    assert.match(JSON.stringify(await cancelled), /cancelled/);
  }
  assert.equal((await older.callTool({ name: 'write' })).isError, undefined, 'both go on');
  assert.equal((await modern.callTool({ name: 'write' })).isError, undefined);
});

test('what the server stops asking is withdrawn from the queue and from the client', async (t) => {
  const desk = await openGatewayDesk(t, { elicitation: 'agent' });
  const plain = await olderClient(t, desk.url, desk.token);
  const asking = plain.callTool(asks(form));
  const asked = await nextAsk(desk);
  desk.connection.heard.emit('stop-asking');
  assert.equal(asked.signal.aborted, true);
  assert.deepEqual(textOf(await asking), { action: 'cancel' });
  const able = await olderClient(t, desk.url, desk.token, { elicitation: {} });
  let stopped: Promise<unknown> = Promise.resolve();
  const told = new Promise<void>((resolve) => {
    able.setRequestHandler(ElicitRequestSchema, async (_request, { signal }) => {
      stopped = once(signal, 'abort');
      resolve();
      await stopped;
      return { action: 'cancel' };
    });
  });
  const calling = able.callTool(asks(form));
  await told;
  desk.connection.heard.emit('stop-asking');
  await stopped;
  assert.deepEqual(textOf(await calling), { action: 'cancel' });
});

test('progress of the server reaches whoever asked for it, with the token of its own', async (t) => {
  const desk = await openGatewayDesk(t);
  const seen: unknown[] = [];
  const onprogress = (progress: unknown): void => void seen.push(progress);
  const older = await olderClient(t, desk.url, desk.token);
  await older.callTool({ name: 'progress' }, undefined, { onprogress });
  const modern = await modernClient(t, desk.url, desk.token, 'modern');
  await modern.callTool({ name: 'progress' }, { onprogress });
  await older.callTool({ name: 'progress' });
  const each = [
    { progress: 1, total: 2 },
    { progress: 2, total: 2 },
  ];
  assert.deepEqual(seen, [...each, ...each]);
});

test('calls of one session that run at once have one answerer, so that a question among them can be answered', async (t) => {
  const desk = await openGatewayDesk(t);
  const answerers: unknown[] = [];
  const { upstream, ...server } = desk.policy.servers[0] ?? assert.fail();
  if (upstream === 'station') return;
  const heard = {
    ...upstream,
    request: (...[method, params, options]: Parameters<typeof upstream.request>) => {
      if (method === 'tools/call') answerers.push(options?.onAsk);
      return upstream.request(method, params, options);
    },
  };
  desk.policy.servers = [{ ...server, upstream: heard }];
  const older = await olderClient(t, desk.url, desk.token, { elicitation: {} });
  const modern = await modernClient(t, desk.url, desk.token, 'modern');
  const echo = { name: 'echo', arguments: {} };
  await Promise.all([older.callTool(echo), older.callTool(echo), modern.callTool(echo)]);
  assert.equal(answerers.length, 3);
  assert.equal(new Set(answerers).size, 1);
  // A client that is asked itself: one for all its calls.
  desk.policy.servers = [{ ...server, upstream: heard, elicitation: 'agent' }];
  answerers.length = 0;
  await Promise.all([older.callTool(echo), older.callTool(echo), modern.callTool(echo)]);
  assert.equal(new Set(answerers).size, 2);
});
