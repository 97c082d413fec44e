/** M10, M16, M17, M18, X6: the gate in front of each call, its record, and the list of tools a turn began with. */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import test from 'node:test';
import { ask, modernClient, olderClient } from './gateway-clients.ts';
import { nextAsk, no, openGatewayDesk, rules, yes } from './gateway-desk.ts';

const call = (name: string, args: Record<string, unknown> = {}) => ({
  method: 'tools/call',
  params: { name, arguments: args },
});
type Got = { readonly message: { readonly result?: Record<string, unknown> } };
const toolsOf = ({ message }: Got): readonly string[] =>
  ((message.result?.['tools'] ?? []) as { name: string }[]).map(({ name }) => name);
const textOf = ({ message }: Got): string =>
  ((message.result?.['content'] ?? []) as { text: string }[])[0]?.text ?? '';
const calls = (sent: readonly Readonly<Record<string, unknown>>[]) =>
  sent
    .filter(({ method }) => method === 'tools/call')
    .map(({ params }) => params as { readonly name: string; readonly arguments: unknown });

test('M16, X6: what no rule names asks, readOnlyHint or not; nobody there is a denial, told as a result with its code', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const asking = ask(desk.url, desk.token, call('write', { path: '/x' }));
  const asked = await nextAsk(desk);
  assert.deepEqual(asked.ask, {
    session: 's1',
    title: 'write of probe',
    tool: 'mcp__probe__write',
    text: '{\n  "path": "/x"\n}',
    kind: 'call',
  });
  asked.answer({ allow: false, why: 'nobody answered within 30 minutes' });
  const answer = await asking;
  assert.equal(answer.status, 200);
  assert.equal(answer.message.error, undefined);
  assert.equal(answer.message.result?.['isError'], true);
  assert.match(textOf(answer), /nobody answered within 30 minutes/);
  assert.match(textOf(answer), /\(gateway\/not-approved\)$/);
  assert.deepEqual(calls(desk.connection.sent), []);
  const allowing = ask(desk.url, desk.token, call('write'));
  (await nextAsk(desk)).answer(yes);
  assert.equal(textOf(await allowing), 'written');
  assert.deepEqual(desk.rows, [
    {
      session: 's1',
      server: 'probe',
      tool: 'write',
      decision: 'denied',
      rule: 'permissions (no rule names it), nobody answered within 30 minutes',
    },
    {
      session: 's1',
      server: 'probe',
      tool: 'write',
      decision: 'allowed',
      rule: 'permissions (no rule names it), by a person',
    },
  ]);
});

test('M16: a denial is a result with its code and its rule; the server is not asked', async (t) => {
  const desk = await openGatewayDesk(t, {
    permissions: rules({ deny: ['mcp__probe__write'], allow: ['mcp__probe'] }),
  });
  for (const connect of [
    olderClient,
    (...[on, url, token]: Parameters<typeof olderClient>) => modernClient(on, url, token, 'modern'),
  ]) {
    const client = await connect(t, desk.url, desk.token);
    const { isError, content } = await client.callTool({ name: 'write' });
    assert.equal(isError, true);
    assert.match(JSON.stringify(content), /permissions\.deny\[0\] \(mcp__probe__write\).*gateway\/denied/);
  }
  assert.deepEqual(calls(desk.connection.sent), []);
  assert.equal(
    desk.rows.every(({ decision, rule }) => decision === 'denied' && rule.startsWith('permissions.deny[0]')),
    true,
  );
  assert.deepEqual(desk.observed, ['s1 probe connected'], 'never used');
});

