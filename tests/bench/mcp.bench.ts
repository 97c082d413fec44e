/**
 * Servers we dial: what a call costs beside the official client on the same server, how long a thousand tools take, and
 * what a hundred configured servers cost of which ninety are dead.
 */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import {
  type Connection,
  type Connections,
  openConnections,
  type ServerEntry,
} from '../../host/mcp/index.ts';
import { openProcesses, type Processes } from '../../host/processes/index.ts';
import { type Measured, median } from './report.ts';

const warm = 500;
const calls = 2_000;
const rounds = 5;
const parallel = 16;

const fixtures = join(import.meta.dirname, '..', 'fixtures', 'mcp');
const sdkServer = [join(fixtures, 'sdk.ts'), 'both'];
const manyTools = [join(fixtures, 'raw.mjs'), JSON.stringify({ many: 1_000, page: 200 })];
const params = { name: 'echo', arguments: { text: 'hello' } };

const program = (name: string, args: readonly string[], command = process.execPath): ServerEntry => ({
  key: `policy/${name}`,
  name,
  place: name,
  transport: { type: 'stdio', command, args, env: {} },
});
/** Half of the dead ones are programs that are not there, half addresses where nobody listens. */
const dead = (n: number): ServerEntry =>
  n % 2 === 0
    ? program(`dead-${n}`, [], `/not/there/${n}`)
    : {
        key: `policy/dead-${n}`,
        name: `dead-${n}`,
        place: 'x',
        transport: { type: 'http', url: `http://127.0.0.1:${(n % 9) + 1}/mcp`, headers: {} },
      };

const settled = (connections: Connections, names: readonly string[]): Promise<void> =>
  new Promise((resolve) => {
    const look = (): void => {
      if (names.every((name) => connections.get(`policy/${name}`)?.status().state === 'connected')) resolve();
    };
    connections.onChange(look);
    look();
  });

const latency = async (call: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const began = performance.now();
    await call();
    times.push(performance.now() - began);
  }
  return median(times);
};
const throughput = async (call: () => Promise<unknown>): Promise<number> => {
  const began = performance.now();
  const lane = async (): Promise<void> => {
    for (let n = 0; n < calls / 4; n += 1) await call();
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return ((calls / 4) * parallel * 1_000) / (performance.now() - began);
};

/** Ours and the reference in turns, the medians of all rounds. */
const inTurns = async (
  measure: (call: () => Promise<unknown>) => Promise<number>,
  ours: () => Promise<unknown>,
  reference: () => Promise<unknown>,
): Promise<{ readonly ours: number; readonly reference: number }> => {
  const found: { readonly ours: number[]; readonly reference: number[] } = { ours: [], reference: [] };
  for (let round = 0; round < rounds; round += 1) {
    found.ours.push(await measure(ours));
    found.reference.push(await measure(reference));
  }
  return { ours: median(found.ours), reference: median(found.reference) };
};

const call = async (connection: Connection): Promise<void> => {
  const answered = await connection.request('tools/call', params);
  if (!('result' in answered)) throw new Error(JSON.stringify(answered));
};

const openSdk = async (args: readonly string[]): Promise<Client> => {
  const client = new Client({ name: 'reference', version: '0' });
  await client.connect(new StdioClientTransport({ command: process.execPath, args: [...args] }));
  return client;
};

const dialling = async (processes: Processes, dir: string): Promise<readonly Measured[]> => {
  const open = (): Connections =>
    openConnections({
      processes,
      env: { PATH: process.env['PATH'], HOME: dir },
      redact: (text) => text,
      logs: join(dir, 'logs'),
      cwd: dir,
      client: { name: 'jupiter', version: '0' },
    });
  const alone = open();
  const sdk = await openSdk(sdkServer);
  alone.reconcile([program('one', sdkServer)]);
  await settled(alone, ['one']);
  const one = alone.get('policy/one') as Connection;
  const viaSdk = () => sdk.callTool(params);
  for (let n = 0; n < warm; n += 1) await Promise.all([call(one), viaSdk()]);
  const single = await inTurns(latency, () => call(one), viaSdk);
  const many = await inTurns(throughput, () => call(one), viaSdk);

  const sdkTools = await openSdk(manyTools);
  const listOurs: number[] = [];
  const listSdk: number[] = [];
  const tools = open();
  tools.reconcile([program('tools', manyTools)]);
  await settled(tools, ['tools']);
  const listed = tools.get('policy/tools') as Connection;
  for (let round = 0; round < 15; round += 1) {
    let began = performance.now();
    for (let cursor: string | undefined = ''; cursor !== undefined; ) {
      const page = await listed.request('tools/list', cursor === '' ? {} : { cursor });
      if (!('result' in page)) throw new Error(JSON.stringify(page));
      cursor = page.result['nextCursor'] as string | undefined;
    }
    listOurs.push(performance.now() - began);
    began = performance.now();
    await sdkTools.listTools(undefined, { cacheMode: 'bypass' });
    listSdk.push(performance.now() - began);
  }
  await sdkTools.close();
  await tools.close();

  const crowd = open();
  const names = Array.from({ length: 10 }, (_, n) => `live-${n}`);
  const entries = [
    ...Array.from({ length: 90 }, (_, n) => dead(n)),
    ...names.map((name) => program(name, [join(fixtures, 'raw.mjs')])),
  ];
  const began = performance.now();
  crowd.reconcile(entries);
  const reconciled = performance.now() - began;
  // Calls of a server that was there before, while the hundred are dialled and ninety fail.
  const during = await latency(() => call(one));
  await settled(crowd, names);
  const within = performance.now() - began;
  const crowded = await inTurns(latency, () => call(one), viaSdk);
  await crowd.close();
  const after = await inTurns(latency, () => call(one), viaSdk);
  await sdk.close();
  await alone.close();

  return [
    {
      what: 'call of a server over stdio, median',
      ...single,
      unit: 'ms',
      referenceIs: 'official client, same server',
      goal: { atMost: 1 },
    },
    {
      what: `calls over stdio, ${parallel} in parallel`,
      ...many,
      unit: '/s',
      referenceIs: 'official client, same server',
      goal: { atLeast: 1 },
    },
    {
      what: 'list of 1,000 tools in pages of 200',
      ours: median(listOurs),
      reference: 50,
      unit: 'ms',
      referenceIs: 'goal of the issue',
      goal: { atMost: 1 },
      note: `the official client takes ${median(listSdk).toFixed(1)} ms.`,
    },
    {
      what: 'call while 100 servers are configured and 90 are dead',
      ours: crowded.ours / crowded.reference,
      reference: after.ours / after.reference,
      unit: '× the official client',
      referenceIs: 'none configured',
      goal: { atMost: 1.1 },
      note: `handing over the hundred takes ${reconciled.toFixed(1)} ms of the main thread, the ten that live are connected after ${Math.round(within)} ms, and a call meanwhile takes ${during.toFixed(2)} ms at the median.`,
    },
  ];
};

export const bench = async (): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-mcp-'));
  const processes = await openProcesses({ run: join(dir, 'run') });
  try {
    return await dialling(processes, dir);
  } finally {
    await processes.endAll(0);
    rmSync(dir, { recursive: true, force: true });
  }
};
