/**
 * From a started process to a session: `initialize`; `session/new`, `resume` or `load` with the MCP servers the
 * agent is handed; the mode that fits the approval setting. Each step has a deadline. Shapes: Agent Client Protocol 1, "Initialization" and "Session setup".
 */
import { bounded } from '../guest/index.ts';
import { type Agent, type Host, lose, request, requestText, save, shown } from './agents.ts';
import { modeIn, optionsIn } from './announced.ts';
import { handApproval } from './approval.ts';
import { authRequired, methodNames } from './auth.ts';
import { familyOf } from './families.ts';
import { isRecord, type ResponseFrame } from './frames.ts';
import { handed } from './servers.ts';

const protocolVersion = 1;
/** For each step, ms: an agent that installs itself first is slow. */
const stepMs = 60_000;
/** Larger descriptions of itself are cut to the parts we read, UTF-16 units of JSON. */
const capabilityUnits = 65_536;

const handshakeToken = (session: string): string => `handshake:${session}`;

export const begin = (station: Host, agent: Agent): void => {
  const found = station.workspace.offered({ process: agent.process, agent: agent.agent ?? '' });
  const offer = found.ok ? found.value : { read: false, write: false, terminals: false };
  agent.offer = offer;
  request(
    station,
    agent,
    'initialize',
    {
      protocolVersion,
      clientCapabilities: {
        fs: { readTextFile: offer.read, writeTextFile: offer.write },
        terminal: offer.terminals,
      },
      clientInfo: { name: 'jupiter-station', title: 'Jupiter Station', version: '0.1.0' },
    },
    { what: 'initialize' },
  );
  station.clock.wake(handshakeToken(agent.session), stepMs);
  if (agent.servers.length > 0) station.clock.wake(`servers:${agent.session}`, 0);
};

const offers = (agent: Agent, method: 'close' | 'resume'): boolean => {
  const session = agent.capabilities.sessionCapabilities;
  return isRecord(session) && isRecord(session[method]);
};
export const canClose = (agent: Agent): boolean => offers(agent, 'close');

/** How a session is taken up: `resume` repeats nothing, `load` all of it. Undefined where the agent cannot. */
const resumeMethod = (agent: Agent): 'session/resume' | 'session/load' | undefined => {
  if (familyOf(agent.agentInfo?.name).noResume !== undefined) return undefined;
  if (offers(agent, 'resume')) return 'session/resume';
  return agent.capabilities.loadSession === true ? 'session/load' : undefined;
};

const bounds = (capabilities: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  if (JSON.stringify(capabilities).length <= capabilityUnits) return { ...capabilities };
  const { loadSession, mcpCapabilities, sessionCapabilities } = capabilities;
  return { loadSession, mcpCapabilities, sessionCapabilities };
};

const infoOf = (value: unknown): Agent['agentInfo'] | undefined =>
  isRecord(value) && typeof value.name === 'string'
    ? {
        name: bounded(value.name, 200),
        ...(typeof value.version === 'string' ? { version: bounded(value.version, 200) } : {}),
      }
    : undefined;

/** What the agent refused on the way to a session. */
const refused = (
  station: Host,
  agent: Agent,
  step: string,
  error: NonNullable<ResponseFrame['error']>,
): void =>
  lose(
    station,
    agent,
    authRequired(agent, error, 'create the session again') ?? {
      code: 'agent/refused',
      message: `The agent refused ${step}: ${bounded(error.message, 1_000)}`,
      subject: agent.program,
      evidence: shown(error),
    },
  );

export const onInitialized = (station: Host, agent: Agent, frame: ResponseFrame) => {
  if (frame.error !== undefined) return refused(station, agent, 'initialize', frame.error);
  const result = isRecord(frame.result) ? frame.result : {};
  if (Number(result.protocolVersion ?? Number.NaN) !== protocolVersion) {
    const theirs = result.protocolVersion === undefined ? 'none' : shown(result.protocolVersion);
    return lose(station, agent, {
      code: 'agent/protocol-mismatch',
      message: `The agent speaks version ${theirs} of the protocol, the station speaks version ${protocolVersion}.`,
      subject: agent.program,
      fix: 'Use a release of the agent that speaks this version.',
    });
  }
  agent.capabilities = isRecord(result.agentCapabilities) ? bounds(result.agentCapabilities) : {};
  agent.authMethods = methodNames(result.authMethods);
  const info = infoOf(result.agentInfo);
  if (info !== undefined) agent.agentInfo = info;
  agent.phase = 'session';
  const params = `"cwd":${JSON.stringify(agent.cwd)},"mcpServers":${handed(agent).entries}}`;
  if (agent.resume === undefined)
    requestText(station, agent, 'session/new', `{${params}`, { what: 'session' });
  else {
    const method = resumeMethod(agent);
    if (method === undefined) {
      return lose(station, agent, {
        code: 'agent/cannot-resume',
        message: 'The agent cannot take up a session it had before.',
        subject: agent.program,
        ...evidenceOf(familyOf(agent.agentInfo?.name).noResume),
        fix: 'Create a new session.',
      });
    }
    const sessionId = JSON.stringify(agent.resume);
    requestText(station, agent, method, `{"sessionId":${sessionId},${params}`, { what: 'session' });
  }
  station.clock.wake(handshakeToken(agent.session), stepMs);
  save(station, agent);
};

