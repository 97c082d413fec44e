/**
 * What Adapter knows of each agent it runs: one process, one ACP session, one session of ours. All of it is in the
 * store; the maps only spare reading it again and are dropped after any failed message.
 */
import { bounded, type FirstParty, fail, type Offer, type Problem, type Station } from '../guest/index.ts';
import type { Step } from './approval.ts';
import type { FrameId } from './frames.ts';
import type { Option } from './permissions.ts';

export type Host = Station<FirstParty>;
export type McpServer = FirstParty['bearpunch.agents.open.v3']['request']['mcpServers'][number];

/** What a request we sent is for; its answer comes back by the ID. */
export type Expected =
  | { readonly what: 'initialize' | 'session' | 'approval' | 'close' }
  | { readonly what: 'prompt'; readonly turn: string }
  | { readonly what: 'option'; readonly option: string };

export interface Permission {
  readonly request: string;
  readonly rpc: FrameId;
  readonly options: readonly Option[];
}

/** A command that runs for an agent. */
export interface Terminal {
  /** Requests that are answered at its end. */
  readonly waits: readonly FrameId[];
  readonly exited?: true;
  readonly released?: true;
}

export interface Agent {
  readonly session: string;
  /** Who opened it; nobody else may command it. */
  readonly owner: string;
  /** As policy names it. Absent, as `offer` is, in what an older revision stored. */
  readonly agent?: string;
  readonly program: string;
  readonly cwd: string;
  readonly process: string;
  readonly servers: readonly McpServer[];
  readonly approve: 'manual' | 'auto' | 'workspace';
  /** The session of its own it is to take up. */
  readonly resume?: string;
  /** `approval`: being put into its mode. `failed`: told so already, waiting for its process to be gone. */
  phase: 'initialize' | 'session' | 'approval' | 'ready' | 'closing' | 'failed';
  /** What is still to be sent before it is ready, and what the record will say of it. */
  steps: Step[];
  approval: string;
  /** Prompted since it was opened: before that, one that was taken up only repeats. */
  prompted: boolean;
  nextId: number;
  nextRequest: number;
  expected: Record<string, Expected>;
  permissions: Permission[];
  /** What the agent was told that it may ask of the station. */
  offer?: Offer;
  /** Commands that run for it, by the terminal's ID. */
  terminals?: Record<string, Terminal>;
  agentSession?: string;
  agentInfo?: { name: string; version?: string };
  capabilities: Record<string, unknown>;
  authMethods: string[];
  /** What it printed last beside the protocol before its session was ready. */
  said?: string;
  turn?: string | undefined;
}

/** Our request IDs begin here, so that a frame an agent logs of its own requests is not taken for an answer. */
export const firstRequestId = 10_001;

const known = new Map<string, Agent>();
const byProcess = new Map<string, string>();
interface Call {
  readonly title?: string | undefined;
  readonly server?: string | undefined;
}
/** What was told of tool calls, by call ID: later updates and requests for permission leave it out. */
const calls = new Map<string, Call>();
/** Calls remembered. */
const callsKept = 1_000;

export const forget = (): void => {
  known.clear();
  byProcess.clear();
  calls.clear();
};

export const save = (station: Host, agent: Agent): void => {
  known.set(agent.session, agent);
  // They never change, and a hundred of them are written at every step otherwise.
  const { servers: _servers, ...changing } = agent;
  station.store.put(`a/${agent.session}`, changing);
};

/** `opening`: the request it was opened by, JSON, in which its servers are. */
export const enter = (station: Host, agent: Agent, opening: string): void => {
  byProcess.set(agent.process, agent.session);
  station.store.put(`p/${agent.process}`, agent.session);
  if (agent.servers.length > 0) station.store.putText(`m/${agent.session}`, opening);
  save(station, agent);
};

export const remove = (station: Host, agent: Agent): void => {
  known.delete(agent.session);
  byProcess.delete(agent.process);
  station.store.remove(`a/${agent.session}`);
  station.store.remove(`m/${agent.session}`);
  station.store.remove(`p/${agent.process}`);
  station.store.remove(`u/${agent.session}`);
  for (const terminal of Object.keys(agent.terminals ?? {})) station.store.remove(`x/${terminal}`);
};

/** Forgets every agent: the processes of an earlier station are gone. */
export const removeAll = (station: Host): void => {
  forget();
  for (const prefix of ['a/', 'm/', 'p/', 'u/', 'x/']) {
    let after: string | undefined;
    do {
      const page = station.store.scanText(prefix, { after, limit: 200 });
      for (const { key } of page) station.store.remove(key);
      after = page.length < 200 ? undefined : page.at(-1)?.key;
    } while (after !== undefined);
  }
};

/** Agents looked at in one message once their owner left: each is a handful of effects. */
const orphansAtOnce = 200;

