/** The shim for agents without HTTP: the same protocol over standard input and output. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client as ModernClient } from '@modelcontextprotocol/client';
import { StdioClientTransport as ModernStdio } from '@modelcontextprotocol/client/stdio';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport as OlderStdio } from '@modelcontextprotocol/sdk/client/stdio.js';
import { ElicitRequestSchema, ToolListChangedNotificationSchema } from '@modelcontextprotocol/sdk/types.js';
import { openDialled, program } from './dialled.ts';
import { nextAsk, openGatewayDesk, rules, yes } from './gateway-desk.ts';

const shim = join(import.meta.dirname, '..', '..', 'bin', 'gateway-shim.mjs');

const stdio = (url: string, token: string) => ({
  command: process.execPath,
  args: [shim, url],
  stderr: 'ignore' as const,
  env: { JUPITER_GATEWAY_TOKEN: token },
});

/** Runs it to its end. */
const run = async (t: TestContext, args: readonly string[], env: Record<string, string>) => {
  const child = spawn(process.execPath, [shim, ...args], { env, stdio: 'pipe' });
  t.after(() => child.kill('SIGKILL'));
  let told = '';
  child.stderr.setEncoding('utf8').on('data', (part: string) => {
    told += part;
  });
  const exit = once(child, 'exit').then(([code]) => ({ code, told }));
  return { child, exit };
};

for (const mode of ['v1', 'legacy', 'auto'] as const) {
  test(`the shim passes lists, calls, large results, progress, questions and changes: ${mode}`, async (t) => {
    const desk = await openGatewayDesk(t, { elicitation: 'agent' });
    const transport = stdio(desk.url, desk.token);
    const changed = Promise.withResolvers<void>();
    const content = { colour: 'red' };
    const capabilities = { elicitation: { form: {} } };
    const info = { name: 'shimmed', version: '1' };
    let client: OlderClient | ModernClient;
    if (mode === 'v1') {
      const older = new OlderClient(info, { capabilities });
      older.setRequestHandler(ElicitRequestSchema, async () => ({ action: 'accept', content }));
      older.setNotificationHandler(ToolListChangedNotificationSchema, () => changed.resolve());
      await older.connect(new OlderStdio(transport) as never);
      client = older;
    } else {
      const modern = new ModernClient(info, { capabilities, versionNegotiation: { mode } });
      modern.setRequestHandler('elicitation/create', async () => ({ action: 'accept', content }));
      modern.setNotificationHandler('notifications/tools/list_changed', () => changed.resolve());
      await modern.connect(new ModernStdio(transport));
      if (mode === 'auto') await modern.listen({ toolsListChanged: true });
      client = modern;
    }
    t.after(() => client.close());
    assert.ok((await client.listTools()).tools.some(({ name }) => name === 'echo'));
    const result = await client.callTool({ name: 'echo', arguments: { a: 'é\n' } });
    assert.deepEqual(result.structuredContent, { given: { a: 'é\n' }, n: 1.5, deep: [[{ a: null }]] });
    const big = await client.callTool({ name: 'big' });
    assert.equal((big.content as { data: string }[])[0]?.data.length, 5 * 1024 * 1024);
    const asking = {
      method: 'elicitation/create',
      params: { message: 'Which?', requestedSchema: { type: 'object', properties: {} } },
    };
    assert.match(JSON.stringify(await client.callTool({ name: 'ask', arguments: asking })), /accept.*red/);
    await client.callTool({ name: 'grow', arguments: { name: 'more' } });
    await changed.promise;
  });
}

test('the shim ends with its input, with the session, and says why it cannot begin', async (t) => {
  const desk = await openGatewayDesk(t, { permissions: rules({}) });
  const env = { JUPITER_GATEWAY_TOKEN: desk.token };
  const refused: readonly (readonly [readonly string[], Record<string, string>, RegExp])[] = [
    [[], env, /the address of a server is missing/],
    [[desk.url], {}, /JUPITER_GATEWAY_TOKEN holds no token/],
    [
      [desk.url],
      { JUPITER_GATEWAY_TOKEN: 'wrong' },
      /refused the connection \(401: A token of a session is needed\.\)/,
    ],
    [[`${desk.url}x`], env, /refused the connection \(404: The session has no such server\.\)/],
    [['http://127.0.0.1:1/v1/gateway/probe'], env, /cannot be reached \(ECONNREFUSED\)/],
  ];
  for (const [args, variables, sentence] of refused) {
    const { exit } = await run(t, args, variables);
    const { code, told } = await exit;
    assert.equal(code, 1, told);
    assert.match(told, sentence);
    assert.match(told, /^jupiter gateway: .*\.\n$/);
  }

  const call = `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'echo' } })}\n`;
  const leaving = await run(t, [desk.url], env);
  leaving.child.stdin.write(call);
  const asked = await nextAsk(desk);
  leaving.child.stdin.end();
  const left = await leaving.exit;
  assert.deepEqual(left, { code: 0, told: '' });
  if (!asked.signal.aborted) await once(asked.signal, 'abort');

  const ended = await run(t, [desk.url], env);
  ended.child.stdin.write(call);
  const waiting = await nextAsk(desk);
  const line = once(ended.child.stdout, 'data');
  desk.gateway.dismiss('s1');
  assert.match(String(await line), /"id":1.*|"error".*The session has ended/);
  waiting.answer(yes);
  const { code, told } = await ended.exit;
  assert.equal(code, 1);
  assert.equal(told, 'jupiter gateway: the station ended the connection.\n');
  assert.equal(desk.connection.sent.filter(({ method }) => method === 'tools/call').length, 0);
});

test('the station does not reach itself by a program that leads back to it', {
  timeout: 15_000,
}, async (t) => {
  const desk = await openGatewayDesk(t);
  const env = { JUPITER_GATEWAY_TOKEN: desk.token };
  const dialled = await openDialled(t, () => [program('self', process.execPath, [shim, desk.url], { env })]);
  const self = await dialled.until('self', ({ status }) => status().state === 'failed');
  const status = self.status();
  assert.ok(status.state === 'failed' && status.problem.code === 'connections/own-address');
});
