/**
 * A session outlives its agent where the agent can take it up again. After a stop of the station it is `idle` and
 * nothing runs for it; the next prompt provisions it anew, has the agent take up its session, and is sent once that
 * is done.
 */
import { fail, failWith } from '../guest/index.ts';
import { noteProvisioning, openAgent, provisionFor, provisioningOf } from './provision.ts';
import { announce, find, type Host, isOver, note, type Row, rowKey, type Session, save } from './records.ts';
import { endSession, endTurn } from './turns.ts';

/** Sessions looked at in one go after a start: each is a handful of effects. */
const sweepSize = 200;

/** Decides again what the agent gets and has it opened; the turn in `waiting` begins when it has opened. */
export const takeUp = (station: Host, session: Session, at: number) => {
  const { record, agentSession, mcpConfig } = session;
  const found = provisionFor(station, { ...record, mcpConfig });
  if (!found.ok) return failWith(found.problem);
  const { provision, why } = found.value;
  if (provision.program === undefined || provision.provider !== record.provider)
    return fail('session/agent-unknown', `Policy no longer knows the agent "${record.agent}" as it was.`, {
      subject: record.agent,
      fix: 'Put it back under `agents` in policy.jsonc, or create a new session.',
    });
  // A sweep that is not through yet must not take it for one of before.
  station.store.put(`l/${record.id}`, at);
  record.program = provision.program;
  record.provisioning = provisioningOf(found.value);
  note(station, record.id, at, 'the agent is started again and takes up its session');
  noteProvisioning(station, record, at, why);
  openAgent(station, session, provision, agentSession);
};

/** Sends the prompt that waited for the agent. */
export const sendWaiting = (station: Host, session: Session): void => {
  const { record, waiting } = session;
  if (waiting === undefined) return;
  session.waiting = undefined;
  const row = station.store.get<Row>(rowKey(record.id, waiting.seq));
  station.bus.command(
    'bearpunch.agents.prompt',
    { session: record.id, turn: waiting.turn, text: row?.text ?? '' },
    { to: record.provider, token: `prompt:${record.id}:${waiting.turn}` },
  );
};

/** What ran for the session is gone: what the session is now, and why. */
const settleStopped = (station: Host, session: Session, at: number, cause: string): void => {
  const { record } = session;
  const { state } = record;
  if (state === 'idle' && !record.attached) return;
  const why = `${cause} while the session was ${state}`;
  record.attached = false;
  session.waiting = undefined;
  if (state === 'closing') endSession(station, session, at, why);
  else if (!record.resumable || session.agentSession === undefined) {
    endSession(station, session, at, `${why}, and the agent cannot take it up again`);
  } else if (session.turn !== undefined)
    endTurn(station, session, at, 'station-stopped', `the turn ended: ${why}`);
  else {
    if (state === 'opening') record.state = 'idle';
    save(station, session);
    announce(station, session);
  }
};

/** One page of the sessions that were not over before `since`; the key to go on after, where there are more. */
const sweepPage = (
  station: Host,
  since: number,
  after: string | undefined,
  settle: (session: Session) => void,
): string | undefined => {
  const live = station.store.scan<number>('l/', { after, limit: sweepSize });
  for (const { key, value } of live) {
    const session = value < since ? find(station, key.slice('l/'.length)) : undefined;
    if (value >= since) continue;
    if (session === undefined || isOver(session)) station.store.remove(key);
    else settle(session);
  }
  return live.length === sweepSize ? live.at(-1)?.key : undefined;
};

/** After a start no agent of before lives: brings every session that was not over into its true state. */
export const sweep = (station: Host, startedAt: number, at: number, after?: string): void => {
  const last = sweepPage(station, startedAt, after, (session) =>
    settleStopped(station, session, at, 'the station stopped'),
  );
  if (last !== undefined) station.clock.wake(`sweep:${startedAt}:${last}`, 1);
};

/** The same where one provider left service and its agents with it; `parked` is the problem it was given up for, or empty. */
export const sweepLeft = (
  station: Host,
  provider: string,
  parked: string,
  leftAt: number,
  at: number,
  after?: string,
): void => {
  const cause =
    parked === ''
      ? `the provider ${provider} left service`
      : `the provider ${provider} is parked (${parked})`;
  const last = sweepPage(station, leftAt + 1, after, (session) => {
    if (session.record.provider !== provider) return;
    settleStopped(station, session, at, cause);
  });
  if (last !== undefined) station.clock.wake(`left:${leftAt}:${last}:${parked}:${provider}`, 1);
};
