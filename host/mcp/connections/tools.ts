/** Every page of a server's tools, unchanged, with a bound on pages, tools and their text. */
import { failed, ok, problem, type Result } from '../../problems/index.ts';
import { headerMark } from '../param-headers.ts';
import type { Calls } from './calls.ts';
import type { Json, ServerTool } from './edge.ts';
import type { ConnectionLimits } from './limits.ts';
import { declarations } from './parameters.ts';
import { forgotten } from './wire.ts';

/** A server without the method has no tools. */
const methodNotFound = -32_601;
/** Of a server's own words, UTF-16 units. */
const shownUnits = 300;

const isTool = (value: unknown): value is ServerTool =>
  typeof value === 'object' && value !== null && 'name' in value && typeof value.name === 'string';

export const readTools = async (
  calls: Calls,
  name: string,
  { pages, tools: most, listUnits }: ConnectionLimits,
): Promise<Result<readonly ServerTool[]>> => {
  const endless = (evidence: string): Result<never> =>
    failed(problem('connections/list-endless', { subject: name, evidence }));
  const tools: ServerTool[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let units = 0;
  for (let page = 0; page < pages; page += 1) {
    const answered = await calls.request('tools/list', cursor === undefined ? {} : { cursor });
    if (answered === forgotten) return failed(problem('connections/session-forgotten', { subject: name }));
    if ('problem' in answered) return failed(answered.problem);
    if ('error' in answered) {
      if (answered.error.code === methodNotFound) return ok([]);
      const evidence = `${answered.error.code}: ${answered.error.message}`.slice(0, shownUnits);
      return failed(problem('connections/list-failed', { subject: name, evidence }));
    }
    const { tools: listed, nextCursor } = answered.result as { tools?: unknown; nextCursor?: unknown };
    if (Array.isArray(listed)) {
      units += JSON.stringify(listed).length;
      for (const tool of listed) if (isTool(tool)) tools.push(tool);
    }
    if (units > listUnits) return endless(`more than ${listUnits} characters`);
    if (tools.length > most) return endless(`more than ${most} tools`);
    if (typeof nextCursor !== 'string' || nextCursor === '') return ok(tools);
    if (seen.has(nextCursor)) return endless('a page that refers to itself or to one before');
    seen.add(nextCursor);
    cursor = nextCursor;
  }
  return endless(`more than ${pages} pages`);
};

/** Input schemas with parameters that are headers as well, and the tools that may be offered with them. */
export const markedSchemas = (
  tools: readonly ServerTool[],
): { readonly offered: readonly ServerTool[]; readonly schemas: ReadonlyMap<string, unknown> } => {
  const schemas = new Map<string, unknown>();
  const offered = tools.filter(({ name, ...tool }) => {
    const schema = (tool as Json)['inputSchema'];
    if (!JSON.stringify(schema ?? null).includes(`"${headerMark}"`)) return true;
    const marks = declarations(schema);
    if (marks !== undefined && marks.length > 0) schemas.set(name, schema);
    return marks !== undefined;
  });
  return { offered: schemas.size === 0 && offered.length === tools.length ? tools : offered, schemas };
};

export interface Refreshing {
  /** The list may have changed. */
  readonly asked: () => void;
  readonly stop: () => void;
}

/**
 * Reads again once it has been quiet for a moment, put off no longer than the most, one reading at a time: however
 * often a server says that its list changed.
 */
export const refreshing = (read: () => Promise<void>, limits: ConnectionLimits): Refreshing => {
  let timer: NodeJS.Timeout | undefined;
  let since: number | undefined;
  let reading = false;
  let again = false;
  let stopped = false;
  const run = async (): Promise<void> => {
    timer = undefined;
    since = undefined;
    reading = true;
    await read();
    reading = false;
    if (again) {
      again = false;
      arm();
    }
  };
  const arm = (): void => {
    if (stopped) return;
    since ??= performance.now();
    const left = limits.mostDebounceMs - (performance.now() - since);
    clearTimeout(timer);
    timer = setTimeout(() => void run(), Math.max(0, Math.min(limits.debounceMs, left)));
  };
  return {
    asked: () => {
      if (reading) again = true;
      else arm();
    },
    stop: () => {
      stopped = true;
      clearTimeout(timer);
    },
  };
};

export const sameTools = (a: readonly ServerTool[], b: readonly ServerTool[]): boolean =>
  a.length === b.length && JSON.stringify(a) === JSON.stringify(b);
