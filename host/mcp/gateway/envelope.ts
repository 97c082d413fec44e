/**
 * Which protocol a request speaks. 2026-07-28 says so in every request, in its envelope and, over HTTP, in its headers,
 * and the two must agree; the revisions before said it once. Whether an envelope is well formed is judged by the
 * official SDK, once for each: a client sends the same one with every request.
 */
import type { Json } from '../json.ts';
import { decodedHeader } from '../param-headers.ts';
import {
  type Era,
  headerMismatch,
  invalidRequest,
  type Message,
  metaKey,
  metaOf,
  modern,
  older,
  readMessage,
  unsupportedVersion,
} from './protocol.ts';

export type Headers = Readonly<Record<string, string | readonly string[] | undefined>>;

export interface Refusal {
  readonly status: number;
  readonly code: number;
  readonly message: string;
  readonly data?: unknown;
}
export type Judged =
  | {
      readonly era: Era;
      readonly message: Message;
      /** Of the envelope. */
      readonly capabilities: Json;
      readonly logLevel?: string;
    }
  | { readonly refusal: Refusal; readonly id: unknown };

/** Envelopes remembered, and characters of one. */
const envelopes = 256;
const envelopeCharacters = 8_192;

const one = (value: string | readonly string[] | undefined): string | undefined =>
  typeof value === 'string' ? value.trim() : value?.[0]?.trim();

const nameSource: Readonly<Record<string, 'name' | 'uri'>> = {
  'tools/call': 'name',
  'prompts/get': 'name',
  'resources/read': 'uri',
};

export const disagree = (header: string, body: string): Refusal => ({
  status: 400,
  code: headerMismatch,
  message: `Bad Request: the request headers and body disagree: ${body}`,
  data: { mismatch: { header, body } },
});

/** Headers a request of 2026-07-28 needs beside its envelope. */
const headerFault = (
  headers: Headers,
  { method, params }: { method: string; params: Json },
): Refusal | undefined => {
  if (one(headers['mcp-protocol-version']) === undefined) {
    return disagree('(missing)', 'the header MCP-Protocol-Version is absent');
  }
  if (one(headers['mcp-method']) === undefined) {
    return disagree('(missing)', `the body names method ${method}, the header Mcp-Method is absent`);
  }
  const source = Object.hasOwn(nameSource, method) ? nameSource[method] : undefined;
  const value = source === undefined ? undefined : params[source];
  if (source === undefined || typeof value !== 'string') return undefined;
  const header = one(headers['mcp-name']);
  if (header === undefined)
    return disagree('(missing)', `the body carries params.${source}, Mcp-Name is absent`);
  const decoded = decodedHeader(header);
  if (decoded === undefined) return disagree(header, 'the header Mcp-Name is not in canonical base64');
  return decoded === value
    ? undefined
    : disagree(header, `the body carries params.${source}=${JSON.stringify(value)}, Mcp-Name another value`);
};

const isOlder = (version: string): boolean => (older as readonly string[]).includes(version);

export const openJudge = () => {
  const accepted = new Set<string>();

  /** What the SDK says of the whole request: undefined where it is one of 2026-07-28. */
  const refusalOf = async (
    headers: Headers | undefined,
    body: unknown,
  ): Promise<Refusal | undefined | 'older'> => {
    const { classifyInboundRequest } = await import('@modelcontextprotocol/server');
    const version = one(headers?.['mcp-protocol-version']);
    const method = one(headers?.['mcp-method']);
    const found = classifyInboundRequest({
      httpMethod: 'POST',
      body,
      ...(version === undefined ? {} : { protocolVersionHeader: version }),
      ...(method === undefined ? {} : { mcpMethodHeader: method }),
    });
    if (found.kind === 'legacy') return 'older';
    if (found.kind === 'reject') {
      const { httpStatus: status, code, message, data } = found;
      return { status, code, message, ...(data === undefined ? {} : { data }) };
    }
    const { revision } = found.classification;
    if (revision === modern) return undefined;
    const data = { supported: [modern], requested: revision ?? 'unknown' };
    return { status: 400, code: unsupportedVersion, message: 'Unsupported protocol version', data };
  };

  const judged = (message: Message, meta: Json, headers: Headers | undefined): Judged => {
    const fault =
      message.kind === 'request' && headers !== undefined ? headerFault(headers, message) : undefined;
    if (fault !== undefined) return { refusal: fault, id: message.kind === 'request' ? message.id : null };
    const capabilities = (meta[metaKey.capabilities] ?? {}) as Json;
    const logLevel = meta[metaKey.logLevel];
    return { era: 'modern', message, capabilities, ...(typeof logLevel === 'string' ? { logLevel } : {}) };
  };

  /** `headers`: undefined where messages come as lines. */
  return async (headers: Headers | undefined, body: unknown): Promise<Judged> => {
    const message = readMessage(body);
    if (message === undefined) {
      const refusal = { status: 400, code: invalidRequest, message: 'Invalid Request: not a message' };
      return { refusal, id: null };
    }
    const version = one(headers?.['mcp-protocol-version']);
    if (message.kind === 'answer') return { era: 'older', message, capabilities: {} };
    const meta = metaOf(message.params);
    const claims = metaKey.version in meta;
    const id = message.kind === 'request' ? message.id : null;
    if (!claims && (version === undefined || isOlder(version)))
      return { era: 'older', message, capabilities: {} };
    if (!claims && version !== modern) {
      const supported = [...older, modern];
      const text = `Bad Request: Unsupported protocol version: ${version} (supported versions: ${supported.join(', ')})`;
      return { refusal: { status: 400, code: -32_000, message: text, data: { supported } }, id };
    }
    const envelope = JSON.stringify(Object.values(metaKey).map((key) => meta[key]));
    const agrees =
      meta[metaKey.version] === modern &&
      (headers === undefined || (version === modern && one(headers['mcp-method']) === message.method));
    if (agrees && message.method !== 'initialize' && accepted.has(envelope))
      return judged(message, meta, headers);
    const refusal = await refusalOf(headers, body);
    if (refusal === 'older') return { era: 'older', message, capabilities: {} };
    if (refusal !== undefined) return { refusal, id };
    if (message.kind === 'request' && envelope.length <= envelopeCharacters) {
      if (accepted.size >= envelopes) accepted.clear();
      accepted.add(envelope);
    }
    return judged(message, meta, headers);
  };
};
export type Judge = ReturnType<typeof openJudge>;
