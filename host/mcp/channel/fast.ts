/**
 * The way past the SDK for the six methods of published skills. It takes a request only when nothing about it is
 * unusual, and answers as the SDK would; answers are serialised once per catalog. Everything else is left to the SDK,
 * which also judges each envelope once: a client sends the same one with every request.
 */
import { isRecord } from '../json.ts';
import {
  type Answered,
  getSkill,
  internalError,
  listResources,
  listSkills,
  listTemplates,
  readFolder,
  readResource,
} from './answers.ts';
import { keptBytes, uriCharacters } from './limits.ts';
import type { Published } from './publish.ts';

/** Headers in lower case; a list where one came twice. */
export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Reply {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly parts: readonly (Buffer | string)[];
}

export interface FastOptions {
  readonly server: { readonly name: string; readonly version: string };
  /** Whether the SDK takes this envelope for one of 2026-07-28. */
  readonly isEnvelope: (body: Readonly<Record<string, unknown>>) => boolean;
  readonly failedRead: () => void;
}

export const modern = '2026-07-28';
/** Revisions that are served without sessions. */
export const older: ReadonlySet<string> = new Set([
  '2025-11-25',
  '2025-06-18',
  '2025-03-26',
  '2024-11-05',
  '2024-10-07',
]);
/** Envelopes remembered; one is a few hundred bytes. */
const envelopes = 256;
const envelopeCharacters = 4_096;

type Params = { readonly uri?: string; readonly cursor?: string };
type Work = (published: Published, params: Params) => Answered<unknown>;

const methods: Readonly<
  Record<string, { readonly keys: readonly ('uri' | 'cursor')[]; readonly work: Work }>
> = {
  'skills/list': { keys: ['cursor'], work: (published, { cursor }) => listSkills(published, cursor) },
  'skills/get': { keys: ['uri'], work: (published, { uri = '' }) => getSkill(published, uri) },
  'resources/list': { keys: ['cursor'], work: (published, { cursor }) => listResources(published, cursor) },
  'resources/templates/list': { keys: [], work: () => ({ result: listTemplates() }) },
  'resources/read': { keys: ['uri'], work: (published, { uri = '' }) => readResource(published, uri) },
  'resources/directory/read': {
    keys: ['uri', 'cursor'],
    work: (published, { uri = '', cursor }) => readFolder(published, uri, cursor),
  },
};

const hasOnly = (value: object, keys: readonly string[]): boolean =>
  Object.keys(value).every((key) => keys.includes(key));
const isShort = (value: unknown): value is string =>
  typeof value === 'string' && value.length <= uriCharacters;

interface Known {
  readonly method: string;
  readonly params: Params;
  readonly meta: unknown;
  readonly id: string | number;
}

/** The request, when it is exactly one of the six and nothing else. */
const known = (body: unknown): Known | undefined => {
  if (!isRecord(body) || body['jsonrpc'] !== '2.0' || typeof body['method'] !== 'string') return undefined;
  if (!hasOnly(body, ['jsonrpc', 'id', 'method', 'params'])) return undefined;
  const { id, method } = body;
  if (typeof id === 'string' ? id.length > uriCharacters : !Number.isSafeInteger(id)) return undefined;
  const shape = Object.hasOwn(methods, method) ? methods[method] : undefined;
  if (shape === undefined) return undefined;
  const params = body['params'] ?? {};
  if (!isRecord(params) || !hasOnly(params, [...shape.keys, '_meta'])) return undefined;
  const { uri, cursor, _meta: meta } = params;
  if (shape.keys.includes('uri') && !isShort(uri)) return undefined;
  if (cursor !== undefined && !isShort(cursor)) return undefined;
  return {
    method,
    id: id as string | number,
    meta,
    params: { ...(isShort(uri) ? { uri } : {}), ...(isShort(cursor) ? { cursor } : {}) },
  };
};

type Era = 'modern' | 'older';
const eventStream = {
  'content-type': 'text/event-stream',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
};
const json = { 'content-type': 'application/json' };

export interface FastPath {
  /** Undefined: the SDK answers. */
  readonly answer: (headers: Headers, body: unknown, published: Published) => Reply | undefined;
}

export const openFastPath = ({ server, isEnvelope, failedRead }: FastOptions): FastPath => {
  const decorated = {
    resultType: 'complete',
    ttlMs: 0,
    cacheScope: 'private',
    _meta: { 'io.modelcontextprotocol/serverInfo': server },
  };
  const accepted = new Set<string>();
  let of: Published | undefined;
  let kept = new Map<string, Buffer>();
  let bytes = 0;

  const eraOf = (headers: Headers, body: unknown, { method, params, meta }: Known): Era | undefined => {
    const version = headers['mcp-protocol-version'];
    if (version === modern) {
      if (headers['mcp-method'] !== method) return undefined;
      if (method === 'resources/read' && headers['mcp-name'] !== params.uri) return undefined;
      const envelope = JSON.stringify(meta);
      if (envelope === undefined || envelope.length > envelopeCharacters) return undefined;
      if (accepted.has(envelope)) return 'modern';
      if (!isRecord(body) || !isEnvelope(body)) return undefined;
      if (accepted.size >= envelopes) accepted.clear();
      accepted.add(envelope);
      return 'modern';
    }
    if (meta !== undefined || typeof version !== 'string' || !older.has(version)) return undefined;
    const accept = headers['accept'];
    const both =
      typeof accept === 'string' &&
      accept.includes('application/json') &&
      accept.includes('text/event-stream');
    return both ? 'older' : undefined;
  };

  const remember = (key: string, head: Buffer): void => {
    if (head.length > keptBytes / 16) return;
    for (const [oldest, value] of kept) {
      if (bytes + head.length <= keptBytes) break;
      kept.delete(oldest);
      bytes -= value.length;
    }
    kept.set(key, head);
    bytes += head.length;
  };

  const reply = (era: Era, head: Buffer, id: string | number): Reply => {
    const tail = `${JSON.stringify(id)}}`;
    return era === 'modern'
      ? { status: 200, headers: json, parts: [head, tail] }
      : { status: 200, headers: eventStream, parts: ['event: message\ndata: ', head, `${tail}\n\n`] };
  };

  return {
    answer: (headers, body, published) => {
      if (headers['content-type'] !== 'application/json') return undefined;
      const request = known(body);
      if (request === undefined) return undefined;
      const era = eraOf(headers, body, request);
      if (era === undefined) return undefined;
      if (of !== published) {
        of = published;
        kept = new Map();
        bytes = 0;
      }
      const { method, params, id } = request;
      const key = JSON.stringify([era, method, params]);
      const found = kept.get(key);
      if (found !== undefined) return reply(era, found, id);
      const answered = methods[method]?.work(published, params);
      if (answered === undefined) return undefined;
      if ('error' in answered) {
        if (answered.error.code === internalError) failedRead();
        return reply(
          era,
          Buffer.from(`{"error":${JSON.stringify(answered.error)},"jsonrpc":"2.0","id":`),
          id,
        );
      }
      const result = answered.result as object;
      const whole = era === 'modern' ? { ...result, ...decorated } : result;
      const head = Buffer.from(`{"result":${JSON.stringify(whole)},"jsonrpc":"2.0","id":`);
      remember(key, head);
      return reply(era, head, id);
    },
  };
};
