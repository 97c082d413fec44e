/**
 * Headers that repeat arguments (SEP-2243): a tool may say of a property, by `x-mcp-header`, that clients send its value
 * as `Mcp-Param-…` as well. What is not said twice alike is refused, so that nothing on the way decides by another value
 * than the server.
 */
import { isRecord, type Json } from '../json.ts';
import { decodedHeader, headerMark, headerName, headerText, markedName } from '../param-headers.ts';
import { disagree, type Headers, type Refusal } from './envelope.ts';

interface Declared {
  readonly path: readonly string[];
  readonly header: string;
  readonly numeric: boolean;
}

/** Levels of `properties` that are looked through. */
const deepest = 16;

const declaredIn = (schema: unknown, path: readonly string[] = []): readonly Declared[] => {
  if (!isRecord(schema) || path.length > deepest) return [];
  const { type } = schema;
  const header = schema[headerMark];
  const own =
    path.length > 0 && typeof header === 'string' && markedName.test(header)
      ? [{ path, header, numeric: type === 'integer' || type === 'number' }]
      : [];
  const properties = isRecord(schema['properties']) ? Object.entries(schema['properties']) : [];
  return [...own, ...properties.flatMap(([key, child]) => declaredIn(child, [...path, key]))];
};

const known = new WeakMap<Json, readonly Declared[]>();
const declaredBy = (tool: Json): readonly Declared[] => {
  const found = known.get(tool) ?? declaredIn(tool['inputSchema']);
  known.set(tool, found);
  return found;
};

const valueAt = (root: unknown, path: readonly string[]): unknown => {
  let node = root;
  for (const key of path) node = isRecord(node) ? node[key] : undefined;
  return node;
};

const decimal = /^-?\d+(\.\d+)?$/;

/** Of a call in 2026-07-28 over HTTP. */
export const paramHeaderFault = (tool: Json, args: unknown, headers: Headers): Refusal | undefined => {
  for (const { path, header, numeric } of declaredBy(tool)) {
    const value = valueAt(args, path);
    const text = headerText(value);
    if (text === undefined) continue;
    const name = headerName(header);
    const given = headers[name.toLowerCase()];
    const body = `the body carries ${path.join('.')}=${JSON.stringify(value)}`;
    if (typeof given !== 'string') return disagree(name, `${body}, the header ${name} is absent`);
    const decoded = decodedHeader(given.trim());
    const isEqual =
      decoded !== undefined &&
      (numeric && decimal.test(decoded) && typeof value === 'number'
        ? Number(decoded) === value
        : decoded === text);
    if (!isEqual) return disagree(name, `${body}, the header ${name} another value`);
  }
  return undefined;
};
