/**
 * Servers and agents that say whatever they like, where nobody expects it: each call has its answer, and nothing of the
 * station ends.
 */
import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { declarations } from '../../host/mcp/connections/parameters.ts';
import type { Answered } from '../../host/mcp/index.ts';
import { openDialled, program } from '../mcp/dialled.ts';
import { ask, modernClient, olderClient } from '../mcp/gateway-clients.ts';
import { no, openGatewayDesk, rules } from '../mcp/gateway-desk.ts';
import { randomFrom, rounds, seed } from './random.ts';

/** Prints the lines it is called with, with its own number in the place of "$ID". */
const parrot = `
import { createInterface } from 'node:readline';
const say = (message) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', ...message }) + '\\n');
let list = '{"tools":[{"name":"say","inputSchema":{"type":"object"}}]}';
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize')
    say({ id, result: { protocolVersion: '2025-06-18', capabilities: { tools: { listChanged: true }, resources: { subscribe: true }, logging: {} }, serverInfo: { name: 'parrot', version: '1' } } });
  else if (method === 'tools/list' && process.argv[2] === 'none') say({ id, error: { code: -1, message: 'no'.repeat(1e6) } });
  else if (method === 'tools/list') process.stdout.write('{"jsonrpc":"2.0","id":' + id + ',"result":' + list + '}\\n');
  else if (method === 'tools/call') {
    if (params.arguments.list !== undefined) list = params.arguments.list;
    for (const line of params.arguments.lines ?? []) process.stdout.write(line.replaceAll('"$ID"', id) + '\\n');
    say({ id, result: { content: [{ type: 'text', text: 'done' }] } });
  } else if (id !== undefined) say({ id, result: {} });
});
`;

const open = async (t: TestContext) => {
  const dialled = await openDialled(t, ({ dir }) => {
    const file = join(dir, 'parrot.mjs');
    writeFileSync(file, parrot);
    return [program('probe', process.execPath, [file])];
  });
  const connection = await dialled.connected('probe');
  const desk = await openGatewayDesk(t, { start: false });
  desk.policy.servers = desk.policy.servers.map((server) => ({ ...server, upstream: connection }));
  // A client of the gateway that hears whatever is told unasked.
  const client = await olderClient(t, desk.url, desk.token);
  await client.listTools();
  await client.setLoggingLevel('debug');
  const newer = await modernClient(t, desk.url, desk.token, 'modern');
  await newer.listen({ resourceSubscriptions: ['a:b'] });
  const call = (args: object): Promise<Answered> =>
    connection.request(
      'tools/call',
      { name: 'say', arguments: args },
      { onProgress: () => {}, onAsk: async () => ({ action: 'decline' }) },
    );
  const lives = async (what: string): Promise<void> => {
    const answered = await call({});
    assert.ok('result' in answered, `${what}: ${JSON.stringify(answered)}`);
    assert.equal(connection.status().state, 'connected', what);
    const { message } = await ask(desk.url, desk.token, { method: 'tools/list', era: 'older' });
    assert.ok(Array.isArray(message.result?.['tools']), what);
    assert.deepEqual(desk.bugs, [], what);
  };
  return { dialled, connection, client, call, lives };
};

