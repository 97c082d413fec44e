/**
 * Turns: the prompt, what the agent does with it, the permissions it asks for, its end. An agent's request is
 * always answered: by Sessions, by a cancel, or here when the turn is over.
 */
import { bounded, fail } from '../guest/index.ts';
import {
  type Agent,
  answer,
  callOf,
  failTurn,
  type Host,
  lose,
  rememberCall,
  request,
  save,
  send,
  shown,
} from './agents.ts';
import { authRequired } from './auth.ts';
import { serverOf } from './families.ts';
import { isRecord, type RequestFrame, type ResponseFrame } from './frames.ts';
import { type Option, optionFor, readPermission } from './permissions.ts';
import { handed } from './servers.ts';
import { readUpdate, type Update } from './updates.ts';
import { reportedUsage } from './usage.ts';

/** How long a cancelled turn may take to end before the agent is ended instead, ms. Real agents need under 400. */
const cancelMs = 5_000;
/** Permission requests one agent may have open; one more is answered at once. */
const openPermissions = 50;

const cancelToken = (session: string, turn: string): string => `cancel:${session}:${turn}`;

const publishUpdate = (station: Host, agent: Agent, update: Update, server?: string): void =>
  station.bus.event('bearpunch.agents.update', {
    session: agent.session,
    ...(agent.turn === undefined ? {} : { turn: agent.turn }),
    ...update,
    ...(server === undefined ? {} : { server }),
  });

/** A tool call's update with the server it goes to, as soon as that is known. */
const publishCall = (station: Host, agent: Agent, update: Update, call: unknown) => {
  const { id, title } = update;
  if (id === undefined) return publishUpdate(station, agent, update);
  const server = isRecord(call) ? serverOf(agent.agentInfo?.name, handed(agent).handedOver, call) : undefined;
  const known =
    title === undefined && server === undefined
      ? callOf(agent, id)
      : rememberCall(agent, id, { title, server });
  publishUpdate(station, agent, update, known.server);
};

const isOurs = (agent: Agent, params: Readonly<Record<string, unknown>>): boolean =>
  params.sessionId === undefined || params.sessionId === null || params.sessionId === agent.agentSession;

export const startTurn = (station: Host, agent: Agent, turn: string, text: string): void => {
  if (agent.phase !== 'ready')
    fail('agent/not-ready', 'The agent has no session yet.', { subject: agent.session });
  if (agent.turn !== undefined)
    fail('agent/busy', 'The agent is in a turn.', {
      subject: agent.session,
      fix: 'Wait for its end, or cancel it.',
    });
  agent.turn = turn;
  agent.prompted = true;
  station.store.remove(`u/${agent.session}`);
  request(
    station,
    agent,
    'session/prompt',
    { sessionId: agent.agentSession, prompt: [{ type: 'text', text }] },
    { what: 'prompt', turn },
  );
  save(station, agent);
};

export const onUpdate = (station: Host, agent: Agent, params: unknown) => {
  if (!isRecord(params)) return station.log.warn(`${agent.session}: session/update without params`);
  if (agent.agentSession !== undefined && !isOurs(agent, params))
    return station.log.warn(`${agent.session}: an update for a session the agent was not given`);
  const read = readUpdate(params.update);
  if (read.as === 'announced')
    return station.bus.event('bearpunch.agents.announced', { session: agent.session, ...read.announced });
  if (read.as === 'titled')
    return station.bus.event('bearpunch.agents.titled', { session: agent.session, title: read.title });
  const opening = agent.phase === 'initialize' || agent.phase === 'session';
  if (opening || (agent.resume !== undefined && !agent.prompted)) {
    // All an agent can tell before its first prompt here is what happened in an earlier one.
    return station.log.debug(`${agent.session}: not told again: ${shown(params.update)}`);
  }
  switch (read.as) {
    case 'update': {
      const { role, text, data } = read.update;
      if (role === 'tool') return publishCall(station, agent, read.update, params.update);
      // A piece of nothing is nothing.
      if (text === '' && data === undefined && (role === 'agent' || role === 'thought')) return undefined;
      return publishUpdate(station, agent, read.update);
    }
    case 'usage':
      station.store.put(`u/${agent.session}`, read.usage);
      return publishUpdate(station, agent, read.update);
    case 'quiet':
      return station.log.info(`${agent.session}: ${read.kind}: ${shown(params.update)}`);
    case 'malformed':
      return station.log.warn(`${agent.session}: ${read.reason}: ${shown(params.update)}`);
  }
};

/** Why nobody may allow what the agent asks, or undefined. */
const denial = (
  agent: Agent,
  params: Readonly<Record<string, unknown>>,
  options: readonly Option[],
): string | undefined => {
  if (!isOurs(agent, params)) return 'it asked for a session it was not given';
  if (agent.phase === 'failed') return 'it asked after the station had given it up';
  if (agent.phase === 'closing') return 'it asked while its session was closed';
  if (agent.phase !== 'ready') return 'it asked before its session was ready';
  if (agent.permissions.length >= openPermissions)
    return `${openPermissions} of its requests were open already`;
  if (optionFor(options, true) === undefined) return 'it offered no option that allows it';
  return undefined;
};

