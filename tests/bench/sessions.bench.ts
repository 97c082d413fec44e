/**
 * Creating a session until the agent has answered `session/new`, and durable transcript updates end to end: a line from
 * the agent → Adapter → Sessions → committed.
 */
import { spawn } from 'node:child_process';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import Database from 'better-sqlite3';
import { connectStation } from '../../host/cli/client.ts';
import { firstPartyGrants, fixtureAgent } from '../e2e/harness.ts';
import { benchHome } from './bench-home.ts';
import { type Measured, median, percentile } from './report.ts';

const opens = 15;
const updates = 20_000;
const paced = { updates: 1_000, everyMs: 5 };

const agent = (...mode: readonly string[]) => [fixtureAgent, ...mode];
const program = (...mode: readonly string[]) => ({
  command: process.execPath,
  args: agent(...mode),
  inherit: ['PATH'],
  trust: 'full',
});

const policy = {
  grants: firstPartyGrants,
  agents: {
    stamp: { program: 'stamp-agent' },
    flood: { program: 'flood-agent' },
    paced: { program: 'paced-agent' },
  },
  programs: {
    'stamp-agent': program('stamp'),
    'flood-agent': program('flood', String(updates)),
    'paced-agent': program('paced', String(paced.updates), String(paced.everyMs)),
  },
};

/** From `start` until the agent had `session/new`, by the agent's own note, ms. */
const untilStamp = (cwd: string, start: bigint): number =>
  Number(BigInt(readFileSync(join(cwd, 'stamp'), 'utf8')) - start) / 1e6;

/** The same agent and the same frames, from a script that does nothing else. */
const bareOpen = async (cwd: string): Promise<number> => {
  const start = process.hrtime.bigint();
  const child = spawn(process.execPath, agent('stamp'), { cwd, stdio: ['pipe', 'pipe', 'ignore'] });
  const send = (id: number, method: string, params: unknown) =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: '2.0', id, method, params })}\n`);
  send(0, 'initialize', { protocolVersion: 1, clientCapabilities: {} });
  for await (const line of createInterface({ input: child.stdout })) {
    const { id } = JSON.parse(line) as { id?: number };
    if (id === 0) send(1, 'session/new', { cwd, mcpServers: [] });
    if (id === 1) break;
  }
  child.kill('SIGKILL');
  return untilStamp(cwd, start);
};

/** What one commit an update costs on this disk: the reference for the flood. */
const singleCommits = (file: string): number => {
  const db = new Database(file);
  db.pragma('journal_mode = WAL');
  db.pragma('synchronous = FULL');
  db.exec('CREATE TABLE t (k INTEGER PRIMARY KEY, v TEXT)');
  const insert = db.prepare('INSERT INTO t (v) VALUES (?)');
  const text = 'x'.repeat(500);
  const count = 5_000;
  const start = performance.now();
  for (let index = 0; index < count; index += 1) insert.run(text);
  const rate = (count / (performance.now() - start)) * 1_000;
  db.close();
  rmSync(file, { force: true });
  return rate;
};

export const bench = async (): Promise<readonly Measured[]> => {
  const bench = benchHome(policy);
  try {
    bench.jupiter('up');
    const client = await connectStation(bench.home);
    if (!client.ok) throw new Error(client.problem.message);
    const { call } = client.value;
    const create = async (name: string): Promise<string> => {
      const made = await call('session.create', { agent: name, cwd: bench.workspace });
      if (!made.ok || made.value.state !== 'idle') throw new Error(JSON.stringify(made));
      return made.value.id;
    };
    /** Nobody follows: the turn is asked for, and its end looked for now and then. */
    const unfollowedTurn = async (id: string): Promise<number> => {
      const start = performance.now();
      await call('session.say', { id, text: 'go' });
      for (;;) {
        const shown = await call('session.show', { id });
        if (!shown.ok || shown.value.state !== 'running') return performance.now() - start;
        await new Promise((resolve) => setTimeout(resolve, 10));
      }
    };
    const turn = async (id: string, onEntry: (text: string) => void = () => undefined): Promise<number> => {
      const start = performance.now();
      const said = await call('session.say', { id, text: 'go', wait: true }, ({ text }) => onEntry(text));
      if (!said.ok || said.value.stopReason !== 'end_turn') throw new Error(JSON.stringify(said));
      return performance.now() - start;
    };
    await create('stamp');
    const ours: number[] = [];
    const bare: number[] = [];
    for (let round = 0; round < opens; round += 1) {
      const start = process.hrtime.bigint();
      const id = await create('stamp');
      ours.push(untilStamp(bench.workspace, start));
      await call('session.close', { id });
      bare.push(await bareOpen(bench.workspace));
    }
    const flooded = await unfollowedTurn(await create('flood'));
    const reference = singleCommits(join(bench.dir, 'reference.db'));

    // Each paced update names the moment its agent sent it, on the clock both processes share.
    await turn(await create('paced'));
    const delays: number[] = [];
    await turn(await create('paced'), (text) => {
      const sent = /sent (\d+)/.exec(text)?.[1];
      if (sent !== undefined) delays.push(Number(process.hrtime.bigint() - BigInt(sent)) / 1e6);
    });
    if (delays.length < paced.updates)
      throw new Error(`${delays.length} of ${paced.updates} updates were seen`);
    client.value.close();
    return [
      {
        what: 'session create, warm station, to the agent having `session/new`',
        ours: median(ours),
        reference: median(bare),
        unit: 'ms',
        referenceIs: 'a bare script with the same agent and frames',
        goal: { atMost: 1.4 },
      },
      {
        what: `durable updates end to end, ${updates.toLocaleString('en')} of about 500 bytes`,
        ours: (updates / flooded) * 1_000,
        reference,
        unit: '/s',
        referenceIs: 'SQLite alone, one FULL commit an update',
        goal: { atLeast: Number((6_000 / reference).toFixed(2)) },
        note: 'the goal is 6,000 a second; the ratio is that figure over the reference of this run.',
      },
      {
        what: `one update in ${paced.everyMs} ms: from the agent to a following client, p99`,
        ours: percentile(delays, 0.99),
        reference: paced.everyMs,
        unit: 'ms',
        referenceIs: 'the pace',
        goal: { atMost: 10 / paced.everyMs },
        note: `median ${median(delays).toFixed(2)} ms; the goal is 10 ms`,
      },
    ];
  } finally {
    bench.end();
  }
};
