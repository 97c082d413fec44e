/**
 * What the conformance suite runs as the client under test: our dialling side against the address it is given. It
 * connects, calls every tool it finds once, reads a resource and a prompt, and leaves.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Json, openConnections, type ServerTool } from '../../host/mcp/index.ts';
import { openProcesses } from '../../host/processes/index.ts';

const url = process.argv.at(-1) ?? '';
const dir = mkdtempSync(join(tmpdir(), 'jupiter-conformance-client-'));
const processes = await openProcesses({ run: join(dir, 'run') });
const connections = openConnections({
  processes,
  env: {},
  redact: (text) => text,
  logs: join(dir, 'logs'),
  cwd: dir,
  client: { name: 'jupiter', version: '0.1.0' },
});
const entry = {
  key: 'policy/suite',
  name: 'suite',
  place: 'suite',
  transport: { type: 'http' as const, url, headers: {} },
};

/** Something of the type each parameter has. */
const argumentsFor = (tool: ServerTool): Json => {
  const schema = tool['inputSchema'] as { properties?: Record<string, { type?: string }> } | undefined;
  const values: Readonly<Record<string, unknown>> = {
    number: 5,
    integer: 5,
    boolean: true,
    array: [],
    object: {},
  };
  return Object.fromEntries(
    Object.entries(schema?.properties ?? {}).map(([name, { type }]) => [name, values[type ?? ''] ?? 'text']),
  );
};

await new Promise<void>((resolve) => {
  connections.onChange(({ status }) => {
    if (status().state === 'connected') resolve();
    if (status().state === 'failed') console.error(JSON.stringify(status()));
  });
  connections.reconcile([entry]);
});
const connection = connections.get(entry.key);
/** Calls the scenario wants as they are. */
const context = JSON.parse(process.env['MCP_CONFORMANCE_CONTEXT'] ?? '{}') as {
  readonly toolCalls?: readonly { readonly name: string; readonly arguments: Json }[];
};
const calls =
  context.toolCalls ??
  (connection?.tools() ?? []).map((tool) => ({ name: tool.name, arguments: argumentsFor(tool) }));
for (const call of calls) {
  const answered = await connection?.request('tools/call', call, {
    onAsk: async ({ method }) =>
      method === 'elicitation/create' ? { action: 'accept', content: {} } : undefined,
  });
  console.error(`${call.name}: ${JSON.stringify(answered).slice(0, 500)}`);
}
const first = async (method: string, list: string): Promise<Json> => {
  const answered = await connection?.request(method, {});
  const found =
    answered !== undefined && 'result' in answered
      ? (answered.result[list] as Json[] | undefined)?.[0]
      : undefined;
  return found ?? {};
};
const { uri } = await first('resources/list', 'resources');
if (uri !== undefined) await connection?.request('resources/read', { uri });
const { name } = await first('prompts/list', 'prompts');
if (name !== undefined) await connection?.request('prompts/get', { name });
await connections.close();
await processes.endAll(0);
rmSync(dir, { recursive: true, force: true });
