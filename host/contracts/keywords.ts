/**
 * What of JSON Schema 2020-12 is identity: every keyword that decides which values are valid, and nothing else.
 * A keyword in none of these tables is an annotation (the specification says so of unknown keywords) and is dropped.
 *
 * `format` is identity although 2020-12 lets it annotate: the validator that checks messages asserts it.
 */
import { canonicalJson, isObject, type Json, nestsDeeperThan, sortBy, sortNames } from './json.ts';

/** Its canonical text, `undefined` for a value that forbids nothing, or what is wrong with it. */
export type Fact = { readonly text: string | undefined } | { readonly wrong: string };

const noLimit: Fact = { text: undefined };
const text = (value: Json): Fact => ({ text: canonicalJson(value) });
// Deepest nesting of a `const` or of a value of an `enum`.
const dataDepth = 400;
const datum = (value: Json): Fact =>
  nestsDeeperThan(value, dataDepth) ? wrong(`a value of at most ${dataDepth} levels`) : text(value);
const wrong = (expected: string): Fact => ({ wrong: `must be ${expected}` });

const number = (value: Json): Fact => (typeof value === 'number' ? text(value) : wrong('a number'));
const count =
  (idle?: number) =>
  (value: Json): Fact =>
    typeof value !== 'number' || !Number.isInteger(value) || value < 0
      ? wrong('a whole number, zero or more')
      : value === idle
        ? noLimit
        : text(value);
const isStrings = (value: Json): value is readonly string[] =>
  Array.isArray(value) && value.every((item) => typeof item === 'string');
const sortedTexts = (values: readonly string[]): string[] => sortNames([...new Set(values)]);

const types = ['array', 'boolean', 'integer', 'null', 'number', 'object', 'string'];
const type = (value: Json): Fact => {
  if (typeof value === 'string' && types.includes(value)) return { text: `"${value}"` };
  const named = typeof value === 'string' ? [value] : value;
  if (!isStrings(named) || named.length === 0 || named.some((name) => !types.includes(name)))
    return wrong(`one or more of ${types.join(', ')}`);
  const kept = sortedTexts(named).filter((name) => name !== 'integer' || !named.includes('number'));
  return text(kept.length === 1 ? (kept[0] ?? '') : kept);
};

const required = (value: Json): Fact =>
  !isStrings(value)
    ? wrong('a list of property names')
    : value.length === 0
      ? noLimit
      : text(sortedTexts(value));

const dependentRequired = (value: Json): Fact => {
  if (!isObject(value)) return wrong('an object of lists of property names');
  const kept: [string, string][] = [];
  for (const [key, names] of Object.entries(value)) {
    const fact = required(names);
    if ('wrong' in fact) return wrong('an object of lists of property names');
    if (fact.text !== undefined) kept.push([key, fact.text]);
  }
  return kept.length === 0 ? noLimit : { text: objectText(kept) };
};

const values = (value: Json): Fact => {
  if (!Array.isArray(value) || value.length === 0) return wrong('a list of at least one value');
  if (nestsDeeperThan(value, dataDepth)) return wrong(`a list of values of at most ${dataDepth} levels`);
  return { text: `[${sortedTexts(value.map(canonicalJson)).join(',')}]` };
};

/** Why a pattern cannot be used, or undefined. Patterns are ECMA-262 with the `u` flag. */
export const patternFault = (pattern: string): string | undefined => {
  try {
    new RegExp(pattern, 'u');
    return undefined;
  } catch {
    return 'must be a regular expression of ECMA-262 with the u flag';
  }
};
const pattern = (value: Json): Fact => {
  if (typeof value !== 'string') return wrong('a string');
  const fault = patternFault(value);
  return fault === undefined ? text(value) : { wrong: fault };
};

