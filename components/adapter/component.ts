/**
 * Adapter: runs coding agents that speak ACP 1 over their standard input and output, one process a session. What
 * they do becomes events of `bearpunch.agents`; what they print beside the protocol goes to the log.
 */
import { bounded, defineComponent, type FirstParty, fail, type Message } from '../guest/index.ts';
import {
  type Agent,
  endOrphans,
  enter,
  find,
  findByProcess,
  firstRequestId,
  forget,
  type Host,
  type McpServer,
  owned,
  remove,
  removeAll,
  request,
  save,
  send,
  shown,
} from './agents.ts';
import { refuseRequest } from './asked.ts';
import { type Frame, type RequestFrame, type ResponseFrame, readLine } from './frames.ts';
import { begin, canClose, onApproval, onHandshakeTimeout, onInitialized, onSession } from './handshake.ts';
import { onHostRequest } from './host.ts';
import { prepare } from './servers.ts';
import { onTerminalExit } from './terminals.ts';
import {
  answerAll,
  cancel,
  configure,
  onCancelTimeout,
  onConfigured,
  onPermission,
  onPrompted,
  onUpdate,
  respond,
  startTurn,
} from './turns.ts';

/** How long an agent may take over `session/close` before it is ended without, ms. */
const closeMs = 2_000;
const noiseUnits = 500;

/** Methods only a client sends: in an agent's output they are its log of what we sent. */
const ourMethods = new Set([
  'initialize',
  'authenticate',
  'session/new',
  'session/load',
  'session/resume',
  'session/list',
  'session/prompt',
  'session/cancel',
  'session/close',
  'session/set_mode',
  'session/set_config_option',
]);

type OpenRequest = FirstParty['bearpunch.agents.open']['request'];

const open = (
  message: Message<OpenRequest>,
  servers: readonly McpServer[],
  resume: string | undefined,
  station: Host,
): void => {
  const { session, agent: name, program, cwd, approve } = message.payload;
  if (find(station, session) !== undefined)
    fail('agent/already-open', 'An agent runs for this session already.', { subject: session });
  const started = station.process.spawn(program, cwd);
  if (!started.ok) {
    station.bus.event('bearpunch.agents.failed', { session, problem: started.problem });
    return;
  }
  const agent: Agent = {
    session,
    owner: message.source,
    agent: name,
    program,
    cwd,
    process: started.value,
    servers,
    approve,
    ...(resume === undefined ? {} : { resume }),
    phase: 'initialize',
    steps: [],
    approval: '',
    prompted: false,
    nextId: firstRequestId,
    nextRequest: 1,
    expected: {},
    permissions: [],
    capabilities: {},
    authMethods: [],
  };
  begin(station, agent);
  enter(station, agent, message.text);
};

/**
 * An agent that can close its session is asked to first, in a message of its own: to write to it needs a grant that
 * may be withdrawn by now, and its end must not depend on that.
 */
const close = (station: Host, agent: Agent): void => {
  if (agent.phase === 'closing') return;
  const polite = agent.phase === 'ready' && (canClose(agent) || agent.permissions.length > 0);
  agent.phase = 'closing';
  if (polite) {
    station.clock.wake(`polite:${agent.session}`, 0);
    station.clock.wake(`close:${agent.session}`, closeMs);
  } else station.process.kill(agent.process);
  save(station, agent);
};

const closePolitely = (station: Host, agent: Agent): void => {
  if (agent.turn !== undefined)
    send(station, agent, { method: 'session/cancel', params: { sessionId: agent.agentSession } });
  answerAll(station, agent);
  if (canClose(agent))
    request(station, agent, 'session/close', { sessionId: agent.agentSession }, { what: 'close' });
  else station.process.kill(agent.process);
  save(station, agent);
};

const onRequest = (station: Host, agent: Agent, frame: RequestFrame): void => {
  if (ourMethods.has(frame.method)) {
    station.log.info(`${agent.session}: the agent shows a frame of ours: ${frame.method}`);
  } else if (frame.method === 'session/request_permission') {
    onPermission(station, agent, frame);
  } else onHostRequest(station, agent, frame);
};

const onResponse = (station: Host, agent: Agent, frame: ResponseFrame) => {
  const expected = agent.expected[String(frame.id)];
  if (expected === undefined) {
    station.log.warn(`${agent.session}: an answer to nothing that was asked (${String(frame.id)})`);
    return;
  }
  delete agent.expected[String(frame.id)];
  switch (expected.what) {
    case 'initialize':
      return onInitialized(station, agent, frame);
    case 'session':
      return onSession(station, agent, frame);
    case 'approval':
      return onApproval(station, agent, frame);
    case 'prompt':
      return onPrompted(station, agent, expected.turn, frame);
    case 'option':
      return onConfigured(station, agent, expected.option, frame);
    case 'close':
      return station.process.kill(agent.process);
  }
};

