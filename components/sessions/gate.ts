/**
 * What the station's gate has a session answer: calls of MCP tools that policy says to ask about, and what an MCP server
 * asks of a person. They wait in the same queue as the agent's own requests and are answered in the same ways; the
 * answer goes back as an event. Only the station is believed here.
 */
import { type FirstParty, fail, type Message } from '../guest/index.ts';
import { answer, denialOf, denyRequest, queue, recordRequest } from './permissions.ts';
import { announce, type Host, isOver, mustFind, note, type Session, save } from './records.ts';

type Request<K extends keyof FirstParty> = FirstParty[K] extends { request: infer Q } ? Message<Q> : never;

/** As the host stamps what its gateway sends. */
const gateway = 'station:gateway';

const options = [
  { id: 'allow', kind: 'allow_once', name: 'Allow' },
  { id: 'deny', kind: 'reject_once', name: 'Deny' },
];

const believedSession = (station: Host, { source, payload }: Message<{ readonly id: string }>): Session =>
  source === gateway
    ? mustFind(station, payload.id)
    : fail('session/not-the-station', 'Only the station itself may say this.', { subject: payload.id });

export const ask = (message: Request<'bearpunch.sessions.ask'>, station: Host): void => {
  const session = believedSession(station, message);
  const { record } = session;
  const { request, kind, title, tool, text } = message.payload;
  const { at } = message;
  const pending = { request, at, title, tool, options };
  session.asked = [...(session.asked ?? []), request];
  const denial = denialOf(session, undefined);
  // A form has to be filled in: no setting can do that.
  const automatic = kind === 'call' && record.approve === 'auto';
  if (denial === undefined && !automatic) queue(station, session, pending, text);
  else {
    recordRequest(station, session, pending, text);
    const why = denial ?? 'by the approval setting auto';
    answer(station, session, at, { request, allow: denial === undefined, why });
    save(station, session);
  }
  announce(station, session);
};

export const withdraw = (message: Request<'bearpunch.sessions.withdraw'>, station: Host): void => {
  const session = believedSession(station, message);
  const { request, why } = message.payload;
  if (session.asked?.includes(request) !== true) return;
  denyRequest(station, session, message.at, request, why);
  save(station, session);
  announce(station, session);
};

const stages = ['offered', 'handed-over', 'connected', 'used'];

/** A stage is only ever reached, never left. */
export const observed = (message: Request<'bearpunch.sessions.observed'>, station: Host): void => {
  const session = believedSession(station, message);
  if (isOver(session)) return;
  const { server: name, stage } = message.payload;
  const server = session.record.provisioning.servers.find((each) => each.name === name);
  if (server?.decision !== 'offered') return;
  if (stages.indexOf(stage) <= stages.indexOf(server.stage ?? 'offered')) return;
  server.stage = stage;
  note(station, session.record.id, message.at, `server ${name}: ${stage}`, session.turn);
  save(station, session);
  announce(station, session);
};
