/**
 * What a handler can do, typed: the platform interfaces with JSON, results instead of throws, and bounded text.
 * A call whose interface the component asked no permission for fails as `component/permission-missing`.
 */
/// <reference path="./platform.d.ts" />
import * as wireBus from 'bearpunch:station/bus@0.3.0';
import * as wireClock from 'bearpunch:station/clock@0.3.0';
import * as wireLog from 'bearpunch:station/log@0.3.0';
import * as wireProcess from 'bearpunch:station/process@0.3.0';
import * as wireRandom from 'bearpunch:station/random@0.3.0';
import * as wireContext from 'bearpunch:station/session-context@0.3.0';
import * as wireStore from 'bearpunch:station/store@0.3.0';
import * as wireTerminals from 'bearpunch:station/terminals@0.3.0';
import * as wireWorkspace from 'bearpunch:station/workspace@0.3.0';
import { attempt, bounded, type Result } from './problems.ts';
import type { CommandId, EventId, PayloadOf } from './topics.ts';

/** Longest text of one log line, UTF-16 units. */
const logUnits = 4_000;
const alphabet = 'abcdefghijklmnopqrstuvwxyz0123456789';

export interface Log {
  readonly debug: (text: string) => void;
  readonly info: (text: string) => void;
  readonly warn: (text: string) => void;
  /** Kept even where the message fails. */
  readonly error: (text: string) => void;
}
export interface Clock {
  /** Milliseconds since 1970. */
  readonly now: () => number;
  /** Asks for one `woke` with this token, not sooner than `afterMs`; asked for again it moves. */
  readonly wake: (token: string, afterMs: number) => void;
}
export interface Random {
  /** At most 4096. */
  readonly bytes: (count: number) => Uint8Array;
  /** Lower-case letters and digits, 5.17 bits each. */
  readonly id: (length?: number) => string;
}
export interface Store {
  /** The JSON value under a key. The caller says its type: nobody else writes here. */
  readonly get: <V>(key: string) => V | undefined;
  readonly put: (key: string, value: unknown) => void;
  /** As `put`, with the value as JSON text. */
  readonly putText: (key: string, value: string) => void;
  readonly remove: (key: string) => void;
  /** Entries whose key begins with `prefix` and sorts after `after`, at most `limit` (1000). */
  readonly scan: <V>(
    prefix: string,
    page?: { readonly after?: string | undefined; readonly limit?: number },
  ) => { readonly key: string; readonly value: V }[];
  /** As `scan`, with the values as JSON text. */
  readonly scanText: (
    prefix: string,
    page?: { readonly after?: string | undefined; readonly limit?: number },
  ) => { readonly key: string; readonly value: string }[];
}
export interface Bus<T> {
  readonly event: <K extends EventId<T>>(topic: K, payload: PayloadOf<T, K>) => void;
  /** `to` addresses a component; with a `token` the command's fate comes back as `reply`. */
  readonly command: <K extends CommandId<T>>(
    topic: K,
    payload: PayloadOf<T, K>,
    options?: { readonly to?: string; readonly token?: string },
  ) => void;
}
export interface Process {
  readonly spawn: (program: string, cwd: string) => Result<string>;
  readonly write: (process: string, text: string) => void;
  readonly kill: (process: string) => void;
}

/** Whose files and commands: a process the component started, for an agent of policy. */
export interface Asking {
  readonly process: string;
  readonly agent: string;
}
export interface Offer {
  readonly read: boolean;
  readonly write: boolean;
  readonly terminals: boolean;
}
/** Text files of the directory a process was started in, as far as policy offers them to the agent. */
export interface Workspace {
  readonly offered: (who: Asking) => Result<Offer>;
  /** `line` counts from 1; `limit` is a number of lines. */
  readonly readTextFile: (
    who: Asking,
    path: string,
    part?: { readonly line?: number | undefined; readonly limit?: number | undefined },
  ) => Result<string>;
  readonly writeTextFile: (who: Asking, path: string, content: string) => Result<void>;
}
export interface Command {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly cwd?: string | undefined;
  readonly outputBytes?: number | undefined;
}
export interface Exit {
  readonly code?: number | null;
  readonly signal?: string | null;
}
/** Commands that run for an agent; the end of one comes as `terminalExited`. */
export interface Terminals {
  readonly create: (who: Asking, command: Command) => Result<string>;
  /** `exit` once it has ended. */
  readonly output: (
    terminal: string,
  ) => Result<{ readonly text: string; readonly truncated: boolean; readonly exit?: Exit }>;
  readonly kill: (terminal: string) => void;
  readonly release: (terminal: string) => void;
}

