/**
 * Checks what a guest hands to a host function. A component may declare an import with types of its own and send
 * anything; a value that does not fit stops the guest with a problem that names function and argument.
 */
import type { LogLevel } from '../protocol.ts';

/** Carries a problem's code out of a host function; whatever the guest does with it, its batch fails. */
export class HostFault extends Error {
  readonly code: string;
  constructor(code: string, evidence: string) {
    super(evidence);
    this.code = code;
  }
}

/** Longest arguments, UTF-16 units. Texts and values are bounded by the units of a message instead. */
export const longest = {
  id: 256,
  topic: 256,
  key: 1_024,
  program: 256,
  agent: 256,
  path: 4_096,
  argument: 32_768,
  /** Of one file that is written. */
  content: 4 * 1024 * 1024,
} as const;

/** Most paths of one `session-context.outside`. */
export const mostPaths = 1_000;

/** Most arguments of one command, and most variables. */
export const mostArguments = 1_000;

const wrong = (place: string, expected: string): never => {
  throw new HostFault('sandbox/host-argument', `${place}: expected ${expected}`);
};

export const text = (value: unknown, place: string, cap: number): string => {
  if (typeof value !== 'string') return wrong(place, 'a string');
  if (value.length > cap) return wrong(place, `at most ${cap} UTF-16 units, found ${value.length}`);
  return value.isWellFormed() ? value : wrong(place, 'well-formed Unicode');
};
export const name = (value: unknown, place: string, cap: number): string => {
  const found = text(value, place, cap);
  return found === '' ? wrong(place, 'a string that is not empty') : found;
};
export const texts = (value: unknown, place: string, most: number, cap: number): readonly string[] =>
  Array.isArray(value) && value.length <= most
    ? value.map((each) => text(each, place, cap))
    : wrong(place, `a list of at most ${most} strings`);
export const optionalName = (value: unknown, place: string, cap: number): string | null =>
  value === undefined || value === null ? null : name(value, place, cap);
export const optionalText = (value: unknown, place: string, cap: number): string | null =>
  value === undefined || value === null ? null : text(value, place, cap);
export const integer = (value: unknown, place: string, cap: number): number =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value <= cap
    ? value
    : wrong(place, `a whole number from 0 to ${cap}`);
export const optionalInteger = (value: unknown, place: string, cap: number): number | null =>
  value === undefined || value === null ? null : integer(value, place, cap);
export const record = (value: unknown, place: string): Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null
    ? (value as Readonly<Record<string, unknown>>)
    : wrong(place, 'a record');
export const list = (value: unknown, place: string, most: number): readonly unknown[] =>
  Array.isArray(value) && value.length <= most ? value : wrong(place, `a list of at most ${most}`);
const levels: ReadonlySet<unknown> = new Set<LogLevel>(['debug', 'info', 'warn', 'error']);
export const level = (value: unknown, place: string): LogLevel =>
  levels.has(value) ? (value as LogLevel) : wrong(place, 'a log level');
