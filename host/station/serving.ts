/**
 * Which revision of each component serves, and every step between. A new revision's component is prepared beside the
 * one that serves and takes over when it is ready; one that does not start, or waits for a grant, is remembered as the
 * candidate while the old one goes on, also over a restart.
 */
import type { BundleStore, ComponentEntry, InstalledBundle } from '../bundles/index.ts';
import type { Bus, Prepared } from '../bus/index.ts';
import { limitNames, type PolicySource } from '../policy/index.ts';
import { failed, ok, type Problem, problem, type Result } from '../problems/index.ts';
import type { EventLog } from '../state/index.ts';
import { type Attempt, type Instances, nameOf } from './instances.ts';
import type { Standing, Standings } from './standings.ts';

export interface Serving {
  readonly standingOf: (bundle: InstalledBundle, entry: ComponentEntry) => Standing;
  /** Why a component that should serve does not. */
  readonly idle: (name: string) => Problem | undefined;
  /** Topics of the active revision, and of older ones a component still serves from. Their shapes never change. */
  readonly declareTopics: (bundle: InstalledBundle) => void;
  readonly attempt: (bundle: InstalledBundle, entry: ComponentEntry) => Promise<Attempt>;
  readonly takeIn: (name: string, prepared: Prepared) => Promise<void>;
  /** Brings up the revision that is meant to serve; where it cannot, says why and leaves it to `retry`. */
  readonly bringUp: (
    active: InstalledBundle,
    entry: ComponentEntry,
    revision: string,
  ) => Promise<Result<void>>;
  /** Tries the active revision of a component that serves from an older one, or not at all. */
  readonly promote: (bundle: InstalledBundle, entry: ComponentEntry) => Promise<Result<void>>;
  /** Another chance for one that is parked; it begins as after a start. */
  readonly retry: (name: string) => Promise<Result<void>>;
  /** Takes a component out of service, and ends what it runs. */
  readonly retire: (name: string) => Promise<void>;
  /** What served when the station stopped, as it was: a candidate that failed is not tried again. */
  readonly restore: (bundle: InstalledBundle, entry: ComponentEntry) => Promise<void>;
  /** Policy changed: what waited for a grant, and what runs under other limits than it has now. */
  readonly reconcile: (bundle: InstalledBundle, entry: ComponentEntry) => Promise<void>;
}

export interface ServingOptions {
  readonly bundles: BundleStore;
  readonly standings: Standings;
  readonly bus: Bus;
  readonly policy: PolicySource;
  readonly events: EventLog;
  readonly instances: Instances;
  /** Ends what a component that leaves service still runs. */
  readonly endAllOf: (component: string) => Promise<void>;
}

export const takenOver = (was: Standing, revision: string): Standing => {
  const retained = was.serving === revision ? was.retained : (was.serving ?? was.retained);
  return { serving: revision, ...(retained === undefined || retained === revision ? {} : { retained }) };
};
export const notTakenOver = (was: Standing, revision: string, why: Problem): Standing =>
  was.serving === revision ? was : { ...was, candidate: { revision, problem: why } };

