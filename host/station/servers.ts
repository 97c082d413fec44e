/**
 * The MCP servers of this station, wired: connections it dials, the gate, the gateway agents reach them by, and what of
 * all this is secret. The gateway is opened when the first session needs it.
 */
import { join } from 'node:path';
import type { Bus } from '../bus/index.ts';
import { type Gateway, openConnections, openGateway, type StationServer, secretsOf } from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, type Result } from '../problems/index.ts';
import type { Processes } from '../processes/index.ts';
import type { GateLog } from '../state/index.ts';
import { type Gate, openGate } from './gate.ts';
import { installation } from './home.ts';
import { type McpHandlers, mcpHandlers } from './mcp-handlers.ts';
import { openReach, type Reach } from './reach.ts';
import { version } from './version.ts';

export interface ServersOptions {
  readonly home: string;
  readonly logs: string;
  readonly policyFile: string;
  readonly policy: () => Policy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly redact: (text: string) => string;
  readonly processes: Processes;
  readonly bus: Bus;
  readonly log: GateLog;
  readonly run: string;
  /** The tool `Skill` as this session's agent has it. */
  readonly skills: (cwd: string) => Promise<StationServer>;
  readonly onBug: (error: unknown) => void;
}

export interface Servers {
  readonly serversFor: Reach['serversFor'];
  readonly handlers: McpHandlers;
  readonly unfit: Gate['unfit'];
  /**
   * Text a component writes to a process of its own, with the session's token where the provider of that session asks
   * for it to be put in. It never sees it.
   */
  readonly filled: (component: string, process: string, text: string) => string;
  /** The process is gone, and with it what its token was good for. */
  readonly ended: (process: string) => void;
  /** Dials what policy says now; cheap where nothing changed. */
  readonly reconcile: () => void;
  /** NAMES of variables, and values by what they are, that must never be seen; another object when they changed. */
  readonly secrets: () => Secrets;
  readonly close: () => Promise<void>;
}
export interface Secrets {
  readonly names: ReadonlySet<string>;
  readonly values: ReadonlyMap<string, string>;
}

/** As a provider writes it where the agent is told of its servers (`bearpunch.agents.open.v3`). */
const place = /"value":"(Bearer )?\$\{jupiter\.token:([A-Za-z0-9-]{1,64})\}"/g;

export const openServers = (options: ServersOptions): Servers => {
  const { policy, redact, onBug } = options;
  let gateway: Gateway | undefined;
  let opening: Promise<Result<Gateway>> | undefined;
  let secrets: Secrets = { names: new Set(), values: new Map() };
  /** The session whose token each process was given, and the token. */
  const tokens = new Map<string, { readonly session: string; readonly token: string }>();

  const connections = openConnections({
    processes: options.processes,
    env: options.env,
    redact,
    logs: options.logs,
    cwd: options.home,
    client: { name: 'jupiter-station', version },
    isOwn: (url) => gateway !== undefined && Number(url.port) === gateway.port,
  });
  const reach = openReach({
    policy,
    connections,
    home: options.home,
    gateway: async () => {
      opening ??= open();
      const opened = await opening;
      // A port that could not be had may be there the next time.
      if (!opened.ok) opening = undefined;
      return opened.ok ? ok(opened.value.address) : opened;
    },
  });
  const gate = openGate({
    bus: options.bus,
    policy,
    reach,
    log: options.log,
    redact,
    run: options.run,
    skills: async (session) => options.skills(reach.of(session)?.cwd ?? options.home),
  });

  async function open(): Promise<Result<Gateway>> {
    const opened = await openGateway({
      ports: gate.ports,
      server: { name: 'jupiter-station', version },
      shim: { command: process.execPath, args: [join(installation(), 'bin', 'gateway-shim.mjs')] },
      onBug,
    });
    if (opened.ok) {
      gateway = opened.value;
      gate.attach(gateway);
    }
    return opened;
  }

  const refreshed = (): void => {
    const { names, literals } = secretsOf(reach.entries());
    const all = new Map(literals);
    for (const { session, token } of tokens.values()) all.set(`token of ${session}`, token);
    secrets = { names: new Set(names), values: all };
  };
  const reconcile = (): void => {
    reach.reconcile();
    refreshed();
  };
  reconcile();

  const admitted = (component: string, process: string, session: string): string | undefined => {
    if (gateway === undefined || !reach.provides(component, session)) return undefined;
    const known = tokens.get(process);
    if (known?.session === session) return known.token;
    const token = gateway.admit(session);
    tokens.set(process, { session, token });
    refreshed();
    return token;
  };

  return {
    serversFor: async (component, asked) => {
      const found = await reach.serversFor(component, asked);
      refreshed();
      return found;
    },
    handlers: mcpHandlers({
      policy,
      file: options.policyFile,
      reach,
      connections,
      log: options.log,
      changed: reconcile,
    }),
    unfit: gate.unfit,
    filled: (component, process, text) =>
      text.includes('{jupiter.token:')
        ? text.replace(place, (whole, scheme: string | undefined, session: string) => {
            const token = admitted(component, process, session);
            return token === undefined ? whole : `"value":"${scheme ?? ''}${token}"`;
          })
        : text,
    ended: (process) => {
      const known = tokens.get(process);
      if (known === undefined) return;
      tokens.delete(process);
      // A session that was taken up again has the token of its new process.
      if (![...tokens.values()].some(({ session }) => session === known.session))
        gateway?.dismiss(known.session);
    },
    reconcile,
    secrets: () => secrets,
    close: async () => {
      await gateway?.close();
      await connections.close();
    },
  };
};