test('M17, M18: what is not offered is unknown by every way, and recorded', async (t) => {
  const desk = await openGatewayDesk(t, { tools: ['echo', 'a.b/c d'] });
  const listed = toolsOf(await ask(desk.url, desk.token, { method: 'tools/list' }));
  assert.equal(listed.length, 2);
  const mapped = listed[1] ?? '';
  assert.match(mapped, /^a_b_c_d_[a-z2-7]{10}$/);
  const ways = ['write', 'a.b/c d', 'nothing', 'mcp__probe__write', 'mcp__probe__echo', 'Echo', '__proto__'];
  for (const era of ['modern', 'older'] as const) {
    for (const name of ways) {
      const answer = await ask(desk.url, desk.token, { ...call(name), era });
      assert.equal(answer.message.error?.code, -32_602, name);
      assert.equal(answer.message.error?.message, `Unknown tool: ${name}`);
    }
    for (const method of [
      'call_tool',
      'tools/call ',
      'tasks/result',
      'tasks/list',
      'sampling/createMessage',
      'toString',
    ]) {
      const answer = await ask(desk.url, desk.token, { ...call('write'), method, era, headers: {} });
      assert.ok([-32_601, -32_020].includes(answer.message.error?.code ?? 0), method);
    }
    for (const params of [
      {},
      { name: 5 },
      { name: 'echo', arguments: [] },
      { name: 'echo', arguments: 'x' },
    ]) {
      assert.equal(
        (await ask(desk.url, desk.token, { method: 'tools/call', params, era })).message.error?.code,
        -32_602,
      );
    }
  }
  assert.deepEqual(calls(desk.connection.sent), []);
  assert.equal(desk.rows.length, ways.length * 2);
  assert.equal(
    desk.rows.every(({ decision, rule }) => decision === 'denied' && rule === 'not offered'),
    true,
  );
  await ask(desk.url, desk.token, call(mapped));
  assert.equal(calls(desk.connection.sent)[0]?.name, 'a.b/c d');
});

test('M10: a tool is listed with all the server said of it but its name, in its order', async (t) => {
  const desk = await openGatewayDesk(t);
  const listed = (await ask(desk.url, desk.token, { method: 'tools/list' })).message.result?.['tools'] as {
    name: string;
  }[];
  const own = desk.connection.tools();
  assert.equal(listed.length, own.length);
  for (const [at, { name, ...rest }] of listed.entries()) {
    const { name: original, ...more } = own[at] ?? { name: '' };
    assert.deepEqual(rest, more);
    assert.equal(name === original, /^[A-Za-z0-9_-]{1,52}$/.test(original), original);
  }
  for (const [n, name] of listed
    .map(({ name }) => name)
    .filter((name) => name.startsWith('xxxx'))
    .entries()) {
    await ask(desk.url, desk.token, call(name));
    assert.equal(calls(desk.connection.sent)[n]?.name, `${'x'.repeat(60)}${n + 1}`);
  }
});

test('the answer leaves after its record is kept', async (t) => {
  const desk = await openGatewayDesk(t);
  let keep = (): void => {};
  desk.policy.holdRecord = new Promise((resolve) => {
    keep = resolve;
  });
  let isAnswered = false;
  const answer = ask(desk.url, desk.token, call('log', {})).then((found) => {
    isAnswered = true;
    return found;
  });
  // The server has answered already when it tells this.
  await once(desk.connection.heard, 'notifications/message');
  await ask(desk.url, desk.token, { method: 'tools/list' });
  assert.equal(isAnswered, false);
  keep();
  assert.equal(textOf(await answer), 'logged');
  assert.equal(desk.rows.length, 1);
  assert.deepEqual(desk.observed, ['s1 probe connected', 's1 probe used'], 'each stage once');
});

test('an approval does not outlive the rules: what is denied or taken back meanwhile is not called', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const [server] = desk.policy.servers;
  const changes: readonly (() => void)[] = [
    () => {
      desk.policy.permissions = rules({ deny: ['mcp__probe'] });
    },
    () => {
      if (server !== undefined) desk.policy.servers = [{ ...server, tools: ['write'] }];
    },
    () => {
      desk.policy.servers = [];
    },
  ];
  for (const change of changes) {
    desk.policy.permissions = rules({});
    if (server !== undefined) desk.policy.servers = [server];
    const asking = ask(desk.url, desk.token, call('echo'));
    const asked = await nextAsk(desk);
    change();
    asked.answer(yes);
    assert.match(textOf(await asking), /gateway\/denied/);
  }
  assert.deepEqual(calls(desk.connection.sent), []);
});

