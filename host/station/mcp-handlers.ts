/**
 * `jupiter mcp …`: the servers the station reaches, as a person at the command line has them. A call from here passes
 * the same rules as an agent's; where they would ask, the person who typed it has answered.
 */
import {
  type Connection,
  type Connections,
  decide,
  type ServerEntry,
  serverAlias,
  toolNames,
  visitOf,
  visitsBefore,
} from '../mcp/index.ts';
import { changePolicyFile, type Policy } from '../policy/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import type { GateLog } from '../state/index.ts';
import type { McpMethods, McpServerStatus, McpTool } from './control.ts';
import type { Reach } from './reach.ts';

/** The session of the rows that a person's calls leave. */
export const commandLine = 'command-line';

export interface McpHandlersOptions {
  readonly policy: () => Policy;
  readonly file: string;
  readonly reach: Reach;
  readonly connections: Connections;
  readonly log: GateLog;
  /** What changed in policy is acted upon. */
  readonly changed: () => void;
}
type Handler<M extends keyof McpMethods> = (
  params: McpMethods[M]['params'],
  emit: unknown,
  signal: AbortSignal,
) => Promise<Result<McpMethods[M]['result']>>;
export type McpHandlers = { readonly [M in keyof McpMethods]: Handler<M> };

/** Of a tool's description in a list, UTF-16 units. */
const descriptionUnits = 1_000;

