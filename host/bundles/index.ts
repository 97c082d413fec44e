/**
 * Bundles: the manifest, packing, verification of every byte, staging, and the records of what is installed.
 */
export { bundleBounds } from './bounds.ts';
export { shapeOfTopic, topicClaims, topicConflict } from './claims.ts';
export type {
  BundleStore,
  BundleStoreOptions,
  ComponentEntry,
  ContentFile,
  InstalledBundle,
  Manifest,
  PackBundle,
  ReadBundle,
  StoreStep,
  ToolEntry,
  TopicClaim,
  TopicEntry,
  TopicSaid,
  TopicShape,
  VerifiedBundle,
} from './edge.ts';
export { bundleSchema, manifestSchema } from './manifest.ts';
export { packBundle } from './pack.ts';
export { type Diagnosis, diagnoseBundle, type FurtherChecks, readBundle } from './read.ts';
export { bundleTables } from './schema.sql.ts';
export { makeKey, readKey, type SignatureRule, type Signed, signatureRefusal } from './signature.ts';
export { type BundleSkill, skillsOf } from './skills.ts';
export { openBundleStore } from './store.ts';
export { isArchiveName } from './write-archive.ts';
