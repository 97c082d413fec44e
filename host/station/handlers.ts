/** What the control socket answers, a method at a time. */
import { readFileSync } from 'node:fs';
import type { PolicySource } from '../policy/index.ts';
import { ok, type Result } from '../problems/index.ts';
import type { SkillSource } from '../skills/index.ts';
import type { Method, MethodEvent, MethodResult, Params, StationStatus } from './control.ts';
import type { Home } from './home.ts';
import type { Residents } from './residents.ts';
import type { SessionHandlers } from './sessions.ts';
import { version } from './version.ts';
import type { WebStatus } from './web.ts';

export type Handlers = {
  readonly [M in Method]: (
    params: Params<M>,
    emit: (event: MethodEvent<M>) => void,
    signal: AbortSignal,
  ) => Promise<Result<MethodResult<M>>>;
};

export interface HandlersOptions {
  readonly home: Home;
  readonly policy: PolicySource;
  readonly residents: Residents;
  readonly sessions: SessionHandlers;
  readonly bundleSkills: () => readonly SkillSource[];
  readonly startedAt: number;
  readonly processes: () => number;
  readonly web: () => WebStatus | undefined;
  readonly quiesce: () => Promise<void>;
}

export const controlHandlers = (options: HandlersOptions): Handlers => {
  const { home, policy, residents, sessions } = options;
  /** Every request sees the policy as it is now, also where components wait for a grant. */
  const current =
    <A extends unknown[], T>(work: (...args: A) => Promise<T>) =>
    async (...args: A): Promise<T> => {
      await residents.reconcile();
      return work(...args);
    };
  return {
    status: current(async () => ok(await status())),
    down: async () => {
      await options.quiesce();
      return ok({ stopped: true });
    },
    'bundle.install': current(({ source }) => residents.install(source)),
    'bundle.list': current(async () => ok({ bundles: residents.list() })),
    'bundle.verify': async ({ id }) => {
      const found = await residents.verify(id);
      return found.ok ? ok({ bundles: found.value }) : found;
    },
    'bundle.retry': current(({ component }) => residents.retry(component)),
    'bundle.uninstall': ({ id }) => residents.uninstall(id),
    'skills.bundled': current(async () => ok({ skills: options.bundleSkills() })),
    'policy.show': async () => {
      const { revision, problems } = policy.current();
      return ok({ file: home.policy, revision, text: readFileSync(home.policy, 'utf8'), problems });
    },
    'session.create': current((params, _emit, signal) => sessions.create(params, signal)),
    'session.say': current(sessions.say),
    'session.list': current(sessions.list),
    'session.show': current(({ id }) => sessions.show(id)),
    'session.transcript': current(sessions.transcript),
    'session.respond': current(sessions.respond),
    'session.cancel': current(({ id }) => sessions.cancel(id)),
    'session.close': current(sessions.close),
  };

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
      processes: options.processes(),
      ...(web === undefined ? {} : { web }),
    };
  }
};
