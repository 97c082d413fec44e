/**
 * The servers the station reaches itself, session by session: which ones an agent is offered behind the gateway, under
 * what name and at which address, and who may have its agent let in there. A session is known from the moment its
 * provisioning is asked for until it is over; what it may reach follows policy as it is now, not as it was then.
 */
import { type Provision, provisionFor, type Reached } from '../context/index.ts';
import {
  allEntries,
  type Connections,
  type GatewayAddress,
  type GatewayServer,
  type ProjectServers,
  type Reachable,
  reachableServers,
  readMcpConfig,
  readProjectSettings,
  type ServerEntry,
  type SessionServers,
  serverEntries,
  settingsFile,
} from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import { keeper } from './watch.ts';

/** What a component asks of a session's provisioning. */
export interface Asked {
  readonly session: string;
  readonly agent: string;
  readonly cwd: string;
  readonly mcpConfig: string | null;
}

export interface ReachOptions {
  readonly policy: () => Policy;
  readonly connections: Connections;
  /** Opens the gateway where it is not open; its addresses, or why there are none. */
  readonly gateway: () => Promise<Result<(alias: string) => GatewayAddress>>;
  /** Folder servers of the policy are started in. */
  readonly home: string;
  /** Other servers are dialled, and have other secrets; whoever looked at them first. */
  readonly changed: () => void;
  /** Fewer, for tests. */
  readonly mostSessions?: number;
}

/** Sessions of one component known at a time; those that are over are forgotten. No component takes another's room. */
const usualSessions = 5_000;

interface Known {
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  /** Who asked first. */
  readonly asker: string;
  readonly project: ProjectServers | undefined;
  readonly config: SessionServers | undefined;
  seen?: { readonly turn: number; readonly servers: readonly GatewayServer[] };
}

export interface Reach {
  /** `mcp/not-its-session` where another component asked for it first, and what is wrong with its file of servers. */
  readonly serversFor: (component: string, asked: Asked) => Promise<Result<Provision>>;
  /** The servers of a session as policy stands now; none for one that is not known. */
  readonly servers: (session: string) => readonly GatewayServer[];
  /** Whether a session has servers of its own, or of its project. */
  readonly bringsServers: (session: string) => boolean;
  readonly of: (session: string) => { readonly agent: string; readonly cwd: string } | undefined;
  /** Whether this component is the provider of the session's agent. */
  readonly provides: (component: string, session: string) => boolean;
  /** The session is over: what only it reached is let go. */
  readonly forget: (session: string) => void;
  /** A component left service: sessions nobody else would ever end are over. Those of Sessions are taken up again. */
  readonly departed: (component: string) => void;
  /** What policy or a session changed is dialled; whether anything had. */
  readonly reconcile: () => boolean;
  /** Each key once. */
  readonly entries: () => readonly ServerEntry[];
}