export type Transport =
  | { readonly type: 'stdio'; readonly command: string; readonly args: string[] }
  | { readonly type: 'http'; readonly url: string }
  | { readonly type: 'gateway'; readonly url: string; readonly command: string; readonly args: string[] };
export interface Provision {
  readonly policyRevision: string;
  readonly program?: string;
  readonly provider?: string;
  readonly approve: 'manual' | 'auto' | 'workspace';
  readonly sink: string | null;
  readonly offered: readonly {
    readonly name: string;
    readonly rule: string;
    readonly transport: Transport;
  }[];
  readonly withheld: readonly { readonly name: string; readonly rule: string; readonly reason: string }[];
}
export interface Placement {
  readonly bundle: string;
  readonly revision: string;
  readonly name: string;
  readonly decision: 'placed' | 'unchanged' | 'refused';
  readonly reason?: string;
  readonly files: number;
}
export interface SessionContext {
  readonly servers: (agent: string) => Result<Provision>;
  /** As `servers`, for a session: with the servers behind the gateway, of its project and of its own file. */
  readonly serversFor: (session: string, agent: string, cwd: string, mcpConfig?: string) => Result<Provision>;
  readonly placeSkills: (cwd: string, sink: string) => Result<readonly Placement[]>;
  /** The ones of these paths that do not lie inside `cwd`. */
  readonly outside: (cwd: string, paths: readonly string[]) => Result<readonly string[]>;
}

export interface Station<T> {
  readonly log: Log;
  readonly clock: Clock;
  readonly random: Random;
  readonly store: Store;
  readonly bus: Bus<T>;
  readonly process: Process;
  readonly workspace: Workspace;
  readonly terminals: Terminals;
  readonly context: SessionContext;
  /** False while another message of this topic follows in the same batch: work that may wait can wait for it. */
  readonly lastOfTopic: () => boolean;
}

// What has another type than the WIT says, or half a surrogate pair, would trap the instance: it is caught before.
const words = (value: unknown): string => {
  if (typeof value !== 'string') throw new TypeError(`the platform takes a string here, not ${typeof value}`);
  return value.toWellFormed();
};
const json = (value: unknown): string => {
  const text = JSON.stringify(value);
  if (typeof text !== 'string') throw new TypeError(`${typeof value} has no JSON`);
  return text;
};
const u32 = (value: unknown): number => {
  if (typeof value !== 'number' || !(value >= 0 && value <= 0xffff_ffff))
    throw new TypeError('the platform takes a number from 0 to 4294967295 here');
  return Math.trunc(value);
};
const optional = (value: unknown): string | undefined => (value === undefined ? undefined : words(value));

const optionalU32 = (value: unknown): number | undefined => (value === undefined ? undefined : u32(value));

const level = (name: 'debug' | 'info' | 'warn' | 'error') => (text: string) =>
  wireLog.write(name, bounded(text, logUnits));

const randomId = (length = 20): string => {
  let id = '';
  while (id.length < length) {
    for (const byte of wireRandom.bytes(u32(length * 2))) {
      // 252 is the greatest multiple of 36 in a byte: above it some letters would come more often.
      if (byte < 252 && id.length < length) id += alphabet[byte % 36];
    }
  }
  return id;
};

type WireProvision = ReturnType<typeof wireContext.servers>;

const transportOf = ({ tag, val }: WireProvision['offered'][number]['transport']): Transport => {
  if (tag === 'http') return { type: 'http', url: val.url };
  const { command } = val;
  const args = [...val.args];
  return tag === 'stdio'
    ? { type: 'stdio', command, args }
    : { type: 'gateway', url: val.url, command, args };
};

