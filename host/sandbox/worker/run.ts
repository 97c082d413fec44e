/**
 * Runs batches against a guest's `handle`: one result for each, in order. What the guest throws, a host function's
 * fault, or outcomes that do not fit make a failed result; after one, the guest is not called again.
 */
import type { BatchPost, Fault, Handled, Message, Outcome, WorkerResult } from '../protocol.ts';
import { HostFault } from './arguments.ts';
import type { Ledger } from './ledger.ts';

export type Handle = (batch: readonly unknown[]) => unknown;

/** Longest parts of a problem a guest tells, UTF-16 units. */
export const outcomeUnits = {
  code: 100,
  message: 4_000,
  subject: 1_000,
  evidence: 4_000,
  fix: 1_000,
} as const;

const invalid = (evidence: string): never => {
  throw new HostFault('sandbox/outcome-invalid', evidence);
};
const text = (value: unknown, what: string, cap: number): string =>
  typeof value === 'string' && value.isWellFormed() && value.length <= cap
    ? value
    : invalid(`${what}: expected well-formed text of at most ${cap} UTF-16 units`);

const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null ? (value as Record<string, unknown>) : invalid('no object');

/** A guest's outcome, checked, and the units of text in it, which the ledger bounds. */
export const readOutcome = (value: unknown): { outcome: Outcome; units: number } => {
  const { tag, val } = fieldsOf(value);
  if (tag === 'done') return { outcome: { tag }, units: 0 };
  if (tag === 'replied') {
    const reply = text(val, 'reply', Number.POSITIVE_INFINITY);
    return { outcome: { tag, reply }, units: reply.length };
  }
  if (tag !== 'failed') return invalid('no known tag');
  const found = fieldsOf(val);
  const optional = (key: 'subject' | 'evidence' | 'fix') =>
    found[key] === undefined || found[key] === null
      ? {}
      : { [key]: text(found[key], key, outcomeUnits[key]) };
  const failure = {
    code: text(found.code, 'code', outcomeUnits.code),
    message: text(found.message, 'message', outcomeUnits.message),
    ...optional('subject'),
    ...optional('evidence'),
    ...optional('fix'),
  };
  const units = Object.values(failure).reduce((sum, part) => sum + part.length, 0);
  return { outcome: { tag, problem: failure }, units };
};

const guestMessage = ({ id, topic, payload, source, at }: Message): unknown => ({
  id,
  topic,
  payload,
  source,
  at: BigInt(at),
});

/** What a thrown value says, for evidence. */
const said = (error: unknown): string => {
  try {
    return error instanceof Error ? `${error.name}: ${error.message}` : String(error);
  } catch {
    return 'a value that cannot be shown';
  }
};

export const faultOf = (error: unknown, otherwise: string): Fault =>
  error instanceof HostFault
    ? { code: error.code, evidence: error.message }
    : { code: otherwise, evidence: said(error).slice(0, 2_000) };

export interface Faults {
  /** The first fault of a host function; it stands whatever the guest made of the exception. */
  readonly first: () => HostFault | undefined;
}

/**
 * `short` says how much memory is in use where a failure is one of memory, whatever the guest made of it: to grow in vain
 * gives it an error that it can catch, and does not tell the host.
 */
export const runner = (
  handle: Handle,
  ledger: Ledger,
  faults: Faults,
  short: (said: string) => string | undefined = () => undefined,
) => {
  const memoryFault = (said: string): Fault | undefined => {
    const used = short(said);
    return used === undefined
      ? undefined
      : { code: 'sandbox/memory', evidence: `${used}; ${said}`.slice(0, 2_000) };
  };
  /** Stops at the first outcome that is none, or that is too long, and says whose it is. */
  const handled = (messages: readonly Message[], outcomes: readonly unknown[]): WorkerResult => {
    const all: Handled[] = [];
    for (const [place, { id }] of messages.entries()) {
      try {
        const { outcome, units } = readOutcome(outcomes[place]);
        ledger.spend(place, units);
        const fault = outcome.tag === 'failed' ? memoryFault(outcome.problem.message) : undefined;
        if (fault !== undefined) return { ok: false, fault, trapped: id };
        all.push({ outcome, effects: ledger.effectsOf(place) });
      } catch (error) {
        return { ok: false, fault: faultOf(error, 'sandbox/outcome-invalid'), trapped: id };
      }
    }
    return { ok: true, handled: all };
  };
  return ({ messages }: BatchPost): WorkerResult => {
    ledger.open(messages);
    try {
      const outcomes = handle(messages.map(guestMessage));
      const fault = faults.first();
      if (fault !== undefined) throw fault;
      if (Array.isArray(outcomes) && outcomes.length === messages.length) return handled(messages, outcomes);
      const evidence = `expected ${messages.length} outcomes, found ${Array.isArray(outcomes) ? outcomes.length : 'none'}`;
      const only = messages.length === 1 ? messages[0]?.id : undefined;
      return {
        ok: false,
        fault: { code: 'sandbox/outcome-count', evidence },
        ...(only === undefined ? {} : { trapped: only }),
      };
    } catch (error) {
      const id = ledger.known();
      const fault = faultOf(faults.first() ?? error, 'sandbox/trap');
      return {
        ok: false,
        fault: (fault.code === 'sandbox/trap' ? memoryFault(fault.evidence ?? '') : undefined) ?? fault,
        ...(id === undefined ? {} : { trapped: id }),
      };
    } finally {
      ledger.close();
    }
  };
};
