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
  readMcpConfig,
  readProjectSettings,
  type ServerEntry,
  type SessionServers,
  serverAlias,
  serverEntries,
} from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, type Problem, type Result, refuse } from '../problems/index.ts';

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
}

/** Sessions known at a time; those that are over are forgotten. */
const mostSessions = 5_000;

interface Known {
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  /** Who asked first. */
  readonly asker: string;
  readonly project: ProjectServers | undefined;
  readonly config: SessionServers | undefined;
  seen?: { readonly revision: string; readonly servers: readonly GatewayServer[] };
}

export interface Reach {
  /** `mcp/not-its-session` where another component asked for it first, and what is wrong with its file of servers. */
  readonly serversFor: (component: string, asked: Asked) => Promise<Result<Provision>>;
  /** The servers of a session as policy stands now; none for one that is not known. */
  readonly servers: (session: string) => readonly GatewayServer[];
  readonly of: (session: string) => { readonly agent: string; readonly cwd: string } | undefined;
  /** Whether this component is the provider of the session's agent. */
  readonly provides: (component: string, session: string) => boolean;
  /** The session is over: what only it reached is let go. */
  readonly forget: (session: string) => void;
  /** Every entry there is now, each key once; what policy or a session changed is dialled. */
  readonly reconcile: () => void;
  readonly entries: () => readonly ServerEntry[];
}

const reasonOf = ({ message, evidence }: Problem): string =>
  evidence === undefined ? message : `${message} (${evidence})`;

const isStation = (policy: Policy, name: string): boolean =>
  policy.servers.get(name)?.transport.type === 'station';

export const openReach = ({ policy, connections, gateway, home }: ReachOptions): Reach => {
  const known = new Map<string, Known>();

  const entriesOf = (session?: Known): readonly ServerEntry[] =>
    serverEntries({
      policy: policy(),
      home,
      ...(session?.project === undefined ? {} : { project: session.project }),
      ...(session?.config === undefined
        ? {}
        : { session: { id: session.id, cwd: session.cwd, servers: session.config.servers } }),
    });

  const entries = (): readonly ServerEntry[] =>
    allEntries([entriesOf(), ...[...known.values()].map(entriesOf)]);

  /** What a session's agent may be offered: not what its own client connects to, nor what is meant for other agents. */
  const reachable = (session: Known): readonly ServerEntry[] => {
    const now = policy();
    return entriesOf(session).filter(({ key, name }) => {
      const server = key.startsWith('policy/') ? now.servers.get(name) : undefined;
      return (
        server === undefined || (server.exposure === 'gateway' && server.consumers.includes(session.agent))
      );
    });
  };

  /** Each server a session may reach, with the reason where it cannot. */
  const wanted = (
    session: Known,
  ): readonly { readonly name: string; readonly place: string; readonly reason: string | undefined }[] => {
    const now = policy();
    const stations = [...now.servers.keys()].filter((name) => isStation(now, name));
    return [
      ...reachable(session).map(({ name, place, disabled, fault }) => ({
        name,
        place,
        reason: disabled ?? (fault === undefined ? undefined : reasonOf(fault)),
      })),
      ...stations.map((name) => ({
        name,
        place: `servers.${name}`,
        reason: now.disabledMcpServers.has(name) ? 'the operator disabled it' : undefined,
      })),
    ];
  };

  const ways = async (session: Known): Promise<readonly Reached[]> => {
    const found = wanted(session);
    // Nothing is opened for a station that has nothing behind its gateway.
    const address = found.some(({ reason }) => reason === undefined) ? await gateway() : undefined;
    return found.map(({ name, place, reason }): Reached => {
      const alias = serverAlias(name);
      if (reason !== undefined || address === undefined)
        return { name: alias, place, by: { reason: reason ?? '' } };
      return address.ok
        ? { name: alias, place, by: { type: 'gateway', ...address.value(alias) } }
        : { name: alias, place, by: { reason: reasonOf(address.problem) } };
    });
  };

  const served = (session: Known): readonly GatewayServer[] => {
    const now = policy();
    const one = (name: string, alias: string, upstream: GatewayServer['upstream']): GatewayServer => {
      const server = now.servers.get(name);
      return {
        alias,
        original: name,
        upstream,
        ...(server?.tools === undefined ? {} : { tools: server.tools }),
        elicitation: server?.elicitation ?? 'queue',
      };
    };
    const stations = [...now.servers].filter(
      ([name, { consumers }]) =>
        isStation(now, name) && consumers.includes(session.agent) && !now.disabledMcpServers.has(name),
    );
    return [
      // One that was disabled since is still there: a call is told so by its connection.
      ...reachable(session).flatMap(({ key, name, fault }) => {
        const connection = connections.get(key);
        return connection === undefined || fault !== undefined
          ? []
          : [one(name, serverAlias(name), connection)];
      }),
      ...stations.map(([name]) => one(name, serverAlias(name), 'station')),
    ];
  };

  let dialled: { readonly revision: string; readonly sessions: number } | undefined;
  /** Sessions that came or went. */
  let changes = 0;
  const reconcile = (): void => {
    const { revision } = policy();
    if (dialled?.revision === revision && dialled.sessions === changes) return;
    dialled = { revision, sessions: changes };
    connections.reconcile(entries());
  };
  const changed = (): void => {
    changes += 1;
    reconcile();
  };

  return {
    serversFor: async (component, { session: id, agent, cwd, mcpConfig }) => {
      const before = known.get(id);
      if (before !== undefined && before.asker !== component)
        return refuse('mcp/not-its-session', { subject: id, evidence: before.asker });
      if (before === undefined && known.size >= mostSessions)
        return refuse('mcp/too-many-sessions', { subject: id, evidence: `${mostSessions} are open` });
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
      changed();
      return ok(provisionFor(policy(), agent, await ways(session)));
    },
    servers: (id) => {
      const session = known.get(id);
      const { revision, problems } = policy();
      // A policy that cannot be read grants nothing, whatever the session brought along.
      if (session === undefined || problems.length > 0) return [];
      if (session.seen?.revision !== revision) {
        reconcile();
        session.seen = { revision, servers: served(session) };
      }
      return session.seen.servers;
    },
    of: (id) => known.get(id),
    provides: (component, id) => {
      const session = known.get(id);
      return session !== undefined && policy().agents.get(session.agent)?.provider === component;
    },
    forget: (id) => {
      if (known.delete(id)) changed();
    },
    reconcile,
    entries,
  };
};
