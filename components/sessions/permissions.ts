/**
 * Permission requests. Every one is answered: by a person by its ID, by the approval setting, by the end of the turn,
 * or by the time it may wait. Who answered, and why, stands in the transcript.
 */
import type { FirstParty, Message } from '../guest/index.ts';
import { announce, append, find, type Host, isOver, type Session, save } from './records.ts';
import { spanText } from './text.ts';

type Pending = Session['record']['pending'][number];
type Request = Message<FirstParty['bearpunch.agents.permission']['event']>;

/** Requests one session may have waiting; one more is denied and written down. */
const pendingKept = 50;
/**
 * Kinds of tool calls that touch the paths they name and nothing else. What a command, a fetch or an unnamed tool
 * reaches cannot be read off its paths.
 */
const pathKinds = new Set(['read', 'edit', 'delete', 'move', 'search']);

const turnOf = (session: Session): { turn?: string } =>
  session.turn === undefined ? {} : { turn: session.turn };

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
    ...turnOf(session),
    state: allow ? 'allowed' : 'denied',
    text: why,
  });
};

export const recordRequest = (station: Host, session: Session, pending: Pending, text: string): void => {
  append(station, session.record.id, {
    at: pending.at,
    role: 'permission',
    id: pending.request,
    ...turnOf(session),
    state: 'pending',
    title: pending.title,
    text,
  });
};

export interface Answer {
  readonly request: string;
  readonly allow: boolean;
  readonly why: string;
  /** What a form was filled in with. */
  readonly content?: Record<string, unknown>;
}

/** Answers the station's gate where it asked. */
const answerGate = (station: Host, session: Session, answered: Answer): boolean => {
  const { id } = session.record;
  const { request, allow, why, content } = answered;
  if (session.asked?.includes(request) !== true) return false;
  session.asked = session.asked.filter((each) => each !== request);
  station.bus.event('bearpunch.sessions.answered', {
    id,
    request,
    allow,
    why,
    ...(content === undefined ? {} : { content }),
  });
  return true;
};

/** Answers whoever asked, the agent or the gate, and writes it down. */
export const answer = (station: Host, session: Session, at: number, answered: Answer): void => {
  const { id, provider } = session.record;
  const { request, allow, why } = answered;
  recordAnswer(station, session, at, request, allow, why);
  if (answerGate(station, session, answered)) return;
  station.bus.command(
    'bearpunch.agents.respond',
    { session: id, request, allow },
    { to: provider, token: `respond:${id}` },
  );
};

/** Takes one request off the queue; if the agent asked, its provider answers it itself. */
export const denyRequest = (
  station: Host,
  session: Session,
  at: number,
  request: string,
  why: string,
): void => {
  session.record.pending = session.record.pending.filter((each) => each.request !== request);
  recordAnswer(station, session, at, request, false, why);
  answerGate(station, session, { request, allow: false, why });
};

/** Takes all that is still asked off the queue. */
export const denyPending = (station: Host, session: Session, at: number, why: string): void => {
  for (const { request } of session.record.pending) denyRequest(station, session, at, request, why);
};

/** Why nobody may allow it any more, or undefined. */
export const denialOf = (session: Session, turn: string | undefined): string | undefined => {
  const { record } = session;
  if (record.state !== 'running' || (turn !== undefined && turn !== session.turn))
    return 'no turn was running when the agent asked';
  return record.pending.length >= pendingKept ? `${pendingKept} requests were waiting already` : undefined;
};

/** What the setting `workspace` says: allowed, or why a person is asked. */
const byWorkspace = (station: Host, cwd: string, asked: Request['payload']): true | string => {
  const { kind, paths, pathsWhole } = asked;
  if (kind === undefined || !pathKinds.has(kind))
    return `a tool call of the kind ${kind ?? 'unknown'} may reach more than the paths it names`;
  if (paths.length === 0) return 'the request names no path';
  if (!pathsWhole) return 'the request names more paths than can be looked at';
  const outside = station.context.outside(cwd, paths);
  if (!outside.ok) return `its paths could not be looked at: ${outside.problem.message}`;
  const [first] = outside.value;
  return first === undefined || `${first} is not inside the workspace, or in its .git or .jupiter`;
};

/** Queues a request, with the time by which it is answered anyway. */
export const queue = (station: Host, session: Session, pending: Pending, text: string): void => {
  const { record } = session;
  recordRequest(station, session, pending, text);
  record.pending.push(pending);
  save(station, session);
  station.clock.wake(`permission:${record.id}:${pending.request}`, record.answerWithinMs);
};

export const onPermission = (station: Host, session: Session, { payload, at }: Request): void => {
  const { record } = session;
  const { request, title, tool, options } = payload;
  if (record.pending.some((each) => each.request === request)) return;
  const pending = { request, at, title, ...(tool === undefined ? {} : { tool }), options };
  const denial = denialOf(session, payload.turn);
  const settle = (allow: boolean, why: string): void => {
    recordRequest(station, session, pending, '');
    answer(station, session, at, { request, allow, why });
  };
  if (payload.denied !== undefined) {
    recordRequest(station, session, pending, '');
    recordAnswer(station, session, at, request, false, payload.denied);
  } else if (denial !== undefined) settle(false, denial);
  else if (record.approve === 'auto') settle(true, 'by the approval setting auto');
  else if (record.approve === 'manual') queue(station, session, pending, '');
  else {
    const verdict = byWorkspace(station, record.cwd, payload);
    if (verdict === true) settle(true, 'by the approval setting workspace: every path lies inside it');
    else queue(station, session, pending, `a person is asked: ${verdict}`);
  }
  announce(station, session);
};

/** Nobody answered in time. */
export const onPermissionTimeout = (station: Host, id: string, request: string, at: number): void => {
  const session = find(station, id);
  if (session === undefined || isOver(session)) return;
  const { record } = session;
  if (!record.pending.some((each) => each.request === request)) return;
  record.pending = record.pending.filter((each) => each.request !== request);
  const why = `nobody answered within ${spanText(record.answerWithinMs)}`;
  answer(station, session, at, { request, allow: false, why });
  save(station, session);
  announce(station, session);
};
