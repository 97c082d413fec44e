/**
 * A host for guests in tests: instantiates a real component with jco's glue and records what it asks for. Effects
 * of a message count only when it did not fail, as on a station; reads see those of the whole batch so far.
 */
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { transpileBytes } from '@bytecodealliance/jco-transpile';
import type { Problem } from '../../host/problems/index.ts';

export interface Sent {
  readonly topic: string;
  readonly payload: string;
  readonly source: string;
  readonly at?: number;
}
export type Outcome =
  | { readonly tag: 'done' }
  | { readonly tag: 'replied'; readonly val: string }
  | { readonly tag: 'failed'; readonly val: Problem };
export interface Published {
  readonly topic: string;
  readonly payload: string;
  readonly to: string | undefined;
  readonly token: string | undefined;
}
export interface Platform {
  readonly now?: () => number;
  readonly spawn?: (program: string, cwd: string) => string;
  readonly offered?: (process: string, agent: string) => unknown;
  readonly servers?: (agent: string) => unknown;
  /** Where a test says nothing, as `servers`. */
  readonly serversFor?: (session: string, agent: string, cwd: string, mcpConfig?: string) => unknown;
  readonly placeSkills?: (cwd: string, sink: string) => unknown;
  readonly outside?: (cwd: string, paths: readonly string[]) => readonly string[];
}
/** What one message asked for. */
export interface Asked {
  readonly outcome: Outcome;
  readonly logs: readonly string[];
  readonly published: readonly Published[];
  readonly written: readonly { readonly process: string; readonly text: string }[];
  readonly killed: readonly string[];
  readonly wakes: readonly { readonly token: string; readonly afterMs: number }[];
  readonly puts: number;
}
export interface Guest {
  readonly imports: readonly string[];
  readonly store: Map<string, string>;
  readonly handle: (batch: readonly Sent[]) => readonly Asked[];
  /** A new instance over the same store, as after a trap. */
  readonly restart: () => void;
  readonly close: () => Promise<void>;
}

interface Collected {
  logs: string[];
  published: Published[];
  written: { process: string; text: string }[];
  killed: string[];
  wakes: { token: string; afterMs: number }[];
  changes: Map<string, string | undefined>;
  puts: number;
}
const nothing = (): Collected => ({
  logs: [],
  published: [],
  written: [],
  killed: [],
  wakes: [],
  changes: new Map(),
  puts: 0,
});

// The types of Node have no WebAssembly of their own, and the DOM's are not loaded.
const { Module } = (globalThis as unknown as { WebAssembly: { Module: new (bytes: Uint8Array) => object } })
  .WebAssembly;

interface Glue {
  readonly instantiate: (
    module: (path: string) => object,
    imports: Readonly<Record<string, unknown>>,
  ) => { readonly component: { readonly handle: (batch: readonly unknown[]) => Outcome[] } };
}

/** Throws what a guest sees as the `err` of a result. */
export const refusal = (problem: Problem): never => {
  throw Object.assign(new Error(problem.message), { payload: problem });
};
const missing = (name: string) => () =>
  refusal({ code: 'test/no-host', message: `the test gives no ${name}` });

