/**
 * Topic contracts: what a topic's identity is, the lock that holds it, and the checks that keep it, in CI, in git and
 * at install. Needs no station.
 */
export {
  asGithub,
  asJson,
  asSarif,
  asText,
  type CheckOptions,
  type CheckReport,
  checkContracts,
  type Difference,
  type Finding,
  type Format,
  formats,
  type HookOptions,
  type InstalledHook,
  installHook,
  rendered,
  type UpdateOptions,
  type UpdateReport,
  updateContracts,
} from './command.ts';
export { type Entry, type Lock, readLock } from './lock.ts';
export { type CanonicalShape, canonicalShape, type Topic } from './shape.ts';
