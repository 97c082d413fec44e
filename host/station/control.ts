/**
 * What a client may ask a station over its control socket: lines of JSON.
 *
 *   → {"id": 1, "method": "session.say", "params": {…}}
 *   ← {"id": 1, "result": …}  or  {"id": 1, "problem": {…}}
 *   ← {"id": 1, "event": …}   any number before the result, for a method that follows
 */
import type { output } from 'zod';
import type { sessions } from '../../contracts/topics/index.ts';
import type { Problem } from '../problems/index.ts';

type Request<T extends { request: import('zod').ZodType }> = output<T['request']>;
type Reply<T extends { reply: import('zod').ZodType }> = output<T['reply']>;

export interface TranscriptEntry {
  readonly seq: number;
  readonly at: number;
  readonly role: string;
  readonly id?: string;
  readonly state?: string;
  readonly text: string;
}

export interface ComponentStatus {
  readonly id: string;
  readonly state: 'running' | 'starting' | 'failed' | 'parked';
  readonly restarts: number;
  readonly problem?: Problem;
}
export interface BundleStatus {
  readonly id: string;
  readonly version: string;
  readonly revision: string;
  readonly skills: readonly string[];
  readonly topics: number;
  readonly components: readonly ComponentStatus[];
  /** Permissions its components ask for that policy does not grant. */
  readonly ungranted: readonly string[];
  readonly problem?: Problem;
}
export interface StationStatus {
  readonly pid: number;
  readonly home: string;
  readonly version: string;
  readonly startedAt: number;
  readonly policyRevision: string;
  readonly policyProblems: readonly Problem[];
  readonly bundles: readonly BundleStatus[];
  readonly sessions: Readonly<Record<string, number>>;
  readonly processes: number;
}

type Session = output<typeof sessions.sessionRecord>;
type Summary = output<typeof sessions.list.reply>['sessions'][number];

export interface ControlMethods {
  status: { params: Record<string, never>; result: StationStatus };
  /** Answers once everything is stopped; the socket closes after it. */
  down: { params: Record<string, never>; result: { stopped: true } };
  'bundle.install': { params: { source: string }; result: BundleStatus };
  'bundle.list': { params: Record<string, never>; result: { bundles: readonly BundleStatus[] } };
  'bundle.verify': {
    params: { id?: string };
    result: { bundles: readonly { id: string; problem?: Problem }[] };
  };
  'bundle.retry': { params: { component: string }; result: BundleStatus };
  'bundle.uninstall': { params: { id: string }; result: { id: string; revision: string } };
  'policy.show': {
    params: Record<string, never>;
    result: { file: string; revision: string; text: string; problems: readonly Problem[] };
  };
  /** Waits until the session is `idle`, `not-ready` or `ended` (at most `waitMs`). */
  'session.create': { params: Request<typeof sessions.create> & { waitMs?: number }; result: Session };
  /** With `wait`, follows the turn: transcript entries as events, and the turn's end as the result. */
  'session.say': {
    params: Request<typeof sessions.say> & { wait?: boolean };
    event: TranscriptEntry;
    result: Reply<typeof sessions.say> & { stopReason?: string; state?: string };
  };
  'session.list': { params: Record<string, never>; result: { sessions: readonly Summary[] } };
  'session.show': { params: { id: string }; result: Session };
  /** Entries are events when the caller follows, and when they are too many for one answer. */
  'session.transcript': {
    params: { id: string; follow?: boolean };
    event: TranscriptEntry;
    result: { entries: readonly TranscriptEntry[] };
  };
  'session.respond': { params: Request<typeof sessions.respond>; result: Record<string, never> };
  'session.cancel': { params: { id: string }; result: Record<string, never> };
  'session.close': { params: { id: string; waitMs?: number }; result: Session };
}

export type Method = keyof ControlMethods;
export type Params<M extends Method> = ControlMethods[M]['params'];
export type MethodResult<M extends Method> = ControlMethods[M]['result'];
export type MethodEvent<M extends Method> = ControlMethods[M] extends { event: infer E } ? E : never;

/** Longest line either side accepts, bytes. */
export const controlLineBytes = 16 * 1024 * 1024;