test('while a person is waited for, progress is told to whoever asked for it, and a call whose caller left is withdrawn', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}), pulseMs: 20 });
  const client = await modernClient(t, desk.url, desk.token, 'modern');
  const told: { progress: number; message?: string | undefined }[] = [];
  const twice = new Promise<void>((resolve) => {
    const onprogress = (progress: (typeof told)[number]): void => {
      told.push(progress);
      if (told.length === 2) resolve();
    };
    client.callTool({ name: 'progress' }, { onprogress }).catch(() => {});
  });
  const asked = await nextAsk(desk);
  await twice;
  assert.equal(told[0]?.message, 'waiting for an approval');
  assert.ok((told[0]?.progress ?? 0) < (told[1]?.progress ?? 0));
  asked.answer(no);
  const older = await olderClient(t, desk.url, desk.token);
  const ways = [
    (signal: AbortSignal) => client.callTool({ name: 'echo' }, { signal }),
    (signal: AbortSignal) => older.callTool({ name: 'echo' }, undefined, { signal }),
    // Of an older revision, and gone without a word.
    (signal: AbortSignal) =>
      fetch(desk.url, {
        method: 'POST',
        signal,
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, ...call('echo') }),
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          authorization: `Bearer ${desk.token}`,
        },
      }),
  ];
  for (const way of ways) {
    const controller = new AbortController();
    way(controller.signal).catch(() => {});
    const waiting = await nextAsk(desk);
    controller.abort();
    if (!waiting.signal.aborted) await once(waiting.signal, 'abort');
  }
  assert.deepEqual(calls(desk.connection.sent), []);
});

test('M1: a server that is not connected has no tools yet; a call of it says its state', async (t) => {
  const desk = await openGatewayDesk(t, { start: false });
  for (const era of ['modern', 'older'] as const) {
    assert.deepEqual(toolsOf(await ask(desk.url, desk.token, { method: 'tools/list', era })), []);
    const lists = await ask(desk.url, desk.token, { method: 'resources/list', era });
    assert.deepEqual(lists.message.result?.['resources'], []);
    const answer = await ask(desk.url, desk.token, { ...call('echo'), era });
    assert.equal(answer.message.result?.['isError'], true);
    assert.match(textOf(answer), /probe: connecting\n.*\n\(gateway\/not-connected\)$/);
  }
  await desk.connection.start();
  assert.ok(toolsOf(await ask(desk.url, desk.token, { method: 'tools/list' })).includes('echo'));
  for (const [status, text] of [
    [{ state: 'disabled', reason: 'by the operator' }, /probe: disabled: by the operator/],
    [{ state: 'needs authentication' }, /probe: needs authentication/],
    [
      { state: 'failed', problem: { code: 'x/y', message: 'No such file.' } },
      /probe: failed: No such file\./,
    ],
  ] as const) {
    desk.connection.set(status);
    assert.match(textOf(await ask(desk.url, desk.token, call('echo'))), text);
    assert.equal((await ask(desk.url, desk.token, call('nothing'))).message.error?.code, -32_602);
    const read = await ask(desk.url, desk.token, { method: 'resources/read', params: { uri: 'note://a' } });
    assert.match(String(read.message.error?.message), text);
  }
  desk.connection.set({ state: 'connected' });
  assert.match(
    textOf(await ask(desk.url, desk.token, call('die'))),
    /The server ended\.\n\(connections\/lost\)/,
  );
});

test('a skill of the station is decided by its own name', async (t) => {
  const desk = await openGatewayDesk(t, {
    permissions: rules({ deny: ['Skill(secret)'], allow: ['Skill'] }),
  });
  desk.policy.servers = [{ alias: 'skills', original: 'skills', upstream: 'station', elicitation: 'queue' }];
  const { url } = desk.gateway.address('skills');
  const client = await modernClient(t, url, desk.token, 'modern');
  assert.equal(client.getInstructions(), 'Skills: a, b.');
  assert.deepEqual(
    (await client.listTools()).tools.map(({ name }) => name),
    ['Skill'],
  );
  assert.match(
    JSON.stringify(await client.callTool({ name: 'Skill', arguments: { name: 'deploy' } })),
    /Skill \{.*deploy/,
  );
  for (const name of ['secret', '/secret']) {
    assert.match(
      JSON.stringify(await client.callTool({ name: 'Skill', arguments: { name } })),
      /gateway\/denied/,
    );
  }
  assert.deepEqual(
    desk.rows.map(({ tool, decision }) => [tool, decision]),
    [
      ['Skill(deploy)', 'allowed'],
      ['Skill(secret)', 'denied'],
      ['Skill(secret)', 'denied'],
    ],
  );
});
