/** What passes the gateway, for every generation of clients. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { modernClient, olderClient } from './gateway-clients.ts';
import { openGatewayDesk } from './gateway-desk.ts';

const clients = {
  'SDK v1': olderClient,
  'SDK v2, 2026-07-28': (t: Parameters<typeof olderClient>[0], url: string, token: string) =>
    modernClient(t, url, token, 'modern'),
  'SDK v2, as before': (t: Parameters<typeof olderClient>[0], url: string, token: string) =>
    modernClient(t, url, token, 'legacy'),
};
for (const [which, connect] of Object.entries(clients)) {
  test(`M15, M4: lists, calls, results, resources, prompts and errors pass unchanged: ${which}`, async (t) => {
    const desk = await openGatewayDesk(t);
    const client = await connect(t, desk.url, desk.token);
    assert.equal(client.getInstructions(), 'Use it well.');
    assert.equal(client.getServerVersion()?.name, 'by-hand');
    const { tools } = await client.listTools();
    assert.ok(tools.some(({ name }) => name === 'echo'));
    const result = await client.callTool({ name: 'echo', arguments: { a: 1 } });
    assert.deepEqual(result.structuredContent, { given: { a: 1 }, n: 1.5, deep: [[{ a: null }]] });
    const big = await client.callTool({ name: 'big' });
    assert.equal((big.content as { data: string }[])[0]?.data.length, 5 * 1024 * 1024);
    assert.deepEqual((await client.listResources()).resources, [{ uri: 'note://a', name: 'a', size: 3 }]);
    assert.equal(
      ((await client.readResource({ uri: 'note://a' })).contents[0] as { blob: string }).blob,
      'AAEC',
    );
    assert.deepEqual((await client.listPrompts()).prompts, [{ name: 'p', arguments: [{ name: 'x' }] }]);
    assert.match(
      JSON.stringify(await client.getPrompt({ name: 'p', arguments: { x: '1' } })),
      /\\"x\\":\\"1\\"/,
    );
    const completed = await client.complete({
      ref: { type: 'ref/prompt', name: 'p' },
      argument: { name: 'x', value: 'o' },
    });
    assert.deepEqual(completed.completion.values, ['one', 'two']);
    await assert.rejects(client.callTool({ name: 'fail' }), (error: { code?: number; data?: unknown }) => {
      assert.equal(error.code, -32_055);
      assert.deepEqual(error.data, { why: ['this'] });
      return true;
    });
    assert.deepEqual(desk.bugs, []);
  });
}
