/**
 * A call through the gateway, agent over HTTP, server over standard input and output: beside the gateways of npm in the
 * same run, each with the same server and the same requests, at the endpoint an agent is given, which speaks MCP. Ours
 * decides by rules and keeps the decision in a database before the answer leaves.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import Database from 'better-sqlite3';
import { installed } from '../conformance/installed.ts';
import { type Lane, meet, message, openPoster, overEvents, overPost, start } from './gateway-doors.ts';
import { type Measured, median } from './report.ts';

/** Calls that are not counted: a gateway serves for hours. */
const warm = 3_000;
const calls = 400;
const manyCalls = 3_000;
const parallel = 16;
const rounds = 5;
const startMs = 30_000;

const root = join(import.meta.dirname, '..', '..');
const server = [join(root, 'tests', 'fixtures', 'mcp', 'raw.mjs'), '{}'];
const manyTools = [
  join(root, 'tests', 'fixtures', 'mcp', 'raw.mjs'),
  JSON.stringify({ many: 1_000, page: 200 }),
];

const freePort = async (): Promise<number> => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, 'close');
  return port;
};

interface Opened {
  readonly name: string;
  readonly open: () => Promise<Lane>;
  /** Beside the endpoint of an agent: told, and not what ours is held to. */
  readonly aside?: true;
}

