/**
 * Every shape that crosses between the host and a component's worker, in one file.
 *
 * The host posts batches; the worker answers each with one result, in order. While a batch runs, effects are
 * collected in the worker and travel with the result; the calls of `SyncCall` need an answer and block the guest.
 */
import type { Problem } from '../problems/index.ts';

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
  | { readonly kind: 'kill'; readonly process: string };

export type Outcome =
  | { readonly tag: 'done' }
  | { readonly tag: 'replied'; readonly reply: string }
  | { readonly tag: 'failed'; readonly problem: Problem };

/** What one message of a batch came to, and what it asks for. */
export interface Handled {
  readonly outcome: Outcome;
  readonly effects: readonly Effect[];
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
  | { readonly call: 'session-context.servers'; readonly agent: string }
  | { readonly call: 'session-context.place-skills'; readonly cwd: string; readonly sink: string };

/** The answer, as the JSON value the WIT type has in JavaScript (`null` for an absent option). */
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
