/**
 * One component in service: its inbox, the batches in flight, and its instance, started again when it fails.
 *
 * A batch that traps is run again message by message, so that only the guilty one fails. A message whose effects
 * were refused or rolled back leaves the guest's memory ahead of its store, so the instance is started afresh and
 * what came after that message runs again on the fresh one.
 */
import { ok, type Problem, problem, type Result } from '../problems/index.ts';
import type { Activation, BatchResult, Handled } from '../sandbox/index.ts';
import type { BusComponent, EffectPorts, LaneState, LaneStatus, Prepared } from './edge.ts';
import { type Envelope, openInbox } from './inbox.ts';

/** Batches posted ahead, so that the worker never waits for the host. */
const inFlightBatches = 2;
const backoffFirstMs = 100;
const backoffLongestMs = 30_000;
/** Failures in a row, without one message handled between them, after which it is parked. */
const failuresToPark = 6;

export interface LaneHost {
  readonly ports: EffectPorts;
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
  readonly onState: (component: BusComponent, kind: string, problem?: Problem) => void;
  readonly onEased: () => void;
}

export interface Lane {
  readonly component: () => BusComponent;
  /** Starts an instance of a revision beside the one that serves. */
  readonly prepare: (next: BusComponent) => Promise<Result<Prepared>>;
  readonly offer: (envelope: Envelope) => void;
  readonly isFull: () => boolean;
  readonly waiting: () => number;
  readonly waitingOf: (flow: string) => number;
  readonly status: () => LaneStatus;
  readonly retry: () => Promise<Result<void>>;
  readonly stop: () => Promise<void>;
}

interface Flight {
  readonly batch: number;
  readonly envelopes: readonly Envelope[];
}
/** One instance's life; callbacks of an instance that was given up are told apart by it. */
interface Life {
  readonly activation: Activation;
  readonly flights: Flight[];
}

