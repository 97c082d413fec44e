/**
 * The batches an instance has in flight, and what becomes of what comes back.
 *
 * A batch that traps is run again message by message, so that only the guilty one fails. A message whose effects
 * were refused or rolled back leaves the guest's memory ahead of its store, so the instance is given up and what came
 * after that message runs again on a fresh one.
 */
import { type Problem, problem } from '../problems/index.ts';
import type { Activation, BatchResult, Handled } from '../sandbox/index.ts';
import type { BusComponent, EffectPorts } from './edge.ts';
import type { Envelope, Inbox } from './inbox.ts';

/** Batches posted ahead, so that the worker never waits for the host. */
export const inFlightBatches = 2;
/**
 * A lane is shared from when several flows wait in it, one with a backlog, until that was not so for this long, ms. Then
 * batches are short, one is in flight, and each flow gives a few messages to it: what a flow waits for is what the others have
 * under way. The more often it is seen so, the shorter they are: one reader beside a flood is no reason to slow the flood down.
 */
const sharedMs = 250;
const sharedFlights = 1;
const sharedTurn = 3;
/** `seen` so often in about `sharedMs`: 30 to 50 with one reader, 60 and more with another session at work (decision 0024). */
const sharedBatch = (seen: number): number => Math.max(8, Math.round(16 - seen / 8));

export interface LaneHost {
  readonly ports: EffectPorts;
  readonly now: () => number;
  /**
   * Commits what a batch came to, in order. `stoppedAt` is the first message whose effects were not kept: those
   * before it are settled, it has `problem`, those after it have not happened.
   */
  readonly commit: (
    component: BusComponent,
    envelopes: readonly Envelope[],
    handled: readonly Handled[],
  ) => { readonly stoppedAt?: number; readonly problem?: Problem };
  readonly onFailed: (component: BusComponent, envelope: Envelope, problem: Problem) => void;
  readonly onState: (
    component: BusComponent,
    kind: 'start' | 'fail' | 'park' | 'limit',
    problem?: Problem,
  ) => void;
  readonly onEased: () => void;
}

export interface Flight {
  readonly batch: number;
  readonly envelopes: readonly Envelope[];
}
/** One instance's life; callbacks of an instance that was given up are told apart by it. */
export interface Life {
  readonly activation: Activation;
  readonly flights: Flight[];
}

export interface FlightsOptions {
  readonly host: LaneHost;
  readonly inbox: Inbox;
  readonly component: () => BusComponent;
  /** Set once it stops: what comes back will not run again. */
  readonly stopped: () => Problem | undefined;
  readonly onWorked: () => void;
  /** A batch is done with. */
  readonly onSettled: (life: Life) => void;
  /** The instance must be given up: it failed by itself, or a message of it was rolled back. */
  readonly onTrapped: (life: Life, why: Problem) => void;
  readonly onRolledBack: (life: Life, why: Problem) => void;
}

export interface Flights {
  /** Sends what waits, as far ahead as may be. */
  readonly dispatch: (life: Life) => void;
  readonly settle: (life: Life, batch: number, result: BatchResult) => void;
  /** Everything in flight is rolled back and waits again. */
  readonly giveUp: (life: Life) => void;
}

export const openFlights = (options: FlightsOptions): Flights => {
  const { host, inbox, component, stopped } = options;
  /** When the lane was last seen shared, and how often lately. */
  let sharedAt = Number.NEGATIVE_INFINITY;
  let seen = 0;

  const takeBack = (current: Life): readonly Envelope[] =>
    current.flights.splice(0).flatMap((flight) => flight.envelopes);

  /** To the front of the inbox; one that stops will not run them again. */
  const giveBack = (envelopes: readonly Envelope[]) => {
    const why = stopped();
    if (why === undefined) inbox.putBack(envelopes);
    else for (const envelope of envelopes) host.onFailed(component(), envelope, why);
  };

  const rollBack = (envelopes: readonly Envelope[]) => {
    for (const envelope of envelopes) host.ports.settleSpawns(component().name, envelope.message.id, false);
  };

  const dispatch = (current: Life) => {
    const now = performance.now();
    if (inbox.isShared()) {
      seen = seen * Math.exp((sharedAt - now) / sharedMs) + 1;
      sharedAt = now;
    }
    const shared = now - sharedAt < sharedMs;
    const ahead = shared ? sharedFlights : inFlightBatches;
    const { batch: usual } = component().limits;
    const most = shared ? Math.min(usual, sharedBatch(seen)) : usual;
    while (current.flights.length < ahead && inbox.size() > 0) {
      const lone =
        inbox.nextIsAlone() || current.flights.some((flight) => flight.envelopes[0]?.alone === true);
      if (lone && current.flights.length > 0) return;
      const envelopes = inbox.take(most, shared ? sharedTurn : most);
      const batch = current.activation.handle(envelopes.map((envelope) => envelope.message));
      current.flights.push({ batch, envelopes });
    }
  };

  const settle = (current: Life, batch: number, result: BatchResult) => {
    const flight = current.flights.shift();
    if (flight === undefined || flight.batch !== batch)
      throw new Error(`${component().name}: results out of order`);
    if (!result.ok) return trapped(current, flight, result.problem);
    const { stoppedAt, problem: why } = host.commit(component(), flight.envelopes, result.handled);
    const settled = stoppedAt ?? flight.envelopes.length;
    for (const envelope of flight.envelopes.slice(0, settled)) {
      host.ports.settleSpawns(component().name, envelope.message.id, true);
    }
    if (settled > 0) options.onWorked();
    const guilty = flight.envelopes[settled];
    if (guilty !== undefined) {
      rollBackFrom(
        current,
        guilty,
        flight.envelopes.slice(settled + 1),
        why ?? problem('bus/message-failed'),
      );
      return;
    }
    options.onSettled(current);
  };

  /** A message whose effects were refused: it failed, and what came after it runs again on a fresh instance. */
  const rollBackFrom = (current: Life, guilty: Envelope, after: readonly Envelope[], why: Problem) => {
    const rest = takeBack(current);
    rollBack([guilty, ...after, ...rest]);
    giveBack([...after, ...rest]);
    if (guilty.onFate !== undefined) host.onState(component(), 'fail', why);
    host.onFailed(component(), guilty, why);
    options.onRolledBack(current, why);
  };

  /** None of the batch's effects happened. Alone, the message failed; else each is tried alone. */
  const trapped = (current: Life, flight: Flight, why: Problem) => {
    const rest = takeBack(current);
    rollBack([...flight.envelopes, ...rest]);
    const only = flight.envelopes.length === 1 ? flight.envelopes[0] : undefined;
    giveBack(
      only === undefined
        ? [...flight.envelopes.map((envelope) => ({ ...envelope, alone: true })), ...rest]
        : rest,
    );
    if (only !== undefined) host.onFailed(component(), only, why);
    options.onTrapped(current, why);
  };

  return {
    dispatch,
    settle,
    giveUp: (current) => {
      const rest = takeBack(current);
      rollBack(rest);
      giveBack(rest);
    },
  };
};
