/** What other rooms see of bundles. */
import type { KeyObject } from 'node:crypto';
import type { Problem, Result } from '../problems/index.ts';
import type { BundleSignature, Signed } from './signature.ts';

export interface ContentFile {
  /** Relative, `/` between segments. */
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
}
export interface ComponentEntry {
  readonly id: string;
  readonly driver: 'wasm';
  /** A content path. */
  readonly entry: string;
  readonly permissions: readonly string[];
  readonly handles: readonly string[];
  readonly subscribes: readonly string[];
  readonly publishes: readonly string[];
}
/** `shape` is `{request, reply}` of a command and `{event}` of an event, each a JSON Schema 2020-12. */
export interface TopicEntry {
  readonly id: string;
  readonly kind: 'command' | 'event';
  readonly shape: Readonly<Record<string, unknown>>;
}
export interface ToolEntry {
  readonly name: string;
  readonly description: string;
  readonly topic: string;
  readonly approval: 'none' | 'ask';
}
/** `bundle.json`. Unknown keys are refused. */
export interface Manifest {
  readonly manifest: 2;
  readonly id: string;
  readonly version: string;
  readonly content: readonly ContentFile[];
  readonly components: readonly ComponentEntry[];
  readonly topics: readonly TopicEntry[];
  readonly tools: readonly ToolEntry[];
}

/** A bundle whose every byte was read and matched its manifest. */
export interface VerifiedBundle {
  readonly manifest: Manifest;
  /** SHA-256 over the manifest bytes and every path and byte of content, hex: the bundle's revision. */
  readonly identity: string;
  /** Absolute folder that holds `bundle.json`. */
  readonly folder: string;
  /** It fits the identity; whose key it is made with is not judged. */
  readonly signature?: BundleSignature;
}

export interface InstalledBundle extends VerifiedBundle {
  readonly installedAt: number;
}

/**
 * `dir` → `out` (default `dir` itself): computes `content`, writes the manifest, signs it with `key` where there is
 * one, returns the verified result. An `out` that ends in `.tgz` or `.tar.gz` is an archive, and then `folder` is its
 * path. Without `key` a signature in `dir` is kept while it fits, else taken away.
 */
export type PackBundle = (dir: string, out?: string, key?: KeyObject) => Promise<Result<VerifiedBundle>>;
/** Reads and checks everything, changes nothing. */
export type ReadBundle = (dir: string) => Promise<Result<VerifiedBundle>>;

/** What stands for a topic's meaning: the same text and digest for shapes that differ in nothing a message shows. */
export interface TopicShape {
  /** Canonical JSON. */
  readonly shape: string;
  /** SHA-256 of it, hex. */
  readonly digest: string;
}

/** That a topic ID stands for a shape, as far as it takes to compare: equal digests are equal shapes and kinds. */
export interface TopicSaid {
  readonly id: string;
  readonly kind: string;
  readonly digest: string;
}
/** The same with the shape: said by a manifest, or by the lock a bundle carries. */
export interface TopicClaim extends TopicSaid, TopicShape {}

export interface BundleStoreOptions {
  /** `packages/` of the home. */
  readonly packages: string;
  readonly db: import('better-sqlite3').Database;
  readonly now: () => number;
  /** The canonical shape of a topic (contracts). */
  readonly shapeOf: (topic: TopicEntry) => TopicShape;
  /** Told of what was found and put right on the way: a damaged package replaced, a folder that could not be removed. */
  readonly report?: (problem: Problem) => void;
  /** Revisions of a bundle that must stay beside the active one, whatever their age: some component serves from them. */
  readonly inUse?: (id: string) => ReadonlySet<string>;
  /** Why policy, as it is now, does not let a revision in: asked before it is staged, and whenever it is verified. */
  readonly refusal?: (bundle: Signed) => Problem | undefined;
  /** Called between any two steps that a kill could part; for tests. */
  readonly onStep?: (step: StoreStep) => void;
}

export type StoreStep =
  | 'stage:entry-unpacked'
  | 'stage:unpacked'
  | 'stage:folder-made'
  | 'stage:file-written'
  | 'stage:written'
  | 'stage:compared'
  | 'stage:damaged-aside'
  | 'stage:renamed'
  | 'stage:signature-replaced'
  | 'activate:recorded'
  | 'activate:topics-recorded'
  | 'activate:committed'
  | 'remove:forgotten'
  | 'remove:package-aside'
  | 'remove:removed';

/** The installed bundles: staged packages on disk and their records. One active revision a bundle ID. */
export interface BundleStore {
  /**
   * Copies `source`, a folder or an archive, into staging (bounded read), verifies every byte, reads it back, compares,
   * renames it to `packages/<id>/<identity>`. Nothing is active yet.
   */
  readonly stage: (source: string) => Promise<Result<InstalledBundle>>;
  /** In one transaction: makes a staged revision the active one, and records its topics. `bundle/topic-conflict` names the other installation. */
  readonly activate: (bundle: InstalledBundle) => Result<InstalledBundle>;
  /** What is known otherwise than claimed (`bundle/topic-conflict`), the installation named; for a diagnosis. */
  readonly conflicts: (claims: readonly TopicSaid[]) => readonly Problem[];
  /** Active revisions by ID. */
  readonly active: () => readonly InstalledBundle[];
  /** A revision whose package is kept, active or not. */
  readonly revision: (id: string, identity: string) => InstalledBundle | undefined;
  /** Reads every byte of one revision's package again; what differs. */
  readonly verifyRevision: (id: string, identity: string) => Promise<Problem | undefined>;
  /** Forgets and removes revisions nothing uses: all but the active one, two earlier ones, and those in use. */
  readonly collect: () => Promise<void>;
  /** Reads every byte of every active package again; what differs is a problem and that bundle must not run. */
  readonly verify: (id?: string) => Promise<readonly { readonly id: string; readonly problem?: Problem }[]>;
  /** Whether a revision may be used under the policy as it is now, by the signature in its package. */
  readonly refusal: (bundle: InstalledBundle) => Problem | undefined;
  /** Forgets the bundle and removes its package. Its topics stay known (a topic ID is for ever), its store stays until asked for. */
  readonly remove: (id: string) => Promise<Result<InstalledBundle>>;
  /** Removes a staged package that never became active; one that has a record stays. */
  readonly discard: (bundle: InstalledBundle) => Promise<void>;
  /** At start: ends what a kill left half done (staging folders, packages without a record, records without a package). */
  readonly repair: () => Promise<readonly Problem[]>;
}
