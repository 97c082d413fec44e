/**
 * One component in service: its inbox and its instance, started again when it fails, replaced by one of a newer
 * revision, parked where it keeps failing. One that is asked to stop takes nothing more, finishes what is in flight
 * (each batch has a deadline) and is gone.
 */
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import type { BusComponent, LaneState, LaneStatus, Prepared } from './edge.ts';
import { type Flight, inFlightBatches, type LaneHost, type Life, openFlights } from './flights.ts';
import { type Envelope, openInbox } from './inbox.ts';
import { openRestarts, type Verdict } from './restarts.ts';

/** The same limit reached again within this time is not told again, ms. */
const tellAgainMs = 60_000;

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

export const openLane = (first: BusComponent, host: LaneHost): Lane => {
  let component = first;
  let life: Life | undefined;
  let state: LaneState = 'starting';
  let restarted = 0;
  let lastProblem: Problem | undefined;
  let pumpAsked = false;
  let holding = false;
  let backoff: NodeJS.Timeout | undefined;
  /** Counts what may bring an instance up; one that was overtaken meanwhile gives its instance up. */
  let attempt = 0;
  let stopping: Promise<void> | undefined;
  let onIdle: (() => void)[] = [];
  const toldAt = new Map<string, number>();
  const restarts = openRestarts();
  const inbox = openInbox();

  const flights = openFlights({
    host,
    inbox,
    component: () => component,
    stopped: () => (stopping === undefined ? undefined : stoppedProblem()),
    onWorked: restarts.worked,
    onSettled: (current) => {
      if (current.flights.length === 0) tellIdle();
      host.onEased();
      pump();
    },
    onTrapped: (current, why) => {
      abandon(current);
      fail(why);
    },
    onRolledBack: (current, why) => {
      lastProblem = why;
      abandon(current);
      goOn(restarts.replaced(why, host.now(), component.limits.restartsPerHour));
    },
  });

  const bringUp = async (next: BusComponent): Promise<Result<Life>> => {
    const own: Flight[] = [];
    let born: Life | undefined;
    const started = await next.start({
      onCall: (call, message) => host.ports.call(next.name, call, message),
      onResult: (batch, result) => {
        if (born !== undefined && born === life) flights.settle(born, batch, result);
      },
      onGone: (gone) => {
        if (born !== undefined && born === life) lose(born, gone);
      },
    });
    if (!started.ok) return started;
    born = { activation: started.value, flights: own };
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
      if (life !== undefined && !holding) flights.dispatch(life);
    });
  };

  const lose = (current: Life, why: Problem) => {
    flights.giveUp(current);
    abandon(current);
    fail(why);
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
      flights.giveUp(old);
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
    flights.giveUp(old);
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
