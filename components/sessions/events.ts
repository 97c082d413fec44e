/**
 * What providers and the station tell. An event about a session is believed only from that session's provider;
 * anything else is logged and changes nothing.
 */
import type { FirstParty, Message, Problem } from '../guest/index.ts';
import { missing, serverLine } from './create.ts';
import {
  announce,
  announceLater,
  announceRows,
  append,
  find,
  type Host,
  isOver,
  note,
  type Session,
  save,
} from './records.ts';
import { answer, endSession, endTurn, problemText, recordRequest } from './turns.ts';

type Event<K extends keyof FirstParty> = FirstParty[K] extends { event: infer E } ? Message<E> : never;

/** Requests one session may have waiting; one more is denied and written down. */
const pendingKept = 50;
/** Sessions ended at one go after a start: each is a handful of effects. */
const sweepSize = 200;

const believed = (station: Host, message: Message<{ readonly session: string }>): Session | undefined => {
  const session = find(station, message.payload.session);
  if (session === undefined) {
    station.log.warn(`${message.topic} about a session that does not exist, from ${message.source}`);
    return undefined;
  }
  if (session.record.provider !== message.source) {
    station.log.warn(
      `${message.topic} about ${session.record.id} from ${message.source}, which is not its provider`,
    );
    return undefined;
  }
  if (isOver(session)) {
    station.log.debug(`${message.topic} about ${session.record.id}, which is over`);
    return undefined;
  }
  return session;
};

export const opened = (message: Event<'bearpunch.agents.opened'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined || session.record.state !== 'opening') return;
  const { record } = session;
  const { payload, at } = message;
  if (payload.agentInfo !== undefined) record.agentInfo = payload.agentInfo;
  const { name = record.agent, version } = payload.agentInfo ?? {};
  note(station, record.id, at, `opened by ${name}${version === undefined ? '' : ` ${version}`}`);
  const handedOver = new Set(payload.handedOver);
  const skipped = new Map(payload.skipped.map((each) => [each.name, each.reason]));
  for (const server of record.provisioning.servers) {
    if (server.decision !== 'offered') continue;
    const reason = skipped.get(server.name);
    if (handedOver.has(server.name)) {
      server.stage = 'handed-over';
      note(station, record.id, at, `server ${server.name}: handed over`);
    } else if (reason !== undefined) {
      server.decision = 'skipped';
      server.reason = reason;
      delete server.stage;
      note(station, record.id, at, serverLine(server));
    }
  }
  const lacks = missing(session);
  record.state = lacks.length === 0 ? 'idle' : 'not-ready';
  if (lacks.length > 0) {
    record.reason = `missing: ${lacks.join(', ')}`;
    note(station, record.id, at, `not ready, ${record.reason}`);
  }
  save(station, session);
  announce(station, session);
};

/** The hot path: one put a row, nothing else. */
export const update = (message: Event<'bearpunch.agents.update'>, station: Host): void => {
  const session = believed(station, message);
  if (session !== undefined) {
    const { session: id, role, ...rest } = message.payload;
    // What the user said is in the transcript already: an agent that repeats it adds nothing.
    if (role !== 'user') {
      append(station, id, { at: message.at, role, ...rest });
      announceLater(id);
    }
  }
  if (station.lastOfTopic()) announceRows(station);
};

export const permission = (message: Event<'bearpunch.agents.permission'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { record } = session;
  const { at, payload } = message;
  const { request, title, tool, options } = payload;
  if (record.pending.some((each) => each.request === request)) return;
  const pending = { request, at, title, ...(tool === undefined ? {} : { tool }), options };
  const denial =
    record.state !== 'running' || (payload.turn !== undefined && payload.turn !== session.turn)
      ? 'no turn was running when the agent asked'
      : record.pending.length >= pendingKept
        ? `${pendingKept} requests were waiting already`
        : undefined;
  if (denial !== undefined) {
    recordRequest(station, session, pending, '');
    answer(station, session, at, request, false, denial);
  } else if (record.approve === 'auto') {
    recordRequest(station, session, pending, '');
    answer(station, session, at, request, true, 'by the approval setting auto');
  } else {
    const waits =
      record.approve === 'workspace' ? 'the approval setting workspace asks a person for now' : '';
    recordRequest(station, session, pending, waits);
    record.pending.push(pending);
    save(station, session);
  }
  announce(station, session);
};

export const settled = (message: Event<'bearpunch.agents.settled'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { turn, stopReason, usage } = message.payload;
  if (turn !== session.turn) {
    station.log.warn(`${session.record.id}: the end of turn ${turn}, which is not running`);
    return;
  }
  // Null is "not reported": the figures of an earlier turn are not this one's.
  session.record.usage = usage ?? null;
  endTurn(station, session, message.at, stopReason);
};

const turnFailed = (station: Host, session: Session, at: number, turn: string, problem: Problem): void => {
  if (turn !== session.turn) return;
  session.record.usage = null;
  endTurn(station, session, at, 'failed', `the turn failed: ${problemText(problem)}`);
};

const plain = (problem: Event<'bearpunch.agents.failed'>['payload']['problem']): Problem => {
  const { code, message, evidence, fix } = problem;
  return {
    code,
    message,
    ...(evidence === undefined ? {} : { evidence }),
    ...(fix === undefined ? {} : { fix }),
  };
};

export const failed = (message: Event<'bearpunch.agents.failed'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { turn, problem } = message.payload;
  if (turn !== undefined) turnFailed(station, session, message.at, turn, plain(problem));
  else endSession(station, session, message.at, problemText(plain(problem)));
};

export const closed = (message: Event<'bearpunch.agents.closed'>, station: Host): void => {
  const session = believed(station, message);
  if (session !== undefined) endSession(station, session, message.at, message.payload.reason);
};

/** The fate of a command to the provider; only a refusal says anything. */
export const replied = (
  message: Message<{ readonly to: string; readonly topic: string; readonly problem?: Problem }>,
  station: Host,
): void => {
  const { to, problem } = message.payload;
  if (problem === undefined || problem === null) return;
  const [what, id = '', turn = ''] = to.split(':');
  const session = find(station, id);
  if (session === undefined || isOver(session)) return;
  if (what === 'open' || what === 'close') endSession(station, session, message.at, problemText(problem));
  else if (what === 'prompt') turnFailed(station, session, message.at, turn, problem);
  else {
    note(station, id, message.at, `${what} did not reach the agent: ${problemText(problem)}`, session.turn);
    announce(station, session);
  }
};

/** After a start no agent of before lives: what was not over has ended. */
export const sweep = (station: Host, startedAt: number, at: number): void => {
  const live = station.store.scan<number>('l/', { limit: sweepSize });
  const stale = live.filter(({ value }) => value < startedAt);
  for (const { key } of stale) {
    const session = find(station, key.slice('l/'.length));
    if (session === undefined || isOver(session)) station.store.remove(key);
    else {
      const { state } = session.record;
      if (state === 'closing') session.record.state = 'idle';
      endSession(station, session, at, `the station stopped while the session was ${state}`);
    }
  }
  if (live.length === sweepSize && stale.length > 0) station.clock.wake(`sweep:${startedAt}`, 1);
};
