/** Which of the provisioned servers an agent is handed, and why it is not handed the others. */
import type { Agent, McpServer } from './agents.ts';
import { familyOf } from './families.ts';
import { isRecord } from './frames.ts';

/** What the station puts the session's own token in for, where it is written to the agent (`bearpunch.agents.open.v3`). */
const tokenOf = (session: string): string => `\${jupiter.token:${session}}`;
const tokenVariable = 'JUPITER_GATEWAY_TOKEN';

interface Takes {
  readonly http: boolean;
  readonly noStdio?: string | undefined;
}

/** One server as `session/new` takes it. */
const entryOf = ({ name, transport }: McpServer, session: string, { http }: Takes): unknown => {
  if (transport.type === 'stdio') return { name, command: transport.command, args: transport.args, env: [] };
  if (transport.type === 'http') return { type: 'http', name, url: transport.url, headers: [] };
  const { url, command, args } = transport;
  if (http)
    return {
      type: 'http',
      name,
      url,
      headers: [{ name: 'Authorization', value: `Bearer ${tokenOf(session)}` }],
    };
  return { name, command, args, env: [{ name: tokenVariable, value: tokenOf(session) }] };
};

/** The servers as `session/new` takes them, and those this agent cannot take. */
export const handOver = (
  servers: readonly McpServer[],
  session: string,
  takes: Takes,
): {
  readonly entries: readonly unknown[];
  readonly handedOver: string[];
  readonly skipped: { name: string; reason: string }[];
} => {
  const refusal = ({ transport }: McpServer): string | undefined => {
    if (takes.http && transport.type !== 'stdio') return undefined;
    return transport.type === 'http' ? 'the agent did not declare that it takes HTTP servers' : takes.noStdio;
  };
  const taken = servers.filter((server) => refusal(server) === undefined);
  return {
    entries: taken.map((server) => entryOf(server, session, takes)),
    handedOver: taken.map(({ name }) => name),
    skipped: servers.flatMap((server) => {
      const reason = refusal(server);
      return reason === undefined ? [] : [{ name: server.name, reason }];
    }),
  };
};

type Handed = Omit<ReturnType<typeof handOver>, 'entries'> & {
  /** JSON. */
  readonly entries: string;
};

/** The servers of an agent never change: a hundred are looked at and written once. */
const found = new WeakMap<readonly McpServer[], Map<string, Handed>>();

const handedTo = ({ servers, session }: Agent, takes: Takes): Handed => {
  const known = found.get(servers) ?? new Map<string, Handed>();
  found.set(servers, known);
  const key = JSON.stringify([takes.http, takes.noStdio]);
  const before = known.get(key);
  if (before !== undefined) return before;
  const { entries, ...rest } = handOver(servers, session, takes);
  const handed = { ...rest, entries: JSON.stringify(entries) };
  known.set(key, handed);
  return handed;
};

/** Of one agent, by what it declared and what is known of it. */
export const handed = (agent: Agent): Handed => {
  const mcp = agent.capabilities.mcpCapabilities;
  return handedTo(agent, {
    http: isRecord(mcp) && mcp.http === true,
    noStdio: familyOf(agent.agentInfo?.name).noStdio,
  });
};

/** Ahead of the agent's answer, while its program starts. */
export const prepare = (agent: Agent): void => {
  for (const http of [true, false]) handedTo(agent, { http });
};