export const loadGuest = async (wasm: string, platform: Platform = {}): Promise<Guest> => {
  const folder = await mkdtemp(join(tmpdir(), 'jupiter-guest-'));
  const { files, imports } = await transpileBytes(await readFile(wasm), {
    name: 'g',
    instantiation: 'sync',
    wasiShim: false,
    nodejsCompat: false,
    tlaCompat: false,
    base64Cutoff: 0,
  });
  const modules = new Map<string, object>();
  for (const [name, bytes] of Object.entries(files)) {
    if (name.endsWith('.wasm')) modules.set(name, new Module(Uint8Array.from(bytes)));
  }
  await writeFile(join(folder, 'package.json'), '{"type":"module"}');
  await writeFile(join(folder, 'g.js'), files['g.js'] ?? '');
  const glue = (await import(pathToFileURL(join(folder, 'g.js')).href)) as Glue;

  const store = new Map<string, string>();
  let collected = new Map<string, Collected>();
  let current = nothing();
  const effective = (): Map<string, string> => {
    const view = new Map(store);
    for (const { changes } of collected.values()) {
      for (const [key, value] of changes) {
        if (value === undefined) view.delete(key);
        else view.set(key, value);
      }
    }
    return view;
  };
  const read = (key: string): string | undefined => {
    for (const { changes } of [...collected.values()].reverse())
      if (changes.has(key)) return changes.get(key);
    return store.get(key);
  };
  const now = platform.now ?? Date.now;
  const host = {
    'bearpunch:station/log': {
      write: (level: string, text: string) => current.logs.push(`${level} ${text}`) && undefined,
    },
    'bearpunch:station/clock': {
      now: () => BigInt(now()),
      wake: (token: string, afterMs: number) => void current.wakes.push({ token, afterMs }),
    },
    'bearpunch:station/random': { bytes: (count: number) => crypto.getRandomValues(new Uint8Array(count)) },
    'bearpunch:station/store': {
      get: read,
      scan: (prefix: string, after: string | undefined, limit: number) =>
        [...effective()]
          .filter(([key]) => key.startsWith(prefix) && (after === undefined || key > after))
          .sort(([a], [b]) => (a < b ? -1 : 1))
          .slice(0, limit)
          .map(([key, value]) => ({ key, value })),
      put: (key: string, value: string) => {
        current.puts += 1;
        current.changes.set(key, value);
      },
      remove: (key: string) => void current.changes.set(key, undefined),
    },
    'bearpunch:station/bus': {
      begin: (id: string) => {
        current = collected.get(id) ?? current;
        if (!collected.has(id)) {
          current = nothing();
          collected.set(id, current);
        }
      },
      publish: (topic: string, payload: string, to: string | undefined, token: string | undefined) =>
        void current.published.push({ topic, payload, to, token }),
    },
    'bearpunch:station/process': {
      spawn: platform.spawn ?? missing('spawn'),
      write: (process: string, text: string) => void current.written.push({ process, text }),
      kill: (process: string) => void current.killed.push(process),
    },
    'bearpunch:station/workspace': {
      offered: platform.offered ?? (() => ({ read: false, write: false, terminals: false })),
      readTextFile: missing('readTextFile'),
      writeTextFile: missing('writeTextFile'),
    },
    'bearpunch:station/terminals': {
      create: missing('create'),
      output: missing('output'),
      kill: () => undefined,
      release: () => undefined,
    },
    'bearpunch:station/session-context': {
      servers: platform.servers ?? missing('servers'),
      serversFor:
        platform.serversFor ??
        ((_session: string, agent: string) => (platform.servers ?? missing('servers'))(agent)),
      placeSkills: platform.placeSkills ?? missing('placeSkills'),
      outside: platform.outside ?? missing('outside'),
    },
  };
  const start = () =>
    glue.instantiate((path) => {
      const module = modules.get(basename(path));
      if (module === undefined) throw new Error(`no module ${path}`);
      return module;
    }, host);
  let instance = start();
  let count = 0;

  return {
    imports: [...imports].sort(),
    store,
    handle: (batch) => {
      collected = new Map();
      current = nothing();
      const messages = batch.map(({ topic, payload, source, at }) => {
        count += 1;
        return { id: `m${count}`, topic, payload, source, at: BigInt(at ?? now()) };
      });
      const single = current;
      const outcomes = instance.component.handle(messages);
      return outcomes.map((outcome, index) => {
        const id = messages[index]?.id ?? '';
        // A component without the bus does not say which message it handles: it gets batches of one.
        const asked = collected.get(id) ?? single;
        const { changes, ...effects } = asked;
        if (outcome.tag === 'failed')
          return {
            ...nothing(),
            outcome,
            logs: asked.logs.filter((line) => line.startsWith('error ')),
            puts: 0,
          };
        for (const [key, value] of changes) {
          if (value === undefined) store.delete(key);
          else store.set(key, value);
        }
        return { outcome, ...effects };
      });
    },
    restart: () => {
      instance = start();
    },
    close: () => rm(folder, { recursive: true, force: true }),
  };
};
