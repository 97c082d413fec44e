/**
 * JSON as identity sees it: keys sorted, no white space, numbers as JavaScript writes them. Object keys have no
 * order; items of an array have one.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The one text of a JSON value. Written by hand so that a key `__proto__` and keys like `10` keep their place. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = Object.keys(value)
    .sort()
    .map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`);
  return `{${members.join(',')}}`;
};

/** Whether arrays and objects stand more than `levels` deep: what follows a value by recursion asks first. */
export const nestsDeeperThan = (value: Json, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  return Object.values(value).some((item) => nestsDeeperThan(item as Json, levels - 1));
};

// A string, and the colon that makes it a key. Sticky over valid JSON text, so that it never starts inside a string.
const stringToken = /"(?:[^"\\]|\\.)*"(\s*:)?/g;

const keysWritten = (text: string): number => {
  let count = 0;
  for (const found of text.matchAll(stringToken)) if (found[1] !== undefined) count += 1;
  return count;
};

const keysHeld = (value: Json): number => {
  if (Array.isArray(value)) return value.reduce<number>((sum, item) => sum + keysHeld(item), 0);
  if (!isObject(value)) return 0;
  const keys = Object.keys(value);
  return keys.reduce((sum, key) => sum + keysHeld(value[key] as Json), keys.length);
};

/** Whether some object of a JSON text names a key twice; `value` is what `JSON.parse` made of the text. */
export const hasDuplicateKeys = (text: string, value: Json): boolean => keysWritten(text) !== keysHeld(value);

/** A JSON pointer (RFC 6901) from its segments. */
export const pointer = (segments: readonly (string | number)[]): string =>
  segments.map((segment) => `/${String(segment).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('');

/** The segments of a JSON pointer. */
export const pointerSegments = (text: string): readonly string[] =>
  text
    .split('/')
    .slice(1)
    .map((segment) => segment.replaceAll('~1', '/').replaceAll('~0', '~'));