const provision = (found: WireProvision): Provision => {
  return {
    policyRevision: found.policyRevision,
    ...(typeof found.program === 'string' ? { program: found.program } : {}),
    ...(typeof found.provider === 'string' ? { provider: found.provider } : {}),
    approve: found.approve,
    sink: found.sink ?? null,
    offered: found.offered.map(({ name, rule, transport }) => ({
      name,
      rule,
      transport: transportOf(transport),
    })),
    withheld: found.withheld,
  };
};

const placements = (cwd: string, sink: string): Placement[] =>
  wireContext.placeSkills(words(cwd), words(sink)).map(({ reason, ...placement }) => ({
    ...placement,
    ...(typeof reason === 'string' ? { reason } : {}),
  }));

const commandOf = ({ command, args, env, cwd, outputBytes }: Command) => ({
  command: words(command),
  args: args.map(words),
  env: env.map(({ name, value }) => ({ name: words(name), value: words(value) })),
  cwd: optional(cwd),
  outputBytes: optionalU32(outputBytes),
});
const outputOf = (terminal: string) => {
  const { exit, ...output } = wireTerminals.output(words(terminal));
  return { ...output, ...(exit === null || exit === undefined ? {} : { exit }) };
};

const scanText: Store['scanText'] = (prefix, page = {}) =>
  wireStore.scan(words(prefix), optional(page.after), u32(page.limit ?? 1_000));

/** The station as the handlers of one component see it. */
export const stationFor = <T>(lastOfTopic: () => boolean): Station<T> => ({
  lastOfTopic,
  log: { debug: level('debug'), info: level('info'), warn: level('warn'), error: level('error') },
  clock: { now: () => wireClock.now(), wake: (token, afterMs) => wireClock.wake(words(token), u32(afterMs)) },
  random: { bytes: (count) => wireRandom.bytes(u32(count)), id: randomId },
  store: {
    get: <V>(key: string) => {
      const text = wireStore.get(words(key));
      return text === null || text === undefined ? undefined : (JSON.parse(text) as V);
    },
    put: (key, value) => wireStore.put(words(key), json(value)),
    putText: (key, value) => wireStore.put(words(key), words(value)),
    remove: (key) => wireStore.remove(words(key)),
    scan: <V>(prefix: string, page = {}) =>
      scanText(prefix, page).map(({ key, value }) => ({ key, value: JSON.parse(value) as V })),
    scanText,
  },
  bus: {
    event: (topic, payload) => wireBus.publish(words(topic), json(payload), undefined, undefined),
    command: (topic, payload, options = {}) =>
      wireBus.publish(words(topic), json(payload), optional(options.to), optional(options.token)),
  },
  process: {
    spawn: (program, cwd) => attempt(() => wireProcess.spawn(words(program), words(cwd))),
    write: (process, text) => wireProcess.write(words(process), words(text)),
    kill: (process) => wireProcess.kill(words(process)),
  },
  workspace: {
    offered: ({ process, agent }) => attempt(() => wireWorkspace.offered(words(process), words(agent))),
    readTextFile: ({ process, agent }, path, { line, limit } = {}) =>
      attempt(() =>
        wireWorkspace.readTextFile(
          words(process),
          words(agent),
          words(path),
          optionalU32(line),
          optionalU32(limit),
        ),
      ),
    writeTextFile: ({ process, agent }, path, content) =>
      attempt(() => wireWorkspace.writeTextFile(words(process), words(agent), words(path), words(content))),
  },
  terminals: {
    create: ({ process, agent }, command) =>
      attempt(() => wireTerminals.create(words(process), words(agent), commandOf(command))),
    output: (terminal) => attempt(() => outputOf(terminal)),
    kill: (terminal) => wireTerminals.kill(words(terminal)),
    release: (terminal) => wireTerminals.release(words(terminal)),
  },
  context: {
    servers: (agent) => attempt(() => provision(wireContext.servers(words(agent)))),
    serversFor: (session, agent, cwd, mcpConfig) =>
      attempt(() =>
        provision(wireContext.serversFor(words(session), words(agent), words(cwd), optional(mcpConfig))),
      ),
    placeSkills: (cwd, sink) => attempt(() => placements(cwd, sink)),
    outside: (cwd, paths) => attempt(() => wireContext.outside(words(cwd), paths.map(words))),
  },
});
/** Says to which message of a batch the calls that follow belong. */
export const begin = (message: string): void => wireBus.begin(message);
