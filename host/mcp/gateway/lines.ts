/**
 * The gateway's door for agents without HTTP: a connection that was upgraded carries one JSON-RPC message a line in both
 * directions. It passed the gates when it was opened, and ends with the session.
 */
import { randomUUID } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Duplex } from 'node:stream';
import { parseBody } from '../../http/index.ts';
import { frameLines } from '../../processes/index.ts';
import { bodyDepth } from '../channel/limits.ts';
import { isRecord, type Json } from '../json.ts';
import { askOver } from './asks.ts';
import { type Desk, newExchange, takenId } from './desk.ts';
import { enter } from './enter.ts';
import { lineBytes, streamBytes } from './limits.ts';
import { listenModern, listenOlder } from './listen.ts';
import { negotiated } from './methods.ts';
import { failure, type Id, invalidRequest, isId, refusedError } from './protocol.ts';
import {
  addClient,
  type Client,
  endClient,
  type Listener,
  newClient,
  type Place,
  runningAs,
  sessionEnded,
} from './visits.ts';

/** In the header `upgrade`; `bin/gateway-shim.mjs` asks for it. */
const upgradeName = 'jupiter-mcp-lines';

const refuse = (
  socket: Duplex,
  status: number,
  message: string,
  headers: Readonly<Record<string, string>>,
): void => {
  const lines = Object.entries({
    connection: 'close',
    'content-length': String(Buffer.byteLength(message)),
    ...headers,
  });
  const head = [`HTTP/1.1 ${status} Refused`, ...lines.map(([name, value]) => `${name}: ${value}`)];
  socket.end(`${head.join('\r\n')}\r\n\r\n${message}`);
};

const serveLines = (desk: Desk, socket: Duplex, place: Place): ((chunk: Buffer) => void) => {
  let client: Client = newClient(randomUUID(), '', {});
  addClient(place, client);
  const frame = frameLines(lineBytes);
  /** None yet while it is being opened. */
  const listening = new Map<Id, Listener | undefined>();
  const write = (message: Json): void => {
    if (socket.destroyed) return;
    socket.write(`${JSON.stringify(message)}\n`);
    if (socket.writableLength > streamBytes) socket.destroy();
  };
  const fail = (code: number, message: string, id: unknown = null, data?: unknown): void =>
    write({ jsonrpc: '2.0', ...failure(code, message, data), id });

  /** From `initialize` on the connection is one client of the older revisions. */
  const start = (params: Json): void => {
    const capabilities = isRecord(params['capabilities']) ? params['capabilities'] : {};
    place.clients.delete(client.id);
    endClient(client);
    client = newClient(randomUUID(), negotiated(params), capabilities);
    addClient(place, client);
    listenOlder(place, client, write, () => {});
  };

  const serve = async (line: string): Promise<void> => {
    if (line.trim() === '') return;
    const body = parseBody(Buffer.from(line), bodyDepth);
    if ('status' in body) return fail(body.code, body.message);
    const judged = await desk.judge(undefined, body.value);
    if ('refusal' in judged) {
      const { code, message, data } = judged.refusal;
      return fail(code, message, judged.id, data);
    }
    const { message, era } = judged;
    if (message.kind === 'answer') return client.asked.get(message.id)?.(message.answered);
    if (message.kind === 'notification') {
      const { requestId } = message.params;
      if (message.method !== 'notifications/cancelled' || !isId(requestId)) return;
      runningAs(client, requestId)?.stop.abort();
      listening.get(requestId)?.end();
      return;
    }
    const { id, method, params } = message;
    // An answer of that ID is the other request's to have.
    if (client.running.has(id) || listening.has(id)) return fail(takenId.error.code, takenId.error.message);
    // Policy may have taken the server back since the connection was opened.
    if (desk.placeOf(place.session, place.alias) === undefined || place.session.ended) {
      return fail(refusedError, 'The session has no such server.', id);
    }
    if (era === 'modern' && method === 'subscriptions/listen') {
      listening.set(id, undefined);
      const found = await listenModern(desk, place, id, params, write, () => listening.delete(id));
      if (found === undefined) return;
      if ('end' in found) listening.set(id, found);
      else {
        listening.delete(id);
        write({ jsonrpc: '2.0', id, ...found });
      }
      return;
    }
    if (era === 'older' && method === 'initialize') start(params);
    const exchange = newExchange(place, client, { era, id, params }, judged, {
      send: write,
      pulse: () => {},
      ...(era === 'older' ? { ask: askOver(client, write) } : {}),
    });
    const { signal } = exchange.stop;
    // Whoever cancelled gets no answer; whoever did not would wait for one.
    signal.onabort = () => {
      if (signal.reason === sessionEnded) fail(refusedError, sessionEnded, id);
    };
    const settled = await desk.run(exchange, method, params);
    if (!signal.aborted) write({ jsonrpc: '2.0', id, ...settled });
  };

  const end = (): void => {
    place.session.ends.delete(end);
    for (const exchange of client.running.values()) exchange.left.abort();
    place.clients.delete(client.id);
    endClient(client);
    for (const listener of [...listening.values()]) listener?.end();
    socket.end(() => socket.destroy());
  };
  place.session.ends.add(end);
  socket.on('close', end);
  socket.on('error', () => socket.destroy());
  socket.on('end', end);
  return (chunk) => {
    for (const line of frame.push(chunk)) serve(line).catch(desk.onBug);
    if (!frame.tooLong()) return;
    fail(invalidRequest, `A line is longer than ${lineBytes} bytes`);
    end();
  };
};

export const serveUpgrade = (desk: Desk, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  socket.on('error', () => socket.destroy());
  const entered = enter(desk, request, (status, message, headers = {}) =>
    refuse(socket, status, message, headers),
  );
  if (entered === undefined) return;
  if (request.headers.upgrade !== upgradeName) {
    refuse(socket, 400, 'No such upgrade.', {});
    return;
  }
  socket.write(`HTTP/1.1 101 Switching Protocols\r\nupgrade: ${upgradeName}\r\nconnection: Upgrade\r\n\r\n`);
  const take = serveLines(desk, socket, entered.place);
  if (head.length > 0) take(head);
  socket.on('data', take);
};
