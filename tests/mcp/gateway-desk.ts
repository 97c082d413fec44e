/**
 * The gateway in front of a real server, for one test: connections speak newline JSON to a child of their own, policy,
 * queue and record are in memory. Everything ends with the test.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import type {
  Answered,
  Connection,
  ConnectionStatus,
  Json,
  RequestOptions,
  ServerTool,
} from '../../host/mcp/connections/edge.ts';
import { decide } from '../../host/mcp/gate/decide.ts';
import { serverAlias } from '../../host/mcp/gate/names.ts';
import type { GateAnswer, GateAsk, GateRow, Gateway, GatewayServer } from '../../host/mcp/gateway/edge.ts';
import { openGateway } from '../../host/mcp/gateway/gateway.ts';
import type { GatePolicy } from '../../host/policy/index.ts';
import { frameLines } from '../../host/processes/index.ts';

export const serverFile = join(import.meta.dirname, '..', 'fixtures', 'gateway-server.mjs');

export interface Dialled extends Connection {
  readonly start: (command?: string, args?: readonly string[]) => Promise<void>;
  readonly set: (status: ConnectionStatus) => void;
  readonly refresh: () => Promise<void>;
  /** What was sent to the server, as it was. */
  readonly sent: Json[];
  readonly heard: EventEmitter;
  readonly close: () => void;
}

/** A connection that keeps to the edge and does nothing else. */
export const dial = (name: string, changed: (one: Connection) => void): Dialled => {
  let child: ChildProcess | undefined;
  let status: ConnectionStatus = { state: 'connecting' };
  let tools: readonly ServerTool[] = [];
  let about: ReturnType<Connection['about']>;
  let next = 0;
  const open = new Map<number, { settle: (answered: Answered) => void; options: RequestOptions }>();
  const listeners = new Set<(method: string, params: Json) => void>();
  const sent: Json[] = [];
  const heard = new EventEmitter();
  const write = (message: Json): void => {
    sent.push(message);
    child?.stdin?.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  };
  const request = (method: string, params: Json, options: RequestOptions = {}): Promise<Answered> =>
    new Promise((resolve) => {
      next += 1;
      const id = next;
      const settle = (answered: Answered): void => {
        open.delete(id);
        resolve(answered);
      };
      open.set(id, { settle, options });
      options.signal?.addEventListener('abort', () => {
        if (!open.has(id)) return;
        write({ method: 'notifications/cancelled', params: { requestId: id } });
        settle({ problem: { code: 'connections/lost', message: 'aborted' } });
      });
      const meta = options.onProgress === undefined ? {} : { progressToken: id };
      const _meta = { ...(params['_meta'] as Json | undefined), ...meta };
      write({ id, method, params: Object.keys(_meta).length === 0 ? params : { ...params, _meta } });
    });
  const refresh = async (): Promise<void> => {
    const listed = await request('tools/list', {});
    if ('result' in listed) tools = listed.result['tools'] as readonly ServerTool[];
    changed(connection);
  };
  const asked = async (id: unknown, method: string, params: Json): Promise<void> => {
    const last = [...open.values()].at(-1);
    const controller = new AbortController();
    heard.once('stop-asking', () => controller.abort());
    const result = await last?.options.onAsk?.({ method, params }, controller.signal);
    write({
      id,
      ...(result === undefined ? { error: { code: -32_601, message: 'unsupported' } } : { result }),
    });
  };
  const take = (line: string): void => {
    const { id, method, params = {}, result, error } = JSON.parse(line);
    if (method === undefined) {
      open.get(id)?.settle(result === undefined ? { error } : { result });
    } else if (id !== undefined) asked(id, method, params).catch(() => {});
    else if (method === 'notifications/progress')
      open.get(params.progressToken)?.options.onProgress?.(params);
    else {
      for (const listener of [...listeners]) listener(method, params);
      heard.emit(method, params);
      if (method === 'notifications/tools/list_changed') void refresh();
    }
  };
  const connection: Dialled = {
    entry: { key: `policy/${name}`, name, place: `servers.${name}`, transport: undefined },
    status: () => status,
    tools: () => tools,
    about: () => about,
    request,
    notify: (method, params) => write({ method, params }),
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    sent,
    heard,
    refresh,
    set: (now) => {
      status = now;
      changed(connection);
    },
    start: async (command = process.execPath, args = [serverFile]) => {
      child = spawn(command, [...args], { stdio: ['pipe', 'pipe', 'ignore'] });
      // What is still said to one that ended with its test.
      child.stdin?.on('error', () => {});
      child.once('exit', () => {
        status = { state: 'failed', problem: { code: 'connections/lost', message: 'the server ended' } };
        for (const { settle } of [...open.values()])
          settle({ problem: { code: 'connections/lost', message: 'The server ended.' } });
      });
      const frame = frameLines(64 * 1024 * 1024);
      child.stdout?.on('data', (chunk: Buffer) => {
        for (const line of frame.push(chunk)) take(line);
      });
      const started = await request('initialize', {
        protocolVersion: '2025-11-25',
        capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
        clientInfo: { name: 'desk', version: '0' },
      });
      if ('result' in started) about = started.result as unknown as ReturnType<Connection['about']>;
      write({ method: 'notifications/initialized' });
      status = { state: 'connected' };
      await refresh();
    },
    close: () => child?.kill('SIGKILL'),
  };
  return connection;
};

