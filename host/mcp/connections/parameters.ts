/**
 * SEP-2243: parameters of a tool that its input schema marks with `x-mcp-header` are sent as headers as well, in
 * 2026-07-28 over HTTP. A tool whose marks break the rules is not offered there.
 */
import { isRecord, type Json, textOf } from '../json.ts';
import { encodedHeader, headerMark, headerName, headerText, markedName } from '../param-headers.ts';

interface Declaration {
  readonly path: readonly string[];
  readonly header: string;
}

const kinds = ['string', 'integer', 'boolean'];
/** Levels of a schema that are looked through. */
const deepest = 32;

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
    const header = node[headerMark];
    if (header !== undefined) {
      const fits =
        reachable &&
        path.length > 0 &&
        typeof header === 'string' &&
        markedName.test(header) &&
        kinds.includes(textOf(node['type'])) &&
        !found.some((other) => other.header.toLowerCase() === header.toLowerCase());
      if (fits) found.push({ path, header });
      else broken = true;
    }
    for (const [key, child] of Object.entries(node)) {
      if (key === 'properties' && isRecord(child))
        for (const [name, property] of Object.entries(child))
          look(property, [...path, name], reachable, depth + 1);
      else if (![headerMark, 'default', 'const', 'enum', 'examples', 'example'].includes(key))
        look(child, path, false, depth + 1);
    }
  };
  look(schema, [], true, 0);
  return broken ? undefined : found;
};

/** Headers of a message; none unless it calls a tool whose schema has marks. */
export const parameterHeaders = (
  message: Json,
  schemaOf: (tool: string) => unknown,
): Readonly<Record<string, string>> => {
  if (message['method'] !== 'tools/call') return {};
  const params = message['params'] as Json;
  const schema = schemaOf(textOf(params['name']));
  const marks = schema === undefined ? [] : (declarations(schema) ?? []);
  const headers: Record<string, string> = {};
  for (const { path, header } of marks) {
    const value = path.reduce<unknown>(
      (at, key) => (isRecord(at) ? at[key] : undefined),
      params['arguments'],
    );
    const text = headerText(value);
    if (text !== undefined) headers[headerName(header)] = encodedHeader(text);
  }
  return headers;
};
