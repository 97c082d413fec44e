/**
 * From a component of an installed bundle to an instance that is ready to serve: its bytes are judged again, policy
 * is asked for what it needs, and only then something is started. Nothing here changes what serves.
 */
import type { BundleStore, ComponentEntry, InstalledBundle } from '../bundles/index.ts';
import type { Bus, Prepared } from '../bus/index.ts';
import { type Limits, type PolicySource, usualLimits } from '../policy/index.ts';
import { type Problem, problem, type Result } from '../problems/index.ts';
import { type AdmittedComponent, admitComponent, startActivation, verifyCached } from '../sandbox/index.ts';
import type { EventLog } from '../state/index.ts';
import { componentBytes } from './component-bytes.ts';

export const nameOf = (bundle: InstalledBundle, entry: ComponentEntry): string =>
  `${bundle.manifest.id}:${entry.id}`;

/**
 * What became of trying a component. `refused` is about its bytes and `failed` about its start: the first is the same
 * at every try, the second may not be. `waiting` is for a grant.
 */
export type Attempt =
  | { readonly is: 'ready'; readonly prepared: Prepared }
  | { readonly is: 'waiting' | 'refused' | 'failed'; readonly problem: Problem };

export interface Instances {
  readonly attempt: (bundle: InstalledBundle, entry: ComponentEntry) => Promise<Attempt>;
  readonly ungranted: (bundle: InstalledBundle, entry: ComponentEntry) => readonly string[];
  readonly limitsOf: (bundle: string) => Limits;
  /** What is wrong with what was generated from a bundle's components; it is generated again at the next start. */
  readonly cacheFault: (bundle: InstalledBundle) => Promise<Problem | undefined>;
}

export interface InstancesOptions {
  readonly bundles: BundleStore;
  readonly events: EventLog;
  readonly bus: Bus;
  readonly policy: PolicySource;
  readonly cache: string;
}

export const openInstances = ({ bundles, events, bus, policy, cache }: InstancesOptions): Instances => {
  const limitsOf = (bundle: string): Limits => policy.current().limits.get(bundle) ?? usualLimits;

  const ungranted = (bundle: InstalledBundle, entry: ComponentEntry): readonly string[] => {
    const granted = policy.current().grants.get(bundle.manifest.id);
    return entry.permissions.filter((permission) => granted?.has(permission) !== true);
  };

  const prepare = (
    bundle: InstalledBundle,
    entry: ComponentEntry,
    admitted: AdmittedComponent,
    limits: Limits,
  ): Promise<Result<Prepared>> => {
    const name = nameOf(bundle, entry);
    return bus.prepare({
      name,
      bundle: bundle.manifest.id,
      revision: bundle.identity,
      handles: new Set(entry.handles),
      subscribes: new Set(entry.subscribes),
      publishes: new Set(entry.publishes),
      // Without the bus it cannot say which message an effect belongs to.
      limits: admitted.imports.includes('bus') ? limits : { ...limits, batch: 1 },
      start: (callbacks) => startActivation(admitted, { limits, name, ...callbacks }),
    });
  };

  return {
    ungranted,
    limitsOf,
    cacheFault: async (bundle) => {
      const limits = limitsOf(bundle.manifest.id);
      for (const entry of bundle.manifest.components) {
        const bytes = await componentBytes(bundle, entry);
        const fault = bytes.ok ? await verifyCached(bytes.value, { cache, limits }) : bytes.problem;
        if (fault !== undefined)
          return { ...fault, subject: `${nameOf(bundle, entry)}: ${fault.subject ?? entry.entry}` };
      }
      return undefined;
    },
    attempt: async (bundle, entry) => {
      const limits = limitsOf(bundle.manifest.id);
      const bytes = await componentBytes(bundle, entry);
      if (!bytes.ok) return { is: 'refused', problem: bytes.problem };
      const unsigned = bundles.refusal(bundle);
      if (unsigned !== undefined) return { is: 'refused', problem: unsigned };
      const admitted = await admitComponent(bytes.value, { cache, permissions: entry.permissions, limits });
      if (!admitted.ok) return { is: 'refused', problem: admitted.problem };
      const { discarded } = admitted.value;
      if (discarded !== undefined) events.add('repair', nameOf(bundle, entry), discarded);
      const missing = ungranted(bundle, entry);
      if (missing.length > 0) {
        const evidence = missing.join(', ');
        return {
          is: 'waiting',
          problem: problem('bundle/not-granted', { subject: nameOf(bundle, entry), evidence }),
        };
      }
      const prepared = await prepare(bundle, entry, admitted.value, limits);
      return prepared.ok
        ? { is: 'ready', prepared: prepared.value }
        : { is: 'failed', problem: prepared.problem };
    },
  };
};
