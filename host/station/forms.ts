/**
 * What an MCP server asks of a person, as the queue shows it, and whether an answer fits. The forms are flat: MCP's
 * `elicitation/create` allows fields of text, numbers, yes or no, and choices.
 */
import { isRecord, type Json, withDefaults } from '../mcp/index.ts';
import { type Problem, problem } from '../problems/index.ts';

/** Fields and choices that are shown. */
const mostFields = 50;
const mostChoices = 20;

/** The values a field may have; undefined where it says none. */
const choicesIn = ({ enum: values, oneOf, anyOf }: Json): readonly unknown[] | undefined => {
  if (Array.isArray(values)) return values;
  const titled = Array.isArray(oneOf) ? oneOf : anyOf;
  return Array.isArray(titled) ? titled.map((one) => (isRecord(one) ? one['const'] : one)) : undefined;
};

const choicesOf = (field: Json): string => {
  const { items } = field;
  const all = choicesIn(field) ?? (isRecord(items) ? choicesIn(items) : undefined) ?? [];
  return all.length === 0
    ? ''
    : `${field['type'] === 'array' ? 'list of' : 'one of'} ${all
        .slice(0, mostChoices)
        .map((one) => JSON.stringify(one))
        .join(', ')}${all.length > mostChoices ? ', …' : ''}`;
};

/** A line a field: `branch: string, required: Branch to deploy`. */
export const fieldLines = (schema: Json): readonly string[] => {
  const { properties, required } = schema;
  const needed = new Set(Array.isArray(required) ? required : []);
  return Object.entries(isRecord(properties) ? properties : {})
    .slice(0, mostFields)
    .map(([name, field]) => {
      const found = isRecord(field) ? field : {};
      const { type, title, description, default: usual } = found;
      const traits = [
        choicesOf(found) || (typeof type === 'string' ? type : 'any'),
        needed.has(name) ? 'required' : '',
        usual === undefined ? '' : `default ${JSON.stringify(usual)}`,
      ].filter((part) => part !== '');
      const about = [title, description].filter((part) => typeof part === 'string').join('. ');
      return `${name}: ${traits.join(', ')}${about === '' ? '' : `: ${about}`}`;
    });
};

type Check = readonly [holds: boolean, wanted: string];

const isOneOf = (choices: readonly unknown[], value: unknown): Check => [
  choices.includes(value),
  'one of its choices',
];
/** Characters as people count them. */
const lengthOf = (text: string): number => [...text].length;
const dated = /^\d{4}-\d\d-\d\d$/;
const timed = /^\d{4}-\d\d-\d\d[Tt ]\d\d:\d\d:\d\d(?:\.\d{1,9})?(?:[Zz]|[+-]\d\d:\d\d)$/;
const formats: Readonly<Record<string, (text: string) => boolean>> = {
  email: (text) => /^[^\s@]{1,64}@[^\s@]{1,255}$/.test(text),
  uri: (text) => URL.canParse(text),
  date: (text) => dated.test(text) && !Number.isNaN(Date.parse(text)),
  'date-time': (text) => timed.test(text) && !Number.isNaN(Date.parse(text.replace(' ', 'T'))),
};

const least = (bound: unknown, found: number, what: string): Check => [
  typeof bound !== 'number' || found >= bound,
  `at least ${bound}${what}`,
];
const most = (bound: unknown, found: number, what: string): Check => [
  typeof bound !== 'number' || found <= bound,
  `at most ${bound}${what}`,
];

const checksOf = (field: Json, value: unknown): readonly Check[] => {
  const { type, format } = field;
  const choices = choicesIn(field);
  if (choices !== undefined && type !== 'array') return [isOneOf(choices, value)];
  switch (type) {
    case 'string': {
      if (typeof value !== 'string') return [[false, 'a text']];
      const length = lengthOf(value);
      const isFormat =
        typeof format === 'string' && Object.hasOwn(formats, format) ? formats[format] : undefined;
      return [
        least(field['minLength'], length, ' characters'),
        most(field['maxLength'], length, ' characters'),
        [isFormat?.(value) !== false, `a text of the form ${String(format)}`],
      ];
    }
    case 'number':
    case 'integer':
      if (typeof value !== 'number') return [[false, 'a number']];
      return [
        [type === 'number' || Number.isInteger(value), 'a whole number'],
        least(field['minimum'], value, ''),
        most(field['maximum'], value, ''),
      ];
    case 'boolean':
      return [[typeof value === 'boolean', 'true or false']];
    case 'array': {
      if (!Array.isArray(value)) return [[false, 'a list']];
      const { items } = field;
      const inside = isRecord(items) ? choicesIn(items) : undefined;
      return [
        least(field['minItems'], value.length, ' of its choices'),
        most(field['maxItems'], value.length, ' of its choices'),
        ...(inside === undefined ? [] : value.map((one) => isOneOf(inside, one))),
      ];
    }
    default:
      return [];
  }
};

/**
 * Why an answer does not fit the form (`mcp/form-unfit`), or undefined. Only what MCP's forms may say is looked at, by
 * rules of our own: a schema is a server's text, and one that could be run here (`pattern`, a `$ref` to itself) would
 * stop the station for as long as the server likes.
 */
export const formFault = (request: string, schema: Json, content: Json): Problem | undefined => {
  const { properties, required } = schema;
  const fields = isRecord(properties) ? properties : {};
  const given = withDefaults(schema, content);
  const missing = (Array.isArray(required) ? required : []).filter(
    (name) => typeof name === 'string' && !(Object.hasOwn(given, name) && given[name] !== undefined),
  );
  const unknown = Object.keys(given).filter(
    (name) => schema['additionalProperties'] === false && !Object.hasOwn(fields, name),
  );
  const wrong = Object.entries(fields).flatMap(([name, field]) => {
    if (!isRecord(field) || !Object.hasOwn(given, name)) return [];
    const [failing] = checksOf(field, given[name]).filter(([holds]) => !holds);
    return failing === undefined ? [] : [`${name} must be ${failing[1]}.`];
  });
  const found = [
    ...missing.map((name) => `${name} is missing.`),
    ...unknown.map((name) => `${name} is no field of it.`),
    ...wrong,
  ];
  if (found.length === 0) return undefined;
  const evidence = `${found.slice(0, 3).join(' ')} The form: ${fieldLines(schema).join('; ')}`;
  return problem('mcp/form-unfit', { subject: request, evidence });
};
