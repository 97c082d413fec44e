/**
 * `bearpunch:station@0.1.0`: every interface with its types written out, as `wit/0.1.0/station.wit` has them (a test
 * builds a component from that file and compares), and what a worker gives for each.
 */
import type { StoreEntry, SyncAnswer } from '../protocol.ts';
import {
  HostFault,
  integer,
  level as logLevel,
  longest,
  mostPaths,
  name,
  optionalName,
  optionalText,
  text,
  texts,
} from '../worker/arguments.ts';
import { overlaidScan } from '../worker/overlay.ts';
import {
  placements,
  provision as provisioned,
  resultOf,
  spawned,
  storedEntries,
  storedValue,
} from '../worker/shapes.ts';
import type { Interface, Release } from './release.ts';

const option = 'option<string>';
const problem = `record{code:string,message:string,subject:${option},evidence:${option},fix:${option}}`;
const message = 'record{id:string,topic:string,payload:string,source:string,at:u64}';
const outcome = `variant{done,replied(string),failed(${problem})}`;
const level = 'enum{debug,info,warn,error}';
const entry = 'record{key:string,value:string}';
const stdio = 'record{command:string,args:list<string>}';
const http = 'record{url:string}';
const transport = `variant{stdio(${stdio}),http(${http})}`;
const offered = `record{name:string,rule:string,transport:${transport}}`;
const withheld = 'record{name:string,rule:string,reason:string}';
const approve = 'enum{manual,auto,workspace}';
const provision = `record{policy-revision:string,program:${option},provider:${option},approve:${approve},sink:${option},offered:list<${offered}>,withheld:list<${withheld}>}`;
const decision = 'enum{placed,unchanged,refused}';
const placement = `record{bundle:string,revision:string,name:string,decision:${decision},reason:${option},files:u32}`;

const component: Interface = {
  types: { message, outcome },
  funcs: { handle: `func(batch:list<${message}>) -> list<${outcome}>` },
};

const imports: Readonly<Record<string, Interface>> = {
  types: { types: { problem, message, outcome }, funcs: {} },
  log: { types: { level }, funcs: { write: `func(level:${level},text:string)` } },
  clock: { types: {}, funcs: { now: 'func() -> u64', wake: 'func(token:string,after-ms:u32)' } },
  random: { types: {}, funcs: { bytes: 'func(count:u32) -> list<u8>' } },
  store: {
    types: { entry },
    funcs: {
      get: `func(key:string) -> ${option}`,
      scan: `func(prefix:string,after:${option},limit:u32) -> list<${entry}>`,
      put: 'func(key:string,value:string)',
      remove: 'func(key:string)',
    },
  },
  bus: {
    types: {},
    funcs: {
      begin: 'func(message-id:string)',
      publish: `func(topic:string,payload:string,to:${option},token:${option})`,
    },
  },
  process: {
    types: { problem },
    funcs: {
      spawn: `func(program:string,cwd:string) -> result<string,${problem}>`,
      write: 'func(process:string,text:string)',
      kill: 'func(process:string)',
    },
  },
  'session-context': {
    types: {
      problem,
      stdio,
      http,
      transport,
      offered,
      withheld,
      approve,
      provision,
      decision,
      placement,
    },
    funcs: {
      servers: `func(agent:string) -> result<${provision},${problem}>`,
      'place-skills': `func(cwd:string,sink:string) -> result<list<${placement}>,${problem}>`,
      outside: `func(cwd:string,paths:list<string>) -> result<list<string>,${problem}>`,
    },
  },
};

/** Most bytes of one `random.bytes`. */
const randomBytes = 4_096;
const u32 = 2 ** 32 - 1;
/** Texts that become effects: the ledger bounds them, with all others of their message. */
const most = Number.POSITIVE_INFINITY;

/** An answer that has no place for a problem in its type: a problem then stops the guest. */
const answered = (answer: SyncAnswer): unknown => {
  if (answer.ok) return answer.value;
  throw new HostFault(answer.problem.code, answer.problem.message);
};