export const openLane = (first: BusComponent, host: LaneHost): Lane => {
  let component = first;
  let life: Life | undefined;
  let state: LaneState = 'starting';
  let restarts = 0;
  let failures = 0;
  let lastProblem: Problem | undefined;
  let pumpAsked = false;
  let holding = false;
  let backoff: NodeJS.Timeout | undefined;
  let onIdle: (() => void) | undefined;
  const inbox = openInbox();

  const bringUp = async (next: BusComponent): Promise<Result<Life>> => {
    const flights: Flight[] = [];
    let born: Life | undefined;
    const started = await next.start({
      onCall: (call, message) => host.ports.call(next.name, call, message),
      onResult: (batch, result) => {
        if (born !== undefined && born === life) settle(born, batch, result);
      },
      onGone: (gone) => {
        if (born !== undefined && born === life) lose(born, gone);
      },
    });
    if (!started.ok) return started;
    born = { activation: started.value, flights };
    return ok(born);
  };

  const serve = (next: Life) => {
    life = next;
    holding = false;
    state = 'running';
    pump();
  };

  const pump = () => {
    if (pumpAsked) return;
    pumpAsked = true;
    // After the turn in which messages arrive: what comes together is batched together.
    queueMicrotask(() => {
      pumpAsked = false;
      dispatch();
    });
  };

  const dispatch = () => {
    const current = life;
    if (current === undefined || holding) return;
    while (current.flights.length < inFlightBatches && inbox.size() > 0) {
      const lone =
        inbox.nextIsAlone() || current.flights.some((flight) => flight.envelopes[0]?.alone === true);
      if (lone && current.flights.length > 0) return;
      const envelopes = inbox.take(component.limits.batch);
      const batch = current.activation.handle(envelopes.map((envelope) => envelope.message));
      current.flights.push({ batch, envelopes });
    }
  };

  const settle = (current: Life, batch: number, result: BatchResult) => {
    const flight = current.flights.shift();
    if (flight === undefined || flight.batch !== batch)
      throw new Error(`${component.name}: results out of order`);
    if (!result.ok) return trapped(current, flight, result.problem);
    const { stoppedAt, problem: why } = host.commit(component, flight.envelopes, result.handled);
    const settled = stoppedAt ?? flight.envelopes.length;
    for (const envelope of flight.envelopes.slice(0, settled)) {
      host.ports.settleSpawns(component.name, envelope.message.id, true);
    }
    if (settled > 0) failures = 0;
    const guilty = flight.envelopes[settled];
    if (guilty !== undefined) {
      const rest = takeBack(current);
      rollBack([guilty, ...rest]);
      inbox.putBack([...flight.envelopes.slice(settled + 1), ...rest]);
      host.onFailed(component, guilty, why ?? problem('bus/message-failed'));
      abandon(current);
      void restart();
      return;
    }
    if (current.flights.length === 0) onIdle?.();
    host.onEased();
    pump();
  };

  /** None of the batch's effects happened. Alone, the message failed; else each is tried alone. */
  const trapped = (current: Life, flight: Flight, why: Problem) => {
    const rest = takeBack(current);
    rollBack([...flight.envelopes, ...rest]);
    const only = flight.envelopes.length === 1 ? flight.envelopes[0] : undefined;
    inbox.putBack(
      only === undefined
        ? [...flight.envelopes.map((envelope) => ({ ...envelope, alone: true })), ...rest]
        : rest,
    );
    if (only !== undefined) host.onFailed(component, only, why);
    abandon(current);
    fail(why);
  };

  const lose = (current: Life, why: Problem) => {
    const rest = takeBack(current);
    rollBack(rest);
    inbox.putBack(rest);
    abandon(current);
    fail(why);
  };

  const takeBack = (current: Life): readonly Envelope[] =>
    current.flights.splice(0).flatMap((flight) => flight.envelopes);

  const rollBack = (envelopes: readonly Envelope[]) => {
    for (const envelope of envelopes) host.ports.settleSpawns(component.name, envelope.message.id, false);
  };

  const abandon = (current: Life) => {
    if (life === current) life = undefined;
    void current.activation.stop();
    onIdle?.();
  };

  const fail = (why: Problem) => {
    failures += 1;
    lastProblem = why;
    host.onState(component, 'component-failed', why);
    if (failures >= failuresToPark) return park(why);
    void restart(failures < 2 ? 0 : Math.min(backoffFirstMs * 2 ** (failures - 2), backoffLongestMs));
  };

  const park = (why: Problem) => {
    state = 'parked';
    host.onState(component, 'component-parked', why);
    refuseWaiting(problem('bus/component-parked', { subject: component.name, evidence: why.message }));
  };

  const refuseWaiting = (why: Problem) => {
    for (const envelope of inbox.clear()) host.onFailed(component, envelope, why);
  };

  const restart = async (afterMs = 0): Promise<void> => {
    if (state === 'stopped') return;
    state = 'waiting';
    if (afterMs > 0) {
      await new Promise<void>((resolve) => {
        backoff = setTimeout(resolve, afterMs);
      });
    }
    if (isStopped()) return;
    const next = component;
    const begun = await bringUp(next);
    if (isStopped() || next !== component) {
      if (begun.ok) void begun.value.activation.stop();
      return;
    }
    restarts += 1;
    if (begun.ok) serve(begun.value);
    else fail(begun.problem);
  };
  const isStopped = () => state === 'stopped';

  /** Holds what waits; resolves when nothing is in flight, at the latest after the deadline of the batches. */
  const drained = async (): Promise<void> => {
    holding = true;
    if ((life?.flights.length ?? 0) > 0) {
      await new Promise<void>((resolve) => {
        const late = setTimeout(resolve, component.limits.callDeadlineMs * inFlightBatches);
        onIdle = () => {
          clearTimeout(late);
          resolve();
        };
      });
    }
    onIdle = undefined;
  };

  const takeOver = async (next: BusComponent, begun: Life): Promise<void> => {
    await drained();
    const old = life;
    if (old !== undefined) {
      const rest = takeBack(old);
      rollBack(rest);
      inbox.putBack(rest);
      void old.activation.stop();
    }
    component = next;
    failures = 0;
    lastProblem = undefined;
    serve(begun);
  };

  return {
    component: () => component,
    prepare: async (next) => {
      const begun = await bringUp(next);
      if (!begun.ok) return begun;
      return ok({
        serve: () => takeOver(next, begun.value),
        discard: () => begun.value.activation.stop(),
      });
    },
    offer: (envelope) => {
      if (state === 'parked' || state === 'stopped') {
        const code = state === 'parked' ? 'bus/component-parked' : 'bus/component-stopped';
        host.onFailed(component, envelope, problem(code, { subject: component.name }));
        return;
      }
      inbox.add(envelope);
      pump();
    },
    isFull: inbox.isFull,
    waiting: inbox.size,
    waitingOf: inbox.sizeOf,
    status: () => ({
      name: component.name,
      revision: component.revision,
      state,
      restarts,
      waiting: inbox.size(),
      ...(lastProblem === undefined ? {} : { problem: lastProblem }),
    }),
    retry: async () => {
      if (state !== 'parked') return ok(undefined);
      failures = 0;
      state = 'waiting';
      const begun = await bringUp(component);
      if (!begun.ok) {
        lastProblem = begun.problem;
        state = 'parked';
        return begun;
      }
      lastProblem = undefined;
      serve(begun.value);
      return ok(undefined);
    },
    stop: async () => {
      await drained();
      state = 'stopped';
      clearTimeout(backoff);
      const old = life;
      life = undefined;
      if (old !== undefined) {
        rollBack(takeBack(old));
        await old.activation.stop();
      }
      refuseWaiting(problem('bus/component-stopped', { subject: component.name }));
    },
  };
};
