/**
 * Whether a payload fits its topic's shape. Shapes are JSON Schema 2020-12, made into closures: no code is ever
 * generated from a schema a stranger wrote.
 */
import { ok, type Result, refuse } from '../problems/index.ts';
import { checkFrom } from './checks.ts';
import type { Check, Schema } from './misfit.ts';

/** Longest payload, UTF-16 units. */
export const payloadUnits = 4 * 1024 * 1024;

export interface Shape {
  /** Parses and checks JSON text (`bus/payload-invalid` with the path, `bus/payload-too-large`). */
  readonly check: (payload: string, subject: string) => Result<unknown>;
}

const pointer = (path: readonly string[]): string =>
  ['#', ...path.toReversed().map((name) => name.replaceAll('~', '~0').replaceAll('/', '~1'))].join('/');

/** Where a value does not fit and why, or undefined. */
const misfitOf = (check: Check, value: unknown): string | undefined => {
  try {
    const found = check(value);
    return found && `${pointer(found.path)}: ${found.why}`;
  } catch (cause) {
    // Values are compared by recursion: thousands of nested lists, which a guest may send, exhaust the stack.
    if (cause instanceof RangeError) return '#: is nested too deeply';
    throw cause;
  }
};

/** `schema` is one a manifest was admitted with. */
export const shapeFrom = (schema: Schema): Shape => {
  const check = checkFrom(schema);
  return {
    check: (payload, subject) => {
      if (payload.length > payloadUnits) {
        return refuse('bus/payload-too-large', {
          subject,
          evidence: `${payload.length} of ${payloadUnits} characters`,
        });
      }
      let value: unknown;
      try {
        value = JSON.parse(payload);
      } catch {
        return refuse('bus/payload-invalid', { subject, evidence: 'not JSON' });
      }
      const misfit = misfitOf(check, value);
      return misfit === undefined ? ok(value) : refuse('bus/payload-invalid', { subject, evidence: misfit });
    },
  };
};
