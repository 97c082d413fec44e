/**
 * Bundles: the manifest, packing, verification of every byte, staging, and the records of what is installed.
 */
export type {
  BundleStore,
  BundleStoreOptions,
  ComponentEntry,
  ContentFile,
  InstalledBundle,
  Manifest,
  PackBundle,
  ReadBundle,
  ToolEntry,
  TopicEntry,
  VerifiedBundle,
} from './edge.ts';
