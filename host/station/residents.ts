/**
 * The bundles in service: which are installed, which of their components run, and every step between. A component
 * runs while policy grants all that its manifest asks for; a revision takes over only when all of it is ready.
 */
import { type BundleStore, type ComponentEntry, type InstalledBundle, skillsOf } from '../bundles/index.ts';
import type { Bus, BusComponent, Prepared } from '../bus/index.ts';
import type { PolicySource } from '../policy/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import {
  type AdmittedComponent,
  admitComponent,
  type ComponentLimits,
  startActivation,
  verifyCached,
} from '../sandbox/index.ts';
import type { EventLog } from '../state/index.ts';
import { componentBytes } from './component-bytes.ts';
import type { BundleStatus, ComponentStatus } from './control.ts';

export interface Residents {
  /**
   * Verifies every active bundle and takes the intact ones into service; a component that cannot start does not stop
   * the others. Goes on in the background: `reconcile`, and with it every request, waits for it.
   */
  readonly start: () => void;
  readonly install: (source: string) => Promise<Result<BundleStatus>>;
  readonly uninstall: (id: string) => Promise<Result<{ id: string; revision: string }>>;
  readonly retry: (component: string) => Promise<Result<BundleStatus>>;
  readonly verify: (id?: string) => Promise<Result<readonly { id: string; problem?: Problem }[]>>;
  readonly list: () => readonly BundleStatus[];
  /** Bundles in service: whose bytes were found intact. */
  readonly intact: () => readonly InstalledBundle[];
  /** Waits for the start, then looks whether policy grants by now what components wait for. */
  readonly reconcile: () => Promise<void>;
  /** Resolves when no change is under way. */
  readonly settled: () => Promise<void>;
}

export interface ResidentsOptions {
  readonly bundles: BundleStore;
  readonly bus: Bus;
  readonly policy: PolicySource;
  readonly events: EventLog;
  readonly cache: string;
  readonly limits: ComponentLimits;
  /** Ends what a component that leaves service still runs. */
  readonly endAllOf: (component: string) => Promise<void>;
}

const nameOf = (bundle: InstalledBundle, entry: ComponentEntry) => `${bundle.manifest.id}:${entry.id}`;