const onFrame = (station: Host, agent: Agent, frame: Frame): void => {
  // A failed agent is being ended: what it still says changes nothing, what it asks is denied.
  if (agent.phase === 'failed') {
    if (frame.kind !== 'request' || ourMethods.has(frame.method)) return;
    if (frame.method === 'session/request_permission') onPermission(station, agent, frame);
    else refuseRequest(station, agent, frame.id, -32_603, 'The session is over');
    return;
  }
  if (frame.kind === 'request') onRequest(station, agent, frame);
  else if (frame.kind === 'response') onResponse(station, agent, frame);
  else if (frame.method === 'session/update') onUpdate(station, agent, frame.params);
  else
    station.log.info(`${agent.session}: notification ${bounded(frame.method, 200)}: ${shown(frame.params)}`);
};

interface Exit {
  readonly code?: number | null;
  readonly signal?: string | null;
  readonly reason?: string | null;
}
const exitText = ({ code, signal, reason }: Exit): string =>
  [
    typeof code === 'number' ? `exit code ${code}` : undefined,
    typeof signal === 'string' ? `signal ${signal}` : undefined,
    typeof reason === 'string' ? reason : undefined,
  ]
    .filter((part) => part !== undefined)
    .join(', ') || 'no exit code';

const onExit = (station: Host, agent: Agent, exit: Exit): void => {
  if (agent.phase === 'closing') {
    station.bus.event('bearpunch.agents.closed', { session: agent.session });
  } else if (agent.phase !== 'failed') {
    const when =
      agent.phase !== 'ready'
        ? 'before its session was ready'
        : agent.turn === undefined
          ? 'between turns'
          : 'in the middle of a turn';
    const problem = {
      code: 'agent/exited',
      message: `The agent ended ${when} (${bounded(exitText(exit), 1_000)}).`,
      subject: agent.program,
    };
    station.bus.event('bearpunch.agents.failed', { session: agent.session, problem });
  }
  remove(station, agent);
};

const onOwnerLeft = (station: Host, owner: string, after?: string): void => {
  const last = endOrphans(station, owner, after);
  if (last !== undefined) station.clock.wake(`orphans:${last}:${owner}`, 1);
};

const onWoke = (station: Host, token: string): void => {
  const [what, session = '', turn = '', ...rest] = token.split(':');
  if (what === 'orphans') {
    onOwnerLeft(station, [turn, ...rest].join(':'), session);
    return;
  }
  const agent = find(station, session);
  if (agent === undefined) return;
  if (what === 'handshake') onHandshakeTimeout(station, agent);
  else if (what === 'servers') prepare(agent);
  else if (what === 'cancel') onCancelTimeout(station, agent, turn);
  else if (what === 'polite' && agent.phase === 'closing') closePolitely(station, agent);
  else if (what === 'close' && agent.phase === 'closing') station.process.kill(agent.process);
  else if (what === 'answer') {
    answerAll(station, agent);
    save(station, agent);
  }
};

export const component = defineComponent({
  handles: {
    'bearpunch.agents.open': (message, station) => open(message, [], undefined, station),
    'bearpunch.agents.open.v2': (message, station) =>
      open(message, message.payload.mcpServers, message.payload.resume?.agentSession, station),
    'bearpunch.agents.open.v3': (message, station) =>
      open(message, message.payload.mcpServers, message.payload.resume?.agentSession, station),
    'bearpunch.agents.prompt': ({ payload, source }, station) =>
      startTurn(station, owned(station, payload.session, source), payload.turn, payload.text),
    'bearpunch.agents.respond': ({ payload, source }, station) =>
      respond(station, owned(station, payload.session, source), payload.request, payload.allow),
    'bearpunch.agents.cancel': ({ payload, source }, station) =>
      cancel(station, owned(station, payload.session, source)),
    'bearpunch.agents.configure': ({ payload, source }, station) =>
      configure(station, owned(station, payload.session, source), payload.option, payload.value),
    'bearpunch.agents.close': ({ payload, source }, station) =>
      close(station, owned(station, payload.session, source)),
  },
  platform: {
    started: (_message, station) => removeAll(station),
    line: ({ payload }, station) => {
      const agent = findByProcess(station, payload.process);
      if (agent === undefined) return station.log.debug('a line of a process that is nobody’s');
      const { frames, noise } = readLine(payload.line);
      for (const text of noise) station.log.info(`${agent.session}: ${bounded(text, noiseUnits)}`);
      const said = noise.at(-1);
      if (said !== undefined && agent.phase !== 'ready') agent.said = bounded(said, noiseUnits);
      for (const frame of frames) onFrame(station, agent, frame);
    },
    exited: ({ payload }, station) => {
      const agent = findByProcess(station, payload.process);
      if (agent !== undefined) onExit(station, agent, payload);
    },
    terminalExited: ({ payload }, station) => onTerminalExit(station, payload.terminal, payload),
    woke: ({ payload }, station) => onWoke(station, payload.token),
    left: ({ payload }, station) => onOwnerLeft(station, payload.component),
  },
  forget,
});
