/** All servers that are configured now, each with its connection; what is new is dialled in the background. */
import { refuse } from '../../problems/index.ts';
import type { Processes } from '../../processes/index.ts';
import { type Dialled, openConnection } from './connection.ts';
import type { Connection, Connections, Json, ServerEntry } from './edge.ts';
import { type ConnectionLimits, usualLimits } from './limits.ts';
import { openTurns } from './turns.ts';
import type { Env } from './variables.ts';

export interface ConnectionsOptions {
  readonly processes: Processes;
  /** Read at each use. */
  readonly env: Env;
  readonly redact: (text: string) => string;
  /** Folder of the servers' logs. */
  readonly logs: string;
  /** Where a program is started whose entry names no folder. */
  readonly cwd: string;
  readonly client: { readonly name: string; readonly version: string };
  /** The station's own gateway is never dialled. */
  readonly isOwn?: (url: URL) => boolean;
  /** What servers are told that may be asked while a call runs. */
  readonly capabilities?: Json;
  readonly limits?: Partial<ConnectionLimits>;
  /** ms. */
  readonly now?: () => number;
  /** 0 to 1. */
  readonly random?: () => number;
}

const usualCapabilities: Json = { elicitation: { form: {} }, sampling: {}, roots: {} };
/** Names listed for somebody who mistyped one. */
const shownNames = 50;

export const openConnections = (options: ConnectionsOptions): Connections => {
  const limits = { ...usualLimits, ...options.limits };
  const turns = {
    stdio: openTurns(limits.programs, limits.turnMs),
    http: openTurns(limits.addresses, limits.turnMs),
  };
  const all = new Map<string, { readonly dialled: Dialled; readonly text: string }>();
  /** Connections that were let go and are not gone yet, by key: the next of the same key begins after them. */
  const leaving = new Map<string, Promise<void>>();
  const listeners = new Set<(connection: Connection, what: 'status' | 'tools') => void>();
  let closed = false;

  const letGo = (key: string, { close }: Dialled): void => {
    const gone = Promise.all([leaving.get(key), close()]).then(() => {
      if (leaving.get(key) === gone) leaving.delete(key);
    });
    leaving.set(key, gone);
  };
  const begin = (entry: ServerEntry, text: string): void => {
    const dialled: Dialled = openConnection(
      {
        processes: options.processes,
        env: options.env,
        redact: options.redact,
        logs: options.logs,
        cwd: options.cwd,
        client: options.client,
        capabilities: options.capabilities ?? usualCapabilities,
        isOwn: options.isOwn ?? (() => false),
        limits,
        turns,
        now: options.now ?? (() => performance.now()),
        random: options.random ?? Math.random,
        changed: (what) => {
          if (all.get(entry.key)?.dialled !== dialled) return;
          for (const listener of listeners) listener(dialled.connection, what);
        },
      },
      entry,
      leaving.get(entry.key),
    );
    all.set(entry.key, { dialled, text });
  };

  return {
    reconcile: (entries) => {
      if (closed) return;
      const wanted = new Map(entries.map((entry) => [entry.key, entry]));
      for (const [key, { dialled }] of all) {
        if (wanted.has(key)) continue;
        all.delete(key);
        letGo(key, dialled);
      }
      for (const [key, entry] of wanted) {
        const text = JSON.stringify(entry);
        const known = all.get(key);
        if (known?.text === text) continue;
        if (known !== undefined) letGo(key, known.dialled);
        begin(entry, text);
      }
    },
    all: () => [...all.values()].map(({ dialled }) => dialled.connection),
    get: (key) => all.get(key)?.dialled.connection,
    reconnect: (key) => {
      const known = all.get(key);
      if (known === undefined) {
        const names = [...all.keys()].slice(0, shownNames).join(', ');
        return refuse('connections/unknown', { subject: key, evidence: `known: ${names || 'none'}` });
      }
      return known.dialled.reconnect();
    },
    onChange: (listener) => {
      listeners.add(listener);
      return () => void listeners.delete(listener);
    },
    close: async () => {
      closed = true;
      for (const [key, { dialled }] of all) letGo(key, dialled);
      all.clear();
      await Promise.all(leaving.values());
    },
  };
};
