/** The bound on Wasm memory that a station has in its whole process, behind the maxima in the modules. */
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
import { Worker } from 'node:worker_threads';
import { openStation } from '${root}/host/station/index.ts';
import { connectStation } from '${root}/host/cli/client.ts';
const wants = () => new Promise((resolve) => {
  const source = "let got = 0; try { const m = new WebAssembly.Memory({ initial: 1 }); m.grow(${backstopPages + 1_000}); got = m.buffer.byteLength; } catch {} require('node:worker_threads').parentPort.postMessage(got)";
  new Worker(source, { eval: true, execArgv: ['--permission'] }).on('message', resolve);
});
const before = await wants();
const station = await openStation({ home: process.argv[2] });
if (!station.ok) throw new Error(JSON.stringify(station.problem));
const client = await connectStation(process.argv[2]);
await client.value.call('status', {});
client.value.close();
const after = await wants();
await station.value.stop();
console.log(JSON.stringify({ before, after }));
`;

test('W6: in a station no memory grows beyond the backstop, whoever asks; without one it does', async (t) => {
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
  const { before, after } = JSON.parse(out) as { before: number; after: number };
  assert.ok(before > backstopPages * 65_536, 'control: before the station opened');
  assert.equal(after, 0);
});

test('the backstop is above all that policy may give a component', () => {
  assert.ok(limitTable.memoryBytes.most < backstopPages * 65_536);
});
