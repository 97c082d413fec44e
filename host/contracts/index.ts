/**
 * Topic contracts: what a topic's identity is, the lock that holds it, and the checks that keep it, in CI, in git and
 * at install. Needs no station.
 */
export { type CanonicalShape, canonicalShape, type Topic } from './shape.ts';
