/** What the control socket answers, a method at a time. */
import type { TopicSaid } from '../bundles/index.ts';
import type { RemoteSkills } from '../mcp/index.ts';
import { type PolicySource, policyText, shownPolicy } from '../policy/index.ts';
import { failed, ok, type Problem, type Result, refuse } from '../problems/index.ts';
import type { SkillSource } from '../skills/index.ts';
import type { EventLog, Redactor, StationEvent } from '../state/index.ts';
import type { Method, MethodEvent, MethodResult, Params, StationStatus } from './control.ts';
import { type Granted, grant, revoke } from './grants.ts';
import type { Home } from './home.ts';
import type { Placements } from './placements.ts';
import type { Residents } from './residents.ts';
import type { Servers } from './servers.ts';
import type { SessionHandlers } from './sessions.ts';
import { version } from './version.ts';
import type { WebStatus } from './web.ts';

export type Handlers = {
  readonly [M in Method]: (
    params: Params<M>,
    emit: (event: MethodEvent<M>) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<Result<MethodResult<M>>>;
};

export interface HandlersOptions {
  readonly home: Home;
  readonly policy: PolicySource;
  readonly residents: Residents;
  readonly sessions: SessionHandlers;
  readonly servers: Pick<Servers, 'handlers' | 'reconcile' | 'unfit'>;
  readonly bundleSkills: () => readonly SkillSource[];
  readonly remote: RemoteSkills;
  /** Has what approved skills of other servers lack, where this agent is given skills at all. */
  readonly retrieveFor: (agent: string) => Promise<void>;
  readonly web: () => WebStatus | undefined;
  readonly placements: Placements;
  readonly conflicts: (claims: readonly TopicSaid[]) => readonly Problem[];
  readonly events: EventLog;
  readonly startedAt: number;
  readonly processes: () => number;
  /** Stops everything; answers `station/draining` where calls outlast the bound, and goes on by itself. */
  readonly stop: () => Promise<Result<{ stopped: true }>>;
  readonly redact: Redactor['value'];
}

/** Events told where the client does not say how many. */
const defaultEvents = 50;

export const controlHandlers = (options: HandlersOptions): Handlers => {
  const { home, policy, residents, sessions } = options;
  const mcp = options.servers.handlers;
  /** Every request sees the policy as it is now, also where components wait for a grant. */
  const current =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await residents.reconcile();
      options.servers.reconcile();
      return work(...args);
    };
  /** A policy that cannot be read grants nothing, so no session could answer: its first problem says why. */
  const readable = <A extends unknown[], T>(work: (...args: A) => Promise<Result<T>>) =>
    current(async (...args: A): Promise<Result<T>> => {
      const [first] = policy.current().problems;
      return first === undefined ? work(...args) : failed(first);
    });
  return redacted(options.redact, {
    status: current(async () => ok(await status())),
    down: async () => {
      const stopped = await options.stop();
      return stopped.ok ? ok({ stopped: true, pid: process.pid }) : stopped;
    },
    'bundle.install': current(async ({ source }) => {
      const installed = await residents.install(source);
      if (!installed.ok) return installed;
      const { id } = installed.value;
      options.placements.revised(id);
      const places = (await options.placements.clear()).filter(({ bundle }) => bundle === id);
      return ok({ ...installed.value, ...(places.length === 0 ? {} : { places }) });
    }),
    'bundle.list': current(async () => ok({ bundles: residents.list() })),
    'bundle.verify': async ({ id }) => {
      const found = await residents.verify(id);
      return found.ok ? ok({ bundles: found.value, placed: await options.placements.verify(id) }) : found;
    },
    'bundle.conflicts': async ({ topics }) => ok({ problems: options.conflicts(topics) }),
    'bundle.grant': current(async ({ id, permissions }) => {
      const asked = permissions ?? residents.list().find((one) => one.id === id)?.asks;
      if (asked === undefined) return refuse('bundle/not-installed', { subject: id });
      return changed('grant', grant(home.policy, id, asked));
    }),
    'bundle.revoke': current(async ({ id, permissions }) =>
      changed('revoke', revoke(home.policy, id, permissions)),
    ),
    events: async ({ limit = defaultEvents, follow = false }, emit, signal) => {
      const { events } = options;
      const found = events.newest(limit).toReversed();
      if (!follow) return ok({ events: found, dropped: events.dropped() });
      for (const event of found) emit(event);
      await followed(emit, signal);
      return ok({ events: [], dropped: events.dropped() });
    },
    'bundle.retry': current(({ component }) => residents.retry(component)),
    'skills.bundled': current(async () => ok({ skills: options.bundleSkills() })),
    'skills.add': async (params) => cleared(await options.remote.add(params)),
    'skills.update': async ({ label }) => {
      const done = await options.remote.update(label);
      return cleared(done.ok ? ok({ servers: done.value }) : done);
    },
    'skills.approve': ({ skill, digest }) => options.remote.approve(skill, digest),
    'skills.show': async ({ skill }) => options.remote.show(skill),
    'skills.remove': async ({ address }) => {
      const gone = await options.remote.remove(address);
      if (!gone.ok) return gone;
      const places = await options.placements.clear();
      const isOfIt = ({ bundle }: { bundle: string }) =>
        bundle === `mcp:${address}` || bundle.startsWith(`mcp:${address}/`);
      return ok({ ...gone.value, places: places.filter(isOfIt) });
    },
    'skills.remote': async () => ok({ servers: options.remote.list() }),
    'bundle.uninstall': async ({ id }) => {
      const gone = await residents.uninstall(id);
      if (!gone.ok) return gone;
      const cleared = await options.placements.clear();
      return ok({ ...gone.value, places: cleared.filter(({ bundle }) => bundle === id) });
    },
    'policy.show': async () => {
      const { revision, problems } = policy.current();
      // A policy that could not be read as a file has no text either.
      const unread = problems.find(({ code }) => code === 'policy/missing' || code === 'policy/unreadable');
      if (unread !== undefined) return failed(unread);
      return ok({ file: home.policy, revision, text: shownPolicy(policyText(home.policy) ?? ''), problems });
    },
    'session.create': readable(async (params, _emit, signal) => {
      await options.retrieveFor(params.agent);
      return sessions.create(params, signal);
    }),
    'session.say': readable(sessions.say),
    'session.list': readable(sessions.list),
    'session.show': readable(({ id }) => sessions.show(id)),
    'session.transcript': readable(sessions.transcript),
    'session.respond': readable(async (params) => {
      const { request, allow, content = {} } = params;
      const unfit = allow ? options.servers.unfit(request, content) : undefined;
      return unfit === undefined ? sessions.respond(params) : failed(unfit);
    }),
    'session.cancel': readable(({ id }) => sessions.cancel(id)),
    'session.close': readable(sessions.close),
    'mcp.list': readable(mcp['mcp.list']),
    'mcp.tools': readable(mcp['mcp.tools']),
    'mcp.call': readable(mcp['mcp.call']),
    'mcp.reconnect': readable(mcp['mcp.reconnect']),
    'mcp.enable': readable(mcp['mcp.enable']),
    'mcp.disable': readable(mcp['mcp.disable']),
  });

  /** What lost its approval leaves the workspaces, where no session uses it. */
  async function cleared<T>(done: T): Promise<T> {
    await options.placements.clear();
    return done;
  }

  /** What changed in policy is in the ledger, and components that waited for it are started. */
  async function changed(kind: 'grant' | 'revoke', done: Result<Granted>): Promise<Result<Granted>> {
    if (!done.ok) return done;
    const { id, permissions: names } = done.value;
    if (names.length > 0) options.events.add(kind, `${id} ${names.join(', ')}`);
    await residents.reconcile();
    return done;
  }

  /** Tells events until the client leaves. */
  function followed(emit: (event: StationEvent) => void, signal: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      const stop = options.events.listen(emit);
      const leave = () => {
        stop();
        resolve();
      };
      if (signal.aborted) leave();
      else signal.addEventListener('abort', leave, { once: true });
    });
  }

  async function status(): Promise<StationStatus> {
    const { revision, problems } = policy.current();
    const listed = await sessions.list();
    const web = options.web();
    const counts: Record<string, number> = {};
    for (const { state } of listed.ok ? listed.value.sessions : []) counts[state] = (counts[state] ?? 0) + 1;
    return {
      pid: process.pid,
      home: home.dir,
      version,
      startedAt: options.startedAt,
      policyRevision: revision,
      policyProblems: problems,
      bundles: residents.list(),
      sessions: counts,
      ...(listed.ok ? {} : { sessionsProblem: listed.problem }),
      processes: options.processes(),
      ...(web === undefined ? {} : { web }),
    };
  }
};

/** Nothing that leaves over the socket holds a secret, whoever wrote it: an operator, a bundle or an agent. */
const redacted = (redact: Redactor['value'], handlers: Handlers): Handlers => {
  type Any = (
    params: unknown,
    emit: (event: unknown) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<Result<unknown>>;
  const wrapped =
    (handler: Any): Any =>
    async (params, emit, signal) => {
      const answer = await handler(params, (event) => emit(redact(event)), signal);
      return answer.ok ? ok(redact(answer.value)) : failed(redact(answer.problem));
    };
  return Object.fromEntries(
    Object.entries(handlers).map(([method, handler]) => [method, wrapped(handler as Any)]),
  ) as unknown as Handlers;
};
