/**
 * The gateway's door over HTTP. Every request passes the same gates, in this order: Host and Origin, path, token, server,
 * method, content type, size and shape of the body, revision. Until the last one nothing of what it asks for is done.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { oneOf, parseBody, readBytes, sendError, sendPlain } from '../../http/index.ts';
import { bodyBytes, bodyDepth } from '../channel/limits.ts';
import { isRecord, type Json, textOf } from '../json.ts';
import { askOver } from './asks.ts';
import { type Desk, newExchange, takenId } from './desk.ts';
import { enter } from './enter.ts';
import type { Judged, Refusal } from './envelope.ts';
import { listenModern, listenOlder } from './listen.ts';
import { negotiated, noMethod, type Settled } from './methods.ts';
import { paramHeaderFault } from './params.ts';
import { failure, invalidParams, isId, missingCapability, refusedError } from './protocol.ts';
import { openAnswer } from './stream.ts';
import {
  addClient,
  type Client,
  endClient,
  newClient,
  type Place,
  runningAs,
  sessionEnded,
} from './visits.ts';

/** A refused body is not read; the connection ends with the answer. */
const closing = { connection: 'close' };
/** Of a session ID of the protocol that is not, or no longer, known. */
const noSession = -32_001;

const accepts = (request: IncomingMessage, ...types: readonly string[]): boolean => {
  const { accept } = request.headers;
  if (accept === undefined) return false;
  return types.every((type) => accept.includes(type)) || accept.includes('*/*');
};

const answerRefusal = (
  response: ServerResponse,
  { status, code, message, data }: Refusal,
  id: unknown,
): void =>
  sendPlain(response, {
    status,
    headers: { 'content-type': 'application/json' },
    parts: [JSON.stringify({ jsonrpc: '2.0', ...failure(code, message, data), id })],
  });

const accepted = (response: ServerResponse): void => {
  response.writeHead(202, { 'content-length': 0 });
  response.end();
};

/** Undefined where it names one that is not known. */
const clientOf = (request: IncomingMessage, place: Place): Client | undefined => {
  const id = oneOf(request.headers['mcp-session-id']);
  if (id === undefined) return place.anyone;
  const client = place.clients.get(id);
  if (client === undefined) return undefined;
  place.clients.delete(id);
  place.clients.set(id, client);
  return client;
};

type Asked = Extract<Judged, { readonly era: unknown }>;

const statusOf = (settled: Settled, era: Asked['era']): number => {
  if (settled === takenId) return 400;
  if (era === 'older') return 200;
  if (settled === noMethod) return 404;
  return 'error' in settled && settled.error.code === missingCapability ? 400 : 200;
};

type Request = Extract<Asked['message'], { readonly kind: 'request' }>;

const serveRequest = async (
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
  place: Place,
  client: Client,
  asked: Asked,
  { id, method, params }: Request,
): Promise<void> => {
  const { era } = asked;
  const isStart = era === 'older' && method === 'initialize';
  const mine = isStart
    ? newClient(
        randomUUID(),
        negotiated(params),
        isRecord(params['capabilities']) ? params['capabilities'] : {},
      )
    : client;
  const answer = openAnswer(response, isStart ? { 'mcp-session-id': mine.id } : {});
  if (era === 'modern' && method === 'subscriptions/listen') {
    const listening = await listenModern(desk, place, id, params, answer.send, answer.end);
    if (listening === undefined) return;
    if (!('end' in listening)) return answer.finish(200, { jsonrpc: '2.0', id, ...listening });
    response.once('close', listening.end);
    return;
  }
  if (era === 'modern' && method === 'tools/call') {
    const tool = (await desk.room.offerSoon(place)).byName.get(textOf(params['name']))?.tool;
    const fault =
      tool === undefined ? undefined : paramHeaderFault(tool, params['arguments'], request.headers);
    if (fault !== undefined) return answerRefusal(response, fault, id);
  }
  const exchange = newExchange(place, mine, { era, id, params }, asked, {
    send: answer.send,
    pulse: answer.pulse,
    ...(era === 'older' && mine.id !== '' ? { ask: askOver(mine, answer.send) } : {}),
  });
  let isAnswered = false;
  response.once('close', () => {
    if (isAnswered) return;
    exchange.left.abort();
    if (era === 'modern') exchange.stop.abort();
  });
  // Whoever cancelled gets no answer; whoever did not would wait for one.
  exchange.stop.signal.onabort = () => {
    isAnswered = true;
    if (exchange.stop.signal.reason !== sessionEnded) answer.end();
    else answer.finish(401, { jsonrpc: '2.0', id, ...failure(refusedError, sessionEnded) });
  };
  const settled = await desk.run(exchange, method, params);
  if (isAnswered) return;
  isAnswered = true;
  if (isStart && 'result' in settled && !place.session.ended) addClient(place, mine);
  answer.finish(statusOf(settled, era), { jsonrpc: '2.0', id, ...settled });
};

