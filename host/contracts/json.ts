/**
 * JSON as identity sees it: keys sorted, no white space, numbers as JavaScript writes them. Object keys have no
 * order; items of an array have one.
 */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [key: string]: Json };
export type JsonObject = { readonly [key: string]: Json };

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

// From here on the built-in sort is quicker than what it allocates costs.
const short = 16;

/** Sorts a list of names in place, by UTF-16 code units. */
export const sortNames = (names: string[]): string[] => sortBy(names, itself);
const itself = (name: string): string => name;

/** Sorts in place by a name. A check sorts some hundred thousand short lists; the built-in sort makes copies of each. */
export const sortBy = <T>(list: T[], nameOf: (item: T) => string): T[] => {
  if (list.length > short)
    return list.sort((a, b) => (nameOf(a) < nameOf(b) ? -1 : nameOf(a) > nameOf(b) ? 1 : 0));
  for (let i = 1; i < list.length; i += 1) {
    const item = list[i] as T;
    const name = nameOf(item);
    let at = i;
    for (; at > 0 && nameOf(list[at - 1] as T) > name; at -= 1) list[at] = list[at - 1] as T;
    list[at] = item;
  }
  return list;
};

/** The one text of a JSON value. Written by hand so that a key `__proto__` and keys like `10` keep their place. */
export const canonicalJson = (value: Json): string => {
  if (Array.isArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isObject(value)) return JSON.stringify(value);
  const members = sortNames(Object.keys(value)).map(
    (key) => `${JSON.stringify(key)}:${canonicalJson(value[key] as Json)}`,
  );
  return `{${members.join(',')}}`;
};

/** Whether arrays and objects stand more than `levels` deep: what follows a value by recursion asks first. */
export const nestsDeeperThan = (value: Json, levels: number): boolean => {
  if (typeof value !== 'object' || value === null) return false;
  if (levels === 0) return true;
  for (const key in value) if (nestsDeeperThan((value as JsonObject)[key] as Json, levels - 1)) return true;
  return false;
};

const [backslash, colon, space] = [92, 58, 32];

/** Strings of a valid JSON text that stand before a colon. */
const keysWritten = (text: string): number => {
  let count = 0;
  for (let open = text.indexOf('"'); open >= 0; ) {
    let close = text.indexOf('"', open + 1);
    for (;;) {
      let slashes = 0;
      while (text.charCodeAt(close - 1 - slashes) === backslash) slashes += 1;
      if (slashes % 2 === 0) break;
      close = text.indexOf('"', close + 1);
    }
    let next = close + 1;
    while (text.charCodeAt(next) <= space) next += 1;
    if (text.charCodeAt(next) === colon) count += 1;
    open = text.indexOf('"', close + 1);
  }
  return count;
};

/** Keys of all objects of a value; not a number where it nests deeper than `levels`. */
const keysHeld = (value: Json, levels: number): number => {
  if (typeof value !== 'object' || value === null) return 0;
  if (levels === 0) return Number.NaN;
  let count = 0;
  const list = Array.isArray(value);
  // What `JSON.parse` makes has no keys but its own.
  for (const key in value) {
    const item = (value as JsonObject)[key] as Json;
    if (!list) count += 1;
    if (typeof item === 'object') count += keysHeld(item, levels - 1);
  }
  return count;
};

/** Why readers could disagree on a JSON text, or undefined; `value` is what `JSON.parse` made of it. */
export const ambiguity = (text: string, value: Json, levels: number): string | undefined => {
  const held = keysHeld(value, levels);
  if (Number.isNaN(held)) return `it nests deeper than ${levels} levels`;
  return keysWritten(text) === held
    ? undefined
    : 'an object in it has a key twice, so that readers disagree on it';
};

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
