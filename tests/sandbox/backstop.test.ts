/** What a station has for its whole process: the bound on Wasm memory behind the maxima, and what it gives back at rest. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { pathToFileURL } from 'node:url';
import { limitTable } from '../../host/policy/index.ts';
import { backstopPages } from '../../host/sandbox/process.ts';

const root = pathToFileURL(join(import.meta.dirname, '..', '..')).href;

/** A station in a process of its own, and a worker beside it that wants more memory than any component may have. */
const program = `
import { constants, PerformanceObserver } from 'node:perf_hooks';
import { getHeapSpaceStatistics } from 'node:v8';
import { Worker } from 'node:worker_threads';
import { openStation } from '${root}/host/station/index.ts';
import { connectStation } from '${root}/host/cli/client.ts';
const wants = () => new Promise((resolve) => {
  const source = "let got = 0; try { const m = new WebAssembly.Memory({ initial: 1 }); m.grow(${backstopPages + 1_000}); got = m.buffer.byteLength; } catch {} require('node:worker_threads').parentPort.postMessage(got)";
  new Worker(source, { eval: true, execArgv: ['--permission'] }).on('message', resolve);
});
const young = () => getHeapSpaceStatistics().find(({ space_name }) => space_name === 'new_space').space_size;
const collected = new Promise((resolve) => {
  const isWhole = ({ detail }) => (detail.flags & constants.NODE_PERFORMANCE_GC_FLAGS_ALL_AVAILABLE_GARBAGE) !== 0;
  new PerformanceObserver((list) => { if (list.getEntries().some(isWhole)) resolve(young()); }).observe({ entryTypes: ['gc'] });
  setTimeout(() => resolve('never'), 20_000).unref();
});
const before = await wants();
const station = await openStation({ home: process.argv[2] });
if (!station.ok) throw new Error(JSON.stringify(station.problem));
const client = await connectStation(process.argv[2]);
await client.value.call('status', {});
client.value.close();
const after = await wants();
const rested = await collected;
await station.value.stop();
console.log(JSON.stringify({ before, after, rested }));
`;

test('W6: in a station no memory grows beyond the backstop, whoever asks; at rest it gives back what its start took', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-backstop-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const home = join(dir, 'home');
  writeFileSync(join(dir, 'program.mjs'), program);

  mkdirSync(home, { mode: 0o700 });
  writeFileSync(join(home, 'policy.jsonc'), '{}');
  const child = spawn(process.execPath, [join(dir, 'program.mjs'), home], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    out += text;
  });
  await new Promise((resolve) => child.on('close', resolve));
  const { before, after, rested } = JSON.parse(out) as { before: number; after: number; rested: unknown };
  assert.ok(before > backstopPages * 65_536, 'control: before the station opened');
  assert.equal(after, 0);
  assert.ok(typeof rested === 'number' && rested <= 1024 * 1024, `young generation at rest: ${rested}`);
});

test('the backstop is above all that policy may give a component', () => {
  assert.ok(limitTable.memoryBytes.most < backstopPages * 65_536);
});
