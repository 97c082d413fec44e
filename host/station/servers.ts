/**
 * The MCP servers of this station, wired: connections it dials, the gate, the gateway agents reach them by, and what of
 * all this is secret. The gateway is opened when the first session needs it.
 */
import { join } from 'node:path';
import type { Bus } from '../bus/index.ts';
import {
  type Gateway,
  isOwnAddress,
  openConnections,
  openGateway,
  type StationServer,
  secretsOf,
} from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, type Result } from '../problems/index.ts';
import type { Processes } from '../processes/index.ts';
import type { GateLog } from '../state/index.ts';
import { type Gate, openGate } from './gate.ts';
import { installation } from './home.ts';
import { type McpHandlers, mcpHandlers } from './mcp-handlers.ts';
import { openReach, type Reach } from './reach.ts';
import { openTokens, type Tokens } from './tokens.ts';
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
  /** What else of this station listens. */
  readonly ports: () => readonly number[];
  /** The tool `Skill` as this session's agent has it. */
  readonly skills: (cwd: string) => Promise<StationServer>;
  readonly onBug: (error: unknown) => void;
}

export interface Servers {
  readonly serversFor: Reach['serversFor'];
  readonly handlers: McpHandlers;
  readonly unfit: Gate['unfit'];
  readonly filled: Tokens['filled'];
  readonly ended: Tokens['ended'];
  readonly tokenOf: Tokens['of'];
  readonly departed: Reach['departed'];
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

export const openServers = (options: ServersOptions): Servers => {
  const { policy, redact, onBug } = options;
  let gateway: Gateway | undefined;
  let opening: Promise<Result<Gateway>> | undefined;
  let secrets: Secrets = { names: new Set(), values: new Map() };

  const connections = openConnections({
    processes: options.processes,
    env: options.env,
    redact,
    logs: options.logs,
    cwd: options.home,
    client: { name: 'jupiter-station', version },
    // All of it can be asked of a person, or of an agent that can.
    capabilities: { elicitation: { form: {}, url: {} }, sampling: {}, roots: {} },
    isOwn: (url) =>
      isOwnAddress(url, gateway === undefined ? options.ports() : [...options.ports(), gateway.port]),
  });
  const reach = openReach({
    policy,
    connections,
    home: options.home,
    changed: () => refreshed(),
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
      connections.onChange(gateway.changed);
    }
    return opened;
  }

  const tokens = openTokens({
    gateway: () => gateway,
    provides: reach.provides,
  });
  const refreshed = (): void => {
    const { names, literals } = secretsOf(reach.entries());
    secrets = { names: new Set(names), values: new Map(literals) };
  };
  const reconcile = (): void => {
    reach.reconcile();
  };
  reconcile();

  return {
    serversFor: async (component, asked) => {
      const found = reach.serversFor(component, asked);
      // It may have brought servers along, and they have secrets; nothing of theirs has been heard yet.
      if (reach.bringsServers(asked.session)) refreshed();
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
    filled: tokens.filled,
    ended: tokens.ended,
    tokenOf: tokens.of,
    departed: reach.departed,
    reconcile,
    secrets: () => secrets,
    close: async () => {
      await gateway?.close();
      await connections.close();
    },
  };
};
