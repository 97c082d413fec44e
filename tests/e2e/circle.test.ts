/** Two stations whose gateways lead to each other: nothing goes round. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { type Bench, compiled, firstPartyGrants, looked, openBench, repository } from './harness.ts';

const caller = join(repository, 'tests', 'fixtures', 'agents', 'caller.ts');

interface Handed {
  readonly url: string;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
}
const headersOf = ({ headers }: Handed) =>
  Object.fromEntries(headers.map(({ name, value }) => [name, value]));
const leadingTo = (handed: Handed) => ({ type: 'http', url: handed.url, headers: headersOf(handed) });
const policy = (round: unknown) => ({
  grants: firstPartyGrants,
  agents: { caller: { program: 'caller' } },
  programs: {
    caller: { command: process.execPath, args: [...compiled, caller], inherit: ['PATH'], trust: 'full' },
  },
  mcpServers: { round },
  permissions: { allow: ['mcp__round'] },
});

/** A station with a session, and how its agent was told to reach its one server. */
const open = async (t: TestContext, round: unknown): Promise<readonly [Bench, Handed]> => {
  const bench = openBench(t, { policy: policy(round) });
  await bench.ask('up');
  await bench.ask('session', 'create', '--agent', 'caller', '--cwd', bench.workspace);
  const [handed] = JSON.parse(bench.read('handed.json')) as Handed[];
  assert.ok(handed !== undefined);
  return [bench, handed];
};
/** What `mcp list` says of the server, once it is settled. */
const settled = (bench: Bench, wanted: RegExp): Promise<string> =>
  looked(async () => {
    const { stdout } = await bench.jupiter('mcp', 'list');
    return wanted.test(stdout) ? stdout : undefined;
  });

test('two stations with an entry for each other: the second to dial says that it would reach itself, and requests are answered', async (t) => {
  const [one, first] = await open(t, { type: 'http', url: 'http://127.0.0.1:9/' });
  const [two, second] = await open(t, leadingTo(first));
  await settled(two, /connected/);
  one.policy(JSON.stringify(policy(leadingTo(second))));
  assert.match(await settled(one, /connected|itself/), /failed: The server is this station itself/);
  for (const handed of [first, second])
    for (const [method, params] of [
      ['resources/read', { uri: 'a:b' }],
      ['resources/list', {}],
      ['prompts/get', { name: 'x' }],
      ['completion/complete', { ref: {}, argument: {} }],
    ] as const) {
      const response = await fetch(handed.url, {
        method: 'POST',
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'mcp-protocol-version': '2025-06-18',
          ...headersOf(handed),
        },
        body: JSON.stringify({ jsonrpc: '2.0', id: 1, method, params }),
        signal: AbortSignal.timeout(10_000),
      });
      const text = await response.text();
      assert.match(text, method === 'resources/list' ? /"resources":\[\]/ : /gateway\/not-connected/);
    }
});
