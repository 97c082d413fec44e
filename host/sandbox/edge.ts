/** What other rooms see of the sandbox. */
import type { Problem, Result } from '../problems/index.ts';
import type { ComponentLimits } from './limits.ts';
import type { BatchResult, Message, SyncAnswer, SyncCall } from './protocol.ts';

/** A component that passed admission: generated and checked files in the cache, ready to be started. */
export interface AdmittedComponent {
  /** SHA-256 of the component's bytes, hex. */
  readonly digest: string;
  /** Folder of the generated files; its name is the cache key. */
  readonly folder: string;
  /** Platform interfaces it imports, `store`, `bus`, …, sorted. */
  readonly imports: readonly string[];
  /** The WIT release it was built against. */
  readonly wit: string;
  /** Set where a cached copy was not what had been written: what was found. It was generated again. */
  readonly discarded?: Problem;
}

export interface AdmissionOptions {
  /** The cache folder of the home. */
  readonly cache: string;
  /** Permissions the manifest asks for; an import that needs another one is refused. */
  readonly permissions: readonly string[];
  readonly limits: ComponentLimits;
}

/** Refuses a component before any generated code exists, or returns it transpiled (`sandbox/*` codes). */
export type AdmitComponent = (
  bytes: Uint8Array,
  options: AdmissionOptions,
) => Promise<Result<AdmittedComponent>>;

export interface ActivationOptions {
  readonly limits: ComponentLimits;
  /** Name for logs: `bundle:component`. */
  readonly name: string;
  /**
   * Answers a blocking call made while `message` was handled (the ID from `begin`, or the only one of the batch).
   * Called in order with `onResult`: results posted before it have been handed over.
   */
  readonly onCall: (call: SyncCall, message: string) => SyncAnswer | Promise<SyncAnswer>;
  /** The result of each batch, in the order of `handle`, called synchronously when it arrives. */
  readonly onResult: (batch: number, result: BatchResult) => void;
  /** The worker is gone without having been stopped: every batch in flight has had its failed result before. */
  readonly onGone: (reason: Problem) => void;
}

/** One running instance of one component revision, in a worker of its own. */
export interface Activation {
  /** Posts a batch; returns its number. Several may be in flight; they run one after the other. */
  readonly handle: (batch: readonly Message[]) => number;
  /** Ends the worker; resolves when it is gone. Calls nothing back. */
  readonly stop: () => Promise<void>;
}

export type StartActivation = (
  component: AdmittedComponent,
  options: ActivationOptions,
) => Promise<Result<Activation>>;