const unturnable = '{"toString":1,"valueOf":1}';
const deep = (count: number) => `${'['.repeat(count)}${']'.repeat(count)}`;
/** What stands where something else is meant. */
const odd: readonly string[] = [
  'null',
  'true',
  '5',
  '1e999',
  '-0.5',
  '""',
  '"x"',
  '[]',
  '{}',
  unturnable,
  `[${unturnable}]`,
  deep(100_000),
  '{"__proto__":{"message":"x","code":1}}',
  '"$ID"',
];
/** Messages with a place for each of them. */
const messages: readonly string[] = [
  '{"jsonrpc":"2.0","id":HERE}',
  '{"jsonrpc":"2.0","id":HERE,"result":{}}',
  '{"jsonrpc":"2.0","id":HERE,"method":"elicitation/create","params":{"message":"m","requestedSchema":{}}}',
  '{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":HERE}',
  '{"jsonrpc":"2.0","id":7,"method":"elicitation/create","params":{"message":HERE,"mode":HERE,"url":HERE,"requestedSchema":HERE}}',
  '{"jsonrpc":"2.0","id":7,"method":"sampling/createMessage","params":HERE}',
  '{"jsonrpc":"2.0","id":7,"method":HERE,"params":{}}',
  '{"jsonrpc":"2.0","method":HERE}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":HERE}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":HERE,"progress":HERE}}',
  '{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"$ID","progress":HERE,"message":HERE}}',
  '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":HERE}}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":HERE}',
  '{"jsonrpc":"2.0","method":"notifications/message","params":{"level":HERE,"data":HERE}}',
  '{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":HERE}}',
  '{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":HERE}',
  '{"jsonrpc":"2.0","method":"notifications/elicitation/complete","params":HERE}',
  '{"jsonrpc":"2.0","id":"$ID","error":HERE}',
  '{"jsonrpc":"2.0","id":"$ID","error":{"code":HERE,"message":"m"}}',
  '{"jsonrpc":"2.0","id":"$ID","error":{"code":1,"message":HERE,"data":HERE}}',
  '{"jsonrpc":"2.0","id":"$ID","error":{"code":-32042,"message":"m","data":{"elicitations":HERE}}}',
  '{"jsonrpc":"2.0","id":"$ID","result":HERE}',
  '{"jsonrpc":"2.0","id":"$ID","result":{"content":HERE,"_meta":HERE}}',
  '{"jsonrpc":"2.0","id":"$ID","result":{"resultType":HERE,"inputRequests":HERE}}',
  'HERE',
];

test('whatever stands in whatever place of a message, the next call is answered', {
  timeout: 120_000,
}, async (t) => {
  const { call, client, lives } = await open(t);
  for (const message of messages) {
    for (const value of odd) {
      const lines = [message.replaceAll('HERE', value)];
      const answered = await call({ lines });
      assert.ok(answered !== undefined);
      await client.callTool({ name: 'say', arguments: { lines } }).catch(() => {});
    }
    await lives(message);
  }
});

test('an error that is none is told as one, and a result that is no object as what cannot be read', async (t) => {
  const { call } = await open(t);
  const answered = (what: string) => call({ lines: [`{"jsonrpc":"2.0","id":"$ID",${what}}`] });
  assert.deepEqual(await answered('"error":{"code":-1,"message":"m","data":[1],"more":2}'), {
    error: { code: -1, message: 'm', data: [1], more: 2 },
  });
  for (const error of ['5', '{}', '{"code":"a","message":"m"}', '{"code":1,"message":5}', unturnable])
    assert.deepEqual(await answered(`"error":${error}`), {
      error: { code: -32_603, message: `The server answered with an error that is none: ${error}` },
    });
  for (const result of ['5', '"x"', '[]', 'false']) {
    const found = await answered(`"result":${result}`);
    assert.equal('problem' in found ? found.problem.code : '', 'connections/broken-frame', result);
  }
  assert.deepEqual(await answered('"result":null'), { result: {} });
});

test('a list of tools that is anything: those that are tools are there, and why there is none is told in a line', {
  timeout: 60_000,
}, async (t) => {
  const { call, connection, dialled, lives } = await open(t);
  const tool = '{"name":"say","inputSchema":{"type":"object"}}';
  const changed = '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}';
  for (const [at, value] of odd.entries())
    for (const list of [
      value,
      `{"tools":${value}}`,
      `{"tools":[${value},${tool}]}`,
      `{"tools":[{"name":${value}},${tool}]}`,
      `{"tools":[{"name":"say","inputSchema":${value},"description":${value},"annotations":${value}}]}`,
      `{"tools":[${tool}],"nextCursor":${value}}`,
    ]) {
      const last = `{"tools":[${tool},{"name":"last-${at}-${Math.random()}"}]}`;
      await call({ list, lines: [changed] });
      await call({ list: last, lines: [changed] });
      const name = (JSON.parse(last) as { tools: { name: string }[] }).tools[1]?.name;
      await dialled.until('probe', ({ tools }) => tools().some((one) => one.name === name));
      await lives(list.slice(0, 80));
    }
  assert.equal(connection.status().state, 'connected');
});

