/** Servers that are programs: how they are dialled, called, lost and ended. */
import assert from 'node:assert/strict';
import test from 'node:test';
import type { Answered, Json } from '../../host/mcp/index.ts';
import { alive, openDialled, raw } from './dialled.ts';

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
  assert.equal(pids.filter(alive).length, 1);
  assert.equal(desk.processes.running(), 1);
  await desk.connections.close();
  assert.equal(pids.filter(alive).length, 0);
  const unknown = desk.connections.reconnect('policy/other');
  assert.ok(!unknown.ok && unknown.problem.code === 'connections/unknown');
});