export const openResidents = (options: ResidentsOptions): Residents => {
  const { bundles, bus, policy, events } = options;
  /** Why a component that is installed does not run. */
  const idle = new Map<string, Problem>();
  /** Why a bundle is not in service. */
  const broken = new Map<string, Problem>();
  const told = new Set<string>();
  let seenRevision = '';
  let turn: Promise<unknown> = Promise.resolve();
  let started: Promise<void> = Promise.resolve();

  /** One change at a time. */
  const alone = <T>(work: () => Promise<T>): Promise<T> => {
    const next = turn.then(work, work);
    turn = next.catch(() => undefined);
    return next;
  };

  const intact = () => bundles.active().filter((bundle) => !broken.has(bundle.manifest.id));

  const ungrantedOf = (bundle: InstalledBundle, entry: ComponentEntry): readonly string[] => {
    const granted = policy.current().grants.get(bundle.manifest.id);
    return entry.permissions.filter((permission) => granted?.has(permission) !== true);
  };

  const admit = async (
    bundle: InstalledBundle,
    entry: ComponentEntry,
  ): Promise<Result<AdmittedComponent>> => {
    const bytes = await componentBytes(bundle, entry);
    if (!bytes.ok) return bytes;
    const refused = bundles.refusal(bundle);
    if (refused !== undefined) return failed(refused);
    return admitComponent(bytes.value, {
      cache: options.cache,
      permissions: entry.permissions,
      limits: options.limits,
    });
  };

  /** What is wrong with what was generated from a bundle's components; it is generated again at the next start. */
  const cacheFault = async (bundle: InstalledBundle): Promise<Problem | undefined> => {
    for (const entry of bundle.manifest.components) {
      const bytes = await componentBytes(bundle, entry);
      const fault = bytes.ok ? await verifyCached(bytes.value, options) : bytes.problem;
      if (fault !== undefined)
        return { ...fault, subject: `${nameOf(bundle, entry)}: ${fault.subject ?? entry.entry}` };
    }
    return undefined;
  };

  const busComponent = (
    bundle: InstalledBundle,
    entry: ComponentEntry,
    admitted: AdmittedComponent,
  ): BusComponent => ({
    name: nameOf(bundle, entry),
    bundle: bundle.manifest.id,
    revision: bundle.identity,
    handles: new Set(entry.handles),
    subscribes: new Set(entry.subscribes),
    publishes: new Set(entry.publishes),
    // Without the bus it cannot say which message an effect belongs to.
    limits: admitted.imports.includes('bus') ? options.limits : { ...options.limits, batch: 1 },
    start: (callbacks) =>
      startActivation(admitted, { limits: options.limits, name: nameOf(bundle, entry), ...callbacks }),
  });

  /** A component ready to serve, `undefined` while policy withholds what it asks for. */
  const prepare = async (
    bundle: InstalledBundle,
    entry: ComponentEntry,
  ): Promise<Result<Prepared | undefined>> => {
    const admitted = await admit(bundle, entry);
    if (!admitted.ok) return admitted;
    const { discarded } = admitted.value;
    if (discarded !== undefined) events.add('repair', nameOf(bundle, entry), discarded);
    const ungranted = ungrantedOf(bundle, entry);
    if (ungranted.length > 0) {
      const evidence = ungranted.join(', ');
      idle.set(
        nameOf(bundle, entry),
        problem('bundle/not-granted', { subject: nameOf(bundle, entry), evidence }),
      );
      return ok(undefined);
    }
    return bus.prepare(busComponent(bundle, entry, admitted.value));
  };

  const serve = async (name: string, prepared: Prepared): Promise<void> => {
    await prepared.serve();
    idle.delete(name);
    events.add('start', name);
    if (told.has(name)) return;
    told.add(name);
    bus.tell(name, 'station.started', {});
  };

  const bringUp = async (bundle: InstalledBundle, entry: ComponentEntry): Promise<Result<void>> => {
    const name = nameOf(bundle, entry);
    const prepared = await prepare(bundle, entry);
    if (!prepared.ok) {
      idle.set(name, prepared.problem);
      events.add('fail', name, prepared.problem);
      return prepared;
    }
    if (prepared.value !== undefined) await serve(name, prepared.value);
    return ok(undefined);
  };

  const statusOf = (bundle: InstalledBundle): BundleStatus => {
    const { manifest, identity } = bundle;
    const lanes = new Map(bus.status().map((lane) => [lane.name, lane]));
    const trouble = broken.get(manifest.id);
    const components = manifest.components.map((entry): ComponentStatus => {
      const name = nameOf(bundle, entry);
      const lane = lanes.get(name);
      const why = idle.get(name) ?? lane?.problem;
      const state =
        lane === undefined
          ? 'failed'
          : lane.state === 'parked'
            ? 'parked'
            : lane.state === 'running'
              ? 'running'
              : 'starting';
      return {
        id: entry.id,
        state,
        restarts: lane?.restarts ?? 0,
        ...(why === undefined ? {} : { problem: why }),
      };
    });
    return {
      id: manifest.id,
      version: manifest.version,
      revision: identity,
      skills: skillsOf(bundle).map((skill) => skill.name),
      topics: manifest.topics.length,
      components,
      asks: [...new Set(manifest.components.flatMap((entry) => entry.permissions))].sort(),
      ungranted: [...new Set(manifest.components.flatMap((entry) => ungrantedOf(bundle, entry)))].sort(),
      ...(trouble === undefined ? {} : { problem: trouble }),
    };
  };

  const activeOne = (id: string): Result<InstalledBundle> => {
    const bundle = bundles.active().find((one) => one.manifest.id === id);
    return bundle === undefined
      ? refuse('bundle/not-installed', { subject: id, evidence: `installed: ${ids() || 'none'}` })
      : ok(bundle);
  };
  const ids = () =>
    bundles
      .active()
      .map((one) => one.manifest.id)
      .join(', ');

  const install = async (source: string): Promise<Result<BundleStatus>> => {
    const staged = await bundles.stage(source);
    if (!staged.ok) {
      events.add('refuse', source, staged.problem);
      return staged;
    }
    const bundle = staged.value;
    const { id } = bundle.manifest;
    const before = bundles.active().find((one) => one.manifest.id === id);
    const ready: { name: string; prepared: Prepared }[] = [];
    const giveUp = async (why: Problem): Promise<Result<never>> => {
      await Promise.all(ready.map(({ prepared }) => prepared.discard()));
      events.add('refuse', id, why);
      if (before?.identity !== bundle.identity) await bundles.discard(bundle);
      return failed(why);
    };
    for (const entry of bundle.manifest.components) {
      const prepared = await prepare(bundle, entry);
      if (!prepared.ok) return giveUp(prepared.problem);
      if (prepared.value !== undefined) ready.push({ name: nameOf(bundle, entry), prepared: prepared.value });
    }
    const activated = bundles.activate(bundle);
    if (!activated.ok) return giveUp(activated.problem);
    broken.delete(id);
    bus.topics.declare(id, bundle.manifest.topics);
    for (const { name, prepared } of ready) await serve(name, prepared);
    const kept = new Set(bundle.manifest.components.map((entry) => nameOf(bundle, entry)));
    for (const entry of before?.manifest.components ?? []) {
      if (before !== undefined && !kept.has(nameOf(before, entry))) await retire(nameOf(before, entry));
    }
    events.add('install', `${id} ${bundle.identity}`);
    return ok(statusOf(bundle));
  };

  const retire = async (name: string): Promise<void> => {
    await bus.detach(name);
    await options.endAllOf(name);
    idle.delete(name);
  };

  return {
    intact,
    start: () => {
      seenRevision = policy.current().revision;
      started = alone(async () => {
        for (const { id, problem: why } of await bundles.verify()) {
          if (why === undefined) continue;
          broken.set(id, why);
          events.add('fail', id, why);
        }
        const whole = intact();
        for (const bundle of whole) bus.topics.declare(bundle.manifest.id, bundle.manifest.topics);
        await Promise.all(
          whole.flatMap((bundle) => bundle.manifest.components.map((entry) => bringUp(bundle, entry))),
        );
      }).catch((cause: unknown) =>
        events.add('fail', 'bundles', problem('station/internal', { evidence: String(cause) })),
      );
    },
    install: (source) => alone(() => install(source)),
    uninstall: (id) =>
      alone(async () => {
        const bundle = activeOne(id);
        if (!bundle.ok) return bundle;
        for (const entry of bundle.value.manifest.components) await retire(nameOf(bundle.value, entry));
        bus.topics.forget(id);
        const removed = await bundles.remove(id);
        if (!removed.ok) return removed;
        broken.delete(id);
        events.add('uninstall', `${id} ${bundle.value.identity}`);
        return ok({ id, revision: bundle.value.identity });
      }),
    retry: (component) =>
      alone(async () => {
        const [id = '', entryId = ''] = component.split(':');
        const bundle = activeOne(id);
        if (!bundle.ok) return bundle;
        const entry = bundle.value.manifest.components.find((one) => one.id === entryId);
        if (entry === undefined) return refuse('bundle/no-component', { subject: component });
        const lane = bus.status().find((one) => one.name === component);
        const done = lane === undefined ? await bringUp(bundle.value, entry) : await bus.retry(component);
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
          one.problem === undefined && bundle !== undefined ? await cacheFault(bundle) : undefined;
        found.push(cached === undefined ? one : { id: one.id, problem: cached });
      }
      return ok(found);
    },
    list: () => bundles.active().map(statusOf),
    settled: async () => {
      await turn;
    },
    reconcile: async () => {
      await started;
      const { revision } = policy.current();
      if (revision === seenRevision) return;
      seenRevision = revision;
      await alone(async () => {
        for (const bundle of intact()) {
          for (const entry of bundle.manifest.components) {
            const waiting = idle.get(nameOf(bundle, entry))?.code === 'bundle/not-granted';
            if (waiting && ungrantedOf(bundle, entry).length === 0) await bringUp(bundle, entry);
          }
        }
      });
    },
  };
};