const evidenceOf = (evidence: string | undefined): { evidence?: string } =>
  evidence === undefined ? {} : { evidence };

/** `session/resume` and `session/load` answer without an ID: it is the one they were asked for. */
const sessionIdIn = (agent: Agent, result: Readonly<Record<string, unknown>>): string | undefined => {
  if (typeof result.sessionId === 'string' && result.sessionId !== '') return result.sessionId;
  return agent.resume;
};

export const onSession = (station: Host, agent: Agent, frame: ResponseFrame) => {
  const step = agent.resume === undefined ? 'session/new' : 'to take up its session';
  if (frame.error !== undefined) return refused(station, agent, step, frame.error);
  const result = isRecord(frame.result) ? frame.result : {};
  const id = sessionIdIn(agent, result);
  if (id === undefined) {
    return lose(station, agent, {
      code: 'agent/bad-answer',
      message: 'The agent answered session/new without a session ID.',
      subject: agent.program,
      evidence: shown(frame.result),
    });
  }
  agent.agentSession = id;
  const announced = { ...modeIn(result.modes), ...optionsIn(result.configOptions) };
  if (Object.keys(announced).length > 0)
    station.bus.event('bearpunch.agents.announced', { session: agent.session, ...announced });
  const { steps, text } = handApproval(agent.approve, result);
  agent.steps = [...steps];
  agent.approval = text;
  agent.phase = 'approval';
  nextStep(station, agent);
};

const nextStep = (station: Host, agent: Agent) => {
  const [step, ...rest] = agent.steps;
  if (step === undefined) return ready(station, agent);
  agent.steps = rest;
  request(
    station,
    agent,
    step.method,
    { sessionId: agent.agentSession, ...step.params },
    { what: 'approval' },
  );
  station.clock.wake(handshakeToken(agent.session), stepMs);
  save(station, agent);
};

/** An agent that refuses the mode is usable; what the record says of it is then this. */
export const onApproval = (station: Host, agent: Agent, frame: ResponseFrame): void => {
  if (frame.error !== undefined)
    agent.approval = `approval ${agent.approve}: the agent refused the mode in which it asks (${bounded(frame.error.message, 300)}) and decides by itself what it asks`;
  nextStep(station, agent);
};

const ready = (station: Host, agent: Agent): void => {
  agent.phase = 'ready';
  const id = agent.agentSession ?? '';
  const { handedOver, skipped } = handed(agent);
  const nameable = id.length > 0 && id.length <= 1_000;
  station.bus.event('bearpunch.agents.opened', {
    session: agent.session,
    ...(nameable ? { agentSession: id } : {}),
    protocolVersion,
    ...(agent.agentInfo === undefined ? {} : { agentInfo: agent.agentInfo }),
    capabilities: agent.capabilities,
    handedOver,
    skipped,
    resumable: nameable && resumeMethod(agent) !== undefined,
    approval: bounded(agent.approval, 1_000),
  });
  save(station, agent);
};

const stepNames: Readonly<Partial<Record<Agent['phase'], string>>> = {
  initialize: 'initialize',
  session: 'session/new',
  approval: 'to be put into the mode in which it asks',
};

export const onHandshakeTimeout = (station: Host, agent: Agent): void => {
  const step =
    agent.phase === 'session' && agent.resume !== undefined
      ? 'to take up its session'
      : stepNames[agent.phase];
  if (step === undefined) return;
  lose(station, agent, {
    code: 'agent/handshake-timeout',
    message: `The agent did not answer ${step} within ${stepMs / 1_000} seconds.`,
    subject: agent.program,
    ...evidenceOf(
      agent.said === undefined ? undefined : `it printed what is no frame of JSON-RPC 2.0: ${agent.said}`,
    ),
    fix: 'Start the program by hand and see whether it speaks ACP on its standard output.',
  });
};
