/** M6: what a server tells unasked: lists that change, held while a turn runs; log messages, each to its own session. */
import assert from 'node:assert/strict';
import { EventEmitter, once } from 'node:events';
import test from 'node:test';
import {
  LoggingMessageNotificationSchema,
  ResourceUpdatedNotificationSchema,
  ToolListChangedNotificationSchema,
} from '@modelcontextprotocol/sdk/types.js';
import { ask, modernClient, olderClient } from './gateway-clients.ts';
import { openGatewayDesk } from './gateway-desk.ts';

const grow = (name: string) => ({ method: 'tools/call', params: { name: 'grow', arguments: { name } } });
const names = (listed: { tools: readonly { name: string }[] }): readonly string[] =>
  listed.tools.map(({ name }) => name);
const listedBy = async (url: string, token: string): Promise<readonly string[]> => {
  const { result } = (await ask(url, token, { method: 'tools/list', era: 'older' })).message;
  return names({ tools: (result?.['tools'] ?? []) as { name: string }[] });
};

test('M6: a list that changed is told to every kind of client, once, and only where it was another', async (t) => {
  const desk = await openGatewayDesk(t);
  const heard = new EventEmitter();
  const counts = { older: 0, modern: 0 };
  const tell = (kind: keyof typeof counts) => {
    counts[kind] += 1;
    heard.emit(kind);
  };
  const older = await olderClient(t, desk.url, desk.token);
  older.setNotificationHandler(ToolListChangedNotificationSchema, () => tell('older'));
  const modern = await modernClient(t, desk.url, desk.token, 'modern');
  modern.setNotificationHandler('notifications/tools/list_changed', () => tell('modern'));
  await modern.listen({ toolsListChanged: true });
  await older.listTools();
  const both = Promise.all([once(heard, 'older'), once(heard, 'modern')]);
  await ask(desk.url, desk.token, grow('more'));
  await both;
  assert.ok(names(await older.listTools()).includes('more'));
  assert.ok(names(await modern.listTools()).includes('more'));
  await desk.connection.refresh();
  const again = Promise.all([once(heard, 'older'), once(heard, 'modern')]);
  await ask(desk.url, desk.token, grow('most'));
  await again;
  assert.deepEqual(counts, { older: 2, modern: 2 });
});

test('a turn keeps the tools it began with; what changed is told when it ends', async (t) => {
  const desk = await openGatewayDesk(t);
  const client = await modernClient(t, desk.url, desk.token, 'modern');
  const heard = new EventEmitter();
  let told = 0;
  client.setNotificationHandler('notifications/tools/list_changed', () => {
    told += 1;
    heard.emit('told');
  });
  await client.listen({ toolsListChanged: true });
  const before = names(await client.listTools());
  desk.turn(true);
  await ask(desk.url, desk.token, grow('more'));
  await desk.connection.refresh();
  assert.deepEqual(await listedBy(desk.url, desk.token), before);
  const call = { method: 'tools/call', params: { name: 'more' } };
  assert.equal((await ask(desk.url, desk.token, call)).message.error?.code, -32_602);
  // What policy takes back is gone at once, turn or not.
  const [server] = desk.policy.servers;
  if (server !== undefined) desk.policy.servers = [{ ...server, tools: ['grow', 'more'] }];
  assert.equal(
    (await ask(desk.url, desk.token, { method: 'tools/call', params: { name: 'echo' } })).message.error?.code,
    -32_602,
  );
  if (server !== undefined) desk.policy.servers = [server];
  assert.equal(told, 0);
  const telling = once(heard, 'told');
  desk.turn(false);
  await telling;
  assert.ok(names(await client.listTools()).includes('more'));
  assert.equal(told, 1);
});

test('M1: a server that connects while the turn runs joins it, and then stays as it was', async (t) => {
  const desk = await openGatewayDesk(t, { start: false });
  const list = async () => (await listedBy(desk.url, desk.token)).length;
  desk.turn(true);
  assert.equal(await list(), 0);
  await desk.connection.start();
  const joined = await list();
  assert.ok(joined > 10);
  await ask(desk.url, desk.token, grow('more'));
  await desk.connection.refresh();
  assert.equal(await list(), joined);
  desk.turn(false);
  assert.equal(await list(), joined + 1);
});

test('a log message goes to the session whose request runs, at the level its client asked for', async (t) => {
  const desk = await openGatewayDesk(t);
  const heard: unknown[] = [];
  const client = await olderClient(t, desk.url, desk.token);
  client.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(params);
  });
  await client.callTool({ name: 'log', arguments: { n: 1 } });
  assert.deepEqual(heard.splice(0), [
    { level: 'debug', data: { n: 1 } },
    { level: 'warning', data: { n: 1 } },
  ]);
  await client.setLoggingLevel('warning');
  await client.callTool({ name: 'log', arguments: { n: 2 } });
  assert.deepEqual(heard.splice(0), [{ level: 'warning', data: { n: 2 } }]);
  // 2026-07-28: with the request that wants them, and not otherwise.
  const logs = { method: 'tools/call', params: { name: 'log', arguments: { n: 3 } } };
  const loud = await ask(desk.url, desk.token, {
    ...logs,
    meta: { 'io.modelcontextprotocol/logLevel': 'info' },
  });
  assert.match(loud.text, /"level":"warning"/);
  assert.doesNotMatch(loud.text, /"level":"debug"/);
  assert.doesNotMatch((await ask(desk.url, desk.token, logs)).text, /notifications\/message/);
  heard.length = 0;
  // Another session runs something too: whose it is cannot be said.
  const other = desk.gateway.admit('s2');
  const stranger = await olderClient(t, desk.url, other);
  const began = new Promise<void>((resolve) => {
    stranger.setNotificationHandler(LoggingMessageNotificationSchema, () => resolve());
  });
  stranger.callTool({ name: 'wait' }).catch(() => {});
  await began;
  stranger.setNotificationHandler(LoggingMessageNotificationSchema, ({ params }) => {
    heard.push(params);
  });
  await client.setLoggingLevel('debug');
  await client.callTool({ name: 'log', arguments: { n: 4 } });
  await client.ping();
  assert.deepEqual(heard, []);
  desk.gateway.dismiss('s2');
});

test('a resource that changed is told to who asked for it', async (t) => {
  const desk = await openGatewayDesk(t);
  const client = await olderClient(t, desk.url, desk.token);
  const seen: string[] = [];
  const told = new EventEmitter();
  client.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    seen.push(params.uri);
    told.emit('told');
  });
  const strange = await olderClient(t, desk.url, desk.token);
  strange.setNotificationHandler(ResourceUpdatedNotificationSchema, ({ params }) => {
    if (params.uri !== 'note://b') seen.push('not asked for');
  });
  await strange.subscribeResource({ uri: 'note://b' });
  const telling = once(told, 'told');
  await client.subscribeResource({ uri: 'note://a' });
  await telling;
  const modern = await modernClient(t, desk.url, desk.token, 'modern');
  const heard = new Promise<string>((resolve) => {
    modern.setNotificationHandler('notifications/resources/updated', ({ params }) => resolve(params.uri));
  });
  await modern.listen({ resourceSubscriptions: ['note://c'] });
  assert.equal(await heard, 'note://c');
  assert.deepEqual(seen, ['note://a']);
});
