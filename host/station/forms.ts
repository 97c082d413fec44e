/**
 * What an MCP server asks of a person, as the queue shows it, and whether an answer fits. The forms are flat: MCP's
 * `elicitation/create` allows fields of text, numbers, yes or no, and choices.
 */
import { type Schema, Validator } from '@cfworker/json-schema';
import { isRecord, type Json } from '../mcp/index.ts';
import { type Problem, problem } from '../problems/index.ts';

/** Fields and choices that are shown. */
const mostFields = 50;
const mostChoices = 20;

const choicesOf = ({ enum: values, oneOf }: Json): string => {
  const all = Array.isArray(values)
    ? values
    : Array.isArray(oneOf)
      ? oneOf.map((one) => (isRecord(one) ? one['const'] : one))
      : [];
  return all.length === 0
    ? ''
    : `one of ${all
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

/** What somebody filled in, with the defaults of what they left out. */
export const withDefaults = (schema: Json, content: Json): Json => {
  const { properties } = schema;
  const usual = Object.entries(isRecord(properties) ? properties : {}).flatMap(([name, field]) =>
    isRecord(field) && field['default'] !== undefined ? [[name, field['default']] as const] : [],
  );
  return { ...Object.fromEntries(usual), ...content };
};

/** Why an answer does not fit the form (`mcp/form-unfit`), or undefined. */
export const formFault = (request: string, schema: Json, content: Json): Problem | undefined => {
  const { valid, errors } = new Validator(schema as Schema, '2020-12', false).validate(
    withDefaults(schema, content),
  );
  if (valid) return undefined;
  const found = errors.filter(({ keyword }) => keyword !== 'properties').map(({ error }) => error);
  const evidence = `${found.slice(0, 3).join(' ')} The form: ${fieldLines(schema).join('; ')}`;
  return problem('mcp/form-unfit', { subject: request, evidence });
};
