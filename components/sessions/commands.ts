/** What people and programs ask of a session that exists. */
import { type FirstParty, fail, type JsonText, jsonText, type Message } from '../guest/index.ts';
import { answer, denyPending } from './permissions.ts';
import {
  announce,
  append,
  type Commands,
  type Host,
  isOver,
  mustFind,
  rowKey,
  rowSeq,
  type Session,
  save,
} from './records.ts';
import { sendWaiting, takeUp, tryAgain } from './resume.ts';
import { endSession, endTurn } from './turns.ts';

type Request<K extends keyof FirstParty> = FirstParty[K] extends { request: infer Q } ? Message<Q> : never;
type Reply<K extends keyof FirstParty> = FirstParty[K] extends { reply: infer R } ? R : never;

const listLimit = 50;
const transcriptLimit = 200;
/** Text of one transcript reply, UTF-16 units; one row alone may be longer. */
const transcriptUnits = 262_144;
/** Rows read from the store at first: one row may be 256 Ki units. */
const rowsRead = 32;

/** Why a session takes no prompt now. */
const refusePrompt = ({ record }: Session) => {
  const subject = record.id;
  switch (record.state) {
    case 'idle':
    case 'not-ready':
      return;
    case 'running':
      return fail('session/busy', 'The session is in a turn.', {
        subject,
        fix: 'Wait for its end, or cancel it with `jupiter session cancel`.',
      });
    case 'opening':
      return fail('session/opening', 'The agent has not opened its session yet.', {
        subject,
        fix: 'Wait until `jupiter session show` says idle.',
      });
    default:
      return fail(
        'session/over',
        `The session is ${record.state}${record.reason === undefined ? '' : `: ${record.reason}`}.`,
        { subject, fix: 'Create a new session.' },
      );
  }
};

export const say = (
  { payload, at }: Request<'bearpunch.sessions.say'>,
  station: Host,
): Reply<'bearpunch.sessions.say'> => {
  const session = mustFind(station, payload.id);
  const { record } = session;
  refusePrompt(session);
  if (record.state === 'not-ready') tryAgain(station, session, at);
  // Before anything is written: what hinders the taking up is the answer to this command.
  if (!record.attached && session.reopens !== true) takeUp(station, session, at);
  session.turns += 1;
  const turn = `t${session.turns}`;
  session.turn = turn;
  record.state = 'running';
  const seq = append(station, record.id, { at, role: 'user', turn, text: payload.text });
  session.waiting = { turn, seq };
  if (record.attached) sendWaiting(station, session);
  save(station, session);
  announce(station, session);
  return { turn, seq };
};

/** `content` is what a form was filled in with. */
export const respond = (
  { payload, at }: Request<'bearpunch.sessions.respond'>,
  station: Host,
  content?: Record<string, unknown>,
): void => {
  const session = mustFind(station, payload.id);
  const { record } = session;
  if (!record.pending.some(({ request }) => request === payload.request))
    fail('session/request-unknown', 'The session has no such request waiting.', {
      subject: payload.request,
      fix: '`jupiter session show` lists what is waiting.',
    });
  record.pending = record.pending.filter(({ request }) => request !== payload.request);
  answer(station, session, at, {
    ...payload,
    why: 'by a person',
    ...(content === undefined ? {} : { content }),
  });
  save(station, session);
  announce(station, session);
};

export const cancel = ({ payload, at }: Request<'bearpunch.sessions.cancel'>, station: Host): void => {
  const session = mustFind(station, payload.id);
  const { record } = session;
  // Nothing runs: what the caller wants is so already.
  if (record.state !== 'running') return;
  if (session.waiting !== undefined) {
    // The agent has not been told of the turn: nothing to cancel there.
    endTurn(station, session, at, 'cancelled');
    record.state = 'opening';
    save(station, session);
    announce(station, session);
    return;
  }
  denyPending(station, session, at, 'the turn was cancelled');
  session.cancels = true;
  save(station, session);
  station.bus.command(
    'bearpunch.agents.cancel',
    { session: record.id },
    { to: record.provider, token: `cancel:${record.id}` },
  );
  announce(station, session);
};

export const close = ({ payload, at }: Request<'bearpunch.sessions.close'>, station: Host): void => {
  const session = mustFind(station, payload.id);
  const { record } = session;
  if (isOver(session) || record.state === 'closing') return;
  denyPending(station, session, at, 'the session was closed');
  const runs = record.attached || record.state === 'opening' || session.waiting !== undefined;
  record.state = 'closing';
  if (!runs) {
    endSession(station, session, at, undefined);
    return;
  }
  save(station, session);
  station.bus.command(
    'bearpunch.agents.close',
    { session: record.id },
    { to: record.provider, token: `close:${record.id}` },
  );
  announce(station, session);
};

export const get = (
  { payload }: Request<'bearpunch.sessions.get'>,
  station: Host,
): Reply<'bearpunch.sessions.get'> => {
  const { record } = mustFind(station, payload.id);
  return { ...record, commands: station.store.get<Commands>(`c/${record.id}`) ?? [] };
};

export const list = (
  { payload }: Request<'bearpunch.sessions.list'>,
  station: Host,
): Reply<'bearpunch.sessions.list'> => {
  const limit = payload.limit ?? listLimit;
  const after = payload.after === undefined ? undefined : `s/${payload.after}`;
  const found = station.store.scan<Session>('s/', { after, limit: limit + 1 });
  const sessions = found.slice(0, limit).map(({ value: { record } }) => {
    const { id, agent, program, title, cwd, state, reason, createdAt } = record;
    return { id, agent, program, title, cwd, state, reason, createdAt };
  });
  const last = sessions.at(-1);
  return found.length > limit && last !== undefined ? { sessions, next: last.id } : { sessions };
};

/** Rows go out as the text they are stored as: a long transcript costs the guest no parsing. */
export const transcript = (
  { payload }: Request<'bearpunch.sessions.transcript'>,
  station: Host,
): JsonText<Reply<'bearpunch.sessions.transcript'>> => {
  const { record } = mustFind(station, payload.id);
  const limit = payload.limit ?? transcriptLimit;
  const rows: string[] = [];
  let units = 0;
  let after = rowKey(record.id, payload.after ?? 0);
  let read = rowsRead;
  for (;;) {
    const page = station.store.scanText(`t/${record.id}/`, { after, limit: read });
    for (const { key, value } of page) {
      units += value.length;
      if (rows.length > 0 && (rows.length === limit || units > transcriptUnits))
        return jsonText(`{"rows":[${rows.join(',')}],"next":${rowSeq(after)}}`);
      rows.push(value);
      after = key;
    }
    if (page.length < read) return jsonText(`{"rows":[${rows.join(',')}]}`);
    // Short rows are read in fewer pages: as many as fit by what was seen, and one that says that there is more.
    read = Math.max(
      rowsRead,
      Math.min(limit, Math.floor((rows.length * transcriptUnits) / units)) - rows.length + 1,
    );
  }
};
