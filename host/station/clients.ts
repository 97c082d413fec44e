/**
 * One client of the control socket: its lines, its open requests, and what happens when either side goes away.
 */
import type { Socket } from 'node:net';
import { type ProblemCode, problem, type Result } from '../problems/index.ts';
import { frameLines } from '../processes/index.ts';
import { controlLineBytes, type Method } from './control.ts';

export type Serve = (
  method: Method,
  params: unknown,
  /** Resolves when the client has read enough for more; whoever has all at once to tell waits for it. */
  emit: (event: unknown) => Promise<void>,
  signal: AbortSignal,
) => Promise<Result<unknown>>;

/** Answers what is open with this problem, lets the client read it, and ends the connection. */
export type Leave = (code: ProblemCode) => void;

/** Requests of one client that are answered at a time. */
const mostRequests = 64;
// A client that follows but does not read is left behind at this many characters.
const unreadLength = 64 * 1024 * 1024;
// Whoever tells a lot at once waits from here on, characters.
const muchUnread = 1024 * 1024;
// How long a client may take to read its last answer, ms.
const farewellMs = 1_000;

const jsonOf = (line: string): unknown => {
  try {
    return JSON.parse(line);
  } catch {
    return undefined;
  }
};

/** `onDone` is called when a request has succeeded and its answer is written. */
export const serveClient = (socket: Socket, serve: Serve, onDone: (method: Method) => void): Leave => {
  const open = new Map<number, AbortController>();
  const framer = frameLines(controlLineBytes);

  const write = (message: { readonly id: number | null; readonly [key: string]: unknown }): void => {
    if (!socket.writable) return;
    const line = JSON.stringify(message);
    if (Buffer.byteLength(line) > controlLineBytes) {
      complain(message.id, 'station/answer-too-large');
      return;
    }
    socket.write(`${line}\n`);
    if (socket.writableLength > unreadLength) socket.destroy();
  };
  /** Resolves when the client has read what was written, or is gone. */
  const hasRoom = (): Promise<void> =>
    new Promise((resolve) => {
      if (!socket.writable) return resolve();
      const done = (): void => {
        socket.off('drain', done);
        socket.off('close', done);
        resolve();
      };
      socket.on('drain', done);
      socket.on('close', done);
    });
  const complain = (id: number | null, code: ProblemCode, evidence?: string): void =>
    write({ id, problem: problem(code, evidence === undefined ? {} : { evidence }) });

  const onLine = async (line: string): Promise<void> => {
    // Loaded with the first request: the station is ready without it.
    const { envelope, isMethod } = await import('./schemas.ts');
    const request = envelope.safeParse(jsonOf(line));
    if (!request.success) return complain(null, 'station/bad-request', 'a line that is no request');
    const { id, method, params } = request.data;
    if (!isMethod(method)) {
      return complain(id, 'station/bad-request', `unknown method ${JSON.stringify(method)}`);
    }
    if (open.has(id)) return complain(null, 'station/bad-request', `request ${id} is still open`);
    if (open.size >= mostRequests) return complain(id, 'station/busy');
    const abort = new AbortController();
    open.set(id, abort);
    const emit = async (event: unknown): Promise<void> => {
      if (open.get(id) !== abort) return;
      write({ id, event });
      if (socket.writableLength > muchUnread) await hasRoom();
    };
    const answer = await serve(method, params, emit, abort.signal);
    if (open.delete(id)) write(answer.ok ? { id, result: answer.value } : { id, problem: answer.problem });
    if (answer.ok) onDone(method);
  };

  const abandon = (): void => {
    for (const abort of open.values()) abort.abort();
    open.clear();
  };
  const leave: Leave = (code) => {
    if (open.size === 0) complain(null, code);
    for (const id of open.keys()) complain(id, code);
    abandon();
    socket.destroySoon();
    setTimeout(() => socket.destroy(), farewellMs).unref();
  };

  socket.on('data', (chunk: Buffer) => {
    for (const line of framer.push(chunk)) if (line !== '') void onLine(line);
    if (!framer.tooLong()) return;
    complain(null, 'station/bad-request', `a line of more than ${controlLineBytes} bytes`);
    socket.destroySoon();
  });
  socket.on('error', () => {});
  socket.once('close', abandon);
  return leave;
};
