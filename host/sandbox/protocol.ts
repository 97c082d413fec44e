/**
 * Every shape that crosses between the host and a component's worker, in one file.
 *
 * The host posts batches; the worker answers each with one result, in order. While a batch runs, effects are
 * collected in the worker and travel with the result; the calls of `SyncCall` need an answer and block the guest.
 */
import type { MessagePort } from 'node:worker_threads';
import type { Problem } from '../problems/index.ts';
import type { ComponentLimits } from './limits.ts';

export interface Message {
  readonly id: string;
  readonly topic: string;
  /** JSON text. */
  readonly payload: string;
  /** `bundle:component`, or `station`, or `station:<who>`. */
  readonly source: string;
  /** Milliseconds since 1970. */
  readonly at: number;
}

export type LogLevel = 'debug' | 'info' | 'warn' | 'error';

/** What a guest asked for; nothing of it has happened yet. */
export type Effect =
  | { readonly kind: 'log'; readonly level: LogLevel; readonly text: string }
  | { readonly kind: 'wake'; readonly token: string; readonly afterMs: number }
  | { readonly kind: 'put'; readonly key: string; readonly value: string }
  | { readonly kind: 'remove'; readonly key: string }
  | {
      readonly kind: 'publish';
      readonly topic: string;
      readonly payload: string;
      readonly to: string | null;
      readonly token: string | null;
    }
  | { readonly kind: 'write'; readonly process: string; readonly text: string }
  | { readonly kind: 'kill'; readonly process: string }
  /** A terminal, whose output is not wanted any more. */
  | { readonly kind: 'release'; readonly process: string };

export type Outcome =
  | { readonly tag: 'done' }
  | { readonly tag: 'replied'; readonly reply: string }
  | { readonly tag: 'failed'; readonly problem: Problem };

/** What one message of a batch came to, and what it asks for. */
export interface Handled {
  readonly outcome: Outcome;
  readonly effects: readonly Effect[];
}

export interface TerminalCommand {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: readonly { readonly name: string; readonly value: string }[];
  readonly cwd: string | null;
  readonly outputBytes: number | null;
}

/** A call that blocks the guest until the host has answered. */
export type SyncCall =
  | { readonly call: 'store.get'; readonly key: string }
  | {
      readonly call: 'store.scan';
      readonly prefix: string;
      readonly after: string | null;
      readonly limit: number;
    }
  | { readonly call: 'process.spawn'; readonly program: string; readonly cwd: string }
  | { readonly call: 'workspace.offered'; readonly process: string; readonly agent: string }
  | {
      readonly call: 'workspace.read';
      readonly process: string;
      readonly agent: string;
      readonly path: string;
      readonly line: number | null;
      readonly limit: number | null;
    }
  | {
      readonly call: 'workspace.write';
      readonly process: string;
      readonly agent: string;
      readonly path: string;
      readonly content: string;
    }
  | {
      readonly call: 'terminals.create';
      readonly process: string;
      readonly agent: string;
      readonly command: TerminalCommand;
    }
  | { readonly call: 'terminals.output'; readonly terminal: string }
  | { readonly call: 'session-context.servers'; readonly agent: string }
  | {
      readonly call: 'session-context.servers-for';
      readonly session: string;
      readonly agent: string;
      readonly cwd: string;
      readonly mcpConfig: string | null;
    }
  | { readonly call: 'session-context.place-skills'; readonly cwd: string; readonly sink: string }
  | { readonly call: 'session-context.outside'; readonly cwd: string; readonly paths: readonly string[] };

/**
 * The answer as a JSON value, `null` for an absent option: `store.get` text or null, `store.scan` a list of
 * `StoreEntry`, `process.spawn` the process ID, `workspace.offered` three booleans, `workspace.read` text,
 * `workspace.write` null, `terminals.create` the terminal's ID, `terminals.output` `{text, truncated, exit}`,
 * `session-context.*` the shapes of `host/context/edge.ts`. The worker
 * makes the values of the WIT types of them (`worker/shapes.ts`).
 */
export type SyncAnswer =
  | { readonly ok: true; readonly value: unknown }
  | { readonly ok: false; readonly problem: Problem };

export interface StoreEntry {
  readonly key: string;
  readonly value: string;
}

/**
 * The result of a batch. `trapped` names the message during which the guest stopped where that is known; none of
 * the batch's effects may be used then, and the activation is gone.
 */
export type BatchResult =
  | { readonly ok: true; readonly handled: readonly Handled[] }
  | { readonly ok: false; readonly problem: Problem; readonly trapped?: string };

/** What the host posts to a running worker. */
export interface BatchPost {
  readonly batch: number;
  readonly messages: readonly Message[];
}

/** Why a guest was stopped, as its worker says it; the host makes the problem of it. */
export interface Fault {
  /** A registered problem code. */
  readonly code: string;
  readonly evidence: string;
}

/** What a worker makes of a batch; `trapped` as in `BatchResult`. */
export type WorkerResult =
  | { readonly ok: true; readonly handled: readonly Handled[] }
  | { readonly ok: false; readonly fault: Fault; readonly trapped?: string };

/** What a worker posts. A `call` is answered over the answer port, and the signal is raised after it. */
export type WorkerPost =
  | { readonly kind: 'ready' }
  | { readonly kind: 'failed'; readonly fault: Fault }
  | { readonly kind: 'result'; readonly batch: number; readonly result: WorkerResult }
  | { readonly kind: 'call'; readonly call: SyncCall; readonly message: string };

/** The answer as it is posted: its JSON text, so that nothing but data crosses. */
export interface AnswerPost {
  readonly answer: string;
}

/** Cells of the shared signal. */
export const signal = {
  /** Raised to 1 with an answer, lowered by the worker that took it. */
  answered: 0,
  /** Number of the batch being handled. */
  batch: 1,
  /** 1 + place of the message in it that `bus.begin` named last, 0 before any. */
  message: 2,
  cells: 3,
} as const;

/** What a worker is started with. */
export interface WorkerStart {
  readonly glue: string;
  readonly modules: readonly (readonly [string, unknown])[];
  /** The WIT release the component was built against: which adapter serves it. */
  readonly wit: string;
  /** WASI interfaces it imports, `io/streams`, …, and where the shim's in-process build lies. */
  readonly wasi: readonly string[];
  readonly shim: string;
  readonly limits: ComponentLimits;
  readonly signal: SharedArrayBuffer;
  readonly answers: MessagePort;
}