const cancel = (client: Client, params: Json): void => {
  const { requestId } = params;
  if (isId(requestId)) runningAs(client, requestId)?.stop.abort();
};

const servePost = async (
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
  place: Place,
): Promise<void> => {
  const type = request.headers['content-type'];
  if (type !== 'application/json' && type?.split(';')[0]?.trim().toLowerCase() !== 'application/json') {
    return sendError(response, 415, refusedError, 'The body must be application/json.', closing);
  }
  const bytes = await readBytes(request, bodyBytes);
  if (bytes === 'gone') return;
  if (bytes === 'too-large') {
    return sendError(response, 413, refusedError, `The body is larger than ${bodyBytes} bytes.`, closing);
  }
  const body = parseBody(bytes, bodyDepth);
  if ('status' in body) return sendError(response, body.status, body.code, body.message);
  const judged = await desk.judge(request.headers, body.value);
  if ('refusal' in judged) return answerRefusal(response, judged.refusal, judged.id);
  const { message, era } = judged;
  if (
    message.kind === 'request' &&
    era === 'older' &&
    !accepts(request, 'application/json', 'text/event-stream')
  ) {
    const text = 'Not Acceptable: the client must accept application/json and text/event-stream.';
    return sendError(response, 406, refusedError, text);
  }
  const isStart = message.kind === 'request' && message.method === 'initialize';
  const client = era === 'modern' || isStart ? place.anyone : clientOf(request, place);
  if (client === undefined) return sendError(response, 404, noSession, 'Session not found');
  if (message.kind === 'request') {
    return serveRequest(desk, request, response, place, client, judged, message);
  }
  if (message.kind === 'answer') client.asked.get(message.id)?.(message.answered);
  else if (message.method === 'notifications/cancelled' && era === 'older') cancel(client, message.params);
  accepted(response);
};

const serveGet = async (request: IncomingMessage, response: ServerResponse, place: Place): Promise<void> => {
  if (!accepts(request, 'text/event-stream')) {
    return sendError(
      response,
      406,
      refusedError,
      'Not Acceptable: the client must accept text/event-stream.',
    );
  }
  const client = clientOf(request, place);
  if (client === undefined) return sendError(response, 404, noSession, 'Session not found');
  const answer = openAnswer(response, {});
  const listener = listenOlder(place, client, answer.send, answer.end);
  if (listener === undefined) return sendError(response, 429, refusedError, 'Too many streams.');
  answer.pulse();
  response.once('close', listener.end);
};

export const serveHttp = async (
  desk: Desk,
  request: IncomingMessage,
  response: ServerResponse,
): Promise<void> => {
  const entered = enter(desk, request, (status, message, headers = {}) =>
    sendError(response, status, refusedError, message, { ...closing, ...headers }),
  );
  if (entered === undefined) return;
  const { place } = entered;
  if (request.method === 'POST') return servePost(desk, request, response, place);
  if (request.method === 'GET') return serveGet(request, response, place);
  if (request.method !== 'DELETE') {
    return sendError(response, 405, refusedError, 'Method not allowed.', {
      ...closing,
      allow: 'POST, GET, DELETE',
    });
  }
  const client = clientOf(request, place);
  if (client === undefined) return sendError(response, 404, noSession, 'Session not found');
  if (client === place.anyone) return sendError(response, 400, invalidParams, 'No session is named.');
  place.clients.delete(client.id);
  endClient(client);
  response.writeHead(200, { 'content-length': 0 });
  response.end();
};
