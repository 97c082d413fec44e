/**
 * What is measured in a process of its own, so that its memory is its own: `components.child.ts WHAT GUEST CACHE`.
 * Prints one JSON document.
 */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { Worker } from 'node:worker_threads';
import { type BusComponent, openBus } from '../../host/bus/index.ts';
import { openPolicySource } from '../../host/policy/index.ts';
import {
  type AdmittedComponent,
  admitComponent,
  defaultLimits,
  giveBackMemory,
  startActivation,
} from '../../host/sandbox/index.ts';
import { openEventLog, openState } from '../../host/state/index.ts';
import { median } from './report.ts';

const [what = '', guestFile = '', cache = ''] = process.argv.slice(2);
const permissions = ['bus:publish', 'store:own'];
const name = 'bench.carrier:carrier';

const admitted = async (): Promise<AdmittedComponent> => {
  const result = await admitComponent(readFileSync(guestFile), { cache, permissions, limits: defaultLimits });
  if (!result.ok) throw new Error(JSON.stringify(result.problem));
  return result.value;
};

/** About 1 KB of JSON. */
const load = {
  parts: Array.from({ length: 8 }, (_, index) => ({
    name: `part ${index}`,
    count: index,
    text: 'x'.repeat(84),
  })),
};
const payload = JSON.stringify(load);
const text = { type: 'string' };
const loadShape = {
  type: 'object',
  properties: {
    parts: {
      type: 'array',
      items: {
        type: 'object',
        properties: { name: text, count: { type: 'integer' }, text },
        required: ['name', 'count', 'text'],
      },
    },
  },
  required: ['parts'],
};
const shapes = {
  'bench.carry': { request: loadShape, reply: loadShape },
  'bench.loop': { request: { type: 'object' }, reply: { type: 'object' } },
  'bench.gets': { request: { type: 'object' }, reply: { type: 'object' } },
  'bench.calls': { request: { type: 'object' }, reply: { type: 'object' } },
};

const openBench = async (limits = defaultLimits) => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-bus-'));
  const policyFile = join(dir, 'policy.jsonc');
  writeFileSync(policyFile, JSON.stringify({ grants: { 'bench.carrier': permissions } }));
  const state = openState(join(dir, 'station.db'));
  if (!state.ok) throw new Error(state.problem.message);
  const bus = openBus({
    state: state.value,
    events: openEventLog(state.value, Date.now, (line) => line),
    policy: openPolicySource(policyFile),
    now: Date.now,
    redact: (line) => line,
    ports: {
      log: () => undefined,
      wake: () => undefined,
      write: () => undefined,
      kill: () => undefined,
      release: () => undefined,
      owns: () => false,
      settleSpawns: () => undefined,
      call: () => ({ ok: true, value: null }),
    },
  });
  bus.topics.declare(
    'bench.carrier',
    Object.entries(shapes).map(([id, shape]) => ({ id, kind: 'command' as const, shape })),
  );
  const component = await admitted();
  const serving: BusComponent = {
    name,
    bundle: 'bench.carrier',
    revision: 'r',
    handles: new Set(Object.keys(shapes)),
    subscribes: new Set(),
    publishes: new Set(),
    limits,
    start: (callbacks) => startActivation(component, { limits, name, ...callbacks }),
  };
  const prepared = await bus.prepare(serving);
  if (!prepared.ok) throw new Error(JSON.stringify(prepared.problem));
  await prepared.value.serve();
  const ask = (topic: string, message: unknown) => bus.command(topic, message, { source: 'station:bench' });
  const end = async () => {
    await bus.close();
    state.value.close();
    rmSync(dir, { recursive: true, force: true });
  };
  return { ask, end, component };
};

const residentMb = () => process.memoryUsage.rss() / 2 ** 20;

