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

const [quote, backslash, colon, space] = [34, 92, 58, 32];

/** Strings of a valid JSON text that stand before a colon. By code units: a lock's manifest may have megabytes. */
const keysWritten = (text: string): number => {
  let count = 0;
  for (let i = 0; i < text.length; i += 1) {
    if (text.charCodeAt(i) !== quote) continue;
    for (i += 1; text.charCodeAt(i) !== quote; i += 1) if (text.charCodeAt(i) === backslash) i += 1;
    let next = i + 1;
    while (text.charCodeAt(next) <= space) next += 1;
    if (text.charCodeAt(next) === colon) count += 1;
  }
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

const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g;

/** The line, from 1, of the deepest place on `path` that a valid JSON text has. */
export const lineOf = (text: string, path: readonly (string | number)[]): number => {
  // How far `path` was matched, and how many levels stand open; a key or an index counts where both are equal.
  const open: (number | undefined)[] = [];
  let matched = 0;
  let found = 0;
  let key: string | undefined;
  const step = (at: number, here: string | number | undefined): void => {
    if (open.length !== matched + 1 || here !== path[matched]) return;
    matched += 1;
    found = at;
  };
  for (const match of text.matchAll(token)) {
    const [word] = match;
    const index = open.at(-1);
    if (word === ',') {
      if (index !== undefined) open[open.length - 1] = index + 1;
      continue;
    }
    if (word === ':') continue;
    if (word === '}' || word === ']') {
      open.pop();
      if (open.length < matched) break;
      continue;
    }
    if (index !== undefined) step(match.index, index);
    else if (open.length > 0 && key === undefined && word.startsWith('"')) {
      key = JSON.parse(word) as string;
      step(match.index, key);
      continue;
    }
    key = undefined;
    if (matched === path.length && path.length > 0) break;
    if (word === '{') open.push(undefined);
    else if (word === '[') open.push(0);
  }
  let line = 1;
  for (let feed = text.indexOf('\n'); feed >= 0 && feed < found; feed = text.indexOf('\n', feed + 1))
    line += 1;
  return line;
};
