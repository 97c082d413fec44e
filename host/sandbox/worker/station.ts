/**
 * The platform's interfaces as a guest sees them, release 0.1.0. Effects go into the ledger; `clock.now` and
 * `random.bytes` are answered here; the rest asks the host and blocks.
 */
import type { StoreEntry, SyncAnswer, SyncCall } from '../protocol.ts';
import {
  HostFault,
  integer,
  level,
  longest,
  mostPaths,
  name,
  optionalName,
  optionalText,
  text,
  texts,
} from './arguments.ts';
import type { Ledger } from './ledger.ts';
import { overlaidScan } from './overlay.ts';
import { placements, provision, spawned, storedEntries, storedValue, thrown } from './shapes.ts';

/** Most bytes of one `random.bytes`. */
const randomBytes = 4_096;
const u32 = 2 ** 32 - 1;
/** Texts that become effects: the ledger bounds them, with all others of their message. */
const most = Number.POSITIVE_INFINITY;

export type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
export type Ask = (call: SyncCall) => SyncAnswer;

/** An answer that has no place for a problem in its type: a problem then stops the guest. */
const answered = (answer: SyncAnswer): unknown => {
  if (answer.ok) return answer.value;
  throw new HostFault(answer.problem.code, answer.problem.message);
};
/** An answer of type `result<…, problem>`. */
const resultOf = (answer: SyncAnswer): unknown => (answer.ok ? answer.value : thrown(answer.problem));

export const stationImports = (ledger: Ledger, ask: Ask): Imports => {
  const random = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
  const now = Date.now;
  const page = (scan: { prefix: string; after: string | null; limit: number }): readonly StoreEntry[] =>
    storedEntries(answered(ask({ call: 'store.scan', ...scan })));
  return {
    'bearpunch:station/types': {},
    'bearpunch:station/log': {
      write: (kind: unknown, line: unknown): void => {
        const checked = level(kind, 'log.write level');
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
        provision(
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
