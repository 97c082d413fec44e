/**
 * Which JSON Schemas may be a topic's shape. A shape comes from a stranger and is run against every message, so it
 * is a closed dialect of 2020-12: known keywords with well-typed values, references to `#/$defs/…` only, no
 * recursion, and a bounded number of subschemas once every reference is followed. Checking a message is then
 * bounded by that number at each of its places.
 *
 * `pattern` is kept because validators backtrack: it must be anchored at both ends and be a plain run of characters
 * and classes of which at most one varies in length (`^[a-z0-9-]{1,64}$`). Groups, alternatives, look-around and
 * back references are refused.
 */
import { bundleBounds } from './bounds.ts';

export interface ShapeFault {
  /** Place in the shape, `request.properties.name.pattern`. */
  readonly path: string;
  readonly message: string;
}

type Json = Readonly<Record<string, unknown>>;
type Kind = 'schema' | 'schemas' | 'map' | 'count' | 'number' | 'flag' | 'names' | 'text' | 'any' | 'own';

const keywords: Readonly<Record<string, Kind>> = {
  $schema: 'own',
  $ref: 'own',
  $defs: 'map',
  $comment: 'text',
  title: 'text',
  description: 'text',
  default: 'any',
  examples: 'any',
  deprecated: 'flag',
  readOnly: 'flag',
  writeOnly: 'flag',
  type: 'own',
  enum: 'own',
  const: 'any',
  allOf: 'schemas',
  anyOf: 'schemas',
  oneOf: 'schemas',
  not: 'schema',
  if: 'schema',
  // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; the table is never awaited
  then: 'schema',
  else: 'schema',
  properties: 'map',
  additionalProperties: 'schema',
  propertyNames: 'schema',
  required: 'names',
  minProperties: 'count',
  maxProperties: 'count',
  prefixItems: 'schemas',
  items: 'schema',
  contains: 'schema',
  minContains: 'count',
  maxContains: 'count',
  minItems: 'count',
  maxItems: 'count',
  uniqueItems: 'flag',
  minLength: 'count',
  maxLength: 'count',
  pattern: 'own',
  format: 'own',
  contentEncoding: 'text',
  contentMediaType: 'text',
  minimum: 'number',
  maximum: 'number',
  exclusiveMinimum: 'number',
  exclusiveMaximum: 'number',
  multipleOf: 'number',
};
const types = ['null', 'boolean', 'object', 'array', 'number', 'string', 'integer'];
const formats = ['date-time', 'date', 'time', 'duration', 'uuid', 'email', 'uri', 'hostname', 'ipv4', 'ipv6'];
const dialect = 'https://json-schema.org/draft/2020-12/schema';
const localRef = /^#\/\$defs\/([A-Za-z0-9_.-]{1,100})$/;
const patternLength = 256;
// Comparing every two of more items costs more than the message they came in.
const uniqueItemsAtMost = 1_024;

const atom = String.raw`(?:\\[^A-Za-z0-9]|\\[dDwWsS]|\[(?:[^\[\]\\]|\\[^A-Za-z0-9]|\\[dDwWsS])+\]|[^\\^$.*+?()[\]{}|])`;
const plainRun = new RegExp(String.raw`^\^(?:${atom}(?:\{\d{1,4}(?:,\d{0,4})?\}|[*+?])?)*\$$`, 'u');
const varying = new RegExp(String.raw`${atom}(\{\d+,\d*\}|[*+?])?`, 'gu');

/** Why a pattern is refused, or undefined. */
export const patternFault = (pattern: string): string | undefined => {
  if (pattern.length > patternLength) return `is longer than ${patternLength} characters`;
  if (!plainRun.test(pattern)) return 'is not a plain run of characters and classes between ^ and $';
  const count = [...pattern.slice(1, -1).matchAll(varying)].filter((match) => match[1] !== undefined).length;
  if (count > 1) return 'has more than one part that varies in length';
  try {
    new RegExp(pattern, 'u');
  } catch {
    return 'is not a regular expression';
  }
  return undefined;
};

const isObject = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && (value as number) >= 0;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): value is string[] => Array.isArray(value) && value.every(isText);

const ownFault = (keyword: string, value: unknown): string | undefined => {
  switch (keyword) {
    case '$schema':
      return value === dialect ? undefined : `is not ${dialect}`;
    case '$ref':
      return isText(value) && localRef.test(value) ? undefined : 'is not a reference to "#/$defs/<name>"';
    case 'type': {
      const named = isText(value) ? [value] : isTexts(value) ? value : [];
      const known = named.length > 0 && named.every((name) => types.includes(name));
      return known && new Set(named).size === named.length ? undefined : `is not one of ${types.join(', ')}`;
    }
    case 'enum':
      return Array.isArray(value) && value.length > 0 && value.length <= 1_024
        ? undefined
        : 'is not a list of 1 to 1024 values';
    case 'format':
      return isText(value) && formats.includes(value) ? undefined : `is not one of ${formats.join(', ')}`;
    default:
      return isText(value) ? patternFault(value) : 'is not text';
  }
};

