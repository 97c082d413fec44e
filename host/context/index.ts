/**
 * Session-context: which servers an agent may get and why not the others, and the one place that writes into a
 * workspace. It never touches a file it does not own.
 */
export type {
  Offered,
  Placement,
  PlaceSkills,
  Provision,
  ProvisionFor,
  SkillSource,
  Withheld,
} from './edge.ts';
export { placeSkills } from './place.ts';
export { provisionFor } from './provision.ts';
export { knownSinks, sinkFor } from './sinks.ts';
