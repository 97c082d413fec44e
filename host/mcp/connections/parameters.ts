/**
 * SEP-2243: parameters of a tool that its input schema marks with `x-mcp-header` are sent as headers as well, in
 * 2026-07-28 over HTTP. A tool whose marks break the rules is not offered there.
 */
import type { Json } from './edge.ts';

interface Declaration {
  readonly path: readonly string[];
  readonly header: string;
}

const token = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const kinds = ['string', 'integer', 'boolean'];
const deepest = 32;

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** Undefined where a mark breaks the rules: at a place no parameter has, twice, or on what is no text, number or flag. */
export const declarations = (schema: unknown): readonly Declaration[] | undefined => {
  const found: Declaration[] = [];
  let broken = false;
  const look = (node: unknown, path: readonly string[], reachable: boolean, depth: number): void => {
    if (depth > deepest || broken) return;
    if (Array.isArray(node)) {
      for (const one of node) look(one, path, false, depth + 1);
      return;
    }
    if (!isRecord(node)) return;
    const header = node['x-mcp-header'];
    if (header !== undefined) {
      const fits =
        reachable &&
        path.length > 0 &&
        typeof header === 'string' &&
        token.test(header) &&
        kinds.includes(String(node['type'])) &&
        !found.some((other) => other.header.toLowerCase() === header.toLowerCase());
      if (fits) found.push({ path, header });
      else broken = true;
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'properties' && isRecord(child))
        for (const [name, property] of Object.entries(child))
          look(property, [...path, name], reachable, depth + 1);
      else if (!['x-mcp-header', 'default', 'const', 'enum', 'examples', 'example'].includes(key))
        look(child, path, false, depth + 1);
    }
  };
  look(schema, [], true, 0);
  return broken ? undefined : found;
};

const plain = /^[\t\u0020-\u007e]+$/;
const encoded = (text: string): string =>
  plain.test(text) && text === text.trim() && !(text.startsWith('=?base64?') && text.endsWith('?='))
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

const textOf = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean' || Number.isSafeInteger(value)) return String(value);
  return typeof value === 'number' && Number.isFinite(value) && !Number.isInteger(value)
    ? String(value)
    : undefined;
};

/** Headers of a message; none unless it calls a tool whose schema has marks. */
export const parameterHeaders = (
  message: Json,
  schemaOf: (tool: string) => unknown,
): Readonly<Record<string, string>> => {
  if (message['method'] !== 'tools/call') return {};
  const params = message['params'] as Json;
  const schema = schemaOf(String(params['name']));
  const marks = schema === undefined ? [] : (declarations(schema) ?? []);
  const headers: Record<string, string> = {};
  for (const { path, header } of marks) {
    const value = path.reduce<unknown>(
      (at, key) => (isRecord(at) ? at[key] : undefined),
      params['arguments'],
    );
    const text = textOf(value);
    if (text !== undefined) headers[`Mcp-Param-${header}`] = encoded(text);
  }
  return headers;
};