export const openServing = (options: ServingOptions): Serving => {
  const { bundles, standings, bus, policy, events, instances } = options;
  const idle = new Map<string, Problem>();
  /** Components that were told that the station started. */
  const told = new Set<string>();
  /** What parked components ran, while it is being ended. */
  const ending = new Map<string, Promise<void>>();
  /** The limits a running component was tried with last. */
  const tried = new Map<string, string>();
  const standingOf = (bundle: InstalledBundle, entry: ComponentEntry): Standing =>
    standings.of(bundle.manifest.id, entry.id);

  const declareTopics = (bundle: InstalledBundle): void => {
    const { id } = bundle.manifest;
    const serving = new Set(
      bundle.manifest.components.flatMap((entry) => standingOf(bundle, entry).serving ?? []),
    );
    const older = [...serving].flatMap((revision) =>
      revision === bundle.identity ? [] : (bundles.revision(id, revision)?.manifest.topics ?? []),
    );
    bus.topics.declare(id, [...older, ...bundle.manifest.topics]);
  };

  const takeIn = async (name: string, prepared: Prepared): Promise<void> => {
    await prepared.serve();
    idle.delete(name);
    events.add('start', name);
    tellStarted(name);
  };
  const tellStarted = (name: string): void => {
    if (told.has(name)) return;
    told.add(name);
    bus.tell(name, 'station.started', {});
  };
  const retry = async (name: string): Promise<Result<void>> => {
    await ending.get(name);
    const done = await bus.retry(name);
    if (done.ok) tellStarted(name);
    return done;
  };
  // Nobody could reach what it runs, and nobody would hear of it.
  bus.onParked((name) => {
    told.delete(name);
    const ended = options.endAllOf(name).finally(() => ending.delete(name));
    ending.set(name, ended);
  });

  const limitsKey = (id: string): string => {
    const limits = instances.limitsOf(id);
    return limitNames.map((name) => limits[name]).join();
  };
  const attempt = (bundle: InstalledBundle, entry: ComponentEntry): Promise<Attempt> => {
    tried.set(nameOf(bundle, entry), limitsKey(bundle.manifest.id));
    return instances.attempt(bundle, entry);
  };

  /** Brings up a revision that is meant to serve; where it cannot, says why and leaves it to `retry`. */
  const bringUpRevision = async (bundle: InstalledBundle, entry: ComponentEntry): Promise<Result<void>> => {
    const name = nameOf(bundle, entry);
    const made = await attempt(bundle, entry);
    if (made.is === 'ready') {
      await takeIn(name, made.prepared);
      return ok(undefined);
    }
    idle.set(name, made.problem);
    if (made.is === 'waiting') return ok(undefined);
    events.add('fail', name, made.problem);
    return failed(made.problem);
  };

  /** The same for whatever revision is remembered as serving, its bytes read again first where it is not the active. */
  const bringUp = async (
    active: InstalledBundle,
    entry: ComponentEntry,
    revision: string,
  ): Promise<Result<void>> => {
    if (revision === active.identity) return bringUpRevision(active, entry);
    const { id } = active.manifest;
    const name = nameOf(active, entry);
    const damaged = await bundles.verifyRevision(id, revision);
    const older = bundles.revision(id, revision);
    const itsEntry = older?.manifest.components.find((one) => one.id === entry.id);
    if (damaged === undefined && older !== undefined && itsEntry !== undefined)
      return bringUpRevision(older, itsEntry);
    const why = damaged ?? problem('bundle/package-missing', { subject: `${id} ${revision}` });
    idle.set(name, why);
    events.add('fail', name, why);
    return failed(why);
  };

  const promote = async (bundle: InstalledBundle, entry: ComponentEntry): Promise<Result<void>> => {
    const name = nameOf(bundle, entry);
    const was = standingOf(bundle, entry);
    const made = await attempt(bundle, entry);
    if (made.is !== 'ready') {
      standings.set(bundle.manifest.id, entry.id, notTakenOver(was, bundle.identity, made.problem));
      if (made.is !== 'waiting') events.add('fail', name, made.problem);
      return failed(made.problem);
    }
    standings.set(bundle.manifest.id, entry.id, takenOver(was, bundle.identity));
    declareTopics(bundle);
    await takeIn(name, made.prepared);
    await bundles.collect();
    return ok(undefined);
  };

  const retire = async (name: string): Promise<void> => {
    await bus.detach(name);
    await options.endAllOf(name);
    idle.delete(name);
    tried.delete(name);
    told.delete(name);
  };

  const restore = async (bundle: InstalledBundle, entry: ComponentEntry): Promise<void> => {
    const known = standingOf(bundle, entry);
    const first = known.serving === undefined && known.candidate === undefined;
    if (first) standings.set(bundle.manifest.id, entry.id, { serving: bundle.identity });
    const serving = first ? bundle.identity : known.serving;
    if (serving !== undefined) await bringUp(bundle, entry, serving);
    if (isGranted(bundle, entry)) await promote(bundle, entry);
  };
  /** Whether a candidate that waited for a grant has it. */
  const isGranted = (bundle: InstalledBundle, entry: ComponentEntry): boolean =>
    standingOf(bundle, entry).candidate?.problem.code === 'bundle/not-granted' &&
    instances.ungranted(bundle, entry).length === 0;

  const reconcile = async (bundle: InstalledBundle, entry: ComponentEntry): Promise<void> => {
    const name = nameOf(bundle, entry);
    if (isGranted(bundle, entry)) await promote(bundle, entry);
    const { serving } = standingOf(bundle, entry);
    if (serving === undefined) return;
    const waits = idle.get(name)?.code === 'bundle/not-granted';
    const limited =
      policy.current().problems.length === 0 && tried.get(name) !== limitsKey(bundle.manifest.id);
    if (waits || limited) await bringUp(bundle, entry, serving);
  };

  return {
    standingOf,
    idle: (name) => idle.get(name),
    declareTopics,
    attempt,
    takeIn,
    bringUp,
    promote,
    retry,
    retire,
    restore,
    reconcile,
  };
};
