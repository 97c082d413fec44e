/** A bus with one real component in a real worker, over a real database and policy file. */
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { buildComponent } from '../../components/guest/build.ts';
import { type Bus, type BusComponent, type DeclaredTopic, openBus } from '../../host/bus/index.ts';
import { answerStore } from '../../host/capabilities/index.ts';
import { type Limits, openPolicySource } from '../../host/policy/index.ts';
import { admitComponent, defaultLimits, startActivation } from '../../host/sandbox/index.ts';
import {
  type ComponentStore,
  openComponentStore,
  openEventLog,
  openState,
  type StationEvent,
} from '../../host/state/index.ts';

export const permissions = ['store:own', 'bus:publish', 'process:spawn'];
const root = join(import.meta.dirname, '..', '..');

// One transpilation for all tests of a process; removed at its end.
const cache = mkdtempSync(join(tmpdir(), 'jupiter-bus-cache-'));
process.on('exit', () => rmSync(cache, { recursive: true, force: true }));

let built: Promise<Uint8Array> | undefined;
const testerBytes = (): Promise<Uint8Array> => {
  built ??= (async () => {
    const dir = mkdtempSync(join(tmpdir(), 'jupiter-tester-'));
    try {
      return await buildComponent({
        entry: join(root, 'tests', 'fixtures', 'guests', 'tester.ts'),
        out: join(dir, 'tester.wasm'),
        permissions,
      });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  })();
  return built;
};

const text = { type: 'string' };
const happened = {
  type: 'object',
  properties: { what: text },
  required: ['what'],
  additionalProperties: false,
};
export const topics: readonly DeclaredTopic[] = [
  {
    id: 'test.do',
    kind: 'command',
    shape: {
      request: {
        type: 'object',
        properties: {
          put: { type: 'object', additionalProperties: text },
          get: text,
          act: text,
          times: { type: 'number' },
          text,
          to: text,
          token: text,
        },
        additionalProperties: false,
      },
      reply: { type: 'object', properties: { value: text }, additionalProperties: false },
    },
  },
  { id: 'test.happened', kind: 'event', shape: { event: happened } },
  { id: 'test.undeclared', kind: 'event', shape: { event: happened } },
];

export interface BusBench {
  readonly bus: Bus;
  readonly store: ComponentStore;
  readonly ask: (payload: unknown, to?: string) => ReturnType<Bus['command']>;
  readonly stored: (key: string, name?: string) => string | undefined;
  readonly events: () => readonly StationEvent[];
  /** Lines that reached the log. */
  readonly logged: () => number;
  readonly grant: (granted: readonly string[]) => void;
  /** What the bus did outside: `settle <message> true`, `log warn text`. */
  readonly done: readonly string[];
  readonly component: (name: string, limits?: Partial<Limits>) => Promise<BusComponent>;
  /** Prepares and takes into service. */
  readonly attach: (name: string, limits?: Partial<Limits>) => Promise<void>;
}

export const openBusBench = async (
  t: TestContext,
  options: {
    readonly now?: () => number;
    readonly redact?: (line: string) => string;
    readonly subscribes?: (name: string) => readonly string[];
    readonly owns?: (name: string, process: string) => boolean;
    /** In place of the disk. */
    readonly durable?: (then: () => void) => void;
  } = {},
): Promise<BusBench> => {
  const { now = Date.now, redact = (line: string) => line } = options;
  const { subscribes = () => ['test.happened'], owns = () => false } = options;
  const done: string[] = [];
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bus-'));
  const policyFile = join(dir, 'policy.jsonc');
  const grant = (granted: readonly string[]) =>
    writeFileSync(policyFile, JSON.stringify({ grants: { 'test.bundle': granted } }));
  grant(permissions);
  const state = openState(join(dir, 'station.db'));
  if (!state.ok) throw new Error(state.problem.message);
  const store = openComponentStore(state.value.db);
  const events = openEventLog(state.value, Date.now, (line) => line);
  const bus = openBus({
    state: { ...state.value, ...(options.durable === undefined ? {} : { durable: options.durable }) },
    events,
    policy: openPolicySource(policyFile),
    now,
    redact,
    ports: {
      log: (_name, level, line) => void done.push(`log ${level} ${line}`),
      wake: () => undefined,
      write: () => undefined,
      kill: () => void done.push('kill'),
      release: () => undefined,
      owns,
      settleSpawns: (_name, message, kept) => void done.push(`settle ${message} ${kept}`),
      call: (name, call) => {
        if (call.call === 'store.get' || call.call === 'store.scan') return answerStore(store, name, call);
        throw new Error(`not in this test: ${call.call}`);
      },
    },
  });
  bus.topics.declare('test.bundle', topics);
  t.after(async () => {
    await bus.close();
    state.value.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const component = async (name: string, changed: Partial<Limits> = {}): Promise<BusComponent> => {
    const limits = { ...defaultLimits, ...changed };
    const admitted = await admitComponent(await testerBytes(), {
      cache,
      permissions,
      limits,
    });
    if (!admitted.ok) throw new Error(JSON.stringify(admitted.problem));
    return {
      name,
      bundle: 'test.bundle',
      revision: 'r1',
      handles: new Set(['test.do']),
      subscribes: new Set(subscribes(name)),
      publishes: new Set(['test.happened', 'test.do']),
      limits,
      start: (callbacks) => startActivation(admitted.value, { limits, name, ...callbacks }),
    };
  };
  return {
    bus,
    done,
    store,
    grant,
    component,
    ask: (payload, to) =>
      bus.command('test.do', payload, { source: 'station:test', ...(to === undefined ? {} : { to }) }),
    stored: (key, name = 'test.bundle:one') => {
      const found = store.get(name, key);
      return found === undefined ? undefined : (JSON.parse(found) as string);
    },
    events: () => events.newest(100),
    logged: () => done.filter((line) => line.startsWith('log ')).length,
    attach: async (name, limits) => {
      const prepared = await bus.prepare(await component(name, limits));
      if (!prepared.ok) throw new Error(JSON.stringify(prepared.problem));
      await prepared.value.serve();
    },
  };
};
