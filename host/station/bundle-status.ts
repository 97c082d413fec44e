/** What `bundle list` says of a bundle: pure, from what is installed, what is remembered and what runs. */
import { type InstalledBundle, skillsOf } from '../bundles/index.ts';
import type { LaneState, LaneStatus } from '../bus/index.ts';
import type { Problem } from '../problems/index.ts';
import type { BundleStatus, ComponentStatus } from './control.ts';
import type { Standing } from './standings.ts';

export interface ComponentFacts {
  readonly id: string;
  readonly standing: Standing;
  readonly lane?: LaneStatus;
  /** Why the revision that should serve does not. */
  readonly idle?: Problem;
}

const stateOf = (lane: LaneState | undefined, why: Problem | undefined): ComponentStatus['state'] => {
  switch (lane) {
    case undefined:
      return why?.code === 'bundle/not-granted' ? 'waiting' : 'failed';
    case 'running':
    case 'parked':
      return lane;
    case 'stopping':
    case 'stopped':
      return 'stopping';
    default:
      return 'starting';
  }
};

const componentStatus = ({ id, standing, lane, idle }: ComponentFacts): ComponentStatus => {
  const { candidate, retained } = standing;
  const why = idle ?? lane?.problem ?? (lane === undefined ? candidate?.problem : undefined);
  return {
    id,
    state: stateOf(lane?.state, why),
    restarts: lane?.restarts ?? 0,
    ...(lane === undefined ? {} : { serving: lane.revision }),
    ...(candidate === undefined ? {} : { candidate }),
    ...(retained === undefined ? {} : { retained }),
    ...(why === undefined ? {} : { problem: why }),
  };
};

/** Complete: every component serves, each from the active revision. Mixed: some serve from another one. */
const completenessOf = (
  revision: string,
  components: readonly ComponentStatus[],
): BundleStatus['completeness'] => {
  if (components.every(({ serving }) => serving === revision)) return 'complete';
  return components.some(({ serving }) => serving !== undefined && serving !== revision)
    ? 'mixed'
    : 'incomplete';
};

export const bundleStatus = (
  bundle: InstalledBundle,
  facts: readonly ComponentFacts[],
  ungranted: readonly string[],
  trouble: Problem | undefined,
): BundleStatus => {
  const { manifest, identity } = bundle;
  const components = facts.map(componentStatus);
  return {
    id: manifest.id,
    version: manifest.version,
    revision: identity,
    completeness: completenessOf(identity, components),
    skills: skillsOf(bundle).map((skill) => skill.name),
    topics: manifest.topics.length,
    components,
    asks: [...new Set(manifest.components.flatMap((entry) => entry.permissions))].sort(),
    ungranted,
    ...(trouble === undefined ? {} : { problem: trouble }),
  };
};
