/**
 * A call. Who is not offered a tool cannot call it, by whatever way; what is offered is decided at this moment, by the
 * rules as they are now. A call that is allowed goes to the server while its record is written, and its answer leaves
 * when both are done.
 */
import { problem } from '../../problems/index.ts';
import type { Answered, RequestOptions } from '../connections/edge.ts';
import type { Decision, Wanted } from '../gate/edge.ts';
import { isRecord, type Json, textOf } from '../json.ts';
import { visitsBefore } from './addresses.ts';
import { answererOf, askable, mayAsk, opensItself } from './asks.ts';
import type { GateRow } from './edge.ts';
import { nameCharacters, shownCharacters } from './limits.ts';
import { failure, invalidParams, notification, passedOn } from './protocol.ts';
import { notConnected, toldAsResult } from './refusals.ts';
import type { Room } from './room.ts';
import type { Round } from './rounds.ts';
import { marked } from './stations.ts';
import { connectionOf, type Exchange, type Place } from './visits.ts';

/** Times a request is made again after somebody opened what had to be opened first. */
const mostRepeats = 3;

const shown = (args: Json): string => {
  const text = JSON.stringify(args, undefined, 2);
  return text.length <= shownCharacters ? text : `${text.slice(0, shownCharacters)}…`;
};