const serve: Release['serve'] = (ledger, ask) => {
  const random = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
  const now = Date.now;
  const page = (scan: { prefix: string; after: string | null; limit: number }): readonly StoreEntry[] =>
    storedEntries(answered(ask({ call: 'store.scan', ...scan })));
  return {
    'bearpunch:station/types': {},
    'bearpunch:station/log': {
      write: (kind: unknown, line: unknown): void => {
        const checked = logLevel(kind, 'log.write level');
        const found = text(line, 'log.write text', most);
        ledger.add({ kind: 'log', level: checked, text: found }, found.length);
      },
    },
    'bearpunch:station/clock': {
      now: (): bigint => BigInt(now()),
      wake: (token: unknown, afterMs: unknown): void => {
        const found = name(token, 'clock.wake token', longest.id);
        const after = integer(afterMs, 'clock.wake after-ms', u32);
        ledger.add({ kind: 'wake', token: found, afterMs: after }, found.length);
      },
    },
    'bearpunch:station/random': {
      bytes: (count: unknown): Uint8Array =>
        random(new Uint8Array(integer(count, 'random.bytes count', randomBytes))),
    },
    'bearpunch:station/store': {
      get: (key: unknown): string | undefined => {
        const found = name(key, 'store.get key', longest.key);
        ledger.current('store.get');
        const written = ledger.writes().get(found);
        if (written !== undefined) return written ?? undefined;
        return storedValue(answered(ask({ call: 'store.get', key: found })));
      },
      scan: (prefix: unknown, after: unknown, limit: unknown): readonly StoreEntry[] => {
        const scan = {
          prefix: text(prefix, 'store.scan prefix', longest.key),
          after: optionalText(after, 'store.scan after', longest.key),
          limit: integer(limit, 'store.scan limit', u32),
        };
        ledger.current('store.scan');
        return overlaidScan(scan, ledger.writes(), page);
      },
      put: (key: unknown, value: unknown): void => {
        const found = name(key, 'store.put key', longest.key);
        const stored = text(value, 'store.put value', most);
        ledger.add({ kind: 'put', key: found, value: stored }, found.length + stored.length);
      },
      remove: (key: unknown): void => {
        const found = name(key, 'store.remove key', longest.key);
        ledger.add({ kind: 'remove', key: found }, found.length);
      },
    },
    'bearpunch:station/bus': {
      begin: (id: unknown): void => ledger.begin(text(id, 'bus.begin message-id', longest.id)),
      publish: (topic: unknown, payload: unknown, to: unknown, token: unknown): void => {
        const effect = {
          kind: 'publish' as const,
          topic: name(topic, 'bus.publish topic', longest.topic),
          payload: text(payload, 'bus.publish payload', most),
          to: optionalName(to, 'bus.publish to', longest.id),
          token: optionalText(token, 'bus.publish token', longest.id),
        };
        ledger.add(effect, effect.topic.length + effect.payload.length);
      },
    },
    'bearpunch:station/process': {
      spawn: (program: unknown, cwd: unknown): unknown => {
        const call = {
          call: 'process.spawn' as const,
          program: name(program, 'process.spawn program', longest.program),
          cwd: name(cwd, 'process.spawn cwd', longest.path),
        };
        return spawned(resultOf(ask(call)));
      },
      write: (process: unknown, line: unknown): void => {
        const id = name(process, 'process.write process', longest.id);
        const found = text(line, 'process.write text', most);
        ledger.add({ kind: 'write', process: id, text: found }, found.length);
      },
      kill: (process: unknown): void => {
        const id = name(process, 'process.kill process', longest.id);
        ledger.add({ kind: 'kill', process: id }, id.length);
      },
    },
    'bearpunch:station/session-context': {
      servers: (agent: unknown): unknown =>
        provisioned(
          resultOf(
            ask({
              call: 'session-context.servers',
              agent: name(agent, 'session-context.servers agent', longest.agent),
            }),
          ),
        ),
      placeSkills: (cwd: unknown, sink: unknown): unknown => {
        const call = {
          call: 'session-context.place-skills' as const,
          cwd: name(cwd, 'session-context.place-skills cwd', longest.path),
          sink: text(sink, 'session-context.place-skills sink', longest.path),
        };
        return placements(resultOf(ask(call)));
      },
      outside: (cwd: unknown, paths: unknown): unknown => {
        const call = {
          call: 'session-context.outside' as const,
          cwd: name(cwd, 'session-context.outside cwd', longest.path),
          paths: texts(paths, 'session-context.outside paths', mostPaths, longest.path),
        };
        return texts(resultOf(ask(call)), 'the answer of session-context.outside', mostPaths, longest.path);
      },
    },
  };
};

export const since010: Release = { version: '0.1.0', imports, component, serve };
