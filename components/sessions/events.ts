/**
 * What providers and the station tell. An event about a session is believed only from that session's provider;
 * anything else is logged and changes nothing.
 */
import type { FirstParty, Message, Problem } from '../guest/index.ts';
import { onPermission } from './permissions.ts';
import { missing, openWithoutGateway, serverLine } from './provision.ts';
import {
  announce,
  announceLater,
  announceRows,
  append,
  find,
  type Host,
  isOver,
  note,
  noteAll,
  type Session,
  save,
} from './records.ts';
import { sendWaiting } from './resume.ts';
import { problemText } from './text.ts';
import { endSession, endTurn } from './turns.ts';

type Event<K extends keyof FirstParty> = FirstParty[K] extends { event: infer E } ? Message<E> : never;

const believed = (
  station: Host,
  message: Message<{ readonly session: string }>,
  alsoOver = false,
): Session | undefined => {
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
  if (isOver(session) && !alsoOver) {
    station.log.debug(`${message.topic} about ${session.record.id}, which is over`);
    return undefined;
  }
  return session;
};

/** How far each server got; `handed-over` is all that is known until it is used. */
const recordHandOver = (
  station: Host,
  { record }: Session,
  { payload, at }: Event<'bearpunch.agents.opened'>,
): void => {
  const handedOver = new Set(payload.handedOver);
  const skipped = new Map(payload.skipped.map((each) => [each.name, each.reason]));
  const lines: string[] = [];
  for (const server of record.provisioning.servers) {
    if (server.decision !== 'offered') continue;
    const reason = skipped.get(server.name);
    if (handedOver.has(server.name)) {
      server.stage = 'handed-over';
      lines.push(`server ${server.name}: handed over`);
    } else if (reason !== undefined) {
      server.decision = 'skipped';
      server.reason = reason;
      delete server.stage;
      lines.push(serverLine(server));
    }
  }
  noteAll(station, record.id, at, lines);
};

export const opened = (message: Event<'bearpunch.agents.opened'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { record } = session;
  const { payload, at } = message;
  if (record.state !== 'opening' && session.waiting === undefined) return;
  record.attached = true;
  record.resumable = payload.resumable;
  record.approval = payload.approval;
  if (payload.agentSession !== undefined) session.agentSession = payload.agentSession;
  if (payload.agentInfo !== undefined) record.agentInfo = payload.agentInfo;
  const { name = record.agent, version } = payload.agentInfo ?? {};
  note(station, record.id, at, `opened by ${name}${version === undefined ? '' : ` ${version}`}`);
  recordHandOver(station, session, message);
  note(station, record.id, at, payload.approval);
  const lacks = missing(session);
  if (lacks.length > 0) {
    record.reason = `missing: ${lacks.join(', ')}`;
    if (session.turn !== undefined) endTurn(station, session, at, 'not-ready');
    record.state = 'not-ready';
    note(station, record.id, at, `not ready, ${record.reason}`);
  } else if (session.waiting === undefined) record.state = 'idle';
  else sendWaiting(station, session);
  save(station, session);
  announce(station, session);
};

const sameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);

/** What the agent offers; written down where it differs from what was known. */
export const announced = (message: Event<'bearpunch.agents.announced'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { record } = session;
  const { at, payload } = message;
  const { commands, mode, options } = payload;
  const row = (role: 'commands' | 'mode' | 'option', text: string, data: Record<string, unknown>): void => {
    append(station, record.id, { at, role, text, data });
  };
  if (commands !== undefined && !sameJson(commands, station.store.get(`c/${record.id}`))) {
    station.store.put(`c/${record.id}`, commands);
    const names = commands.map(({ name }) => `/${name}`).join(' ');
    row('commands', names === '' ? 'none' : names, { commands });
  }
  if (mode !== undefined && record.mode?.id !== mode.id) {
    row('mode', mode.name === mode.id ? mode.id : `${mode.id} (${mode.name})`, { mode });
    record.mode = mode;
  }
  for (const option of options ?? []) {
    const before = record.options?.find(({ id }) => id === option.id);
    if (before !== undefined && before.value !== option.value)
      row('option', `${option.name}: ${option.value}`, { option });
  }
  if (options !== undefined) record.options = options;
  save(station, session);
  announce(station, session);
};

/** A title a person gave stays; else the session has the one its agent gave last. */
export const titled = (message: Event<'bearpunch.agents.titled'>, station: Host): void => {
  const session = believed(station, message);
  if (session === undefined) return;
  const { record } = session;
  const { title } = message.payload;
  if (record.title !== undefined && session.agentTitled !== true) return;
  if ((record.title ?? null) === title) return;
  session.agentTitled = true;
  if (title === null) delete record.title;
  else {
    record.title = title;
    note(station, record.id, message.at, `the agent calls the session: ${title}`);
  }
  save(station, session);
  announce(station, session);
};

/** A call that was answered proves its server: it was started, connected and used. */
const markUsed = (station: Host, session: Session, name: string): void => {
  const server = session.record.provisioning.servers.find((each) => each.name === name);
  if (server?.decision !== 'offered' || server.stage === 'used') return;
  server.stage = 'used';
  save(station, session);
};

/** The hot path: one put a row, nothing else but the first use of a server. */
export const update = (message: Event<'bearpunch.agents.update'>, station: Host): void => {
  const session = believed(station, message);
  if (session !== undefined) {
    const { session: id, role, ...rest } = message.payload;
    // What the user said is in the transcript already: an agent that repeats it adds nothing.
    if (role !== 'user') {
      append(station, id, { at: message.at, role, ...rest });
      if (rest.server !== undefined && rest.state === 'completed') markUsed(station, session, rest.server);
      announceLater(id);
    }
  }
  if (station.lastOfTopic()) announceRows(station);
};

export const permission = (message: Event<'bearpunch.agents.permission'>, station: Host): void => {
  // One that was denied already is only written down: it may be the last an agent does.
  const session = believed(station, message, message.payload.denied !== undefined);
  if (session !== undefined) onPermission(station, session, message);
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
  const { to, topic, problem } = message.payload;
  if (problem === undefined || problem === null) return;
  const [what, id = '', turn = ''] = to.split(':');
  const session = find(station, id);
  if (session === undefined || isOver(session)) return;
  const unknownOpen = topic === 'bearpunch.agents.open.v3' && problem.code === 'bus/no-handler';
  if (what === 'open' && unknownOpen && openWithoutGateway(station, session, message.at)) {
    save(station, session);
    announce(station, session);
  } else if (what === 'open' && session.waiting !== undefined && problem.code === 'bus/component-parked')
    // An operator brings it back, and with it what the agent can take up.
    turnFailed(station, session, message.at, session.waiting.turn, problem);
  else if (what === 'open' || what === 'close')
    endSession(station, session, message.at, problemText(problem));
  else if (what === 'prompt') turnFailed(station, session, message.at, turn, problem);
  else {
    note(station, id, message.at, `${what} did not reach the agent: ${problemText(problem)}`, session.turn);
    announce(station, session);
  }
};
