/**
 * Many updates, many sessions, and what the station adds to the opening of a real agent. The flood stands beside
 * acpx, persistent, in the same run; bounds that are no ratio stand beside the bound.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { setTimeout as delay } from 'node:timers/promises';
import { connectStation, type StationClient } from '../../host/cli/client.ts';
import { codex } from '../agents/cases.ts';
import { installed } from '../agents/install.ts';
import { firstPartyGrants, fixtureAgent } from '../e2e/harness.ts';
import { startModel } from '../fixtures/model-endpoint.ts';
import { type BenchHome, benchHome, residentMb } from './bench-home.ts';
import { type Measured, median, percentile } from './report.ts';

const updates = 20_000;
const idleSessions = 50;
const turns = 200;
/** Floods beside which another session is prompted: one is over before a hundredth of its turns can be told. */
const floods = 3;
const openings = 7;
const acpx = { package: 'acpx', version: '0.19.1', bin: 'acpx' };

const fixture = (...args: readonly string[]) => ({
  command: process.execPath,
  args: [fixtureAgent, ...args],
  inherit: ['PATH'],
  trust: 'full',
});
const policyWith = (programs: Readonly<Record<string, unknown>>) => ({
  grants: firstPartyGrants,
  agents: Object.fromEntries(Object.keys(programs).map((name) => [name, { program: name }])),
  programs,
});

const client = async (bench: BenchHome): Promise<{ client: StationClient; pid: number }> => {
  const { pid } = JSON.parse(bench.jupiter('up')) as { pid: number };
  const found = await connectStation(bench.home);
  if (!found.ok) throw new Error(found.problem.message);
  return { client: found.value, pid };
};
const create = async (station: StationClient, agent: string, cwd: string): Promise<string> => {
  const made = await station.call('session.create', { agent, cwd });
  if (!made.ok || made.value.state !== 'idle') throw new Error(JSON.stringify(made));
  return made.value.id;
};
const turn = async (station: StationClient, id: string): Promise<number> => {
  const begun = performance.now();
  const said = await station.call('session.say', { id, text: 'go', wait: true });
  if (!said.ok) throw new Error(said.problem.message);
  return performance.now() - begun;
};

/** Updates a second through acpx: the second prompt of a session whose owner and agent run already. */
const acpxRate = async (bench: BenchHome): Promise<number> => {
  const file = await installed(acpx);
  const agent = `${process.execPath} ${fixtureAgent} flood ${updates}`;
  const home = join(bench.dir, 'acpx');
  mkdirSync(home);
  const env = { PATH: process.env['PATH'] ?? '', HOME: home };
  const run = (...args: string[]) =>
    new Promise<void>((resolve, reject) => {
      const all = [
        file,
        '--agent',
        agent,
        '--cwd',
        bench.workspace,
        '--format',
        'quiet',
        '--ttl',
        '20',
        ...args,
      ];
      const child = spawn(process.execPath, all, { env, stdio: 'ignore' });
      child.on('error', reject);
      child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`acpx ended with ${code}`))));
    });
  await run('sessions', 'new');
  await run('prompt', 'go');
  const begun = performance.now();
  await run('prompt', 'go');
  const rate = (updates * 1_000) / (performance.now() - begun);
  await run('sessions', 'close');
  return rate;
};

const flood = async (): Promise<readonly Measured[]> => {
  const bench = benchHome(policyWith({ flood: fixture('flood', String(updates)), plain: fixture('plain') }));
  try {
    const { client: station, pid } = await client(bench);
    const [other, flooded] = [
      await create(station, 'plain', bench.workspace),
      await create(station, 'flood', bench.workspace),
    ];
    await turn(station, other);
    const quiet: number[] = [];
    for (let each = 0; each < turns * floods; each += 1) quiet.push(await turn(station, other));
    await delay(1_000);
    const idleMb = residentMb(pid);
    let peakMb = idleMb;
    const watch = setInterval(() => {
      peakMb = Math.max(peakMb, residentMb(pid));
    }, 50);
    // As acpx has it: nothing else to do.
    const aloneMs = await turn(station, flooded);
    const busy: number[] = [];
    let tookMs = 0;
    for (let each = 0; each < floods; each += 1) {
      let over = false;
      const others = (async () => {
        while (!over) busy.push(await turn(station, other));
      })();
      tookMs += await turn(station, flooded);
      over = true;
      await others;
    }
    clearInterval(watch);
    station.close();
    return [
      {
        what: `${updates.toLocaleString('en')} updates of one turn, all committed`,
        ours: (updates * 1_000) / aloneMs,
        reference: await acpxRate(bench),
        unit: 'updates/s',
        referenceIs: 'acpx, persistent',
        goal: { atLeast: 2 },
        note: `while another session is prompted all the time: ${Math.round((updates * floods * 1_000) / tookMs).toLocaleString('en')} updates/s.`,
      },
      {
        what: 'station memory over idle while it floods',
        ours: peakMb - idleMb,
        reference: 150,
        unit: 'MB',
        referenceIs: 'the bound',
        goal: { atMost: 1 },
      },
      {
        what: "another session's turn meanwhile, p99",
        ours: percentile(busy, 0.99),
        reference: percentile(quiet, 0.99),
        unit: 'ms',
        referenceIs: 'the same, quiet',
        goal: { atMost: 3 },
        note: `${busy.length} turns beside ${floods} floods, median ${median(busy).toFixed(1)} ms, and ${quiet.length} in quiet, median ${median(quiet).toFixed(1)} ms`,
      },
    ];
  } finally {
    bench.end();
  }
};

