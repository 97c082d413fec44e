/**
 * One component in service: its inbox, the batches in flight, and its instance, started again when it fails.
 *
 * A batch that traps is run again message by message, so that only the guilty one fails. A message whose effects
 * were refused or rolled back leaves the guest's memory ahead of its store, so the instance is started afresh and
 * what came after that message runs again on the fresh one. One that is asked to stop takes nothing more, finishes
 * what is in flight (each batch has a deadline) and is gone.
 */
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import type { Activation, BatchResult, Handled } from '../sandbox/index.ts';
import type { BusComponent, EffectPorts, LaneState, LaneStatus, Prepared } from './edge.ts';
import { type Envelope, openInbox } from './inbox.ts';
import { openRestarts, type Verdict } from './restarts.ts';

/** Batches posted ahead, so that the worker never waits for the host. */
const inFlightBatches = 2;
/**
 * A lane is shared from when several flows wait in it, one with a backlog, until that was not so for this long, ms. Then
 * batches are short, one is in flight, and each flow gives a few messages to it: what a flow waits for is what the others have
 * under way.
 */
const sharedMs = 250;
const sharedFlights = 1;
const sharedBatch = 24;
const sharedTurn = 4;
/** The same limit reached again within this time is not told again, ms. */
const tellAgainMs = 60_000;

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