export const onPermission = (station: Host, agent: Agent, frame: RequestFrame) => {
  const params = isRecord(frame.params) ? frame.params : {};
  const asked = readPermission(params);
  const permission = { request: `r${agent.nextRequest}`, rpc: frame.id, options: asked.options };
  agent.nextRequest += 1;
  const denied = denial(agent, params, asked.options);
  const title =
    asked.title ??
    (asked.tool === undefined ? undefined : callOf(agent, asked.tool).title) ??
    `tool call ${asked.tool ?? 'without a name'}`;
  const { kind, paths, pathsWhole } = asked;
  if (denied === undefined && asked.update !== undefined)
    publishCall(station, agent, { ...asked.update, text: '' }, params.toolCall);
  station.bus.event('bearpunch.agents.permission', {
    session: agent.session,
    ...(agent.turn === undefined ? {} : { turn: agent.turn }),
    request: permission.request,
    ...(asked.tool === undefined ? {} : { tool: asked.tool }),
    title: bounded(title, 4_000),
    options: asked.options,
    ...(kind === undefined ? {} : { kind }),
    paths,
    pathsWhole,
    ...(denied === undefined ? {} : { denied }),
  });
  if (denied === undefined) agent.permissions.push(permission);
  else answer(station, agent, permission, optionFor(asked.options, false));
  save(station, agent);
};

export const respond = (station: Host, agent: Agent, name: string, allow: boolean) => {
  const permission = agent.permissions.find((open) => open.request === name);
  if (permission === undefined)
    return fail('agent/request-unknown', 'The agent has no such request open.', { subject: name });
  agent.permissions = agent.permissions.filter((open) => open !== permission);
  answer(station, agent, permission, optionFor(permission.options, allow));
  save(station, agent);
};

export const answerAll = (station: Host, agent: Agent): void => {
  for (const permission of agent.permissions) answer(station, agent, permission, undefined);
  agent.permissions = [];
};

/** ACP, "Prompt turn": the client answers what is pending as cancelled; the agent ends the turn itself. */
export const cancel = (station: Host, agent: Agent): void => {
  if (agent.turn === undefined) return;
  send(station, agent, { method: 'session/cancel', params: { sessionId: agent.agentSession } });
  answerAll(station, agent);
  station.clock.wake(cancelToken(agent.session, agent.turn), cancelMs);
  save(station, agent);
};

export const onCancelTimeout = (station: Host, agent: Agent, turn: string): void => {
  if (agent.turn !== turn || agent.phase !== 'ready') return;
  lose(station, agent, {
    code: 'agent/cancel-ignored',
    message: `The agent did not end the turn within ${cancelMs / 1_000} seconds of being told to; it was ended.`,
    subject: agent.program,
  });
};

export const onPrompted = (station: Host, agent: Agent, turn: string, frame: ResponseFrame) => {
  if (agent.turn !== turn)
    return station.log.warn(`${agent.session}: the end of turn ${turn}, which is over already`);
  answerAll(station, agent);
  if (frame.error === undefined) {
    const result = isRecord(frame.result) ? frame.result : {};
    const usage = reportedUsage(frame.result, station.store.get(`u/${agent.session}`));
    station.bus.event('bearpunch.agents.settled', {
      session: agent.session,
      turn,
      stopReason: typeof result.stopReason === 'string' ? bounded(result.stopReason, 100) : 'not reported',
      ...(usage === undefined ? {} : { usage }),
    });
    agent.turn = undefined;
  } else {
    failTurn(
      station,
      agent,
      authRequired(agent, frame.error, 'prompt it again or create a new session') ?? {
        code: 'agent/refused',
        message: `The agent could not finish the turn: ${bounded(frame.error.message, 1_000)}`,
        subject: agent.program,
        evidence: shown(frame.error),
      },
    );
  }
  save(station, agent);
};

export const configure = (station: Host, agent: Agent, option: string, value: string): void => {
  if (agent.phase !== 'ready')
    fail('agent/not-ready', 'The agent has no session yet.', { subject: agent.session });
  request(
    station,
    agent,
    'session/set_config_option',
    { sessionId: agent.agentSession, configId: option, value },
    { what: 'option', option },
  );
  save(station, agent);
};

export const onConfigured = (station: Host, agent: Agent, option: string, frame: ResponseFrame): void => {
  const text =
    frame.error === undefined
      ? `the option ${option} is set`
      : `the option ${option} was not set: ${bounded(frame.error.message, 1_000)}`;
  publishUpdate(station, agent, { role: 'note', text });
};
