/** Servers that are programs: how they are dialled, called, lost and ended. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import type { Answered, Json } from '../../host/mcp/index.ts';
import { problem } from '../../host/problems/index.ts';
import { processLives } from '../../host/processes/index.ts';
import { openRedactor } from '../../host/state/index.ts';
import { fixture, openDialled, program, raw, script } from './dialled.ts';

const resultOf = (answered: Answered): Json => {
  assert.ok('result' in answered, JSON.stringify(answered));
  return answered.result;
};
const codeOf = (answered: Answered): string =>
  'problem' in answered ? answered.problem.code : JSON.stringify(answered);

test('what a server sends passes unchanged: results, errors, tools, what it says of itself', async (t) => {
  const desk = await openDialled(t, () => [raw('raw')]);
  const connection = await desk.connected('raw');
  assert.deepEqual(connection.tools(), [
    { name: 'echo', inputSchema: { type: 'object' }, 'x-own': { kept: true } },
  ]);
  assert.deepEqual(connection.about(), {
    serverInfo: { name: 'raw', version: '1', own: true },
    capabilities: { tools: {} },
    instructions: 'Use it.',
    protocolVersion: '2025-06-18',
  });
  const args = { text: 'hello', nested: { list: [1, null] } };
  assert.deepEqual(resultOf(await connection.request('tools/call', { name: 'echo', arguments: args })), {
    content: [{ type: 'text', text: 'hello' }],
    structuredContent: { args },
    _meta: { own: 1 },
    more: 'kept',
  });
  assert.deepEqual(await connection.request('tools/call', { name: 'fails' }), {
    error: { code: -32_099, message: 'as it came', data: { deep: [1] } },
  });
  assert.deepEqual(await connection.request('own/method', {}), {
    error: { code: -32_601, message: 'no own/method' },
  });
});

test('M9: reconnected ten times, exactly one program lives, and none after the end', async (t) => {
  const desk = await openDialled(t, ({ journal }) => [raw('raw', { journal })]);
  await desk.connected('raw');
  for (let n = 0; n < 10; n += 1) assert.ok(desk.connections.reconnect('policy/raw').ok);
  assert.deepEqual(desk.get('raw').status(), { state: 'connecting' });
  await desk.connected('raw');
  const pids = desk
    .journalled()
    .flatMap((line) => (line.startsWith('start ') ? [Number(line.slice(6))] : []));
  assert.equal(pids.filter(processLives).length, 1);
  assert.equal(desk.processes.running(), 1);
  await desk.connections.close();
  assert.equal(pids.filter(processLives).length, 0);
  const unknown = desk.connections.reconnect('policy/other');
  assert.ok(!unknown.ok && unknown.problem.code === 'connections/unknown');
});

test('M1: one that never answers initialize, and one that never lists its tools, stay connecting', async (t) => {
  const desk = await openDialled(
    t,
    ({ journal }) => [
      raw('mute', { never: 'initialize' }),
      raw('listless', { never: 'tools/list', journal }),
      raw('good'),
    ],
    { limits: { attemptMs: 300 } },
  );
  await desk.connected('good');
  assert.equal(codeOf(await desk.get('good').request('tools/call', { name: 'echo' })).startsWith('{'), true);
  for (const name of ['mute', 'listless']) {
    assert.deepEqual(desk.get(name).status(), { state: 'connecting' });
    const answered = await desk.get(name).request('tools/call', { name: 'echo' });
    assert.ok('problem' in answered);
    assert.equal(answered.problem.code, 'connections/not-connected');
    assert.equal(answered.problem.evidence, 'connecting');
  }
  // The first attempt is over, and another has begun.
  await desk.noted('start', 2);
  assert.deepEqual(desk.get('listless').status(), { state: 'connecting' });
  assert.deepEqual(
    desk.seen.filter((line) => !line.startsWith('good')),
    [],
  );
});

test('M2: ten that are slow to start are tried again with more time, few at once, and none fails', async (t) => {
  let most = 0;
  const desk = await openDialled(
    t,
    ({ dir, journal }) =>
      Array.from({ length: 10 }, (_, n) => raw(`slow-${n}`, { gate: join(dir, 'gate'), journal })),
    { limits: { attemptMs: 150, mostAttemptMs: 20_000, programs: 3, turnMs: 60_000 } },
  );
  const counting = setInterval(() => {
    most = Math.max(most, desk.processes.running());
  }, 1);
  t.after(() => clearInterval(counting));
  // Every one of them had a first attempt that was too short.
  await desk.noted('start', 12);
  assert.ok(desk.connections.all().every(({ status }) => status().state === 'connecting'));
  clearInterval(counting);
  assert.ok(most <= 3, `${most}`);
  writeFileSync(join(desk.dir, 'gate'), '');
  await Promise.all(Array.from({ length: 10 }, (_, n) => desk.connected(`slow-${n}`)));
  assert.ok(!desk.seen.some((line) => line.endsWith('failed')), desk.seen.join());
  assert.equal(desk.connections.all().length, 10);
});

test('M3: lines of text, JSON and titles for a terminal before and between messages go to the log', async (t) => {
  const noise = [
    ...Array.from({ length: 36 }, (_, n) => `Loading module ${n}\n`),
    '{"level":"info","msg":"a log of JSON"}\n',
    '[1, 2]\n"text"\n\n',
    '\u001b]0;a title\u0007',
  ];
  const desk = await openDialled(t, () => [raw('noisy', { noise }), raw('garbled', { garbled: true })]);
  const connection = await desk.connected('noisy');
  assert.equal(connection.tools().length, 1);
  resultOf(await connection.request('tools/call', { name: 'echo' }));
  // A message cut short is told at once to whoever waits for it.
  assert.equal(
    codeOf(await connection.request('tools/call', { name: 'broken' })),
    'connections/broken-frame',
  );
  resultOf(await connection.request('tools/call', { name: 'echo' }));
  const garbled = await desk.until('garbled', ({ status }) => status().state === 'failed');
  const status = garbled.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/broken-frame');
  await desk.connections.close();
  const log = readFileSync(join(desk.dir, 'logs', 'mcp-noisy.log'), 'utf8');
  assert.match(log, /output: Loading module 0\n[\s\S]*output: Loading module 35\n/);
  assert.match(log, /output: \{"level":"info","msg":"a log of JSON"\}\n/);
  assert.match(log, /a title/);
});

test('M4: 5 MB in one line is delivered; what is over the limit is refused by name, and the connection lives', async (t) => {
  const desk = await openDialled(t, ({ journal }) => [raw('large', { journal })], {
    limits: { messageBytes: 6_000_000 },
  });
  const connection = await desk.connected('large');
  const call = (bytes: number) => connection.request('tools/call', { name: 'large', arguments: { bytes } });
  const { content } = resultOf(await call(5_000_000)) as { content: [{ text: string }] };
  assert.equal(content[0].text.length, 5_000_000);
  const [large, small] = await Promise.all([
    call(7_000_000),
    connection.request('tools/call', { name: 'echo' }),
  ]);
  assert.equal(codeOf(large), 'connections/too-large');
  resultOf(small);
  resultOf(await call(10));
  assert.equal(desk.journalled().filter((line) => line.startsWith('start')).length, 1);
  // Without an end there is an end: the program is ended, and started anew.
  assert.equal(codeOf(await call(25_000_000)), 'connections/too-large');
  await desk.connected('large');
  resultOf(await call(10));
});

test('M5: 101 tools at 50 a page are 101; a list without an end is refused', async (t) => {
  const tools = Array.from({ length: 101 }, (_, n) => ({ name: `tool-${n}`, inputSchema: {} }));
  const desk = await openDialled(
    t,
    () => [
      raw('pages', { tools, page: 50 }),
      raw('endless', { tools, page: 1, endless: true }),
      raw('vast', {
        tools: Array.from({ length: 3 }, (_, n) => ({ name: `t-${n}`, description: 'x'.repeat(15_000) })),
        page: 1,
      }),
      raw('repeats', { tools: tools.slice(0, 2), page: 1, repeats: true }),
    ],
    { limits: { listUnits: 40_000 } },
  );
  const connection = await desk.connected('pages');
  assert.deepEqual(connection.tools(), tools);
  for (const [name, evidence] of [
    ['endless', 'more than 200 pages'],
    ['vast', 'more than 40000 characters'],
    ['repeats', 'a page that refers to itself or to one before'],
  ] as const) {
    const found = await desk.until(name, ({ status }) => status().state === 'failed');
    const status = found.status();
    assert.ok(status.state === 'failed' && status.problem.code === 'connections/list-endless');
    assert.equal(status.problem.evidence, evidence);
  }
});

test('M6: list_changed, declared or not, fifty at once: read again once or twice, a new list only when it is one', async (t) => {
  for (const capabilities of [{ tools: { listChanged: true } }, { tools: {} }]) {
    const desk = await openDialled(t, ({ journal }) => [raw('changing', { capabilities, journal })]);
    const connection = await desk.connected('changing');
    const heard: string[] = [];
    connection.listen((method) => heard.push(method));
    const before = connection.tools();
    const changed = (tools?: unknown) =>
      connection.request('tools/call', { name: 'changed', arguments: { times: 50, tools } });
    resultOf(await changed([{ name: 'new', inputSchema: {} }]));
    await desk.until('changing', ({ tools }) => tools() !== before);
    assert.deepEqual(connection.tools(), [{ name: 'new', inputSchema: {} }]);
    const lists = desk.journalled().filter((line) => line === 'list').length;
    assert.ok(lists <= 3, `${lists} lists`);
    assert.equal(heard.filter((method) => method === 'notifications/tools/list_changed').length, 50);
    assert.equal(desk.processes.running(), 1);
    await desk.connections.close();
  }
});

test('M8: one that is down at the start comes by itself, and one that is lost comes back', async (t) => {
  const desk = await openDialled(t, ({ dir, journal }) => [
    program('later', join(dir, 'not-there-yet'), []),
    raw('dies', { journal }),
  ]);
  const down = await desk.until('later', ({ status }) => status().state === 'failed');
  const status = down.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'process/not-found');
  const answered = await down.request('tools/call', { name: 'echo' });
  assert.ok('problem' in answered && /failed: process\/not-found/.test(answered.problem.evidence ?? ''));
  writeFileSync(
    join(desk.dir, 'not-there-yet'),
    `#!/bin/sh\nexec '${process.execPath}' '${fixture('raw.mjs')}'\n`,
    { mode: 0o755 },
  );
  assert.equal((await desk.connected('later')).tools().length, 1);

  const dies = await desk.connected('dies');
  assert.equal(codeOf(await dies.request('tools/call', { name: 'die' })), 'connections/lost');
  await desk.connected('dies');
  resultOf(await dies.request('tools/call', { name: 'echo' }));
});

test('M8: reconnect does not wait for the next attempt', async (t) => {
  const desk = await openDialled(t, ({ dir }) => [program('later', join(dir, 'not-there-yet'), [])], {
    limits: { backoffMs: 1_000_000, mostBackoffMs: 1_000_000 },
  });
  await desk.until('later', ({ status }) => status().state === 'failed');
  writeFileSync(
    join(desk.dir, 'not-there-yet'),
    `#!/bin/sh\nexec '${process.execPath}' '${fixture('raw.mjs')}'\n`,
    { mode: 0o755 },
  );
  assert.ok(desk.connections.reconnect('policy/later').ok);
  assert.equal((await desk.connected('later')).tools().length, 1);
});

test('M11, M12: a program has what every program has and what is declared; a variable that is unset is named', async (t) => {
  const env = {
    PATH: process.env['PATH'],
    HOME: tmpdir(),
    CANARY: 'sings',
    GIVEN: 'value of GIVEN',
    HANDED: 'on',
    EMPTY: '',
  };
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: this is how variables are written
  const desk = await openDialled(
    t,
    () => [
      raw('bare'),
      raw('declared', {}, { env: { OWN: 'a ${GIVEN}!' }, inherit: ['HANDED'] }),
      raw('unset', {}, { env: { TOKEN: 'Bearer ${NOT_SET}' } }),
      raw('empty', {}, { env: { TOKEN: '${EMPTY}' } }),
    ],
    { env },
  );
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: this is how variables are written
  const printed = async (name: string): Promise<Record<string, string>> => {
    const connection = await desk.connected(name);
    const { content } = resultOf(await connection.request('tools/call', { name: 'env' })) as {
      content: [{ text: string }];
    };
    const { JUPITER_STARTED_BY: _mark, ...env } = JSON.parse(content[0].text) as Record<string, string>;
    return env;
  };
  assert.deepEqual(Object.keys(await printed('bare')).sort(), ['HOME', 'PATH']);
  const declared = await printed('declared');
  assert.deepEqual(Object.keys(declared).sort(), ['HANDED', 'HOME', 'OWN', 'PATH']);
  assert.equal(declared['OWN'], 'a value of GIVEN!');
  for (const [name, variable] of [
    ['unset', 'NOT_SET, named by env TOKEN'],
    ['empty', 'EMPTY, named by env TOKEN'],
  ] as const) {
    const found = await desk.until(name, ({ status }) => status().state === 'failed');
    const status = found.status();
    assert.ok(status.state === 'failed');
    assert.equal(status.problem.code, 'connections/variable-unset');
    assert.equal(status.problem.evidence, variable);
  }
});

test('M13: a secret in what a program prints is redacted in its log and in the problem of its end, however cut', async (t) => {
  const secret = 'hunter2-of-the-station';
  const redactor = openRedactor(() => new Set(['TOKEN']), { TOKEN: secret });
  const cut = [secret.slice(0, 5), secret.slice(5), ' and ', Buffer.from(secret).toString('base64'), '\n'];
  const desk = await openDialled(
    t,
    () => [
      raw('leaks', { stderr: [...cut, 'last words: ', secret, '\n'], noise: [`${secret}\n`], exits: 4 }),
    ],
    { redact: redactor.text, env: { PATH: process.env['PATH'], TOKEN: secret } },
  );
  const found = await desk.until('leaks', ({ status }) => status().state === 'failed');
  await desk.connections.close();
  const log = readFileSync(join(desk.dir, 'logs', 'mcp-leaks.log'), 'utf8');
  assert.match(log, /\[redacted TOKEN\] and \[redacted TOKEN\]/);
  assert.match(log, /last words: \[redacted TOKEN\]/);
  assert.match(log, /output: \[redacted TOKEN\]/);
  const status = JSON.stringify(found.status());
  assert.match(status, /exit code 4/);
  assert.match(status, /\[redacted TOKEN\]/);
  for (const text of [log, status]) {
    assert.ok(!text.includes(secret) && !text.includes(Buffer.from(secret).toString('base64')));
  }
});

test('logs of servers have a bound, and names that are no file names get one', async (t) => {
  const line = `${'x'.repeat(200)}\n`;
  const desk = await openDialled(
    t,
    () => [
      raw('wordy', { stderr: [line.repeat(200)] }),
      { ...raw('Internet Search (Tavily)/../x', { stderr: ['hello\n'] }), key: 'policy/odd' },
    ],
    { limits: { logBytes: 10_000 } },
  );
  await desk.connected('wordy');
  await new Promise<void>((resolve) => {
    const look = (): void => {
      if (desk.connections.get('policy/odd')?.status().state === 'connected') resolve();
    };
    desk.connections.onChange(look);
    look();
  });
  await desk.connections.close();
  const logs = readdirSync(join(desk.dir, 'logs')).sort();
  assert.equal(logs.length, 3);
  assert.match(logs[0] ?? '', /^mcp-Internet-Search-Tavily-x-[0-9a-f]{8}\.log$/);
  assert.deepEqual(logs.slice(1), ['mcp-wordy.log', 'mcp-wordy.log.1']);
});

test('M15: a program of either revision is started once, also one that ends at any other first question', async (t) => {
  const desk = await openDialled(t, ({ journal }) => [
    raw('older', { journal }),
    script('newest', 'sdk.ts', 'modern', journal),
    script('both', 'sdk.ts', 'both', journal),
    script('previous', 'sdk-v1.ts', journal),
  ]);
  const revisions: Record<string, string | undefined> = {};
  for (const name of ['older', 'newest', 'both', 'previous']) {
    const connection = await desk.connected(name);
    revisions[name] = connection.about()?.protocolVersion;
    const answered = resultOf(
      await connection.request('tools/call', { name: 'echo', arguments: { text: 'hi' } }),
    ) as { content: [{ text: string }] };
    assert.equal(answered.content[0].text, 'hi');
  }
  assert.equal(revisions['older'], '2025-06-18');
  assert.equal(revisions['newest'], '2026-07-28');
  assert.equal(desk.journalled().filter((line) => line.startsWith('start')).length, 4);
});

test('M19: one that ignores SIGTERM and has a grandchild is gone with its group', async (t) => {
  const desk = await openDialled(t, ({ journal }) => [
    raw('deaf', { deaf: true, grandchild: true, stays: true, journal }),
    raw('stays', { stays: true, journal: `${journal}-stays` }),
  ]);
  await desk.connected('deaf');
  await desk.connected('stays');
  const pidsIn = (journal: string): readonly number[] =>
    readFileSync(journal, 'utf8')
      .split('\n')
      .flatMap((line) => /^(?:start|grandchild) (\d+)$/.exec(line)?.slice(1).map(Number) ?? []);
  const deaf = pidsIn(desk.journal);
  const stays = pidsIn(`${desk.journal}-stays`);
  assert.equal([...deaf, ...stays].filter(processLives).length, 3);
  // Changed and let go: the new one begins when the old group is gone.
  desk.connections.reconcile([raw('deaf', { journal: desk.journal, tools: [] })]);
  await desk.connected('deaf');
  assert.deepEqual(deaf.filter(processLives), []);
  await desk.connections.close();
  assert.deepEqual([...pidsIn(desk.journal), ...stays].filter(processLives), []);
  assert.equal(desk.processes.running(), 0);
});

test('M20: a thousand calls to one that takes one at a time are all answered; more than wait are refused by number', async (t) => {
  const desk = await openDialled(t, () => [raw('serial', { serial: true }), raw('full')], {
    limits: { inFlight: 16, waiting: 1_000 },
  });
  const connection = await desk.connected('serial');
  const answers = await Promise.all(
    Array.from({ length: 1_000 }, (_, n) =>
      connection.request('tools/call', { name: 'one', arguments: { text: `${n}` } }),
    ),
  );
  answers.forEach((answered, n) => {
    assert.deepEqual((resultOf(answered) as { content: unknown }).content, [{ type: 'text', text: `${n}` }]);
  });
  const full = await desk.connected('full');
  const stop = new AbortController();
  const waiting = Array.from({ length: 1_016 }, () =>
    full.request('tools/call', { name: 'hang' }, { signal: stop.signal }),
  );
  const refused = await full.request('tools/call', { name: 'echo' });
  assert.ok('problem' in refused);
  assert.equal(refused.problem.code, 'connections/busy');
  assert.equal(refused.problem.evidence, 'connected; 16 calls run and 1000 wait');
  stop.abort();
  for (const answered of await Promise.all(waiting)) assert.equal(codeOf(answered), 'connections/cancelled');
  resultOf(await full.request('tools/call', { name: 'echo' }));
});

test('progress reaches the call it is of, and keeps it from timing out; a call that is given up is told to the server', async (t) => {
  const desk = await openDialled(t, ({ journal }) => [raw('raw', { journal })], { limits: { callMs: 200 } });
  const connection = await desk.connected('raw');
  const progress: Json[] = [];
  resultOf(
    await connection.request(
      'tools/call',
      { name: 'progress', _meta: { progressToken: 'theirs', own: 1 } },
      { onProgress: (made) => progress.push(made) },
    ),
  );
  assert.deepEqual(
    progress,
    [1, 2, 3].map((step) => ({ progress: step, note: 'kept' })),
  );
  const sent = desk.journalled().find((line) => line.startsWith('call progress')) ?? '';
  assert.match(sent, /"own":1/);
  assert.doesNotMatch(sent, /theirs/);
  resultOf(await connection.request('tools/call', { name: 'echo', _meta: { progressToken: 7, own: 2 } }));
  assert.match(desk.journalled().find((line) => line.startsWith('call echo')) ?? '', /"_meta":\{"own":2\}/);
  assert.equal(codeOf(await connection.request('tools/call', { name: 'hang' })), 'connections/timed-out');
  const stop = new AbortController();
  const hanging = connection.request('tools/call', { name: 'hang' }, { signal: stop.signal });
  stop.abort();
  assert.equal(codeOf(await hanging), 'connections/cancelled');
  resultOf(await connection.request('tools/call', { name: 'echo' }));
  assert.equal(desk.journalled().filter((line) => line.startsWith('told notifications/cancelled')).length, 2);
});

test('what a server asks while a call runs reaches that call; nobody else answers, and nobody guesses', async (t) => {
  let clock = 0;
  const desk = await openDialled(t, ({ journal }) => [raw('asks', { journal })], {
    limits: { callMs: 20 },
    now: () => clock,
  });
  const connection = await desk.connected('asks');
  // The roots of one session would hold for all who share the connection.
  assert.ok(desk.journalled().includes('greeted {"elicitation":{"form":{}},"sampling":{}}'));
  const ask = (method: string, params: Json = {}) => ({ name: 'ask', arguments: { method, params } });
  const requestedSchema = {
    type: 'object',
    properties: {
      name: { type: 'string' },
      size: { type: 'integer', default: 7 },
      toString: { type: 'string', default: 'own' },
    },
  };
  const asked: unknown[] = [];
  const answered = await connection.request(
    'tools/call',
    ask('elicitation/create', { message: 'Who?', requestedSchema }),
    {
      onAsk: async (question) => {
        asked.push(question);
        // Longer than a call may be silent: a person takes the time it takes.
        const other = connection.request('tools/call', { name: 'hang' });
        clock += 1_000_000;
        assert.equal(codeOf(await other), 'connections/timed-out');
        return { action: 'accept', content: { name: 'Ada' } };
      },
    },
  );
  assert.deepEqual(asked, [{ method: 'elicitation/create', params: { message: 'Who?', requestedSchema } }]);
  assert.deepEqual(resultOf(answered)['answer'], {
    action: 'accept',
    content: { name: 'Ada', size: 7, toString: 'own' },
  });

  const refusal = async (...calls: Promise<Answered>[]): Promise<string> => {
    const [first] = await Promise.all(calls);
    return (resultOf(first as Answered)['answer'] as { message: string }).message;
  };
  assert.match(
    await refusal(connection.request('tools/call', ask('roots/list'))),
    /^roots\/list: no call runs that could be asked$/,
  );
  assert.match(
    await refusal(
      connection.request('tools/call', ask('sampling/createMessage'), { onAsk: async () => undefined }),
    ),
    /nobody answers it here/,
  );
  const other = new AbortController();
  const hanging = connection.request(
    'tools/call',
    { name: 'hang' },
    { onAsk: async () => ({ roots: [] }), signal: other.signal },
  );
  assert.match(
    await refusal(
      connection.request('tools/call', ask('roots/list'), { onAsk: async () => ({ roots: [] }) }),
    ),
    /nobody can tell whom it asks/,
  );
  other.abort();
  await hanging;
});

test('entries: disabled and faulty ones are never dialled; changed ones are dialled anew, others let go, the rest kept', async (t) => {
  const fault = problem('connections/entry', { subject: 'bad', evidence: 'here' });
  const base = (journal: string) => [
    raw('kept', { journal }),
    raw('changes', { journal: `${journal}-changes` }),
    raw('goes', { journal }),
    raw('off', { journal }, { disabled: 'the operator disabled it' }),
    { key: 'policy/bad', name: 'bad', place: 'x', transport: undefined, fault },
  ];
  const desk = await openDialled(t, ({ journal }) => base(journal));
  for (const name of ['kept', 'changes', 'goes']) await desk.connected(name);
  assert.deepEqual(desk.get('off').status(), { state: 'disabled', reason: 'the operator disabled it' });
  assert.deepEqual(desk.get('bad').status(), { state: 'failed', problem: fault });
  for (const name of ['off', 'bad']) {
    const again = desk.connections.reconnect(`policy/${name}`);
    assert.equal(again.ok ? 'ok' : again.problem.code, 'connections/not-dialled');
    assert.equal(codeOf(await desk.get(name).request('ping', {})), 'connections/not-connected');
  }
  const kept = desk.get('kept');
  const [one, two, , ...rest] = base(desk.journal);
  assert.ok(one !== undefined && two !== undefined);
  desk.connections.reconcile([
    one,
    raw('changes', { journal: `${desk.journal}-changes`, tools: [] }),
    ...rest,
  ]);
  assert.equal(desk.get('kept'), kept);
  assert.equal(desk.connections.get('policy/goes'), undefined);
  await desk.connected('changes');
  assert.deepEqual(desk.get('changes').tools(), []);
  resultOf(await kept.request('tools/call', { name: 'echo' }));
  assert.equal(desk.journalled().filter((line) => line.startsWith('start')).length, 2);
});

test('what the station notes of a server is not taken for what the server said', async (t) => {
  const desk = await openDialled(t, () => [raw('ends', { exits: 3, stderr: ['no key\n'] })], {
    limits: { backoffMs: 5 },
  });
  let failures = 0;
  const ends = await desk.until('ends', ({ status }) => {
    if (status().state === 'failed') failures += 1;
    return failures >= 3;
  });
  const status = ends.status();
  assert.ok(status.state === 'failed');
  assert.match(status.problem.evidence ?? '', /last in its log: /);
  assert.doesNotMatch(status.problem.evidence ?? '', /not connected/);
});

test('one call asks a person a hundred times at most', async (t) => {
  const desk = await openDialled(t, () => [raw('curious')]);
  const connection = await desk.connected('curious');
  let asked = 0;
  const params = { name: 'ask', arguments: { method: 'elicitation/create', times: 101 } };
  const onAsk = async () => {
    asked += 1;
    return { action: 'decline' };
  };
  const { answer } = resultOf(await connection.request('tools/call', params, { onAsk })) as {
    answer: { message?: string };
  };
  assert.equal(asked, 100);
  assert.match(answer.message ?? '', /more than 100 questions of one call/);
});
