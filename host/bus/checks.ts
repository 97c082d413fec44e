/**
 * A schema as closures, made once and run against every message: no text of a schema ever becomes code. It knows the
 * dialect of JSON Schema 2020-12 that manifests admit (bundles: known keywords, local references, no recursion), and
 * asks a value only for what it has itself: a property called `constructor` is missing where nobody sent one.
 */
import { format as formats } from '@cfworker/json-schema';
import { arrayChecks, objectChecks } from './containers.ts';
import { type Check, equals, isObject, type Make, type Misfit, misfit, type Schema } from './misfit.ts';
import { formatCheck, matcherOf } from './patterns.ts';

const typeOf = (value: unknown): string => {
  if (value === null) return 'null';
  return Array.isArray(value) ? 'array' : typeof value;
};

const isOf: Readonly<Record<string, (value: unknown) => boolean>> = {
  null: (value) => value === null,
  boolean: (value) => typeof value === 'boolean',
  number: (value) => typeof value === 'number',
  integer: (value) => Number.isInteger(value),
  string: (value) => typeof value === 'string',
  array: Array.isArray,
  object: isObject,
};

const typeCheck = (type: unknown): Check => {
  const names = (Array.isArray(type) ? type : [type]).map(String);
  const why = `is not ${names.join(' or ')}`;
  const [only] = names;
  const one = only === undefined ? undefined : isOf[only];
  const wrong = (value: unknown) => misfit(`${why}, but ${typeOf(value)}`);
  if (names.length === 1 && one !== undefined) return (value) => (one(value) ? undefined : wrong(value));
  return (value) => (names.some((name) => isOf[name]?.(value) === true) ? undefined : wrong(value));
};

const valueChecks = (schema: Schema): readonly Check[] => {
  const checks: Check[] = [];
  if (schema['type'] !== undefined) checks.push(typeCheck(schema['type']));
  if (schema['const'] !== undefined) {
    const wanted = schema['const'];
    checks.push((value) => (equals(wanted, value) ? undefined : misfit('is not the one value it may be')));
  }
  const allowed = schema['enum'];
  if (Array.isArray(allowed)) {
    const plain = new Set(allowed);
    const structured = allowed.filter((one) => typeof one === 'object' && one !== null);
    checks.push((value) =>
      plain.has(value) || structured.some((one) => equals(one, value))
        ? undefined
        : misfit('is none of the values it may be'),
    );
  }
  return checks;
};

/** Code points, which is what lengths of text are counted in. */
const lengthOf = (text: string): number => {
  let count = 0;
  for (const _ of text) count += 1;
  return count;
};

const textCheck = (schema: Schema): Check | undefined => {
  const { minLength, maxLength, pattern, format } = schema;
  const least = Number(minLength ?? 0);
  const most = Number(maxLength ?? Number.POSITIVE_INFINITY);
  const matches = typeof pattern === 'string' ? matcherOf(pattern) : undefined;
  const named = typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
  const formed =
    named === undefined ? undefined : formatCheck(String(format), (text) => named(text) === true);
  const bounded = least > 0 || most < Number.POSITIVE_INFINITY;
  if (!bounded && matches === undefined && formed === undefined) return undefined;
  return (value) => {
    if (typeof value !== 'string') return undefined;
    if (bounded) {
      // A code point is one unit or two: most texts need no counting.
      if (value.length < least || (value.length < least * 2 && lengthOf(value) < least))
        return misfit(`is shorter than ${least}`);
      if (value.length > most && lengthOf(value) > most) return misfit(`is longer than ${most}`);
    }
    if (matches?.(value) === false) return misfit('does not match its pattern');
    return formed === undefined || formed(value) ? undefined : misfit(`is not a ${format}`);
  };
};

/** Whole numbers exactly; of others, as near as their binary form lets one say. */
const isMultiple = (value: number, of: number): boolean => {
  if (Number.isInteger(value) && Number.isInteger(of)) return value % of === 0;
  const times = value / of;
  return Math.abs(times - Math.round(times)) <= 1e-9 * Math.max(1, Math.abs(times));
};

