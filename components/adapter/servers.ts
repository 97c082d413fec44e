/** Which of the provisioned servers an agent is handed, and why it is not handed the others. */
import type { Agent, McpServer } from './agents.ts';
import { familyOf } from './families.ts';
import { isRecord } from './frames.ts';

/** The servers as `session/new` takes them, and those this agent cannot take. */
export const handOver = (
  servers: readonly McpServer[],
  takes: { readonly http: boolean; readonly noStdio?: string | undefined },
): {
  readonly entries: readonly unknown[];
  readonly handedOver: string[];
  readonly skipped: { name: string; reason: string }[];
} => {
  const refusal = ({ transport }: McpServer): string | undefined => {
    if (transport.type === 'stdio') return takes.noStdio;
    return takes.http ? undefined : 'the agent did not declare that it takes HTTP servers';
  };
  const taken = servers.filter((server) => refusal(server) === undefined);
  return {
    entries: taken.map(({ name, transport }) =>
      transport.type === 'stdio'
        ? { name, command: transport.command, args: transport.args, env: [] }
        : { type: 'http', name, url: transport.url, headers: [] },
    ),
    handedOver: taken.map(({ name }) => name),
    skipped: servers.flatMap((server) => {
      const reason = refusal(server);
      return reason === undefined ? [] : [{ name: server.name, reason }];
    }),
  };
};

/** Of one agent, by what it declared and what is known of it. */
export const handed = (agent: Agent): ReturnType<typeof handOver> => {
  const mcp = agent.capabilities.mcpCapabilities;
  return handOver(agent.servers, {
    http: isRecord(mcp) && mcp.http === true,
    noStdio: familyOf(agent.agentInfo?.name).noStdio,
  });
};