export interface Lane {
  readonly component: () => BusComponent;
  /** Starts an instance of a revision beside the one that serves. */
  readonly prepare: (next: BusComponent) => Promise<Result<Prepared>>;
  readonly offer: (envelope: Envelope) => void;
  /** Why it takes no more messages, or undefined; `coming` are on their way to it. Being full is told and shown. */
  readonly fullness: (coming?: number) => Problem | undefined;
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
  let restarted = 0;
  let lastProblem: Problem | undefined;
  let pumpAsked = false;
  let holding = false;
  /** When it was last seen shared. */
  let sharedAt = Number.NEGATIVE_INFINITY;
  let backoff: NodeJS.Timeout | undefined;
  /** Counts what may bring an instance up; one that was overtaken meanwhile gives its instance up. */
  let attempt = 0;
  let stopping: Promise<void> | undefined;
  let onIdle: (() => void)[] = [];
  const toldAt = new Map<string, number>();
  const restarts = openRestarts();
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
    attempt += 1;
    clearTimeout(backoff);
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
    if (inbox.isShared()) sharedAt = performance.now();
    const shared = performance.now() - sharedAt < sharedMs;
    const ahead = shared ? sharedFlights : inFlightBatches;
    const most = shared ? Math.min(component.limits.batch, sharedBatch) : component.limits.batch;
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
      throw new Error(`${component.name}: results out of order`);
    if (!result.ok) return trapped(current, flight, result.problem);
    const { stoppedAt, problem: why } = host.commit(component, flight.envelopes, result.handled);
    const settled = stoppedAt ?? flight.envelopes.length;
    for (const envelope of flight.envelopes.slice(0, settled)) {
      host.ports.settleSpawns(component.name, envelope.message.id, true);
    }
    if (settled > 0) restarts.worked();
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
    if (current.flights.length === 0) tellIdle();
    host.onEased();
    pump();
  };

  /** A message whose effects were refused: it failed, and what came after it runs again on a fresh instance. */
  const rollBackFrom = (current: Life, guilty: Envelope, after: readonly Envelope[], why: Problem) => {
    const rest = takeBack(current);
    rollBack([guilty, ...after, ...rest]);
    giveBack([...after, ...rest]);
    lastProblem = why;
    if (guilty.onFate !== undefined) host.onState(component, 'fail', why);
    host.onFailed(component, guilty, why);
    abandon(current);
    goOn(restarts.replaced(why, host.now(), component.limits.restartsPerHour));
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
    if (only !== undefined) host.onFailed(component, only, why);
    abandon(current);
    fail(why);
  };

  const lose = (current: Life, why: Problem) => {
    const rest = takeBack(current);
    rollBack(rest);
    giveBack(rest);
    abandon(current);
    fail(why);
  };

  const takeBack = (current: Life): readonly Envelope[] =>
    current.flights.splice(0).flatMap((flight) => flight.envelopes);

  /** To the front of the inbox; one that stops will not run them again. */
  const giveBack = (envelopes: readonly Envelope[]) => {
    if (stopping === undefined) inbox.putBack(envelopes);
    else for (const envelope of envelopes) host.onFailed(component, envelope, stoppedProblem());
  };

  const rollBack = (envelopes: readonly Envelope[]) => {
    for (const envelope of envelopes) host.ports.settleSpawns(component.name, envelope.message.id, false);
  };

  const abandon = (current: Life) => {
    if (life === current) life = undefined;
    void current.activation.stop();
    tellIdle();
  };
  const tellIdle = () => {
    for (const told of onIdle.splice(0)) told();
  };

  const fail = (why: Problem) => {
    lastProblem = why;
    host.onState(component, 'fail', why);
    goOn(restarts.failed(why, host.now(), component.limits.restartsPerHour));
  };

  const goOn = (verdict: Verdict) => {
    if (stopping !== undefined) return;
    if ('park' in verdict) park(verdict.park);
    else void restart(verdict.afterMs);
  };

  const park = (why: Problem) => {
    attempt += 1;
    state = 'parked';
    lastProblem = why.subject === undefined ? { ...why, subject: component.name } : why;
    host.onState(component, 'park', lastProblem);
    refuseWaiting(problem('bus/component-parked', { subject: component.name, evidence: why.message }));
    host.onEased();
  };

  const refuseWaiting = (why: Problem) => {
    for (const envelope of inbox.clear()) host.onFailed(component, envelope, why);
  };
  const stoppedProblem = () => problem('bus/component-stopped', { subject: component.name });

  const restart = async (afterMs: number): Promise<void> => {
    attempt += 1;
    const mine = attempt;
    state = 'waiting';
    if (afterMs > 0) {
      await new Promise<void>((resolve) => {
        backoff = setTimeout(resolve, afterMs);
      });
    }
    if (mine !== attempt) return;
    const begun = await bringUp(component);
    if (mine !== attempt) {
      if (begun.ok) void begun.value.activation.stop();
      return;
    }
    restarted += 1;
    if (!begun.ok) return fail(begun.problem);
    serve(begun.value);
    host.onState(component, 'start');
  };

  /** Resolves when nothing is in flight, or after `withinMs`. */
  const idle = async (withinMs?: number): Promise<void> => {
    if ((life?.flights.length ?? 0) === 0) return;
    let late: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      onIdle = [...onIdle, resolve];
      if (withinMs !== undefined) late = setTimeout(resolve, withinMs);
    });
    clearTimeout(late);
  };

  const takeOver = async (next: BusComponent, begun: Life): Promise<void> => {
    holding = true;
    await idle(component.limits.callDeadlineMs * inFlightBatches);
    if (stopping !== undefined) return begun.activation.stop();
    const old = life;
    if (old !== undefined) {
      const rest = takeBack(old);
      rollBack(rest);
      inbox.putBack(rest);
      void old.activation.stop();
    }
    // A restart of the old one that is under way is not wanted any more.
    attempt += 1;
    clearTimeout(backoff);
    component = next;
    restarts.reset();
    lastProblem = undefined;
    serve(begun);
  };

  const end = async (): Promise<void> => {
    attempt += 1;
    clearTimeout(backoff);
    state = 'stopping';
    refuseWaiting(stoppedProblem());
    // Its deadlines end what it handles; this bound is for an instance that answers nothing at all.
    await idle(component.limits.callDeadlineMs * inFlightBatches);
    state = 'stopped';
    const old = life;
    life = undefined;
    if (old === undefined) return;
    const rest = takeBack(old);
    rollBack(rest);
    giveBack(rest);
    await old.activation.stop();
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
      if (state === 'parked') {
        const why = problem('bus/component-parked', { subject: component.name });
        return host.onFailed(component, envelope, why);
      }
      if (stopping !== undefined) return host.onFailed(component, envelope, stoppedProblem());
      inbox.add(envelope);
      pump();
    },
    fullness: (coming = 0) => {
      const { inbox: most } = component.limits;
      if (!inbox.isFull(most, coming)) return undefined;
      const why = problem('bus/inbox-full', {
        subject: component.name,
        evidence: `${inbox.size()} waiting; ${most} are allowed (inbox)`,
      });
      lastProblem = why;
      if (host.now() - (toldAt.get(why.code) ?? Number.NEGATIVE_INFINITY) >= tellAgainMs) {
        toldAt.set(why.code, host.now());
        host.onState(component, 'limit', why);
      }
      return why;
    },
    waiting: inbox.size,
    waitingOf: inbox.sizeOf,
    status: () => ({
      name: component.name,
      revision: component.revision,
      state,
      restarts: restarted,
      waiting: inbox.size(),
      inFlight: life?.flights.reduce((sum, { envelopes }) => sum + envelopes.length, 0) ?? 0,
      ...(lastProblem === undefined ? {} : { problem: lastProblem }),
    }),
    retry: async () => {
      if (state !== 'parked') return ok(undefined);
      attempt += 1;
      const mine = attempt;
      state = 'waiting';
      const begun = await bringUp(component);
      if (mine !== attempt) {
        if (begun.ok) void begun.value.activation.stop();
        return refuse('bus/component-stopped', { subject: component.name });
      }
      if (!begun.ok) {
        lastProblem = begun.problem;
        state = 'parked';
        return begun;
      }
      restarts.reset();
      lastProblem = undefined;
      serve(begun.value);
      return ok(undefined);
    },
    stop: () => {
      stopping ??= end();
      return stopping;
    },
  };
};
