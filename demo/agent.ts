/**
 * A coding agent without a model, speaking ACP: it starts the MCP servers it is handed, and on each prompt calls
 * the first tool of each. A JSON object in the prompt is passed to the tools; the word `ask` makes it ask for
 * permission before each call.
 */
import { Readable, Writable } from 'node:stream';
import { agent, methods, ndJsonStream, RequestError } from '@agentclientprotocol/sdk';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

type Connection = ReturnType<ReturnType<typeof agent>['connect']>;
type Peer = Connection['client'];

interface Server {
  readonly name: string;
  readonly client: Client;
  readonly tool: string | undefined;
}
interface Session {
  readonly servers: readonly (Server | { readonly name: string; readonly failure: string })[];
  cancelled: boolean;
}
const sessions = new Map<string, Session>();

/** One of the `mcpServers` of `session/new`; without a type it is started over standard input and output. */
interface Entry {
  readonly name: string;
  readonly type?: string;
  readonly url?: string;
  readonly headers?: readonly { readonly name: string; readonly value: string }[];
  readonly command?: string;
  readonly args?: readonly string[];
  readonly env?: readonly { readonly name: string; readonly value: string }[];
}

const transportFor = (entry: Entry, cwd: string) => {
  if (entry.type === 'http') {
    const headers = Object.fromEntries((entry.headers ?? []).map(({ name, value }) => [name, value]));
    return new StreamableHTTPClientTransport(new URL(entry.url ?? ''), { requestInit: { headers } });
  }
  // As most agents do: a server gets the agent's environment, and what the entry adds.
  const env: Record<string, string> = {};
  for (const [name, value] of Object.entries(process.env)) if (value !== undefined) env[name] = value;
  for (const { name, value } of entry.env ?? []) env[name] = value;
  return new StdioClientTransport({ command: entry.command ?? '', args: [...(entry.args ?? [])], env, cwd });
};

const startServer = async (entry: Entry, cwd: string): Promise<Session['servers'][number]> => {
  const client = new Client({ name: 'demo-agent', version: '0.1.0' });
  try {
    await client.connect(transportFor(entry, cwd));
    const { tools } = await client.listTools();
    return { name: entry.name, client, tool: tools[0]?.name };
  } catch (error) {
    return { name: entry.name, failure: error instanceof Error ? error.message : String(error) };
  }
};

const argumentsIn = (prompt: string): Record<string, unknown> => {
  const found = /\{.*\}/s.exec(prompt)?.[0];
  if (found === undefined) return {};
  try {
    return JSON.parse(found) as Record<string, unknown>;
  } catch {
    return {};
  }
};

/** A call may wait for a person, ms. */
const callMs = 60 * 60_000;

const callText = async (server: Server, tool: string, given: Record<string, unknown>): Promise<string> => {
  const { content } = await server.client.callTool({ name: tool, arguments: given }, { timeout: callMs });
  return content.map((part) => (part.type === 'text' ? part.text : `[${part.type}]`)).join('\n');
};

const mayCall = async (
  peer: Peer,
  sessionId: string,
  toolCallId: string,
  title: string,
): Promise<boolean> => {
  const { outcome } = await peer.request(methods.client.session.requestPermission, {
    sessionId,
    toolCall: { toolCallId, title },
    options: [
      { optionId: 'yes', name: 'Allow', kind: 'allow_once' },
      { optionId: 'no', name: 'Deny', kind: 'reject_once' },
    ],
  });
  return outcome.outcome === 'selected' && outcome.optionId === 'yes';
};

let calls = 0;
const useServer = async (
  peer: Peer,
  sessionId: string,
  server: Session['servers'][number],
  prompt: string,
): Promise<void> => {
  calls += 1;
  const toolCallId = `call-${calls}`;
  const tool = 'tool' in server ? server.tool : undefined;
  const title = `${server.name}.${tool ?? 'start'}`;
  const report = (status: 'in_progress' | 'completed' | 'failed', text?: string) =>
    peer.notify(methods.client.session.update, {
      sessionId,
      update: {
        sessionUpdate: 'tool_call_update',
        toolCallId,
        status,
        ...(text === undefined ? {} : { content: [{ type: 'content', content: { type: 'text', text } }] }),
      },
    });
  await peer.notify(methods.client.session.update, {
    sessionId,
    update: { sessionUpdate: 'tool_call', toolCallId, title, kind: 'other', status: 'pending' },
  });
  if (!('client' in server)) return report('failed', server.failure);
  if (tool === undefined) return report('failed', 'the server has no tool');
  if (/\bask\b/.test(prompt) && !(await mayCall(peer, sessionId, toolCallId, title)))
    return report('failed', 'not allowed');
  await report('in_progress');
  try {
    await report('completed', await callText(server, tool, argumentsIn(prompt)));
  } catch (error) {
    await report('failed', error instanceof Error ? error.message : String(error));
  }
};

const endServers = async (session: Session): Promise<void> => {
  for (const server of session.servers) if ('client' in server) await server.client.close().catch(() => {});
};

const connection = agent({ name: 'demo-agent' })
  .onRequest(methods.agent.initialize, () => ({
    protocolVersion: 1,
    agentInfo: { name: 'demo-agent', title: 'Demo agent', version: '0.1.0' },
    agentCapabilities: {
      loadSession: false,
      mcpCapabilities: { http: true },
      sessionCapabilities: { close: {} },
    },
    authMethods: [],
  }))
  .onRequest(methods.agent.session.new, async ({ params }) => {
    const sessionId = `demo-${sessions.size + 1}`;
    const servers = await Promise.all(
      params.mcpServers.map((entry) => startServer(entry as Entry, params.cwd)),
    );
    sessions.set(sessionId, { servers, cancelled: false });
    return { sessionId };
  })
  .onRequest(methods.agent.session.prompt, async ({ params, client }) => {
    const { sessionId } = params;
    const session = sessions.get(sessionId);
    if (session === undefined) throw RequestError.invalidParams({ sessionId });
    session.cancelled = false;
    const prompt = params.prompt.map((part) => (part.type === 'text' ? part.text : '')).join('\n');
    for (const server of session.servers) {
      if (session.cancelled) return { stopReason: 'cancelled' };
      await useServer(client, sessionId, server, prompt);
    }
    if (session.cancelled) return { stopReason: 'cancelled' };
    const count = session.servers.length;
    await client.notify(methods.client.session.update, {
      sessionId,
      update: {
        sessionUpdate: 'agent_message_chunk',
        content: {
          type: 'text',
          text: `I was handed ${count === 1 ? '1 server' : `${count} servers`} and called each.`,
        },
      },
    });
    return { stopReason: 'end_turn' };
  })
  .onRequest(methods.agent.session.close, async ({ params }) => {
    const session = sessions.get(params.sessionId);
    sessions.delete(params.sessionId);
    if (session !== undefined) await endServers(session);
    return {};
  })
  .onNotification(methods.agent.session.cancel, ({ params }) => {
    const session = sessions.get(params.sessionId);
    if (session !== undefined) session.cancelled = true;
  })
  .connect(ndJsonStream(Writable.toWeb(process.stdout), Readable.toWeb(process.stdin) as ReadableStream));

await connection.closed;
for (const session of sessions.values()) await endServers(session);
process.exit(0);
