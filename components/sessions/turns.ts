/** The end of a turn and the end of a session, as commands and events share them. */

import { denyPending } from './permissions.ts';
import { announce, type Host, note, type Session, save } from './records.ts';

/** What the agent says stands, also where it was told to cancel and says otherwise. */
const endLine = ({ cancels }: Session, stopReason: string): string =>
  cancels === true && stopReason !== 'cancelled'
    ? `the turn ended: ${stopReason}, though it was told to cancel`
    : `the turn ended: ${stopReason}`;

/** Ends the current turn. The caller says what state the session is in afterwards. */
const closeTurn = (station: Host, session: Session, at: number, line: string): string | undefined => {
  const { turn } = session;
  denyPending(station, session, at, 'the turn was over first');
  note(station, session.record.id, at, line, turn);
  session.turn = undefined;
  session.cancels = undefined;
  session.waiting = undefined;
  return turn;
};

export const endTurn = (
  station: Host,
  session: Session,
  at: number,
  stopReason: string,
  line = endLine(session, stopReason),
): void => {
  const turn = closeTurn(station, session, at, line);
  if (session.record.state === 'running') session.record.state = 'idle';
  save(station, session);
  announce(station, session, turn === undefined ? undefined : { turn, stopReason });
};

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
  record.attached = false;
  if (!byPerson) record.reason = reason;
  save(station, session);
  announce(station, session, turn === undefined ? undefined : { turn, stopReason: record.state });
};
