/**
 * Whether a payload fits its topic's shape. Shapes are JSON Schema 2020-12, interpreted: no code is ever generated
 * from a schema a stranger wrote.
 */
import { Validator } from '@cfworker/json-schema';
import { ok, type Result, refuse } from '../problems/index.ts';

/** Longest payload, UTF-16 units. */
export const payloadUnits = 4 * 1024 * 1024;

export interface Shape {
  /** Parses and checks JSON text (`bus/payload-invalid` with the path, `bus/payload-too-large`). */
  readonly check: (payload: string, subject: string) => Result<unknown>;
}

/** Where a value does not fit and why, or undefined. */
const misfitOf = (validator: Validator, value: unknown): string | undefined => {
  try {
    const { valid, errors } = validator.validate(value);
    if (valid) return undefined;
    // The innermost error stands last and has the longest path.
    const worst = errors.at(-1);
    return `${worst?.instanceLocation ?? '#'}: ${worst?.error ?? 'does not fit'}`;
  } catch (cause) {
    // Values are compared by recursion: thousands of nested lists, which a guest may send, exhaust the stack.
    if (cause instanceof RangeError) return '#: is nested too deeply';
    throw cause;
  }
};

export const shapeFrom = (schema: Readonly<Record<string, unknown>>): Shape => {
  const validator = new Validator(schema, '2020-12', true);
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
      const misfit = misfitOf(validator, value);
      return misfit === undefined ? ok(value) : refuse('bus/payload-invalid', { subject, evidence: misfit });
    },
  };
};
