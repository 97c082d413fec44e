/**
 * How an agent that asked the station for something is answered, and what the transcript says of it.
 */
import { bounded, type Problem, type Result } from '../guest/index.ts';
import { type Agent, type Host, send } from './agents.ts';
import type { FrameId } from './frames.ts';

export type Params = Readonly<Record<string, unknown>>;
export type Ask = (station: Host, agent: Agent, params: Params, id: FrameId) => unknown;

/** JSON-RPC 2.0 and ACP 1. */
export const rpc = { unknown: -32_601, invalid: -32_602, internal: -32_603, missing: -32_002 } as const;
const rpcOf: Readonly<Record<string, number>> = {
  'context/path-outside': rpc.invalid,
  'context/not-a-file': rpc.invalid,
  'context/not-text': rpc.invalid,
  'context/file-too-long': rpc.invalid,
  'context/believed': rpc.invalid,
  'context/holds-secret': rpc.invalid,
  'context/twin': rpc.invalid,
  'paths/unsafe': rpc.invalid,
  'paths/linked': rpc.invalid,
  'paths/not-a-folder': rpc.invalid,
  'context/file-missing': rpc.missing,
  'process/not-found': rpc.missing,
  'process/terminal-unknown': rpc.missing,
};

export const refuseRequest = (
  station: Host,
  agent: Agent,
  id: FrameId,
  code: number,
  message: string,
): void => send(station, agent, { id, error: { code, message } });

export const unknownMethod = (station: Host, agent: Agent, id: FrameId, method: string): void => {
  station.log.info(`${agent.session}: the agent asked for ${method}, which the station does not offer`);
  refuseRequest(station, agent, id, rpc.unknown, `Method not found: ${method}`);
};

/** A line of the transcript; before the session is ready there is none yet. */
export const tell = (station: Host, agent: Agent, text: string, data: Params): void => {
  const line = bounded(text, 2_000);
  station.log.info(`${agent.session}: ${line}`);
  if (agent.phase !== 'ready') return;
  station.bus.event('bearpunch.agents.update', {
    session: agent.session,
    ...(agent.turn === undefined ? {} : { turn: agent.turn }),
    role: 'note',
    text: line,
    data: { host: data },
  });
};

export const sentence = ({ code, message }: Problem): string => `${message} (${code})`;

/** Answers what a call came to; true where it was done. */
export const settle = <T>(
  station: Host,
  agent: Agent,
  id: FrameId,
  method: string,
  done: Result<T>,
  result: (value: T) => unknown,
): done is { readonly ok: true; readonly value: T } => {
  if (done.ok) {
    send(station, agent, { id, result: result(done.value) });
    return true;
  }
  // Policy took it back meanwhile: the same as never offered.
  if (done.problem.code === 'process/not-offered') unknownMethod(station, agent, id, method);
  else refuseRequest(station, agent, id, rpcOf[done.problem.code] ?? rpc.internal, sentence(done.problem));
  return false;
};

export const who = (agent: Agent) => ({ process: agent.process, agent: agent.agent ?? '' });
/** Whole and positive, or not given; undefined where it is neither. */
export const u32 = (value: unknown): { readonly value: number | undefined } | undefined => {
  if (value === undefined || value === null) return { value: undefined };
  const found = Number(value);
  return Number.isInteger(found) && found >= 0 && found < 2 ** 32 ? { value: found } : undefined;
};
