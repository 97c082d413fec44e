/**
 * What one release of the platform's interfaces is to the sandbox: what admission compares a component with, and what
 * a worker gives it. One file a release, `since-<version>.ts`; a file that was released changes only to keep what it
 * promises while the host around it moves.
 */
import type { SyncAnswer, SyncCall } from '../protocol.ts';
import type { Ledger } from '../worker/ledger.ts';

/** One interface: its types and functions, each written out as `admission/types.ts` writes them. */
export interface Interface {
  readonly types: Readonly<Record<string, string>>;
  readonly funcs: Readonly<Record<string, string>>;
}

/** Implementations as generated code asks for them: `bearpunch:station/log` → `write`, in camel case. */
export type Imports = Readonly<Record<string, Readonly<Record<string, unknown>>>>;
export type Ask = (call: SyncCall) => SyncAnswer;

export interface Release {
  /** As in `wit/<version>/` and in the names of a component's imports. */
  readonly version: string;
  /** Every interface a component may import, by its short name. */
  readonly imports: Readonly<Record<string, Interface>>;
  /** What it must export. */
  readonly component: Interface;
  /** Runs in the worker: effects go into the ledger, what needs an answer asks the host and blocks. */
  readonly serve: (ledger: Ledger, ask: Ask) => Imports;
}
