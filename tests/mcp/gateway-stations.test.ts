/** Requests between stations: what would go round is refused, and only a station is told who stands between. */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { gatewayKey } from '../../host/mcp/own.ts';
import { ask } from './gateway-clients.ts';
import { openGatewayDesk } from './gateway-desk.ts';

/** The gateway before a server that says of itself what the gateway of the station `next` would. */
const before = async (
  t: TestContext,
  stations: readonly string[] | undefined,
  more: { readonly protocolVersion?: string } = {},
) => {
  const desk = await openGatewayDesk(t);
  const { connection } = desk;
  const about = () => {
    const told = connection.about();
    return told === undefined || stations === undefined ? told : { ...told, stations, ...more };
  };
  const upstream = { ...connection, about };
  desk.policy.servers = desk.policy.servers.map((server) => ({ ...server, upstream }));
  const { message } = await ask(desk.url, desk.token, {
    method: 'initialize',
    era: 'older',
    params: { protocolVersion: '2025-11-25', capabilities: {}, clientInfo: { name: 'x', version: '1' } },
  });
  const said = message.result?.['_meta'] as Record<string, { run: string; through?: string[] }> | undefined;
  const greeting = said?.[gatewayKey];
  assert.ok(greeting !== undefined);
  connection.sent.splice(0);
  const send = async (method: string, params: Record<string, unknown>, mark?: unknown) => {
    const meta = mark === undefined ? {} : { [gatewayKey]: mark };
    const { message, text } = await ask(desk.url, desk.token, {
      method,
      params: { ...params, _meta: meta },
      era: method === 'subscriptions/listen' ? 'modern' : 'older',
      meta,
    });
    return message?.error === undefined
      ? 'passed'
      : `${message.error.code} ${JSON.stringify(message.error.data)} ${text.length > 0}`;
  };
  const marks = () =>
    connection.sent
      .splice(0)
      .map(({ params }) => (params as { _meta?: Record<string, unknown> } | undefined)?._meta?.[gatewayKey]);
  return { desk, upstream, greeting, send, marks };
};

const round = '-32603 {"code":"connections/own-address"} true';
const every: readonly (readonly [string, Record<string, unknown>])[] = [
  ['tools/call', { name: 'echo', arguments: { text: 'x' } }],
  ['tools/list', {}],
  ['resources/list', {}],
  ['resources/read', { uri: 'probe://one' }],
  ['prompts/get', { name: 'brief' }],
  ['completion/complete', { ref: { type: 'ref/prompt', name: 'brief' }, argument: { name: 'a', value: '' } }],
  ['resources/subscribe', { uri: 'probe://one' }],
  ['logging/setLevel', { level: 'error' }],
  ['subscriptions/listen', { notifications: { resourceSubscriptions: ['probe://one'] } }],
];

test('whatever comes by a station that it would go on to, or by too many, is refused, and nothing is sent', {
  timeout: 30_000,
}, async (t) => {
  const { greeting, send, marks } = await before(t, ['next', 'last']);
  assert.deepEqual(greeting.through, ['next', 'last']);
  const back: readonly unknown[] = [
    { run: greeting.run },
    { run: 'other', through: ['another', greeting.run] },
    { run: 'next' },
    { run: 'other', through: ['last'] },
    { run: '1', through: Array.from({ length: 16 }, (_, at) => `station ${at}`) },
  ];
  for (const mark of back)
    for (const [method, params] of every)
      assert.equal(await send(method, params, mark), round, `${method} ${JSON.stringify(mark)}`);
  assert.deepEqual(marks(), []);
});

test('what goes on to a station says who stands between; another server is sent no mark', async (t) => {
  const station = await before(t, ['next']);
  const { run } = station.greeting;
  const expected: readonly (readonly [unknown, unknown])[] = [
    [undefined, { run }],
    [{ run: 'other' }, { run, through: ['other'] }],
    [
      { run: 'other', through: ['another'] },
      { run, through: ['other', 'another'] },
    ],
    [
      { run: 'other', through: 'nonsense' },
      { run, through: ['other'] },
    ],
    ['nonsense', { run }],
    [
      { run: { toString: 1 }, through: [{ valueOf: 1 }] },
      { run, through: ['', ''] },
    ],
  ];
  for (const [came, left] of expected) {
    assert.equal(
      await station.send('tools/call', { name: 'echo', arguments: { text: 'x' } }, came),
      'passed',
    );
    assert.deepEqual(station.marks(), [left]);
  }
  await station.send('resources/subscribe', { uri: 'probe://one' });
  await station.send('logging/setLevel', { level: 'error' });
  assert.deepEqual(station.marks(), [{ run }, { run }]);
  // Connected anew it is asked again for what is followed.
  for (const state of ['connecting', 'connected'] as const) {
    station.desk.connection.set({ state });
    station.desk.gateway.changed(station.upstream);
  }
  assert.deepEqual(station.marks(), [{ run }]);
  const newer = await before(t, ['next'], { protocolVersion: '2026-07-28' });
  await newer.send('resources/subscribe', { uri: 'probe://one' });
  assert.deepEqual(newer.marks(), [{ run }]);

  const server = await before(t, undefined);
  assert.equal(server.greeting.through, undefined);
  await server.send('tools/call', { name: 'echo', arguments: { text: 'x' } }, { run: 'other' });
  await server.send('resources/read', { uri: 'probe://one' }, { run: 'other' });
  assert.deepEqual(server.marks(), [undefined, undefined]);
});
