/**
 * The bundles in service: installing, verifying, and taking out of service, one change at a time. Which revision of
 * each component serves is `serving.ts`'s affair.
 */
import type { BundleStore, ComponentEntry, InstalledBundle } from '../bundles/index.ts';
import type { Bus } from '../bus/index.ts';
import type { PolicySource } from '../policy/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { expectTranspile } from '../sandbox/index.ts';
import type { EventLog, State } from '../state/index.ts';
import { bundleStatus } from './bundle-status.ts';
import type { BundleStatus } from './control.ts';
import { endsWithin, inFlightOf } from './draining.ts';
import { type Attempt, nameOf, openInstances } from './instances.ts';
import type { Rest } from './rest.ts';
import { notTakenOver, openServing, takenOver } from './serving.ts';
import type { Standings } from './standings.ts';

export interface Residents {
  /**
   * Verifies every active bundle and takes the intact ones into service; a component that cannot start does not stop
   * the others. Goes on in the background: `reconcile`, and with it every request, waits for it.
   */
  readonly start: () => void;
  readonly install: (source: string) => Promise<Result<BundleStatus>>;
  /** Answers `bundle/draining` where calls outlast the bound, and finishes by itself when the last one ends. */
  readonly uninstall: (id: string) => Promise<Result<{ id: string; revision: string }>>;
  readonly retry: (component: string) => Promise<Result<BundleStatus>>;
  readonly verify: (id?: string) => Promise<Result<readonly { id: string; problem?: Problem }[]>>;
  readonly list: () => readonly BundleStatus[];
  /** Bundles in service: whose bytes were found intact. */
  readonly intact: () => readonly InstalledBundle[];
  /**
   * Waits for the start, then looks whether policy grants by now what components wait for, and gives them the limits
   * it sets by now.
   */
  readonly reconcile: () => Promise<void>;
  /** Resolves when no change is under way. */
  readonly settled: () => Promise<void>;
  /** Resolves when the uninstalls that had to wait for calls have finished. */
  readonly departed: () => Promise<void>;
}

export interface ResidentsOptions {
  readonly bundles: BundleStore;
  readonly standings: Standings;
  readonly state: State;
  readonly bus: Bus;
  readonly policy: PolicySource;
  readonly events: EventLog;
  readonly cache: string;
  /** How long an uninstall waits for calls in flight before it answers, ms. */
  readonly drainMs: number;
  /** Ends what a component that leaves service still runs. */
  readonly endAllOf: (component: string) => Promise<void>;
  /** Every change leaves garbage behind, whatever came of it. */
  readonly rest: Rest;
}

/** Components brought up side by side: each reads its bytes and its files whole while it starts. */
const startsAtOnce = 4;

