/**
 * The parts of a session's life that commands and events share: permission requests and their answers, the end of
 * a turn, the end of the session.
 */
import { bounded, type Problem } from '../guest/index.ts';
import { announce, append, type Host, note, type Session, save } from './records.ts';

type Pending = Session['record']['pending'][number];

/** Writes the answer to a request into the transcript. */
const recordAnswer = (
  station: Host,
  session: Session,
  at: number,
  request: string,
  allow: boolean,
  why: string,
): void => {
  append(station, session.record.id, {
    at,
    role: 'permission',
    id: request,
    ...(session.turn === undefined ? {} : { turn: session.turn }),
    state: allow ? 'allowed' : 'denied',
    text: why,
  });
};

export const recordRequest = (station: Host, session: Session, pending: Pending, text: string): void => {
  append(station, session.record.id, {
    at: pending.at,
    role: 'permission',
    id: pending.request,
    ...(session.turn === undefined ? {} : { turn: session.turn }),
    state: 'pending',
    title: pending.title,
    text,
  });
};

/** Answers the agent and writes it down. */
export const answer = (
  station: Host,
  session: Session,
  at: number,
  request: string,
  allow: boolean,
  why: string,
): void => {
  const { id, provider } = session.record;
  recordAnswer(station, session, at, request, allow, why);
  station.bus.command(
    'bearpunch.agents.respond',
    { session: id, request, allow },
    { to: provider, token: `respond:${id}` },
  );
};

/** Takes what is still asked off the queue; the provider answers the agent itself. */
export const denyPending = (station: Host, session: Session, at: number, why: string): void => {
  for (const { request } of session.record.pending) recordAnswer(station, session, at, request, false, why);
  session.record.pending = [];
};

/** Ends the current turn. The caller says what state the session is in afterwards. */
const closeTurn = (station: Host, session: Session, at: number, line: string): string | undefined => {
  const { turn } = session;
  denyPending(station, session, at, 'the turn was over first');
  note(station, session.record.id, at, line, turn);
  session.turn = undefined;
  return turn;
};

export const endTurn = (
  station: Host,
  session: Session,
  at: number,
  stopReason: string,
  line = `the turn ended: ${stopReason}`,
): void => {
  const turn = closeTurn(station, session, at, line);
  if (session.record.state === 'running') session.record.state = 'idle';
  save(station, session);
  announce(station, session, turn === undefined ? undefined : { turn, stopReason });
};

/** Evidence a sentence of the transcript carries at most, UTF-16 units. */
const evidenceUnits = 1_000;

/** A problem as one line for a person: what happened, what was seen, what to do. */
export const problemText = ({ code, message, evidence, fix }: Problem): string =>
  [
    `${message} (${code})`,
    ...(evidence === undefined ? [] : [`Seen: ${bounded(evidence, evidenceUnits)}.`]),
    ...(fix === undefined ? [] : [fix]),
  ].join(' ');

/** The agent is gone: by a person's `close`, or by anything else. */
export const endSession = (station: Host, session: Session, at: number, why: string | undefined): void => {
  const { record } = session;
  const byPerson = record.state === 'closing';
  const reason = why ?? 'the agent closed the session';
  const turn = closeTurn(
    station,
    session,
    at,
    byPerson ? `the session is closed${why === undefined ? '' : `: ${why}`}` : `the session ended: ${reason}`,
  );
  record.state = byPerson ? 'closed' : 'ended';
  if (!byPerson) record.reason = reason;
  save(station, session);
  announce(station, session, turn === undefined ? undefined : { turn, stopReason: record.state });
};