/** Keywords whose value is data. `const` and `enum` are told apart after all: see `constOrEnum`. */
export const facts: ReadonlyMap<string, (value: Json) => Fact> = new Map([
  ['type', type],
  ['const', datum],
  ['enum', values],
  ['multipleOf', number],
  ['maximum', number],
  ['exclusiveMaximum', number],
  ['minimum', number],
  ['exclusiveMinimum', number],
  ['maxLength', count()],
  ['minLength', count(0)],
  ['pattern', pattern],
  ['format', (value) => (typeof value === 'string' ? text(value) : wrong('a string'))],
  ['maxItems', count()],
  ['minItems', count(0)],
  [
    'uniqueItems',
    (value) => (typeof value !== 'boolean' ? wrong('true or false') : value ? text(value) : noLimit),
  ],
  ['maxContains', count()],
  ['minContains', count(1)],
  ['maxProperties', count()],
  ['minProperties', count(0)],
  ['required', required],
  ['dependentRequired', dependentRequired],
]);

/**
 * Keywords whose value holds schemas. `one` schema; a `map` by name; a `list` whose order counts; a `set`, whose
 * order and repetitions do not count; a `bag`, whose repetitions do (`oneOf`: exactly one may match).
 */
export const applicators: ReadonlyMap<string, 'one' | 'map' | 'list' | 'set' | 'bag'> = new Map([
  ['additionalProperties', 'one'],
  ['unevaluatedProperties', 'one'],
  ['propertyNames', 'one'],
  ['items', 'one'],
  ['unevaluatedItems', 'one'],
  ['contains', 'one'],
  ['not', 'one'],
  ['if', 'one'],
  ['then', 'one'],
  ['else', 'one'],
  ['properties', 'map'],
  ['patternProperties', 'map'],
  ['dependentSchemas', 'map'],
  ['prefixItems', 'list'],
  ['allOf', 'set'],
  ['anyOf', 'set'],
  ['oneOf', 'bag'],
]);

/** Where else a schema may stand that a `$ref` can name; what stands there is identity only once it is named. */
export const shelves: ReadonlySet<string> = new Set(['$defs', 'definitions']);

/** Keywords of older drafts that validators still obey, each in its own way: a shape with one has no one meaning. */
export const refused: ReadonlyMap<string, string> = new Map([
  ['dependencies', 'use dependentRequired or dependentSchemas'],
  ['additionalItems', 'use prefixItems and items'],
  ['$recursiveRef', 'use $ref'],
  ['$recursiveAnchor', 'use $ref'],
]);

/** The dialect a shape is written in. */
export const dialect = 'https://json-schema.org/draft/2020-12/schema';

/** An object's text from its members' texts, in any order. */
export const objectText = (members: readonly (readonly [string, string])[]): string =>
  sortedObjectText(sortBy([...members], ([name]) => name));

/** The same, of members that are sorted already. */
export const sortedObjectText = (members: readonly (readonly [string, string])[]): string => {
  let text = '';
  for (const [key, value] of members) text += `${text === '' ? '' : ','}${JSON.stringify(key)}:${value}`;
  return `{${text}}`;
};

/** What a keyword is to the graph of a schema; annotations are nothing. */
export type Role =
  | { readonly role: 'fact'; readonly read: (value: Json) => Fact }
  | { readonly role: 'one' | 'map' | 'list' | 'set' | 'bag' }
  | { readonly role: 'reference' }
  | { readonly role: 'refused'; readonly instead: string };

/** Every keyword that is not an annotation, in one look-up: it is done for each key of each schema. */
export const roles: ReadonlyMap<string, Role> = new Map<string, Role>([
  ...[...facts].map(([key, read]) => [key, { role: 'fact', read }] as const),
  ...[...applicators].map(([key, role]) => [key, { role }] as const),
  ...[...refused].map(([key, instead]) => [key, { role: 'refused', instead }] as const),
  ['$ref', { role: 'reference' }],
  ['$dynamicRef', { role: 'reference' }],
]);