/** Ends the agents of an owner that left service; the key to go on after, where there are more. */
export const endOrphans = (station: Host, owner: string, after?: string): string | undefined => {
  const page = station.store.scan<Agent>('a/', { after, limit: orphansAtOnce });
  for (const { value: agent } of page) {
    if (agent.owner !== owner) continue;
    station.process.kill(agent.process);
    remove(station, agent);
  }
  return page.length < orphansAtOnce ? undefined : page.at(-1)?.key;
};

export const find = (station: Host, session: string): Agent | undefined => {
  const cached = known.get(session);
  if (cached !== undefined) return cached;
  const stored = station.store.get<Agent>(`a/${session}`);
  if (stored === undefined) return undefined;
  const opening = station.store.get<{ readonly mcpServers: readonly McpServer[] }>(`m/${session}`);
  const agent = { ...stored, servers: opening?.mcpServers ?? [] };
  known.set(session, agent);
  return agent;
};

export const findByProcess = (station: Host, process: string): Agent | undefined => {
  const session = byProcess.get(process) ?? station.store.get<string>(`p/${process}`);
  if (session === undefined) return undefined;
  byProcess.set(process, session);
  return find(station, session);
};

export const enterTerminal = (station: Host, agent: Agent, terminal: string): void => {
  agent.terminals = { ...agent.terminals, [terminal]: { waits: [] } };
  station.store.put(`x/${terminal}`, agent.session);
  save(station, agent);
};
export const leaveTerminal = (station: Host, agent: Agent, terminal: string): void => {
  const { [terminal]: _gone, ...others } = agent.terminals ?? {};
  agent.terminals = others;
  station.store.remove(`x/${terminal}`);
  save(station, agent);
};
export const findByTerminal = (station: Host, terminal: string): Agent | undefined => {
  const session = station.store.get<string>(`x/${terminal}`);
  return session === undefined ? undefined : find(station, session);
};

/** The agent a command is about, if it is the caller's (`agent/session-unknown`, `agent/not-owner`). */
export const owned = (station: Host, session: string, source: string): Agent => {
  const agent = find(station, session);
  if (agent === undefined)
    return fail('agent/session-unknown', 'No agent runs for this session.', { subject: session });
  if (agent.owner !== source)
    return fail('agent/not-owner', 'Only the component that opened an agent may command it.', {
      subject: session,
    });
  return agent;
};

const callKey = (agent: Agent, id: string): string => `${agent.session} ${id}`;
export const callOf = (agent: Agent, id: string): Call => calls.get(callKey(agent, id)) ?? {};
/** What was known before stays where nothing new is told. */
export const rememberCall = (agent: Agent, id: string, { title, server }: Call): Call => {
  const before = callOf(agent, id);
  const call = { title: title ?? before.title, server: server ?? before.server };
  if (calls.size >= callsKept) calls.clear();
  calls.set(callKey(agent, id), call);
  return call;
};

export const send = (station: Host, agent: Agent, frame: Readonly<Record<string, unknown>>): void =>
  station.process.write(agent.process, `${JSON.stringify({ jsonrpc: '2.0', ...frame })}\n`);

/** Sends a request, its parameters as JSON, and notes what its answer is for. The caller saves. */
export const requestText = (
  station: Host,
  agent: Agent,
  method: string,
  params: string,
  expected: Expected,
): void => {
  const id = agent.nextId;
  agent.nextId += 1;
  agent.expected[String(id)] = expected;
  const head = JSON.stringify({ jsonrpc: '2.0', id, method });
  station.process.write(agent.process, `${head.slice(0, -1)},"params":${params}}\n`);
};
export const request = (
  station: Host,
  agent: Agent,
  method: string,
  params: unknown,
  expected: Expected,
): void => requestText(station, agent, method, JSON.stringify(params), expected);

export const answer = (
  station: Host,
  agent: Agent,
  permission: Permission,
  chosen: string | undefined,
): void =>
  send(station, agent, {
    id: permission.rpc,
    result: {
      outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen },
    },
  });

export const failTurn = (station: Host, agent: Agent, problem: Problem): void => {
  if (agent.turn === undefined) return;
  station.bus.event('bearpunch.agents.failed', { session: agent.session, turn: agent.turn, problem });
  agent.turn = undefined;
};

/** The agent cannot go on: says so, which ends its turn as well, and ends its process. */
export const lose = (station: Host, agent: Agent, problem: Problem): void => {
  station.bus.event('bearpunch.agents.failed', { session: agent.session, problem });
  agent.phase = 'failed';
  agent.turn = undefined;
  agent.expected = {};
  // What it asked is answered apart: to write to it needs a grant, to end it does not.
  if (agent.permissions.length > 0) station.clock.wake(`answer:${agent.session}`, 0);
  station.process.kill(agent.process);
  save(station, agent);
};

/** A JSON value for a problem's evidence. */
export const shown = (value: unknown): string => bounded(JSON.stringify(value) ?? 'nothing', 1_000);
