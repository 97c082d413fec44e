/** What other rooms see of the bus. */
import type { Limits } from '../policy/index.ts';
import type { Problem, Result } from '../problems/index.ts';
import type { Activation, ActivationOptions, LogLevel, SyncAnswer, SyncCall } from '../sandbox/index.ts';
import type { TopicRegistry } from './registry.ts';

/** One component revision, ready to be started. */
export interface BusComponent {
  /** `bundle:component`: its address, and the owner of its store. */
  readonly name: string;
  readonly bundle: string;
  /** The bundle's revision. */
  readonly revision: string;
  readonly handles: ReadonlySet<string>;
  readonly subscribes: ReadonlySet<string>;
  readonly publishes: ReadonlySet<string>;
  readonly limits: Limits;
  readonly start: (
    callbacks: Pick<ActivationOptions, 'onCall' | 'onResult' | 'onGone'>,
  ) => Promise<Result<Activation>>;
}

/** What the bus needs done once a message has committed, and the calls a guest blocks on. */
export interface EffectPorts {
  readonly log: (component: string, level: LogLevel, text: string) => void;
  readonly wake: (component: string, token: string, afterMs: number) => void;
  readonly write: (component: string, process: string, text: string) => void;
  readonly kill: (component: string, process: string) => void;
  readonly release: (component: string, terminal: string) => void;
  readonly owns: (component: string, process: string) => boolean;
  /** What was started while `message` was handled stays (`kept`) or is ended. */
  readonly settleSpawns: (component: string, message: string, kept: boolean) => void;
  readonly call: (component: string, call: SyncCall, message: string) => SyncAnswer | Promise<SyncAnswer>;
}

/** An instance that is ready and serves nothing yet. */
export interface Prepared {
  /** Takes over once the one that serves has nothing in flight, with everything that waits. */
  readonly serve: () => Promise<void>;
  readonly discard: () => Promise<void>;
}

export type LaneState = 'starting' | 'running' | 'waiting' | 'parked' | 'stopping' | 'stopped';

export interface LaneStatus {
  readonly name: string;
  readonly revision: string;
  readonly state: LaneState;
  /** Starts beyond the first since it was attached. */
  readonly restarts: number;
  readonly waiting: number;
  /** Messages the component has been given and has not answered. */
  readonly inFlight: number;
  /** Why it does not run, or the last limit or fault it met. */
  readonly problem?: Problem;
}

export interface Bus {
  readonly topics: TopicRegistry;
  /**
   * Starts a component beside what serves now; fails with what stopped it from starting, and then nothing changed.
   * `serve` takes it into service: a revision of the same name takes over with everything that waits.
   */
  readonly prepare: (component: BusComponent) => Promise<Result<Prepared>>;
  /**
   * Takes it out of service: what waits and what comes is refused at once, what it handles is finished. Resolves when
   * the last call has ended, which takes as long as the deadline of its batches at most; those it exchanged
   * commands with are told by `station.left`.
   */
  readonly detach: (name: string) => Promise<void>;
  /** Starts a parked component again. */
  readonly retry: (name: string) => Promise<Result<void>>;
  /** A command from outside; resolves with the reply. `source` is stamped on it. */
  readonly command: (
    topic: string,
    payload: unknown,
    options: { readonly source: string; readonly to?: string },
  ) => Promise<Result<unknown>>;
  /** A message from the station itself, `station.…`, to one component. Never refused: see `hasRoom`. */
  readonly tell: (component: string, topic: string, payload: unknown, flow?: string) => void;
  /** Whether the source of a flow of messages for this component may go on; `onEased` says when to look again. */
  readonly hasRoom: (component: string, flow: string) => boolean;
  readonly onEased: (listener: () => void) => void;
  /** A component is parked: out of service, as if it had left, until a retry; those it exchanged commands with are told. */
  readonly onParked: (listener: (name: string) => void) => void;
  /** Events of a topic as they are committed, with the component that published each. Returns the way to stop. */
  readonly listen: (topic: string, listener: (event: unknown, source: string) => void) => () => void;
  readonly status: () => readonly LaneStatus[];
  /** Stops every component, each as `detach` does. */
  readonly close: () => Promise<void>;
}