const idle = async (): Promise<readonly Measured[]> => {
  const bench = benchHome(policyWith({ plain: fixture('plain') }));
  try {
    const { client: station, pid } = await client(bench);
    await turn(station, await create(station, 'plain', bench.workspace));
    await delay(2_000);
    const before = residentMb(pid);
    for (let each = 0; each < idleSessions; each += 1) await create(station, 'plain', bench.workspace);
    await delay(2_000);
    const ours = (residentMb(pid) - before) / idleSessions;
    station.close();
    return [
      {
        what: `station memory of each of ${idleSessions} idle sessions`,
        ours: Math.max(ours, 0.01),
        reference: 4,
        unit: 'MB',
        referenceIs: 'the bound',
        goal: { atMost: 1 },
      },
    ];
  } finally {
    bench.end();
  }
};

/** A client that does what the protocol asks for and nothing else; resolves when the agent has its session. */
const bareOpening = async (
  file: string,
  cwd: string,
  env: Readonly<Record<string, string>>,
): Promise<number> => {
  const begun = performance.now();
  const child = spawn(process.execPath, [file, ...codex.args], {
    cwd,
    env,
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore'],
  });
  const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const ask = async (id: number, method: string, params: unknown): Promise<{ sessionId?: string }> => {
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
    for (;;) {
      const { value, done } = await answers.next();
      if (done === true) throw new Error(`the agent ended at ${method}`);
      const frame = JSON.parse(value) as { id?: number; result?: { sessionId?: string } };
      if (frame.id === id) return frame.result ?? {};
    }
  };
  await ask(1, 'initialize', {
    protocolVersion: 1,
    clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
  });
  await ask(2, 'session/new', { cwd, mcpServers: [] });
  const took = performance.now() - begun;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
  await gone;
  return took;
};

const opening = async (): Promise<readonly Measured[]> => {
  const file = await installed(codex.agent);
  const model = await startModel();
  const own = codex.env(model.url);
  const bench = benchHome(
    policyWith({
      'codex-acp': {
        command: process.execPath,
        args: [file, ...codex.args],
        inherit: ['PATH', 'HOME', ...Object.keys(own)],
        trust: 'full',
      },
    }),
  );
  const home = join(bench.dir, 'user');
  for (const [path, text] of Object.entries(codex.files?.(model.url, bench.workspace) ?? {})) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), text);
  }
  // The station inherits them from this process.
  const env = { PATH: process.env['PATH'] ?? '', HOME: home, ...own };
  const before = { ...process.env };
  Object.assign(process.env, env);
  try {
    const { client: station } = await client(bench);
    const [ours, bare]: [number[], number[]] = [[], []];
    for (let each = 0; each < openings; each += 1) {
      bare.push(await bareOpening(file, bench.workspace, env));
      const begun = performance.now();
      const id = await create(station, 'codex-acp', bench.workspace);
      ours.push(performance.now() - begun);
      await station.call('session.close', { id });
    }
    station.close();
    const added = median(ours) - median(bare);
    return [
      {
        what: 'what the station adds to the opening of codex-acp, its mode set included',
        ours: Math.max(added, 0.01),
        reference: 100,
        unit: 'ms',
        referenceIs: 'the bound',
        goal: { atMost: 1 },
        note: `median of ${openings}: ${Math.round(median(ours))} ms, a bare client ${Math.round(median(bare))} ms`,
      },
    ];
  } finally {
    bench.end();
    process.env = before;
    await model.close();
  }
};

export const bench = async (): Promise<readonly Measured[]> => [
  ...(await flood()),
  ...(await idle()),
  ...(await opening()),
];
