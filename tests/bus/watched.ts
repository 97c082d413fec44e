/** A component whose instances are real, with what the lane does to them written down. */
import type { BusComponent } from '../../host/bus/index.ts';
import { ok, refuse } from '../../host/problems/index.ts';
import type { Message } from '../../host/sandbox/index.ts';

type Callbacks = Parameters<BusComponent['start']>[0];
export interface Life {
  /** Messages of each batch, as posted. */
  readonly batches: (readonly Message[])[];
  /** Most batches that were under way together. */
  mostInFlight: number;
  stopped: boolean;
  readonly callbacks: Callbacks;
  /** Ends the instance behind the lane's back. */
  end: () => Promise<void>;
}
export interface Watched {
  readonly component: BusComponent;
  readonly lives: readonly Life[];
  /** When each start was asked for, ms. */
  readonly starts: readonly number[];
  /** How many of the next starts fail. */
  failStarts: number;
  /** Where true, batches are taken and never answered. */
  mute: boolean;
  /** A start waits for this. */
  gate: Promise<void>;
}

export const watched = (real: BusComponent, more: Partial<BusComponent> = {}): Watched => {
  const lives: Life[] = [];
  const starts: number[] = [];
  const watch: Watched = {
    lives,
    starts,
    failStarts: 0,
    mute: false,
    gate: Promise.resolve(),
    component: {
      ...real,
      ...more,
      start: async (callbacks) => {
        starts.push(performance.now());
        await watch.gate;
        if (watch.failStarts > 0) {
          watch.failStarts -= 1;
          return refuse('sandbox/start-failed', { subject: real.name });
        }
        let inFlight = 0;
        let muted = 0;
        const life: Life = {
          batches: [],
          mostInFlight: 0,
          stopped: false,
          callbacks,
          end: async () => undefined,
        };
        const started = await real.start({
          ...callbacks,
          onResult: (batch, result) => {
            inFlight -= 1;
            callbacks.onResult(batch, result);
          },
        });
        if (!started.ok) return started;
        lives.push(life);
        life.end = started.value.stop;
        return ok({
          handle: (batch) => {
            life.batches.push(batch);
            inFlight += 1;
            life.mostInFlight = Math.max(life.mostInFlight, inFlight);
            if (!watch.mute) return started.value.handle(batch);
            muted -= 1;
            return muted;
          },
          stop: () => {
            life.stopped = true;
            return started.value.stop();
          },
        });
      },
    },
  };
  return watch;
};
