/**
 * Session-context: which servers an agent may get and why not the others, and the one place that writes into a
 * workspace. It never touches a file it does not own.
 */
export type {
  Offered,
  PlacedMemory,
  PlacedSkill,
  Placement,
  PlaceSkills,
  Provision,
  ProvisionFor,
  Reached,
  Remembered,
  RemovedSkill,
  RemovePlaced,
  SkillSource,
  VerifyPlaced,
  Withheld,
} from './edge.ts';
export { knownSinks, sinkFor } from './families.ts';
export { folderInside, readTextFile, writeTextFile } from './files.ts';
export { outsideOf } from './outside.ts';
export { placeSkills } from './place.ts';
export { removePlaced, verifyPlaced } from './placed.ts';
export { provisionFor } from './provision.ts';
