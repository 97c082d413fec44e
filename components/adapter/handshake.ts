/**
 * From a started process to a session: `initialize`, then `session/new` with the MCP servers the agent is handed.
 * Each step has a deadline. Shapes: Agent Client Protocol 1, "Initialization" and "Session setup".
 */
import { bounded } from '../guest/index.ts';
import { type Agent, type Host, lose, type McpServer, request, save, shown } from './agents.ts';
import { isRecord, type ResponseFrame } from './frames.ts';

const protocolVersion = 1;
/** For each of the two steps, ms: an agent that installs itself first is slow. */
const stepMs = 60_000;
/** Larger descriptions of itself are cut to the parts we read, UTF-16 units of JSON. */
const capabilityUnits = 65_536;
/** ACP's code for "authentication required". */
const authRequired = -32_000;

export const handshakeToken = (session: string): string => `handshake:${session}`;

export const begin = (station: Host, agent: Agent): void => {
  request(
    station,
    agent,
    'initialize',
    {
      protocolVersion,
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false }, terminal: false },
      clientInfo: { name: 'jupiter-station', title: 'Jupiter Station', version: '0.1.0' },
    },
    { what: 'initialize' },
  );
  station.clock.wake(handshakeToken(agent.session), stepMs);
};

/** The servers as `session/new` takes them, and those this agent cannot take. */
export const handOver = (
  servers: readonly McpServer[],
  takesHttp: boolean,
): {
  readonly entries: readonly unknown[];
  readonly handedOver: string[];
  readonly skipped: { name: string; reason: string }[];
} => {
  const taken = servers.filter(({ transport }) => transport.type === 'stdio' || takesHttp);
  return {
    entries: taken.map(({ name, transport }) =>
      transport.type === 'stdio'
        ? { name, command: transport.command, args: transport.args, env: [] }
        : { type: 'http', name, url: transport.url, headers: [] },
    ),
    handedOver: taken.map(({ name }) => name),
    skipped: servers
      .filter((server) => !taken.includes(server))
      .map(({ name }) => ({ name, reason: 'the agent did not declare that it takes HTTP servers' })),
  };
};

const takesHttp = (agent: Agent): boolean => {
  const mcp = agent.capabilities.mcpCapabilities;
  return isRecord(mcp) && mcp.http === true;
};
export const canClose = (agent: Agent): boolean => {
  const session = agent.capabilities.sessionCapabilities;
  return isRecord(session) && isRecord(session.close);
};

const bounds = (capabilities: Readonly<Record<string, unknown>>): Record<string, unknown> => {
  if (JSON.stringify(capabilities).length <= capabilityUnits) return { ...capabilities };
  const { mcpCapabilities, sessionCapabilities } = capabilities;
  return { mcpCapabilities, sessionCapabilities };
};

const infoOf = (value: unknown): Agent['agentInfo'] | undefined =>
  isRecord(value) && typeof value.name === 'string'
    ? {
        name: bounded(value.name, 200),
        ...(typeof value.version === 'string' ? { version: bounded(value.version, 200) } : {}),
      }
    : undefined;

const methodNames = (value: unknown): string[] =>
  Array.isArray(value)
    ? value
        .filter(isRecord)
        .map(({ id, name }) => bounded(String(name ?? id ?? 'unnamed'), 200))
        .slice(0, 20)
    : [];

/** What the agent refused, with the methods it offers where it wants authentication first. */
const refused = (
  station: Host,
  agent: Agent,
  step: string,
  error: NonNullable<ResponseFrame['error']>,
): void => {
  const data = isRecord(error.data) ? error.data : {};
  const methods = [...agent.authMethods, ...methodNames(data.authMethods)];
  if (error.code === authRequired || /\bauth(entication|orization)? (is )?required/i.test(error.message)) {
    lose(station, agent, {
      code: 'agent/auth-required',
      message: `The agent needs authentication first. It offers: ${methods.length === 0 ? 'no method' : methods.join(', ')}.`,
      subject: agent.program,
      evidence: bounded(error.message, 1_000),
      fix: 'Sign in with the agent itself, or give its program the variables it needs, and create the session again.',
    });
    return;
  }
  lose(station, agent, {
    code: 'agent/refused',
    message: `The agent refused ${step}: ${bounded(error.message, 1_000)}`,
    subject: agent.program,
    evidence: shown(error),
  });
};

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
  const { entries } = handOver(agent.servers, takesHttp(agent));
  request(station, agent, 'session/new', { cwd: agent.cwd, mcpServers: entries }, { what: 'session' });
  station.clock.wake(handshakeToken(agent.session), stepMs);
  save(station, agent);
};

export const onSession = (station: Host, agent: Agent, frame: ResponseFrame) => {
  if (frame.error !== undefined) return refused(station, agent, 'session/new', frame.error);
  const id = isRecord(frame.result) ? frame.result.sessionId : undefined;
  if (typeof id !== 'string' || id === '') {
    return lose(station, agent, {
      code: 'agent/bad-answer',
      message: 'The agent answered session/new without a session ID.',
      subject: agent.program,
      evidence: shown(frame.result),
    });
  }
  agent.agentSession = id;
  agent.phase = 'ready';
  const { handedOver, skipped } = handOver(agent.servers, takesHttp(agent));
  station.bus.event('bearpunch.agents.opened', {
    session: agent.session,
    ...(id.length <= 1_000 ? { agentSession: id } : {}),
    protocolVersion,
    ...(agent.agentInfo === undefined ? {} : { agentInfo: agent.agentInfo }),
    capabilities: agent.capabilities,
    handedOver,
    skipped,
  });
  save(station, agent);
};

export const onHandshakeTimeout = (station: Host, agent: Agent): void => {
  if (agent.phase !== 'initialize' && agent.phase !== 'session') return;
  const step = agent.phase === 'initialize' ? 'initialize' : 'session/new';
  lose(station, agent, {
    code: 'agent/handshake-timeout',
    message: `The agent did not answer ${step} within ${stepMs / 1_000} seconds.`,
    subject: agent.program,
    fix: 'Start the program by hand and see whether it speaks ACP on its standard output.',
  });
};