export const mcpHandlers = (options: McpHandlersOptions): McpHandlers => {
  const { policy, file, reach, connections, log, changed } = options;

  const statusOf = (entry: ServerEntry): McpServerStatus => {
    const connection = connections.get(entry.key);
    const status = connection?.status() ?? { state: 'connecting' as const };
    const { key, name, place } = entry;
    return {
      name,
      key,
      place,
      status: status.state,
      ...('problem' in status ? { problem: status.problem } : {}),
      ...('reason' in status ? { reason: status.reason } : {}),
      tools: connection?.tools().length ?? 0,
    };
  };

  const found = (wanted: string): Result<ServerEntry> => {
    const entries = reach.entries();
    const exact = entries.find(({ key }) => key === wanted);
    if (exact !== undefined) return ok(exact);
    const named = entries.filter(({ name }) => name === wanted || serverAlias(name) === wanted);
    const [one, ...others] = named;
    if (one === undefined) {
      const names = [...new Set(entries.map(({ name }) => name))].join(', ');
      return refuse('mcp/server-unknown', { subject: wanted, evidence: names === '' ? 'none' : names });
    }
    return others.length === 0
      ? ok(one)
      : refuse('mcp/ambiguous', { subject: wanted, evidence: named.map(({ key }) => key).join(', ') });
  };

  /** What policy lets be offered of a server: everything, where it says nothing. */
  const offers = ({ key, name }: ServerEntry, tool: string, { servers }: Policy): boolean => {
    const tools = key.startsWith('policy/') ? servers.get(name)?.tools : undefined;
    return tools === undefined || tools.includes(tool);
  };

  const toolsOf = (entry: ServerEntry, connection: Connection | undefined): readonly McpTool[] => {
    const tools = connection?.tools() ?? [];
    const now = policy();
    const alias = serverAlias(entry.name);
    const listed = tools.map(({ name }) => name);
    const names = new Map(toolNames(alias, listed).map(({ original, exposed }) => [original, exposed]));
    return tools.map(({ name, description }): McpTool => {
      const decided = decide(now.permissions, { server: entry.name, tool: name });
      const offered = offers(entry, name, now) && names.has(name);
      return {
        name,
        as: `mcp__${alias}__${names.get(name) ?? name}`,
        ...(typeof description === 'string' ? { description: description.slice(0, descriptionUnits) } : {}),
        decision: offered ? decided.decision : 'not offered',
        rule: offered ? decided.rule : `${entry.place}.tools`,
      };
    });
  };

  const call: Handler<'mcp.call'> = async ({ server, tool: asked, args }, _emit, signal) => {
    const entry = found(server);
    if (!entry.ok) return entry;
    const connection = connections.get(entry.value.key);
    const tools = toolsOf(entry.value, connection);
    const tool = tools.find(({ name, as }) => name === asked || as === asked);
    const name = tool?.name ?? asked;
    const subject = `${entry.value.name} ${name}`;
    const row = { session: commandLine, server: entry.value.name, tool: name };
    if (connection === undefined || connection.status().state !== 'connected') {
      const met = await connection?.request('tools/call', { name, arguments: args }, { signal });
      return met !== undefined && 'problem' in met
        ? failed(met.problem)
        : refuse('mcp/server-unknown', { subject: server });
    }
    if (tool === undefined || tool.decision === 'not offered') {
      const offered = tools.filter(({ decision }) => decision !== 'not offered').map((one) => one.name);
      return refuse('mcp/tool-unknown', { subject, evidence: offered.join(', ') || 'none' });
    }
    if (tool.decision === 'deny') {
      await log.add({ ...row, decision: 'denied', rule: tool.rule });
      return refuse('mcp/denied', { subject, evidence: tool.rule });
    }
    const rule = tool.decision === 'allow' ? tool.rule : `${tool.rule}, by the person who called it`;
    await log.add({ ...row, decision: 'allowed', rule });
    const answered = await connection.request('tools/call', { name, arguments: args }, { signal });
    if ('problem' in answered) return failed(answered.problem);
    if ('error' in answered) {
      const { code, message } = answered.error;
      const visits = (visitsBefore(answered) ?? []).flatMap((one) => visitOf(one)?.text ?? []);
      return refuse('mcp/call-failed', { subject, evidence: [`${message} (${code})`, ...visits].join('\n') });
    }
    return ok({ result: answered.result });
  };

  /** Puts a name on the policy's list of disabled servers, or takes it off. */
  const listed = (name: string, disabled: boolean): Result<unknown> => {
    const names = [...policy().disabledMcpServers];
    const at = names.indexOf(name);
    if (disabled === at >= 0) return ok(undefined);
    const path = 'disabledMcpServers';
    if (!disabled)
      return changePolicyFile(file, [
        names.length === 1 ? { path, value: undefined } : { path: `${path}[${at}]`, value: undefined },
      ]);
    return changePolicyFile(file, [
      names.length === 0 ? { path, value: [name] } : { path: `${path}[${names.length}]`, value: name },
    ]);
  };

  const toggled =
    (disabled: boolean) =>
    async ({ server }: { readonly server: string }): Promise<Result<McpServerStatus>> => {
      const [problem] = policy().problems;
      if (problem !== undefined) return failed(problem);
      const entry = found(server);
      if (!entry.ok) return entry;
      const written = listed(entry.value.name, disabled);
      if (!written.ok) return written;
      changed();
      const after = found(entry.value.key);
      if (!after.ok) return after;
      const reason = after.value.disabled;
      return reason !== undefined && !disabled
        ? refuse('mcp/disabled-elsewhere', { subject: entry.value.name, evidence: reason })
        : ok(statusOf(after.value));
    };

  return {
    'mcp.list': async () => ok({ servers: reach.entries().map(statusOf) }),
    'mcp.tools': async ({ server }) => {
      const entry = found(server);
      if (!entry.ok) return entry;
      const tools = toolsOf(entry.value, connections.get(entry.value.key));
      return ok({ server: statusOf(entry.value), tools });
    },
    'mcp.call': call,
    'mcp.reconnect': async ({ server }) => {
      const entry = found(server);
      if (!entry.ok) return entry;
      const started = connections.reconnect(entry.value.key);
      return started.ok ? ok(statusOf(entry.value)) : started;
    },
    'mcp.enable': toggled(false),
    'mcp.disable': toggled(true),
  };
};
