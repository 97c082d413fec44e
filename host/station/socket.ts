/**
 * The control socket: takes lines of JSON from the user's own clients, checks them, asks the handlers, answers.
 * A client that leaves aborts what it followed and changes nothing else. It is claimed before anything of the home is
 * opened, since it is what tells a second station that there is a first; requests wait until the handlers are there.
 */
import { chmodSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { join } from 'node:path';
import { failed, ok, ProblemError, type Result, refuse } from '../problems/index.ts';
import { claimAddress, ownFolder, privateFolder, releaseAddress } from './address.ts';
import { type Leave, serveClient } from './clients.ts';
import type { Method, MethodEvent, MethodResult, Params } from './control.ts';
import { lockHome } from './lock.ts';

export type ControlHandlers = {
  readonly [M in Method]: (
    params: Params<M>,
    /** Resolves when the client has room for more. */
    emit: (event: MethodEvent<M>) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<Result<MethodResult<M>>>;
};

export interface ControlServer {
  readonly address: string;
  /** Resolves when the socket is closed, by `close` or after `down` was answered. */
  readonly closed: Promise<void>;
  /** Answers what is still open with `station/stopping` and closes. */
  readonly close: () => Promise<void>;
}

export interface ControlOptions {
  /** A handler threw: a bug, answered as `station/internal`. */
  readonly onBug?: (method: Method, error: unknown) => void;
}

/** Clients at one time. */
const mostClients = 128;

type AnyHandler = (
  params: unknown,
  emit: (event: unknown) => Promise<void>,
  signal: AbortSignal,
) => Promise<Result<unknown>>;

/** `station/already-running`, `station/home-unsafe`, `station/start-failed`. */
export const serveControl = async (
  home: string,
  handlers: ControlHandlers | Promise<ControlHandlers>,
  options: ControlOptions = {},
): Promise<Result<ControlServer>> => {
  const claimed = claimRun(home);
  if (!claimed.ok) return claimed;
  const { address, release } = claimed.value;

  const clients = new Set<Leave>();
  let stopping = false;
  const closed = Promise.withResolvers<void>();
  // A rejection is answered to whoever asked; nobody may have.
  Promise.resolve(handlers).catch(() => {});

  const serve = async (
    method: Method,
    params: unknown,
    emit: (event: unknown) => Promise<void>,
    signal: AbortSignal,
  ): Promise<Result<unknown>> => {
    if (stopping) return refuse('station/stopping');
    const { paramsOf } = await import('./schemas.ts');
    const read = paramsOf[method].safeParse(params ?? {});
    if (!read.success) {
      const [first] = read.error.issues;
      return refuse('station/bad-request', {
        subject: method,
        evidence: `${first?.path.join('.') || 'parameters'}: ${first?.message ?? 'invalid'}`,
      });
    }
    if (method === 'down') stopping = true;
    try {
      const answered = await ((await handlers)[method] as AnyHandler)(read.data, emit, signal);
      // One that drains still stops; it only takes longer than the caller waits.
      if (method === 'down' && !answered.ok && answered.problem.code !== 'station/draining') stopping = false;
      return answered;
    } catch (error) {
      if (method === 'down') stopping = false;
      // A station that could not be opened tells everybody who waited why.
      if (error instanceof ProblemError) return failed(error.problem);
      options.onBug?.(method, error);
      return refuse('station/internal', { subject: method });
    }
  };

  const onClient = (socket: Socket): void => {
    const leave = serveClient(socket, serve, (method) => {
      if (method === 'down') void close();
    });
    clients.add(leave);
    socket.once('close', () => clients.delete(leave));
    if (stopping || clients.size > mostClients) leave(stopping ? 'station/stopping' : 'station/busy');
  };

  // A client that closes its writing side has left.
  const server = createServer({ allowHalfOpen: false }, onClient);

  const close = (): Promise<void> => {
    if (server.listening) {
      stopping = true;
      server.close(() => {
        release();
        closed.resolve();
      });
      for (const leave of clients) leave('station/stopping');
    }
    return closed.promise;
  };

  const fault = await listening(server, address);
  if (fault !== undefined) {
    release();
    return refuse('station/start-failed', { subject: address, evidence: fault.message });
  }
  if (process.platform !== 'win32') chmodSync(address, 0o600);
  return ok({ address, closed: closed.promise, close });
};

/** The lock first: only its holder may take the place of a socket that a dead station left. */
const claimRun = (home: string): Result<{ readonly address: string; readonly release: () => void }> => {
  const own = ownFolder(home);
  if (!own.ok) return own;
  const run = privateFolder(join(home, 'run'));
  if (!run.ok) return run;
  const unlock = lockHome(home);
  if (!unlock.ok) return unlock;
  const address = claimAddress(home);
  if (!address.ok) {
    unlock.value();
    return address;
  }
  if (process.platform !== 'win32') rmSync(address.value, { force: true });
  return ok({
    address: address.value,
    release: () => {
      releaseAddress(home, address.value);
      unlock.value();
    },
  });
};

const listening = (server: Server, address: string): Promise<Error | undefined> =>
  new Promise((resolve) => {
    server.once('error', resolve);
    server.listen(address, () => {
      server.off('error', resolve);
      // After this an accept may still fail for want of descriptors; the client tries again.
      server.on('error', () => {});
      resolve(undefined);
    });
  });
