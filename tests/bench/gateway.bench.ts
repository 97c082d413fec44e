/**
 * A call through the gateway, agent over HTTP, server over standard input and output: beside the gateways of npm in the
 * same run, each with the same server and the same requests. Ours decides by rules and keeps the decision on disk
 * before the answer leaves.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface, type Interface } from 'node:readline';
import { installed } from '../conformance/installed.ts';
import { type Measured, median } from './report.ts';

const warm = 200;
const calls = 300;
const manyCalls = 1_200;
const parallel = 16;
const rounds = 3;
const startMs = 30_000;

const root = join(import.meta.dirname, '..', '..');
const server = [join(root, 'tests', 'fixtures', 'mcp', 'raw.mjs'), '{}'];
const manyTools = [
  join(root, 'tests', 'fixtures', 'mcp', 'raw.mjs'),
  JSON.stringify({ many: 1_000, page: 200 }),
];
const args = { text: 'hello' };
const message = (id: number, method: string, params: unknown) =>
  JSON.stringify({ jsonrpc: '2.0', id, method, params });
const start = {
  protocolVersion: '2025-06-18',
  capabilities: {},
  clientInfo: { name: 'bench', version: '0' },
};

interface Target {
  readonly url: string;
  readonly headers: Record<string, string>;
  readonly body: string;
}
const agent = new Agent({ keepAlive: true, maxSockets: parallel });

interface Got {
  readonly status: number;
  readonly text: string;
  readonly session: string | undefined;
}
const post = ({ url, headers, body }: Target): Promise<Got> =>
  new Promise((resolve, reject) => {
    const sent = request(
      url,
      {
        method: 'POST',
        agent,
        headers: {
          'content-type': 'application/json',
          accept: 'application/json, text/event-stream',
          'content-length': Buffer.byteLength(body),
          ...headers,
        },
      },
      (response) => {
        let text = '';
        response.setEncoding('utf8').on('data', (part: string) => {
          text += part;
        });
        const session = response.headers['mcp-session-id'];
        response.on('end', () =>
          resolve({ status: response.statusCode ?? 0, text, session: session?.toString() }),
        );
      },
    );
    sent.on('error', reject);
    sent.end(body);
  });

const call = async (target: Target): Promise<void> => {
  const { status, text } = await post(target);
  if (status !== 200 || !text.includes('hello'))
    throw new Error(`${target.url}: ${status} ${text.slice(0, 300)}`);
};

/** The agent's side of the protocol, up to its first call. */
const meet = async (url: string, more: Record<string, string> = {}): Promise<Target> => {
  const began = await post({ url, headers: more, body: message(0, 'initialize', start) });
  if (began.status !== 200) throw new Error(`${url}: ${began.status} ${began.text.slice(0, 300)}`);
  const headers = {
    ...more,
    'mcp-protocol-version': '2025-06-18',
    ...(began.session === undefined ? {} : { 'mcp-session-id': began.session }),
  };
  await post({ url, headers, body: '{"jsonrpc":"2.0","method":"notifications/initialized"}' });
  return { url, headers, body: message(1, 'tools/call', { name: 'echo', arguments: args }) };
};

const freePort = async (): Promise<number> => {
  const listener = createServer().listen(0, '127.0.0.1');
  await once(listener, 'listening');
  const { port } = listener.address() as { port: number };
  listener.close();
  await once(listener, 'close');
  return port;
};

const until = async (work: () => Promise<Target>): Promise<Target> => {
  const end = performance.now() + startMs;
  for (;;) {
    try {
      const target = await work();
      await call(target);
      return target;
    } catch (error) {
      if (performance.now() > end) throw error;
      await new Promise((resolve) => setTimeout(resolve, 200));
    }
  }
};

interface Opened {
  readonly name: string;
  readonly target: Target;
}
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
  return [
    {
      name: 'mcp-hub',
      target: await until(async () => ({
        url: `http://127.0.0.1:${ports[0]}/api/servers/tools`,
        headers: {},
        body: JSON.stringify({ server_name: 'probe', tool: 'echo', arguments: args }),
      })),
    },
    { name: 'supergateway', target: await until(() => meet(`http://127.0.0.1:${ports[1]}/mcp`)) },
    { name: 'mcp-proxy', target: await until(() => meet(`http://127.0.0.1:${ports[2]}/mcp`)) },
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
const throughput = async (work: () => Promise<unknown>): Promise<number> => {
  let left = manyCalls;
  const began = performance.now();
  const lane = async (): Promise<void> => {
    while (left > 0) {
      left -= 1;
      await work();
    }
  };
  await Promise.all(Array.from({ length: parallel }, lane));
  return (manyCalls * 1_000) / (performance.now() - began);
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
    const all: readonly Opened[] = [
      { name: 'ours', target: await meet(mine.url, mine.headers) },
      ...(await openOthers(keep, dir)),
    ];
    const found = new Map(all.map(({ name }) => [name, { latency: [] as number[], rate: [] as number[] }]));
    for (const { target } of all) for (let n = 0; n < warm; n += 1) await call(target);
    for (let round = 0; round < rounds; round += 1) {
      for (const { name, target } of all) {
        found.get(name)?.latency.push(await latency(() => call(target)));
        found.get(name)?.rate.push(await throughput(() => call(target)));
      }
    }
    const of = (name: string, what: 'latency' | 'rate'): number => median(found.get(name)?.[what] ?? []);
    const others = all.slice(1).map(({ name }) => name);
    const best = (what: 'latency' | 'rate', better: (a: number, b: number) => boolean): string =>
      others.reduce((one, other) => (better(of(other, what), of(one, what)) ? other : one));
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
        const body = message(1, 'tools/call', { name: 'echo', arguments: args });
        times[at]?.push(await latency(() => way(body)));
      }
    }

    const wide = await openOurs(keep, join(dir, 'wide'), manyTools);
    const list = { ...(await meet(wide.url, wide.headers)), body: message(1, 'tools/list', {}) };
    const lists: number[] = [];
    const began = performance.now();
    const { text } = await post(list);
    const first = performance.now() - began;
    const count = (JSON.parse(text) as { result: { tools: unknown[] } }).result.tools.length;
    if (count < 1_000) throw new Error(`${count} tools`);
    for (let n = 0; n < 50; n += 1) {
      const at = performance.now();
      await post(list);
      lists.push(performance.now() - at);
    }
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
        note: `${each('latency', 'ms')}. Ours decides, and keeps the decision on disk before it answers.`,
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
        reference: median(times[1]),
        unit: 'ms',
        referenceIs: 'the server itself over its standard streams',
        goal: { atMost: Number((0.6 / 0.21).toFixed(2)) },
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
    agent.destroy();
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