const noRules: GatePolicy = { deny: [], ask: [], allow: [] };
export const rules = (written: { deny?: string[]; ask?: string[]; allow?: string[] }): GatePolicy => {
  const of = (kind: 'deny' | 'ask' | 'allow') =>
    (written[kind] ?? []).map((text, at) => ({ text, place: `permissions.${kind}[${at}]` }));
  return { deny: of('deny'), ask: of('ask'), allow: of('allow') };
};

export interface GatewayDesk {
  readonly gateway: Gateway;
  readonly connection: Dialled;
  readonly token: string;
  readonly url: string;
  readonly rows: GateRow[];
  readonly observed: string[];
  readonly asked: {
    readonly ask: GateAsk;
    readonly answer: (answer: GateAnswer) => void;
    readonly signal: AbortSignal;
  }[];
  /** Emits `ask`, `row`, `observed`. */
  readonly events: EventEmitter;
  readonly bugs: unknown[];
  /** Changed while it runs. */
  readonly policy: {
    permissions: GatePolicy;
    servers: GatewayServer[];
    inTurn: boolean;
    holdRecord?: Promise<void>;
  };
  readonly turn: (running: boolean) => void;
}

export interface GatewayDeskOptions {
  readonly name?: string;
  readonly permissions?: GatePolicy;
  readonly tools?: readonly string[];
  readonly elicitation?: 'queue' | 'agent';
  readonly start?: boolean;
  readonly pulseMs?: number;
}

export const openGatewayDesk = async (
  t: TestContext,
  options: GatewayDeskOptions = {},
): Promise<GatewayDesk> => {
  const {
    name = 'probe',
    permissions = rules({ allow: [`mcp__${options.name ?? 'probe'}`] }),
    tools,
  } = options;
  const rows: GateRow[] = [];
  const observed: string[] = [];
  const asked: GatewayDesk['asked'] = [];
  const bugs: unknown[] = [];
  const events = new EventEmitter();
  let gateway: Gateway | undefined;
  const connection = dial(name, (one) => gateway?.changed(one));
  t.after(() => connection.close());
  if (options.start !== false) await connection.start();
  const server: GatewayServer = {
    alias: serverAlias(name),
    original: name,
    upstream: connection,
    elicitation: options.elicitation ?? 'queue',
    ...(tools === undefined ? {} : { tools }),
  };
  const policy: GatewayDesk['policy'] = { permissions, servers: [server], inTurn: false };
  const opened = await openGateway({
    server: { name: 'jupiter-station', version: '0.0.0' },
    ...(options.pulseMs === undefined ? {} : { pulseMs: options.pulseMs }),
    shim: { command: 'node', args: ['shim.mjs'] },
    onBug: (error) => {
      bugs.push(error);
      console.error(error);
    },
    ports: {
      decide: (_session, wanted) => decide(policy.permissions, wanted),
      servers: () => policy.servers,
      ask: (ask, signal) =>
        new Promise((resolve) => {
          asked.push({ ask, answer: resolve, signal });
          signal.addEventListener('abort', () => resolve({ allow: false, why: 'withdrawn' }));
          events.emit('ask', ask);
        }),
      record: async (row) => {
        await policy.holdRecord;
        rows.push(row);
        events.emit('row', row);
      },
      observed: (session, original, stage) => {
        observed.push(`${session} ${original} ${stage}`);
        events.emit('observed', stage);
      },
      inTurn: () => policy.inTurn,
      skills: async () => ({
        instructions: 'Skills: a, b.',
        tools: [{ name: 'Skill', inputSchema: { type: 'object' } }],
        call: async (tool, args) => ({
          content: [{ type: 'text', text: `${tool} ${JSON.stringify(args)}` }],
        }),
      }),
    },
  });
  if (!opened.ok) throw new Error(opened.problem.message);
  gateway = opened.value;
  const { admit, address, close, turn } = opened.value;
  t.after(close);
  const token = admit('s1');
  return {
    gateway: opened.value,
    connection,
    token,
    url: address(server.alias).url,
    rows,
    observed,
    asked,
    events,
    bugs,
    policy,
    turn: (running) => {
      policy.inTurn = running;
      turn('s1', running);
    },
  };
};

export const nextAsk = async (desk: GatewayDesk): Promise<GatewayDesk['asked'][number]> => {
  if (desk.asked.length === 0) await once(desk.events, 'ask');
  const found = desk.asked.shift();
  if (found === undefined) throw new Error('nobody asked');
  return found;
};
export const yes: GateAnswer = { allow: true, why: 'by a person' };
export const no: GateAnswer = { allow: false, why: 'by a person' };
export { noRules };
