/**
 * Host answers, JSON as `host/context/edge.ts` and the store give it, as the values the WIT types have in generated
 * JavaScript: a variant is `{tag, val}`, an absent option undefined. A value that does not fit is a fault of the host.
 */
import type { Problem } from '../../problems/index.ts';
import type { StoreEntry, SyncAnswer } from '../protocol.ts';
import { HostFault } from './arguments.ts';

type Json = Readonly<Record<string, unknown>>;

const misfit = (what: string): never => {
  throw new HostFault('sandbox/call-failed', `the host's answer has no ${what}`);
};
const record = (value: unknown, what: string): Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Json) : misfit(what);
const list = (value: unknown, what: string): readonly unknown[] =>
  Array.isArray(value) ? value : misfit(what);
const text = (from: Json, key: string): string => {
  const found = from[key];
  return typeof found === 'string' ? found : misfit(key);
};
const option = (from: Json, key: string): string | undefined =>
  from[key] === undefined || from[key] === null ? undefined : text(from, key);

export const storedValue = (value: unknown): string | undefined =>
  value === null || value === undefined
    ? undefined
    : typeof value === 'string'
      ? value
      : misfit('stored value');

export const storedEntries = (value: unknown): readonly StoreEntry[] =>
  list(value, 'entries').map((entry) => {
    const found = record(entry, 'entry');
    return { key: text(found, 'key'), value: text(found, 'value') };
  });

export const spawned = (value: unknown): string => (typeof value === 'string' ? value : misfit('process ID'));

/** How generated code is told that a call came to its error case. */
export const thrown = (found: Problem): never => {
  throw {
    payload: {
      code: found.code,
      message: found.message,
      subject: found.subject,
      evidence: found.evidence,
      fix: found.fix,
    },
  };
};

/** An answer of type `result<…, problem>`. */
export const resultOf = (answer: SyncAnswer): unknown => (answer.ok ? answer.value : thrown(answer.problem));

const args = (from: Json): readonly string[] =>
  list(from.args, 'args').map((arg) => (typeof arg === 'string' ? arg : misfit('argument')));

/** Before 0.3.0 there was no gateway, so none may be answered. */
const transport = (value: unknown): unknown => {
  const found = record(value, 'transport');
  const type = text(found, 'type');
  if (type === 'http') return { tag: 'http', val: { url: text(found, 'url') } };
  if (type !== 'stdio') return misfit('known transport');
  return { tag: 'stdio', val: { command: text(found, 'command'), args: args(found) } };
};
const gatewayTransport = (value: unknown): unknown => {
  const found = record(value, 'transport');
  if (text(found, 'type') !== 'gateway') return transport(value);
  const val = { url: text(found, 'url'), command: text(found, 'command'), args: args(found) };
  return { tag: 'gateway', val };
};

/** `Provision` of `host/context/edge.ts`. */
const provisionWith =
  (transportOf: (value: unknown) => unknown) =>
  (value: unknown): unknown => {
    const found = record(value, 'provision');
    return {
      policyRevision: text(found, 'policyRevision'),
      program: option(found, 'program'),
      provider: option(found, 'provider'),
      approve: text(found, 'approve'),
      sink: option(found, 'sink'),
      offered: list(found.offered, 'offered').map((entry) => {
        const one = record(entry, 'offered server');
        return { name: text(one, 'name'), rule: text(one, 'rule'), transport: transportOf(one.transport) };
      }),
      withheld: list(found.withheld, 'withheld').map((entry) => {
        const one = record(entry, 'withheld server');
        return { name: text(one, 'name'), rule: text(one, 'rule'), reason: text(one, 'reason') };
      }),
    };
  };

export const provision = provisionWith(transport);
export const gatewayProvision = provisionWith(gatewayTransport);

/** `Placement[]` of `host/context/edge.ts`. */
export const placements = (value: unknown): unknown =>
  list(value, 'placements').map((entry) => {
    const one = record(entry, 'placement');
    const { files } = one;
    return {
      bundle: text(one, 'bundle'),
      revision: text(one, 'revision'),
      name: text(one, 'name'),
      decision: text(one, 'decision'),
      reason: option(one, 'reason'),
      files: typeof files === 'number' && Number.isInteger(files) && files >= 0 ? files : misfit('files'),
    };
  });

const flag = (from: Json, key: string): boolean => {
  const found = from[key];
  return typeof found === 'boolean' ? found : misfit(key);
};

export const offered = (value: unknown): unknown => {
  const found = record(value, 'offer');
  return { read: flag(found, 'read'), write: flag(found, 'write'), terminals: flag(found, 'terminals') };
};

export const textAnswer = (value: unknown): string => (typeof value === 'string' ? value : misfit('text'));
export const nothing = (_value: unknown): undefined => undefined;

export const terminalOutput = (value: unknown): unknown => {
  const found = record(value, 'output');
  const exit = found.exit === null ? undefined : record(found.exit, 'exit');
  const code = exit?.code ?? undefined;
  return {
    text: text(found, 'text'),
    truncated: flag(found, 'truncated'),
    exit:
      exit === undefined
        ? undefined
        : {
            code: typeof code === 'number' || code === undefined ? code : misfit('code'),
            signal: option(exit, 'signal'),
          },
  };
};