const wantedOf = ({ server }: Place, tool: string, args: Json): Wanted => {
  if (server.upstream !== 'station' || tool !== 'Skill') return { server: server.original, tool };
  // As the tool itself reads the name.
  return {
    skill: textOf(args['name']).replace(/^\//, '').normalize('NFC'),
  };
};

const nameIn = (wanted: Wanted): string => ('skill' in wanted ? `Skill(${wanted.skill})` : wanted.tool);

interface Settled {
  readonly allowed: boolean;
  readonly rule: string;
  readonly refusal?: Answered;
}

/** Asks whoever answers for the session; what the rules say may have changed when the answer comes. */
const settle = async (
  { ports, isOffered }: Room,
  exchange: Exchange,
  wanted: Wanted,
  name: string,
  args: Json,
): Promise<Settled> => {
  const { place } = exchange;
  const denied = ({ rule }: Decision): Settled => ({
    allowed: false,
    rule,
    refusal: toldAsResult(problem('gateway/denied', { evidence: rule })),
  });
  const decided = ports.decide(place.session.id, wanted);
  if (decided.decision === 'deny') return denied(decided);
  if (decided.decision === 'allow') return { allowed: true, rule: decided.rule };
  const { server, session, alias } = place;
  // Nobody would hear what became of it.
  const signal = AbortSignal.any([exchange.stop.signal, exchange.left.signal]);
  exchange.waiting = 'waiting for an approval';
  const answer = await ports.ask(
    {
      session: session.id,
      title: `${nameIn(wanted)} of ${server.original}`,
      tool: `mcp__${alias}__${name}`,
      text: shown(args),
      kind: 'call',
    },
    signal,
  );
  exchange.waiting = undefined;
  const rule = `${decided.rule}, ${answer.why}`;
  if (signal.aborted) return { allowed: false, rule: `${decided.rule}, withdrawn`, refusal: { result: {} } };
  if (!answer.allow) {
    return {
      allowed: false,
      rule,
      refusal: toldAsResult(problem('gateway/not-approved', { evidence: rule })),
    };
  }
  const again = ports.decide(session.id, wanted);
  if (again.decision === 'deny') return denied(again);
  if (!isOffered(place, name)) {
    const gone: Decision = { decision: 'deny', rule: `servers.${server.original} (no longer offered)` };
    return denied(gone);
  }
  return { allowed: true, rule };
};

const callStation = async ({ ports }: Room, place: Place, tool: string, args: Json): Promise<Answered> => {
  const station = await ports.skills(place.session.id);
  return { result: await station.call(tool, args) };
};

/** A request that runs at the server; `toClient` where its client is asked by coming again. */
type Running = Pick<Round, 'exchange' | 'signal'> & Partial<Pick<Round, 'toClient'>>;

/** The request at the server, with all that may come before its answer. */
export const forward = async (
  { ports }: Room,
  round: Running,
  method: string,
  params: Json,
): Promise<Answered> => {
  const { exchange } = round;
  const connection = connectionOf(exchange.place.server);
  if (connection === undefined) return failure(invalidParams, 'No such method here');
  const { progressToken } = exchange;
  const onAsk = answererOf(ports, exchange, round.toClient);
  const options: RequestOptions = {
    signal: round.signal,
    onAsk,
    asks: askable(exchange),
    ...(progressToken === undefined
      ? {}
      : {
          onProgress: (progress: Json) => {
            const { send, progressToken: now } = round.exchange;
            if (now !== undefined)
              send(notification('notifications/progress', { ...progress, progressToken: now }));
          },
        }),
  };
  const sent = marked(connection, params, exchange.stations);
  let answered = await connection.request(method, sent, options);
  for (let times = 0; times < mostRepeats && !opensItself(exchange); times += 1) {
    const visits = visitsBefore(answered);
    if (visits === undefined) break;
    for (const visit of visits) {
      const answer = await onAsk({ method: 'elicitation/create', params: visit }, round.signal);
      // What was not opened stays the answer: it says what is missing.
      if (answer?.['action'] !== 'accept' || round.signal.aborted) return answered;
    }
    answered = await connection.request(method, sent, options);
  }
  return answered;
};

/** Through rounds where the client is asked by them, straight otherwise. */
export const throughRounds = (
  { rounds }: Room,
  exchange: Exchange,
  subject: string,
  start: (round: Running) => Promise<Answered>,
): Promise<Answered> =>
  exchange.era === 'modern' && mayAsk(exchange)
    ? rounds.begin(exchange, subject, start)
    : start({ exchange, signal: exchange.stop.signal });

export const callTool = async (room: Room, exchange: Exchange, params: Json): Promise<Answered> => {
  const { ports } = room;
  const { place } = exchange;
  const { name, arguments: given = {} } = params;
  if (typeof name !== 'string' || !isRecord(given)) {
    return failure(invalidParams, 'Invalid params: a call has a name, and arguments that are an object');
  }
  const subject = `tools/call ${name}`;
  const again = room.rounds.resume(exchange, subject, params);
  if (again !== undefined) return again;

  const row = (tool: string, decision: GateRow['decision'], rule: string): Promise<void> =>
    ports.record({
      session: place.session.id,
      server: place.server.original,
      tool: tool.slice(0, nameCharacters),
      decision,
      rule,
    });
  const offer = room.offerOf(place) ?? (await room.offerSoon(place));
  const found = offer.byName.get(name);
  const connection = connectionOf(place.server);
  const isDown = connection !== undefined && connection.status().state !== 'connected';
  // While nothing is known of a server no tool of it is unknown.
  if (isDown && (found !== undefined || connection.about() === undefined)) {
    return toldAsResult(notConnected(place.server.original, connection));
  }
  if (found === undefined) {
    await row(name, 'denied', 'not offered');
    return failure(invalidParams, `Unknown tool: ${name.slice(0, nameCharacters)}`);
  }
  const { original } = found;
  const wanted = wantedOf(place, original, given);
  const settled = await settle(room, exchange, wanted, name, given);
  if (!settled.allowed) {
    await row(nameIn(wanted), 'denied', settled.rule);
    return settled.refusal ?? { result: {} };
  }
  room.observe(place, 'used');
  exchange.tool = `mcp__${place.alias}__${name}`;
  return throughRounds(room, exchange, subject, async (round) => {
    const kept = row(nameIn(wanted), 'allowed', settled.rule);
    const passed = passedOn(params);
    const call =
      connection === undefined
        ? callStation(room, place, original, given)
        : forward(room, round, 'tools/call', original === name ? passed : { ...passed, name: original });
    const [answered] = await Promise.all([call, kept]);
    return 'problem' in answered ? toldAsResult(answered.problem) : answered;
  });
};
