/** What checks are made of: where a value does not fit, and when two JSON values are one. */

/** Where a value does not fit, from the innermost name outwards, and why. */
export interface Misfit {
  readonly path: readonly string[];
  readonly why: string;
}
export type Check = (value: unknown) => Misfit | undefined;
export type Schema = Readonly<Record<string, unknown>>;
/** The check of a subschema. */
export type Make = (schema: unknown) => Check;

export const misfit = (why: string): Misfit => ({ path: [], why });
export const under = (name: string, { path, why }: Misfit): Misfit => ({ path: [...path, name], why });

export const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Goes no deeper than the shallower of the two. */
export const equals = (a: unknown, b: unknown): boolean => {
  if (a === b) return true;
  if (typeof a !== 'object' || typeof b !== 'object' || a === null || b === null) return false;
  if (Array.isArray(a) || Array.isArray(b))
    return (
      Array.isArray(a) &&
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => equals(item, b[index]))
    );
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equals((a as Schema)[name], (b as Schema)[name]))
  );
};

/** The same text for equal values and for no others. Throws `RangeError` where a value is too deep for the stack. */
export const keyOf = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(keyOf).join()}]`;
  if (!isObject(value)) return typeof value === 'string' ? JSON.stringify(value) : String(value);
  const members = Object.keys(value)
    .sort()
    .map((name) => `${JSON.stringify(name)}:${keyOf(value[name])}`);
  return `{${members.join()}}`;
};