const plainFault = (kind: Kind, value: unknown): string | undefined => {
  switch (kind) {
    case 'count':
      return isCount(value) ? undefined : 'is not a whole number from 0';
    case 'number':
      return Number.isFinite(value) ? undefined : 'is not a finite number';
    case 'flag':
      return typeof value === 'boolean' ? undefined : 'is not true or false';
    case 'text':
      return isText(value) ? undefined : 'is not text';
    case 'names':
      return isTexts(value) && new Set(value).size === value.length
        ? undefined
        : 'is not a list of distinct names';
    default:
      return undefined;
  }
};

/** Subschemas directly below a schema, by the place they stand at. */
const below = (schema: Json): readonly (readonly [string, unknown])[] =>
  Object.entries(schema).flatMap(([keyword, value]): [string, unknown][] => {
    const kind = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (kind === 'schema') return [[keyword, value]];
    if (kind === 'schemas' && Array.isArray(value))
      return value.map((item, index) => [`${keyword}[${index}]`, item]);
    if (kind === 'map' && isObject(value))
      return Object.entries(value).map(([name, item]) => [`${keyword}.${name}`, item]);
    return [];
  });

const keywordFaults = (schema: Json, root: boolean): readonly (readonly [string, string])[] =>
  Object.entries(schema).flatMap(([keyword, value]): [string, string][] => {
    const kind = Object.hasOwn(keywords, keyword) ? keywords[keyword] : undefined;
    if (kind === undefined) return [[keyword, 'is not a keyword a shape may use']];
    if (!root && (keyword === '$schema' || keyword === '$defs'))
      return [[keyword, 'may only stand at the top of a shape']];
    const most = schema.maxItems;
    if (keyword === 'uniqueItems' && value === true && !(isCount(most) && Number(most) <= uniqueItemsAtMost))
      return [[keyword, `needs "maxItems" of at most ${uniqueItemsAtMost}`]];
    const wrong =
      kind === 'own'
        ? ownFault(keyword, value)
        : kind === 'map' && !isObject(value)
          ? 'is not an object of schemas'
          : kind === 'schemas' && !(Array.isArray(value) && value.length > 0)
            ? 'is not a list of schemas'
            : plainFault(kind, value);
    return wrong === undefined ? [] : [[keyword, wrong]];
  });

/** Faults of one schema and all below it; `path` names where it stands. */
export const schemaFaults = (root: unknown, path: string): readonly ShapeFault[] => {
  const faults: ShapeFault[] = [];
  const walk = (schema: unknown, at: string, depth: number): void => {
    if (typeof schema === 'boolean' && depth > 0) return;
    if (!isObject(schema)) {
      faults.push({ path: at, message: 'is not a schema' });
      return;
    }
    if (depth > bundleBounds.shapeDepth) {
      faults.push({ path: at, message: `is nested deeper than ${bundleBounds.shapeDepth} schemas` });
      return;
    }
    for (const [keyword, message] of keywordFaults(schema, depth === 0))
      faults.push({ path: `${at}.${keyword}`, message });
    for (const [place, child] of below(schema)) walk(child, `${at}.${place}`, depth + 1);
  };
  const bytes = Buffer.byteLength(JSON.stringify(root) ?? '');
  if (bytes > bundleBounds.shapeBytes)
    return [{ path, message: `has ${bytes} bytes; the limit is ${bundleBounds.shapeBytes}` }];
  walk(root, path, 0);
  return faults.length > 0 || !isObject(root) ? faults : referenceFaults(root, path);
};

/** A reference to nothing, one that leads back to itself, or more subschemas than the bound once all are followed. */
const referenceFaults = (root: Json, path: string): readonly ShapeFault[] => {
  const definitions = isObject(root.$defs) ? root.$defs : {};
  const known = new Map<string, number>();
  const open = new Set<string>();
  const faults: ShapeFault[] = [];
  const followed = (name: string, at: string): number => {
    const cost = known.get(name);
    if (cost !== undefined) return cost;
    if (!Object.hasOwn(definitions, name)) {
      faults.push({ path: at, message: `refers to "${name}", which "$defs" does not have` });
      return 0;
    }
    if (open.has(name)) {
      faults.push({
        path: at,
        message: `leads back to itself through "${name}"; a shape cannot be recursive`,
      });
      return 0;
    }
    open.add(name);
    const total = costOf(definitions[name], `${path}.$defs.${name}`);
    open.delete(name);
    known.set(name, total);
    return total;
  };
  const costOf = (schema: unknown, at: string): number => {
    if (!isObject(schema)) return 1;
    const name = isText(schema.$ref) ? localRef.exec(schema.$ref)?.[1] : undefined;
    const parts = below(schema).filter(([place]) => !place.startsWith('$defs.'));
    return parts.reduce(
      (sum, [place, child]) => sum + costOf(child, `${at}.${place}`),
      1 + (name === undefined ? 0 : followed(name, `${at}.$ref`)),
    );
  };
  const cost = costOf(root, path);
  for (const name of Object.keys(definitions)) followed(name, `${path}.$defs.${name}`);
  if (cost > bundleBounds.shapeCost)
    faults.push({
      path,
      message: `becomes ${cost} schemas with its references followed; the limit is ${bundleBounds.shapeCost}`,
    });
  return faults;
};
