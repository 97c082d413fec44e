/**
 * A client of the station: asks over the control socket, hands events on as they come. Loads nothing heavy: this is
 * what every short command waits for.
 */
import { existsSync } from 'node:fs';
import { connect, type Socket } from 'node:net';
import { failed, ok, type Problem, type Result, refuse } from '../problems/index.ts';
import { frameLines } from '../processes/index.ts';
import {
  controlAddress,
  controlLineBytes,
  type Method,
  type MethodEvent,
  type MethodResult,
  type Params,
} from '../station/index.ts';

export interface StationClient {
  /** `station/connection-lost` where the station goes away before it answers. */
  readonly call: <M extends Method>(
    method: M,
    params: Params<M>,
    onEvent?: (event: MethodEvent<M>) => void,
  ) => Promise<Result<MethodResult<M>>>;
  readonly close: () => void;
}

interface Open {
  readonly settle: (answer: Result<unknown>) => void;
  readonly onEvent: (event: unknown) => void;
}
interface Answer {
  readonly id: number | null;
  readonly result?: unknown;
  readonly event?: unknown;
  readonly problem?: Problem;
}

const connected = (address: string): Promise<Socket | undefined> =>
  new Promise((resolve) => {
    const socket = connect(address);
    socket.once('connect', () => resolve(socket));
    socket.once('error', () => resolve(undefined));
  });

/** `station/not-running` where nobody answers for this home. */
export const connectStation = async (home: string): Promise<Result<StationClient>> => {
  const address = controlAddress(home);
  const socket = address === undefined ? undefined : await connected(address);
  if (socket === undefined) {
    const missing = existsSync(home)
      ? {}
      : { fix: 'Make the home with `jupiter init`, then start it with `jupiter up`.' };
    return refuse('station/not-running', { subject: home, ...missing });
  }

  const open = new Map<number, Open>();
  const framer = frameLines(controlLineBytes);
  let lastId = 0;
  let lost: Problem | undefined;

  const settleAll = (answer: Result<never>): void => {
    for (const { settle } of open.values()) settle(answer);
    open.clear();
  };
  const onLine = (line: string): void => {
    const answer = JSON.parse(line) as Answer;
    if (answer.id === null) {
      // About the connection, not about one request: nothing that is open will be answered.
      lost = answer.problem;
      if (lost !== undefined) settleAll(failed(lost));
      return;
    }
    const asked = open.get(answer.id);
    if (asked === undefined) return;
    if (answer.event !== undefined) {
      asked.onEvent(answer.event);
      return;
    }
    open.delete(answer.id);
    asked.settle(answer.problem === undefined ? ok(answer.result) : failed(answer.problem));
  };
  socket.on('data', (chunk: Buffer) => {
    for (const line of framer.push(chunk)) onLine(line);
    if (framer.tooLong()) socket.destroy();
  });
  // Why it broke does not matter to the caller; `close` follows.
  socket.on('error', () => {});
  socket.once('close', () =>
    settleAll(lost === undefined ? refuse('station/connection-lost') : failed(lost)),
  );

  return ok({
    call: <M extends Method>(method: M, params: Params<M>, onEvent?: (event: MethodEvent<M>) => void) =>
      new Promise<Result<MethodResult<M>>>((resolve) => {
        lastId += 1;
        open.set(lastId, {
          settle: (answer) => resolve(answer as Result<MethodResult<M>>),
          onEvent: (event) => onEvent?.(event as MethodEvent<M>),
        });
        if (socket.destroyed)
          settleAll(lost === undefined ? refuse('station/connection-lost') : failed(lost));
        else socket.write(`${JSON.stringify({ id: lastId, method, params })}\n`);
      }),
    close: () => socket.end(),
  });
};