const numberRules: Readonly<Record<string, readonly [(value: number, bound: number) => boolean, string]>> = {
  minimum: [(value, bound) => value >= bound, 'is less than'],
  maximum: [(value, bound) => value <= bound, 'is more than'],
  exclusiveMinimum: [(value, bound) => value > bound, 'is not more than'],
  exclusiveMaximum: [(value, bound) => value < bound, 'is not less than'],
  multipleOf: [isMultiple, 'is no multiple of'],
};

const numberChecks = (schema: Schema): readonly Check[] =>
  Object.entries(numberRules).flatMap(([keyword, [holds, why]]): Check[] => {
    const bound = schema[keyword];
    if (typeof bound !== 'number') return [];
    return [
      (value) => (typeof value !== 'number' || holds(value, bound) ? undefined : misfit(`${why} ${bound}`)),
    ];
  });

const deepest = (found: readonly Misfit[]): Misfit =>
  found.reduce((worst, one) => (one.path.length > worst.path.length ? one : worst));

const listOf = (schemas: unknown, make: Make): readonly Check[] | undefined =>
  Array.isArray(schemas) ? schemas.map(make) : undefined;

const combinedChecks = (schema: Schema, make: Make): readonly Check[] => {
  const checks: Check[] = [];
  const { allOf, anyOf, oneOf, not } = schema;
  checks.push(...(listOf(allOf, make) ?? []));
  const any = listOf(anyOf, make);
  if (any !== undefined)
    checks.push((value) => {
      const found: Misfit[] = [];
      for (const check of any) {
        const bad = check(value);
        if (bad === undefined) return undefined;
        found.push(bad);
      }
      return deepest(found);
    });
  const one = listOf(oneOf, make);
  if (one !== undefined)
    checks.push((value) => {
      const found = one.flatMap((check) => check(value) ?? []);
      if (found.length === one.length) return deepest(found);
      return found.length === one.length - 1 ? undefined : misfit('fits more than one of what it may be');
    });
  if (not !== undefined) {
    const refused = make(not);
    checks.push((value) => (refused(value) === undefined ? misfit('is what it may not be') : undefined));
  }
  if (schema['if'] !== undefined) {
    const [condition, met, unmet] = [
      make(schema['if']),
      make(schema['then'] ?? true),
      make(schema['else'] ?? true),
    ];
    checks.push((value) => (condition(value) === undefined ? met(value) : unmet(value)));
  }
  return checks;
};

const nothing: Check = () => undefined;
const never: Check = () => misfit('may not be here');

const inTurn = (checks: readonly Check[]): Check => {
  const [first, second, ...more] = checks;
  if (first === undefined) return nothing;
  if (second === undefined) return first;
  if (more.length === 0) return (value) => first(value) ?? second(value);
  return (value) => {
    for (const check of checks) {
      const bad = check(value);
      if (bad !== undefined) return bad;
    }
    return undefined;
  };
};

/** The check of an admitted schema: the first misfit it finds, or undefined. */
export const checkFrom = (root: Schema): Check => {
  const definitions = isObject(root['$defs']) ? root['$defs'] : {};
  const known = new Map<string, Check>();
  const make: Make = (schema) => {
    if (!isObject(schema)) return schema === false ? never : nothing;
    const { $ref } = schema;
    const text = textCheck(schema);
    return inTurn([
      ...valueChecks(schema),
      ...(typeof $ref === 'string' ? [referred($ref)] : []),
      ...numberChecks(schema),
      ...(text === undefined ? [] : [text]),
      ...objectChecks(schema, make),
      ...arrayChecks(schema, make),
      ...combinedChecks(schema, make),
    ]);
  };
  const referred = ($ref: string): Check => {
    const name = $ref.slice('#/$defs/'.length);
    const made = known.get(name) ?? make(Object.hasOwn(definitions, name) ? definitions[name] : false);
    known.set(name, made);
    return made;
  };
  return make(root);
};
