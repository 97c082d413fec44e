/** The checks of what holds other values: objects and lists. */
import { type Check, isObject, keyOf, type Make, misfit, type Schema, under } from './misfit.ts';

const boundsCheck = (
  least: unknown,
  most: unknown,
  what: string,
  sizeOf: (value: unknown) => number | undefined,
) => {
  const [min, max] = [Number(least ?? 0), Number(most ?? Number.POSITIVE_INFINITY)];
  if (min <= 0 && max === Number.POSITIVE_INFINITY) return [];
  const check: Check = (value) => {
    const size = sizeOf(value);
    if (size === undefined) return undefined;
    if (size < min) return misfit(`has ${size} ${what}, fewer than ${min}`);
    return size > max ? misfit(`has ${size} ${what}, more than ${max}`) : undefined;
  };
  return [check];
};

/** Names every object answers to although nobody gave them: they are asked for with more care. */
const inherited = (name: string): boolean => name in Object.prototype;

interface Property {
  readonly name: string;
  readonly check: Check | undefined;
  readonly required: boolean;
  readonly inherited: boolean;
}

/** What is there, and what must be. JSON has no `undefined`, so reading it says that nothing is there. */
const propertiesCheck = (schema: Schema, make: Make): readonly Check[] => {
  const given = isObject(schema['properties']) ? schema['properties'] : {};
  const required = new Set((schema['required'] ?? []) as readonly string[]);
  const names = [...new Set([...Object.keys(given), ...required])];
  if (names.length === 0) return [];
  const all: readonly Property[] = names.map((name) => ({
    name,
    check: Object.hasOwn(given, name) ? make(given[name]) : undefined,
    required: required.has(name),
    inherited: inherited(name),
  }));
  return [
    (value) => {
      if (!isObject(value)) return undefined;
      for (const one of all) {
        const { name } = one;
        const item = one.inherited && !Object.hasOwn(value, name) ? undefined : value[name];
        if (item === undefined) {
          if (one.required) return misfit(`does not have ${JSON.stringify(name)}`);
          continue;
        }
        const bad = one.check?.(item);
        if (bad !== undefined) return under(name, bad);
      }
      return undefined;
    },
  ];
};

const otherPropertiesCheck = (schema: Schema, make: Make): readonly Check[] => {
  const { additionalProperties } = schema;
  if (additionalProperties === undefined || additionalProperties === true) return [];
  const known = new Set(isObject(schema['properties']) ? Object.keys(schema['properties']) : []);
  const check = make(additionalProperties);
  return [
    (value) => {
      if (!isObject(value)) return undefined;
      for (const name of Object.keys(value)) {
        if (known.has(name)) continue;
        const bad = check(value[name]);
        if (bad !== undefined) return under(name, bad);
      }
      return undefined;
    },
  ];
};

const namesCheck = (schema: Schema, make: Make): readonly Check[] => {
  if (schema['propertyNames'] === undefined) return [];
  const check = make(schema['propertyNames']);
  return [
    (value) => {
      if (!isObject(value)) return undefined;
      for (const name of Object.keys(value)) {
        const bad = check(name);
        if (bad !== undefined) return under(name, misfit(`has a name that ${bad.why}`));
      }
      return undefined;
    },
  ];
};

export const objectChecks = (schema: Schema, make: Make): readonly Check[] => [
  ...propertiesCheck(schema, make),
  ...otherPropertiesCheck(schema, make),
  ...namesCheck(schema, make),
  ...boundsCheck(schema['minProperties'], schema['maxProperties'], 'properties', (value) =>
    isObject(value) ? Object.keys(value).length : undefined,
  ),
];

const itemsCheck = (schema: Schema, make: Make): readonly Check[] => {
  const first = Array.isArray(schema['prefixItems']) ? schema['prefixItems'].map(make) : [];
  const rest = schema['items'] === undefined ? undefined : make(schema['items']);
  if (first.length === 0 && rest === undefined) return [];
  return [
    (value) => {
      if (!Array.isArray(value)) return undefined;
      const upTo = rest === undefined ? Math.min(first.length, value.length) : value.length;
      for (let index = 0; index < upTo; index += 1) {
        const bad = (first[index] ?? rest)?.(value[index]);
        if (bad !== undefined) return under(String(index), bad);
      }
      return undefined;
    },
  ];
};

const containsCheck = (schema: Schema, make: Make): readonly Check[] => {
  if (schema['contains'] === undefined) return [];
  const check = make(schema['contains']);
  const [least, most] = [
    Number(schema['minContains'] ?? 1),
    Number(schema['maxContains'] ?? Number.POSITIVE_INFINITY),
  ];
  return [
    (value) => {
      if (!Array.isArray(value)) return undefined;
      const count = value.filter((item) => check(item) === undefined).length;
      if (count < least) return misfit(`has ${count} items of a kind it needs ${least} of`);
      return count > most ? misfit(`has ${count} items of a kind it may have ${most} of`) : undefined;
    },
  ];
};

const distinctCheck = (schema: Schema): readonly Check[] => {
  if (schema['uniqueItems'] !== true) return [];
  return [
    (value) => {
      if (!Array.isArray(value)) return undefined;
      const seen = new Set<string>();
      for (const [index, item] of value.entries()) {
        const key = keyOf(item);
        if (seen.has(key)) return under(String(index), misfit('is there twice'));
        seen.add(key);
      }
      return undefined;
    },
  ];
};

export const arrayChecks = (schema: Schema, make: Make): readonly Check[] => [
  ...boundsCheck(schema['minItems'], schema['maxItems'], 'items', (value) =>
    Array.isArray(value) ? value.length : undefined,
  ),
  ...itemsCheck(schema, make),
  ...containsCheck(schema, make),
  ...distinctCheck(schema),
];
