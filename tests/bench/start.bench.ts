/** `up` to ready with everything cached, and idle memory, beside a bare Node that opens SQLite and listens. */
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstPartyGrants } from '../e2e/harness.ts';
import { benchHome, residentMb, root } from './bench-home.ts';
import { type Measured, median } from './report.ts';

const rounds = 9;

const bareScript = `
import Database from ${JSON.stringify(join(root, 'node_modules', 'better-sqlite3', 'lib', 'index.js'))};
import { createServer } from 'node:net';
const db = new Database(process.argv[2]);
db.pragma('journal_mode = WAL');
db.exec('CREATE TABLE IF NOT EXISTS t (k TEXT PRIMARY KEY, v TEXT)');
createServer().listen(process.argv[3], () => process.send('ready'));
`;

export const bench = async (): Promise<readonly Measured[]> => {
  const bench = benchHome({ grants: firstPartyGrants });
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bare-'));
  const script = join(dir, 'bare.mjs');
  writeFileSync(script, bareScript);
  const ours: number[] = [];
  const bare: number[] = [];
  let oursMb = 0;
  let bareMb = 0;
  try {
    bench.jupiter('up');
    bench.jupiter('down');
    for (let round = 0; round < rounds; round += 1) {
      const before = performance.now();
      const { pid } = JSON.parse(bench.jupiter('up')) as { pid: number };
      ours.push(performance.now() - before);
      if (round === rounds - 1) {
        // Idle means idle: what starting left behind is given back first.
        await new Promise((resolve) => setTimeout(resolve, 2_000));
        oursMb = residentMb(pid);
      }
      bench.jupiter('down');
      bare.push(
        await new Promise<number>((resolve) => {
          const start = performance.now();
          const child = spawn(
            process.execPath,
            [script, join(dir, 'bare.db'), join(dir, `bare-${round}.sock`)],
            {
              stdio: ['ignore', 'ignore', 'inherit', 'ipc'],
            },
          );
          child.on('message', () => {
            const took = performance.now() - start;
            bareMb = residentMb(child.pid ?? 0);
            child.kill();
            resolve(took);
          });
        }),
      );
    }
  } finally {
    bench.jupiter('up');
    bench.end();
    rmSync(dir, { recursive: true, force: true });
  }
  return [
    {
      what: '`jupiter up` to ready, three bundles cached',
      ours: median(ours),
      reference: median(bare),
      unit: 'ms',
      referenceIs: 'bare Node 26, SQLite, listening',
      goal: { atMost: 4 },
      note: 'the whole command: the client starts, starts the station, waits until it is ready and ends.',
    },
    {
      what: 'idle memory of the station',
      ours: oursMb,
      reference: bareMb,
      unit: 'MB',
      referenceIs: 'the same bare Node',
      goal: { atMost: Number((200 / bareMb).toFixed(2)) },
      note: 'the goal is 200 MB; the ratio is that figure over the reference of this run.',
    },
  ];
};
