/**
 * The protocol as data: revisions, errors, the shapes of messages, and what of a message belongs to one hop only. The
 * gateway passes JSON values on as they are; it looks at what stands here and at nothing else.
 */
import type { Answered } from '../connections/edge.ts';
import { isRecord, type Json } from '../json.ts';
import { gatewayKey } from '../own.ts';

export const modern = '2026-07-28';
/** Revisions with `initialize`, the newest first. */
export const older = ['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05'] as const;
export const newestOlder = older[0];

export const parseError = -32_700;
export const invalidRequest = -32_600;
export const methodNotFound = -32_601;
export const invalidParams = -32_602;
export const internalError = -32_603;
/** Of the transport; no meaning beyond its text. */
export const refusedError = -32_000;
export const headerMismatch = -32_020;
export const missingCapability = -32_021;
export const unsupportedVersion = -32_022;

export const metaKey = {
  version: 'io.modelcontextprotocol/protocolVersion',
  client: 'io.modelcontextprotocol/clientInfo',
  capabilities: 'io.modelcontextprotocol/clientCapabilities',
  logLevel: 'io.modelcontextprotocol/logLevel',
  server: 'io.modelcontextprotocol/serverInfo',
  subscription: 'io.modelcontextprotocol/subscriptionId',
  gateway: gatewayKey,
} as const;

export type Id = string | number;
export type Era = 'modern' | 'older';

export const isId = (value: unknown): value is Id =>
  (typeof value === 'string' && value.length <= 1_024) || Number.isSafeInteger(value);

export type Message =
  | { readonly kind: 'request'; readonly id: Id; readonly method: string; readonly params: Json }
  | { readonly kind: 'notification'; readonly method: string; readonly params: Json }
  | { readonly kind: 'answer'; readonly id: Id; readonly answered: Answered };

const errorOf = (value: unknown): Answered | undefined => {
  if (!isRecord(value) || typeof value['message'] !== 'string') return undefined;
  const { code, message, data } = value;
  return Number.isSafeInteger(code)
    ? { error: { code: code as number, message, ...(data === undefined ? {} : { data }) } }
    : undefined;
};

/** Undefined where it is no message of JSON-RPC 2.0. */
export const readMessage = (value: unknown): Message | undefined => {
  if (!isRecord(value) || value['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params, result, error } = value;
  if (typeof method === 'string') {
    if (params !== undefined && !isRecord(params)) return undefined;
    if (!('id' in value)) return { kind: 'notification', method, params: params ?? {} };
    return isId(id) ? { kind: 'request', id, method, params: params ?? {} } : undefined;
  }
  if (!isId(id)) return undefined;
  if (isRecord(result)) return { kind: 'answer', id, answered: { result } };
  const answered = errorOf(error);
  return answered === undefined ? undefined : { kind: 'answer', id, answered };
};

export const metaOf = (params: Json): Json => (isRecord(params['_meta']) ? params['_meta'] : {});

export const progressTokenOf = (params: Json): Id | undefined => {
  const token = metaOf(params)['progressToken'];
  return isId(token) ? token : undefined;
};

const ofThisHop: readonly string[] = [
  'progressToken',
  metaKey.version,
  metaKey.client,
  metaKey.capabilities,
  metaKey.logLevel,
  metaKey.gateway,
];

/** Params as they go on: the envelope of this hop is taken out, and tasks, which the gateway does not offer. */
export const passedOn = (params: Json): Json => {
  if (!('_meta' in params || 'task' in params || 'requestState' in params || 'inputResponses' in params)) {
    return params;
  }
  const { _meta: _, task: __, requestState: ___, inputResponses: ____, ...rest } = params;
  const meta = Object.entries(metaOf(params)).filter(([key]) => !ofThisHop.includes(key));
  return meta.length === 0 ? rest : { ...rest, _meta: Object.fromEntries(meta) };
};

const cacheable: ReadonlySet<string> = new Set([
  'tools/list',
  'prompts/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'server/discover',
]);

/** What 2026-07-28 wants of every result, where the server is older and did not say it. */
export const completed = (method: string, result: Json, serverInfo: Json): Json => {
  const meta = result['_meta'];
  const named = meta === undefined || (isRecord(meta) && !(metaKey.server in meta));
  return {
    ...result,
    resultType: result['resultType'] ?? 'complete',
    ...(cacheable.has(method)
      ? { ttlMs: result['ttlMs'] ?? 0, cacheScope: result['cacheScope'] ?? 'private' }
      : {}),
    ...(named ? { _meta: { ...(meta as Json | undefined), [metaKey.server]: serverInfo } } : {}),
  };
};

export const failure = (
  code: number,
  message: string,
  data?: unknown,
): Extract<Answered, { readonly error: unknown }> => ({
  error: { code, message, ...(data === undefined ? {} : { data }) },
});

export const notification = (method: string, params: Json): Json => ({ jsonrpc: '2.0', method, params });