/** Once its first call is answered. */
const ready = async (name: string, make: () => Promise<() => Promise<Lane>>): Promise<Opened> => {
  const end = performance.now() + startMs;
  for (;;) {
    try {
      const open = await make();
      const lane = await open();
      await lane.call();
      lane.close();
      return { name, open };
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
};
type Keep = (child: ChildProcess) => ChildProcess;

const bin = async (name: string, version: string, file: string): Promise<string> =>
  join(await installed(name, version), file);

const openOthers = async (keep: Keep, dir: string): Promise<readonly Opened[]> => {
  const run = (file: string, ...more: readonly string[]): ChildProcess =>
    keep(spawn(process.execPath, [file, ...more], { cwd: dir, stdio: 'ignore', detached: true }));
  const ports = [await freePort(), await freePort(), await freePort()];
  const config = join(dir, 'servers.json');
  writeFileSync(
    config,
    JSON.stringify({ mcpServers: { probe: { command: process.execPath, args: server } } }),
  );
  run(await bin('mcp-hub', '4.2.1', 'dist/cli.js'), '--port', String(ports[0]), '--config', config);
  const quoted = [process.execPath, ...server].map((part) => `'${part}'`).join(' ');
  const gateway = await bin('supergateway', '4.0.0', 'dist/index.js');
  run(
    gateway,
    '--stdio',
    quoted,
    '--outputTransport',
    'streamableHttp',
    '--stateful',
    '--port',
    String(ports[1]),
    '--logLevel',
    'none',
  );
  const proxy = await bin('mcp-proxy', '6.7.19', 'dist/bin/mcp-proxy.mjs');
  run(proxy, '--server', 'stream', '--port', String(ports[2]), '--', process.execPath, ...server);
  const hub = `http://127.0.0.1:${ports[0]}`;
  const streamable = (port: number | undefined) => async () => {
    const url = `http://127.0.0.1:${port}/mcp`;
    const headers = await meet(url);
    return () => overPost(url, headers);
  };
  const body = JSON.stringify({ server_name: 'probe', tool: 'echo', arguments: { text: 'hello' } });
  return [
    await ready('mcp-hub', async () => () => overEvents(`${hub}/mcp`, 'probe__echo')),
    await ready('supergateway', streamable(ports[1])),
    await ready('mcp-proxy', streamable(ports[2])),
    {
      ...(await ready(
        'mcp-hub at its REST',
        async () => () => overPost(`${hub}/api/servers/tools`, {}, body),
      )),
      aside: true,
    },
  ];
};

const openOurs = async (keep: Keep, dir: string, upstream: readonly string[]) => {
  mkdirSync(dir);
  const file = join(import.meta.dirname, 'gateway.child.ts');
  const child = keep(
    spawn(process.execPath, [file, dir, ...upstream], { stdio: ['pipe', 'pipe', 'inherit'] }),
  );
  const [line] = (await once(createInterface({ input: child.stdout as NodeJS.ReadableStream }), 'line')) as [
    string,
  ];
  const { url, token } = JSON.parse(line) as { url: string; token: string };
  return { url, token, headers: { authorization: `Bearer ${token}` } };
};

const latency = async (work: () => Promise<unknown>): Promise<number> => {
  const times: number[] = [];
  for (let n = 0; n < calls; n += 1) {
    const began = performance.now();
    await work();
    times.push(performance.now() - began);
  }
  return median(times);
};

const throughput = async (open: () => Promise<Lane>, count: number): Promise<number> => {
  const lanes = await Promise.all(Array.from({ length: parallel }, open));
  let left = count;
  const began = performance.now();
  await Promise.all(
    lanes.map(async (one) => {
      while (left > 0) {
        left -= 1;
        await one.call();
      }
    }),
  );
  const rate = (count * 1_000) / (performance.now() - began);
  for (const one of lanes) one.close();
  return rate;
};

/** One line out, one line back. */
const overLines = (child: ChildProcess): ((line: string) => Promise<string>) => {
  const lines: Interface = createInterface({ input: child.stdout as NodeJS.ReadableStream });
  return (line) =>
    new Promise((resolve) => {
      lines.once('line', resolve);
      child.stdin?.write(`${line}\n`);
    });
};

export const bench = async (): Promise<readonly Measured[]> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-gateway-'));
  const children: ChildProcess[] = [];
  const keep: Keep = (child) => {
    children.push(child);
    return child;
  };
  try {
    const mine = await openOurs(keep, join(dir, 'ours'), server);
    const headers = await meet(mine.url, mine.headers);
    const all: readonly Opened[] = [
      { name: 'ours', open: () => overPost(mine.url, headers) },
      ...(await openOthers(keep, dir)),
    ];
    const found = new Map(all.map(({ name }) => [name, { latency: [] as number[], rate: [] as number[] }]));
    for (const { open } of all) await throughput(open, warm);
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, open } of all) {
        const one = await open();
        found.get(name)?.latency.push(await latency(one.call));
        one.close();
        found.get(name)?.rate.push(await throughput(open, manyCalls));
      }
    }
    const of = (name: string, what: 'latency' | 'rate'): number => median(found.get(name)?.[what] ?? []);
    const others = all.slice(1).map(({ name }) => name);
    const rivals = all.slice(1).flatMap(({ name, aside }) => (aside === true ? [] : [name]));
    const best = (what: 'latency' | 'rate', better: (a: number, b: number) => boolean): string =>
      rivals.reduce((one, other) => (better(of(other, what), of(one, what)) ? other : one));
    const fastest = best('latency', (a, b) => a < b);
    const widest = best('rate', (a, b) => a > b);

    const env = { ...process.env, JUPITER_GATEWAY_TOKEN: mine.token };
    const shim = keep(
      spawn(process.execPath, [join(root, 'bin', 'gateway-shim.mjs'), mine.url], {
        env,
        stdio: ['pipe', 'pipe', 'inherit'],
      }),
    );
    const direct = keep(spawn(process.execPath, server, { stdio: ['pipe', 'pipe', 'ignore'] }));
    const ways = [overLines(shim), overLines(direct)];
    const times: [number[], number[]] = [[], []];
    for (const way of ways) await way(message(0, 'initialize', start));
    for (let round = 0; round < rounds; round += 1) {
      for (const [at, way] of ways.entries()) {
        const body = message(1, 'tools/call', { name: 'echo', arguments: { text: 'hello' } });
        times[at]?.push(await latency(() => way(body)));
      }
    }

    const wide = await openOurs(keep, join(dir, 'wide'), manyTools);
    const lister = await openPoster(wide.url, await meet(wide.url, wide.headers));
    const list = message(1, 'tools/list', {});
    const began = performance.now();
    const text = await lister.post(list);
    const first = performance.now() - began;
    const count = text.split('"inputSchema"').length - 1;
    if (count < 1_000) throw new Error(`${count} tools`);
    const lists: number[] = [];
    for (let n = 0; n < 50; n += 1) {
      const at = performance.now();
      await lister.post(list);
      lists.push(performance.now() - at);
    }
    lister.close();
    const database = new Database(join(dir, 'full.db'));
    database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (row)');
    const insert = database.prepare('INSERT INTO rows VALUES (1)');
    const commits: number[] = [];
    for (let n = 0; n < 50; n += 1) {
      const at = performance.now();
      insert.run();
      commits.push(performance.now() - at);
    }
    database.close();
    const disk = median(commits);
    const each = (what: 'latency' | 'rate', unit: string): string =>
      others.map((name) => `${name} ${of(name, what).toFixed(what === 'rate' ? 0 : 2)} ${unit}`).join(', ');
    return [
      {
        what: 'call, one at a time',
        ours: of('ours', 'latency'),
        reference: of(fastest, 'latency'),
        unit: 'ms',
        referenceIs: fastest,
        goal: { atMost: 0.8 },
        note: `${each('latency', 'ms')}. Ours decides, and keeps the decision in a database (WAL, NORMAL) before it answers; a FULL commit adds ${disk.toFixed(2)} ms on this disk, now.`,
      },
      {
        what: 'calls, 16 in parallel',
        ours: of('ours', 'rate'),
        reference: of(widest, 'rate'),
        unit: '/s',
        referenceIs: widest,
        goal: { atLeast: 1.5 },
        note: `${each('rate', '/s')}.`,
      },
      {
        what: 'call through the shim',
        ours: median(times[0]),
        reference: 0.6,
        unit: 'ms',
        referenceIs: 'the most it may take',
        goal: { atMost: 1 },
        note: `the server itself over its standard streams: ${median(times[1]).toFixed(3)} ms.`,
      },
      {
        what: 'list of 1,000 tools',
        ours: median(lists),
        reference: 50,
        unit: 'ms',
        referenceIs: 'the most it may take',
        goal: { atMost: 1 },
        note: `the first time ${first.toFixed(1)} ms.`,
      },
    ];
  } finally {
    for (const child of children) {
      child.stdin?.end();
      // Those of npm start children of their own; ours end theirs when their input ends.
      if (child.stdin === null && child.pid !== undefined) {
        try {
          process.kill(-child.pid, 'SIGKILL');
        } catch {
          // It is gone.
        }
      }
    }
    await Promise.all(
      children.map((child) =>
        child.exitCode === null && child.signalCode === null ? once(child, 'exit') : undefined,
      ),
    );
    rmSync(dir, { recursive: true, force: true });
  }
};