const batchSize = 32;
/** The generated code in this thread, nothing around it: the least a batched call can cost. */
const bareHandle = async (component: AdmittedComponent) => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-bare-'));
  const file = join(dir, 'g.mjs');
  writeFileSync(file, readFileSync(join(component.folder, 'g.js')));
  const { instantiate } = await import(pathToFileURL(file).href);
  const nothing = () => undefined;
  const guest = instantiate(
    (core: string) => new WebAssembly.Module(readFileSync(join(component.folder, core))),
    {
      'bearpunch:station/types': {},
      'bearpunch:station/log': { write: nothing },
      'bearpunch:station/clock': { now: () => BigInt(Date.now()), wake: nothing },
      'bearpunch:station/random': { bytes: (count: number) => new Uint8Array(count) },
      'bearpunch:station/store': { get: nothing, put: nothing, remove: nothing, scan: () => [] },
      'bearpunch:station/bus': { begin: nothing, publish: nothing },
    },
  ) as { component: { handle: (batch: readonly unknown[]) => readonly { tag: string }[] } };
  rmSync(dir, { recursive: true, force: true });
  return guest.component.handle;
};
const bareMessages = (round: number) =>
  Array.from({ length: batchSize }, (_, index) => ({
    id: `m-${round}-${index}`,
    topic: 'bench.carry',
    payload,
    source: 'station:bench',
    at: 1_700_000_000_000n,
  }));

/** µs a message, ours and bare, in rounds that take turns. */
const batched = async () => {
  const { ask, end, component } = await openBench();
  const handle = await bareHandle(component);
  const [ours, bare]: [number[], number[]] = [[], []];
  const batches = 40;
  for (let round = 0; round < 12; round += 1) {
    let start = performance.now();
    for (let batch = 0; batch < batches; batch += 1) {
      const outcomes = handle(bareMessages(batch));
      if (outcomes.some(({ tag }) => tag !== 'replied')) throw new Error('bare: not replied');
    }
    const bareUs = ((performance.now() - start) * 1_000) / (batches * batchSize);
    start = performance.now();
    const answers = await Promise.all(
      Array.from({ length: batches * batchSize }, () => ask('bench.carry', load)),
    );
    const oursUs = ((performance.now() - start) * 1_000) / (batches * batchSize);
    if (answers.some(({ ok }) => !ok)) throw new Error('ours: refused');
    if (round < 2) continue;
    bare.push(bareUs);
    ours.push(oursUs);
  }
  await end();
  return { ours: median(ours), bare: median(bare), bytes: payload.length };
};

/** Memory after a fifth and after all of 100,000 messages, MB. */
const steady = async () => {
  const { ask, end } = await openBench();
  const send = async (count: number) => {
    for (let sent = 0; sent < count; sent += 1_000)
      await Promise.all(Array.from({ length: 1_000 }, () => ask('bench.carry', load)));
  };
  // As the station at rest does: the young generation, at its largest after so many messages, is not needed.
  const memory = async () => {
    giveBackMemory();
    await new Promise((resolve) => setTimeout(resolve, 500));
    return residentMb();
  };
  await send(20_000);
  const early = await memory();
  await send(80_000);
  const late = await memory();
  const calls = await ask('bench.calls', { count: 10_000 });
  if (!calls.ok) throw new Error(JSON.stringify(calls.problem));
  const gets = await ask('bench.gets', { count: 10_000 });
  if (!gets.ok) throw new Error(JSON.stringify(gets.problem));
  const afterCalls = await memory();
  await end();
  return { early, late, afterCalls };
};

/** From a guest that is stopped at its deadline to the next one's answer, and an empty worker's start, ms. */
const restart = async () => {
  const callDeadlineMs = 300;
  const { ask, end } = await openBench({ ...defaultLimits, callDeadlineMs, restartsPerHour: 1_000 });
  const [ours, bare]: [number[], number[]] = [[], []];
  for (let round = 0; round < 15; round += 1) {
    const killed = await ask('bench.loop', {});
    const start = performance.now();
    if (killed.ok) throw new Error('it was to be stopped');
    const answered = await ask('bench.carry', load);
    if (!answered.ok) throw new Error(JSON.stringify(answered.problem));
    ours.push(performance.now() - start);
    const before = performance.now();
    const worker = new Worker(`require('node:worker_threads').parentPort.postMessage(1)`, { eval: true });
    await new Promise((resolve) => worker.once('message', resolve));
    bare.push(performance.now() - before);
    await worker.terminate();
  }
  await end();
  return { ours: median(ours), bare: median(bare) };
};

const measures: Readonly<Record<string, () => Promise<unknown>>> = { batched, steady, restart };
const measure = measures[what];
if (measure === undefined) throw new Error(`nothing is measured as ${what}`);
console.log(JSON.stringify(await measure()));