export const openReach = (options: ReachOptions): Reach => {
  const { policy, connections, gateway, home, changed, mostSessions = usualSessions } = options;
  const known = new Map<string, Known>();
  /** How many of them each component asked for. */
  const asked = new Map<string, number>();

  const entriesOf = (session?: Known): readonly ServerEntry[] =>
    serverEntries({
      policy: policy(),
      home,
      ...(session?.project === undefined ? {} : { project: session.project }),
      ...(session?.config === undefined
        ? {}
        : { session: { id: session.id, cwd: session.cwd, servers: session.config.servers } }),
    });

  /** Whether a session brings servers along, or takes some away. */
  const differs = ({ project, config }: Known): boolean => project !== undefined || config !== undefined;
  const entries = (): readonly ServerEntry[] =>
    allEntries([entriesOf(), ...[...known.values()].filter(differs).map(entriesOf)]);

  const reachable = (session: Known): readonly Reachable[] =>
    reachableServers(policy(), session.agent, entriesOf(session));

  const ways = async (session: Known): Promise<readonly Reached[]> => {
    const found = reachable(session);
    const unread = (session.project?.problems ?? []).map(
      ({ message, evidence = '' }): Reached => ({
        name: settingsFile,
        place: session.project?.file ?? settingsFile,
        by: { reason: `${message} ${evidence}`.trim() },
      }),
    );
    // Nothing is opened for a station that has nothing behind its gateway.
    const address = found.some(({ reason }) => reason === undefined) ? await gateway() : undefined;
    const told = found.map(({ alias: name, place, reason = '' }): Reached => {
      if (reason !== '' || address === undefined) return { name, place, by: { reason } };
      return address.ok
        ? { name, place, by: { type: 'gateway', ...address.value(name) } }
        : { name, place, by: { reason: address.problem.message } };
    });
    return [...told, ...unread];
  };

  // One that was disabled since is still there: a call is told so by its connection.
  const served = (session: Known): readonly GatewayServer[] => {
    const { servers } = policy();
    return reachable(session).flatMap(({ original, alias, place, upstream: by, reason }): GatewayServer[] => {
      const upstream = typeof by === 'object' ? connections.get(by.key) : by;
      if (upstream === undefined || (upstream === 'station' && reason !== undefined)) return [];
      const server = place === `servers.${original}` ? servers.get(original) : undefined;
      return [
        {
          alias,
          original,
          upstream,
          ...(server?.tools === undefined ? {} : { tools: server.tools }),
          elicitation: server?.elicitation ?? 'queue',
        },
      ];
    });
  };

  let dialled: { readonly revision: string; readonly sessions: number } | undefined;
  /** Sessions that came or went with servers of their own. */
  let changes = 0;
  /** How often servers were dialled anew: a policy that was changed and changed back is not what it was. */
  let turn = 0;
  const reconcile = (): boolean => {
    const { revision } = policy();
    if (dialled?.revision === revision && dialled.sessions === changes) return false;
    dialled = { revision, sessions: changes };
    turn += 1;
    connections.reconcile(entries());
    changed();
    return true;
  };

  const drop = (id: string): void => {
    const session = known.get(id);
    if (session === undefined) return;
    known.delete(id);
    asked.set(session.asker, (asked.get(session.asker) ?? 1) - 1);
    if (asked.get(session.asker) === 0) asked.delete(session.asker);
    if (differs(session)) changes += 1;
  };

  return {
    serversFor: async (component, { session: id, agent, cwd, mcpConfig }) => {
      const before = known.get(id);
      if (before !== undefined && before.asker !== component)
        return refuse('mcp/not-its-session', { subject: id, evidence: before.asker });
      const others = asked.get(component) ?? 0;
      if (before === undefined && others >= mostSessions)
        return refuse('mcp/too-many-sessions', {
          subject: id,
          evidence: `${component} has ${mostSessions} open`,
        });
      const config = mcpConfig === null ? ok(undefined) : readMcpConfig(mcpConfig);
      if (!config.ok) return config;
      const session: Known = {
        id,
        agent,
        cwd,
        asker: component,
        project: readProjectSettings(cwd),
        config: config.value,
      };
      known.set(id, session);
      if (before === undefined) asked.set(component, others + 1);
      if (differs(session) || (before !== undefined && differs(before))) changes += 1;
      reconcile();
      return ok(provisionFor(policy(), agent, await ways(session)));
    },
    servers: (id) => {
      const session = known.get(id);
      const { problems } = policy();
      // A policy that cannot be read grants nothing, whatever the session brought along.
      if (session === undefined || problems.length > 0) return [];
      reconcile();
      if (session.seen?.turn !== turn) session.seen = { turn, servers: served(session) };
      return session.seen.servers;
    },
    bringsServers: (id) => {
      const session = known.get(id);
      return session !== undefined && differs(session);
    },
    of: (id) => known.get(id),
    provides: (component, id) => {
      const session = known.get(id);
      return session !== undefined && policy().agents.get(session.agent)?.provider === component;
    },
    forget: (id) => {
      drop(id);
      reconcile();
    },
    departed: (component) => {
      if (component === keeper) return;
      for (const { id, asker } of [...known.values()]) if (asker === component) drop(id);
      reconcile();
    },
    reconcile,
    entries,
  };
};