export const openResidents = (options: ResidentsOptions): Residents => {
  const { bundles, standings, state, bus, policy, events } = options;
  const instances = openInstances(options);
  const serving = openServing({ ...options, instances });
  /** Why a bundle is not in service. */
  const broken = new Map<string, Problem>();
  let seenRevision = '';
  let turn: Promise<unknown> = Promise.resolve();
  let started: Promise<void> = Promise.resolve();
  let reconciled: Promise<void> = Promise.resolve();
  const departures = new Set<Promise<unknown>>();

  /** One change at a time. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(() => options.rest.after(work));
    turn = next.catch(() => undefined);
    return next;
  };

  const isLeaving = (id: string) => standings.leaving().has(id);
  const intact = () => bundles.active().filter(({ manifest: { id } }) => !broken.has(id) && !isLeaving(id));
  const { standingOf } = serving;
  const lanesOf = (id: string) => bus.status().filter(({ name }) => name.startsWith(`${id}:`));

  const statusOf = (bundle: InstalledBundle): BundleStatus => {
    const { id, components } = bundle.manifest;
    const lanes = new Map(lanesOf(id).map((lane) => [lane.name, lane]));
    const facts = components.map((entry) => {
      const name = nameOf(bundle, entry);
      const lane = lanes.get(name);
      const why = serving.idle(name);
      return {
        id: entry.id,
        standing: standingOf(bundle, entry),
        ...(lane === undefined ? {} : { lane }),
        ...(why === undefined ? {} : { idle: why }),
      };
    });
    const ungranted = new Set(components.flatMap((entry) => instances.ungranted(bundle, entry)));
    const trouble = isLeaving(id) ? problem('bundle/leaving', { subject: id }) : broken.get(id);
    return bundleStatus(bundle, facts, [...ungranted].sort(), trouble);
  };

  const internal = (cause: unknown): void =>
    events.add('fail', 'bundles', problem('station/internal', { evidence: String(cause) }));

  const activeOne = (id: string): Result<InstalledBundle> => {
    const bundle = bundles.active().find((one) => one.manifest.id === id);
    if (bundle !== undefined) return isLeaving(id) ? refuse('bundle/leaving', { subject: id }) : ok(bundle);
    const ids = bundles.active().map((one) => one.manifest.id);
    return refuse('bundle/not-installed', {
      subject: id,
      evidence: `installed: ${ids.join(', ') || 'none'}`,
    });
  };

  const install = async (source: string): Promise<Result<BundleStatus>> => {
    const staged = await bundles.stage(source);
    if (!staged.ok) {
      events.add('refuse', source, staged.problem);
      return staged;
    }
    const bundle = staged.value;
    const { id, components } = bundle.manifest;
    const before = bundles.active().find((one) => one.manifest.id === id);
    const made: { entry: ComponentEntry; attempt: Attempt }[] = [];
    const giveUp = async (why: Problem): Promise<Result<never>> => {
      await Promise.all(made.map(({ attempt }) => attempt.is === 'ready' && attempt.prepared.discard()));
      events.add('refuse', id, why);
      await bundles.discard(bundle);
      return failed(why);
    };
    if (isLeaving(id)) return giveUp(problem('bundle/leaving', { subject: id }));
    for (const entry of components) {
      const one = await serving.attempt(bundle, entry);
      // Bytes the sandbox refuses are refused with their bundle. One that does not start is, where nothing of the
      // bundle serves yet, or where it is the serving revision itself.
      const first = before === undefined || standingOf(bundle, entry).serving === bundle.identity;
      if (one.is === 'refused' || (one.is === 'failed' && first)) return giveUp(one.problem);
      made.push({ entry, attempt: one });
    }
    const activated = state.transaction(() => {
      const done = bundles.activate(bundle);
      if (!done.ok) return done;
      for (const { entry, attempt: one } of made) {
        const was = standingOf(bundle, entry);
        const next =
          one.is === 'ready'
            ? takenOver(was, bundle.identity)
            : notTakenOver(was, bundle.identity, one.problem);
        standings.set(id, entry.id, next);
      }
      for (const entry of before?.manifest.components ?? [])
        if (!components.some((one) => one.id === entry.id)) standings.forget(id, entry.id);
      return done;
    });
    if (!activated.ok) return giveUp(activated.problem);
    broken.delete(id);
    serving.declareTopics(bundle);
    for (const { entry, attempt: one } of made) {
      const name = nameOf(bundle, entry);
      if (one.is === 'ready') await serving.takeIn(name, one.prepared);
      else if (one.is === 'failed') events.add('fail', name, one.problem);
    }
    const kept = new Set(components.map((entry) => nameOf(bundle, entry)));
    for (const { name } of lanesOf(id)) if (!kept.has(name)) await serving.retire(name);
    events.add('install', `${id} ${bundle.identity}`);
    await bundles.collect();
    return ok(statusOf(bundle));
  };

  /** What is left of an uninstall once nothing of the bundle runs. */
  const remove = async (id: string): Promise<Result<{ id: string; revision: string }>> => {
    bus.topics.forget(id);
    const removed = await bundles.remove(id);
    // A station that was killed on the way has removed it already; anything else is tried again at the next start.
    if (!removed.ok && removed.problem.code !== 'bundle/not-installed') return removed;
    standings.forget(id);
    standings.left(id);
    broken.delete(id);
    if (!removed.ok) return removed;
    events.add('uninstall', `${id} ${removed.value.identity}`);
    return ok({ id, revision: removed.value.identity });
  };

  const uninstall = async (id: string): Promise<Result<{ id: string; revision: string }>> => {
    const bundle = activeOne(id);
    if (!bundle.ok) return bundle;
    standings.leave(id);
    const gone = Promise.all(lanesOf(id).map(({ name }) => serving.retire(name)));
    if (await endsWithin(gone, options.drainMs)) return remove(id);
    const departure = gone.then(() => alone(() => remove(id)));
    departures.add(departure);
    void departure.finally(() => departures.delete(departure));
    return refuse('bundle/draining', { subject: id, evidence: inFlightOf(bus, `${id}:`) });
  };

  return {
    intact,
    start: () => {
      seenRevision = policy.current().revision;
      started = alone(async () => {
        for (const id of standings.leaving()) await remove(id);
        for (const { id, problem: why } of await bundles.verify()) {
          if (why === undefined) continue;
          broken.set(id, why);
          events.add('fail', id, why);
        }
        const whole = intact();
        for (const bundle of whole) serving.declareTopics(bundle);
        const all = whole.flatMap((bundle) => bundle.manifest.components.map((entry) => ({ bundle, entry })));
        const waiting = all.values();
        const worker = async () => {
          for (const { bundle, entry } of waiting) await serving.restore(bundle, entry);
        };
        await Promise.all(Array.from({ length: startsAtOnce }, worker));
      }).catch(internal);
    },
    install: (source) =>
      alone(async () => {
        const unneeded = expectTranspile();
        try {
          return await install(source);
        } finally {
          unneeded();
        }
      }),
    uninstall: (id) => alone(() => uninstall(id)),
    retry: (component) =>
      alone(async () => {
        const [id = '', entryId = ''] = component.split(':');
        const bundle = activeOne(id);
        if (!bundle.ok) return bundle;
        const entry = bundle.value.manifest.components.find((one) => one.id === entryId);
        if (entry === undefined) return refuse('bundle/no-component', { subject: component });
        const damaged = broken.get(id);
        if (damaged !== undefined) return failed(damaged);
        const { serving: revision, candidate } = standingOf(bundle.value, entry);
        const lane = bus.status().find((one) => one.name === component);
        const promoted = candidate === undefined ? undefined : await serving.promote(bundle.value, entry);
        const back =
          promoted?.ok === true
            ? promoted
            : lane !== undefined
              ? await serving.retry(component)
              : revision === undefined
                ? ok(undefined)
                : await serving.bringUp(bundle.value, entry, revision);
        const done = promoted ?? back;
        events.add('retry', component, done.ok ? undefined : done.problem);
        return done.ok ? ok(statusOf(bundle.value)) : done;
      }),
    verify: async (id) => {
      if (id !== undefined) {
        const known = activeOne(id);
        if (!known.ok) return known;
      }
      const found: { id: string; problem?: Problem }[] = [];
      for (const one of await bundles.verify(id)) {
        const bundle = bundles.active().find(({ manifest }) => manifest.id === one.id);
        const cached =
          one.problem === undefined && bundle !== undefined ? await instances.cacheFault(bundle) : undefined;
        found.push(cached === undefined ? one : { id: one.id, problem: cached });
      }
      return ok(found);
    },
    list: () => bundles.active().map(statusOf),
    settled: async () => {
      await turn;
    },
    departed: async () => {
      await Promise.all(departures);
    },
    reconcile: async () => {
      await started;
      const { revision } = policy.current();
      if (revision !== seenRevision) {
        seenRevision = revision;
        reconciled = alone(async () => {
          for (const bundle of intact())
            for (const entry of bundle.manifest.components) await serving.reconcile(bundle, entry);
        }).catch((cause: unknown) => {
          // Every request waits for this: it is tried again by the next one, and none of them fails by it.
          seenRevision = '';
          internal(cause);
        });
      }
      await reconciled;
    },
  };
};