test('why there are no tools is told in a line, however much a server says of it', async (t) => {
  const dialled = await openDialled(t, ({ dir }) => {
    const file = join(dir, 'parrot.mjs');
    writeFileSync(file, parrot);
    return [program('probe', process.execPath, [file, 'none'])];
  });
  const { status } = await dialled.until('probe', (one) => one.status().state === 'failed');
  const found = status();
  assert.ok(found.state === 'failed' && found.problem.code === 'connections/list-failed');
  assert.equal(found.problem.evidence?.length, 300);
});

test('whatever stands in whatever place of a request of an agent is answered, and is no fault of the gateway', {
  timeout: 60_000,
}, async (t) => {
  const desk = await openGatewayDesk(t);
  const [server] = desk.policy.servers;
  assert.ok(server !== undefined);
  desk.policy.servers = [server, { ...server, alias: 'own', original: 'own', upstream: 'station' }];
  desk.policy.permissions = rules({ allow: ['mcp__probe'], deny: ['Skill(x)'] });
  // What no rule names is asked, and nobody is there.
  desk.events.on('ask', () => desk.asked.shift()?.answer(no));
  const requests: readonly (readonly [string, string])[] = [
    ['tools/call', '{"name":HERE,"arguments":{}}'],
    ['tools/call', '{"name":"echo","arguments":HERE}'],
    ['tools/call', '{"name":"Skill","arguments":{"name":HERE}}'],
    ['tools/list', '{"cursor":HERE}'],
    ['resources/read', '{"uri":HERE}'],
    ['prompts/get', '{"name":HERE,"arguments":HERE}'],
    ['completion/complete', '{"ref":HERE,"argument":HERE}'],
    ['resources/subscribe', '{"uri":HERE}'],
    ['logging/setLevel', '{"level":HERE}'],
    ['initialize', '{"protocolVersion":HERE,"capabilities":HERE,"clientInfo":HERE}'],
    ['subscriptions/listen', '{"notifications":{"resourceSubscriptions":HERE,"toolsListChanged":HERE}}'],
  ];
  const small = odd.filter((value) => value.length < 100);
  for (const [method, text] of requests)
    for (const value of small)
      for (const era of ['older', 'modern'] as const) {
        // What may be listened for is a stream without an end.
        if (method === 'subscriptions/listen' && (era === 'older' || value === 'true' || value === '["x"]'))
          continue;
        const params = JSON.parse(text.replaceAll('HERE', value));
        for (const url of [desk.url, desk.gateway.address('own').url]) {
          const { status } = await ask(url, desk.token, { method, params, era });
          assert.ok([200, 400, 404].includes(status), `${method} ${value}: ${status}`);
        }
      }
  assert.deepEqual(desk.bugs, []);
});

test('a mark of a schema that is anything makes its tool none, or a header', () => {
  for (const value of odd) {
    const schema = JSON.parse(
      `{"properties":{"a":{"type":${value},"x-mcp-header":${value}},"b":${value}},"type":${value}}`,
    );
    assert.equal(declarations(schema), undefined);
    const typed = JSON.parse(`{"properties":{"a":{"type":${value},"x-mcp-header":"A"}}}`);
    assert.equal(declarations(typed), undefined);
  }
});

test('bytes of a server by chance: noise, pieces of messages, other messages', {
  timeout: 60_000,
}, async (t) => {
  const { call, lives } = await open(t);
  const { below, one } = randomFrom(seed);
  for (let round = 0; round < rounds(40); round += 1) {
    const lines = Array.from({ length: 20 }, () => {
      const text = one(messages).replaceAll('HERE', () => one(odd.filter((one) => one.length < 1_000)));
      const cut = below(text.length);
      return one([
        text,
        text.slice(0, cut),
        text.slice(cut),
        `${text.slice(0, cut)}\u0000\uFEFF${text.slice(cut)}`,
      ]);
    });
    await call({ lines });
    await lives(JSON.stringify(lines));
  }
});
