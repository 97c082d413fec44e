/**
 * The closed WASI world: clocks, random numbers, standard streams. Streams and errors are the in-process build of
 * preview2-shim; waiting is ours, since a guest here is synchronous and has no timers. Input is at its end, output
 * becomes log effects line by line. Nothing else of WASI exists (`admission/platform/wasi-0.2.ts`).
 */

import type { LogLevel } from '../protocol.ts';
import type { Imports } from '../releases/index.ts';
import { HostFault } from './arguments.ts';

interface Pollable {
  readonly ready: () => boolean;
}
interface StreamHandler {
  readonly [name: string]: unknown;
}
/** What is used of the shim's `io.js`. */
export interface ShimIo {
  readonly error: Readonly<Record<string, unknown>>;
  readonly streams: Readonly<Record<string, unknown>>;
  readonly poll: { readonly Pollable: { readonly prototype: object } };
  readonly inputStreamCreate: (handler: StreamHandler) => unknown;
  readonly outputStreamCreate: (handler: StreamHandler) => unknown;
  readonly pollableCreate: (source?: { ready: () => boolean; wait: () => unknown }) => Pollable;
}

/** Most random bytes of one call. */
const randomBytes = 65_536;
/** A line of output is cut into log entries of at most this many UTF-16 units. */
const lineUnits = 8_192;
/** Longest single sleep between looks at the clock, ms; the deadline of the batch ends any wait. */
const napMs = 1_000;

const u64 = (value: unknown, place: string): bigint => {
  if (typeof value !== 'bigint' || value < 0n || value >= 1n << 64n) {
    throw new HostFault('sandbox/host-argument', `${place}: expected a u64`);
  }
  return value;
};

const outputLines = (write: (line: string) => void): StreamHandler => {
  const decoder = new TextDecoder();
  let pending = '';
  const push = (added: string): void => {
    const lines = `${pending}${added}`.split('\n');
    pending = lines.pop() ?? '';
    lines.forEach(write);
    for (; pending.length >= lineUnits; pending = pending.slice(lineUnits))
      write(pending.slice(0, lineUnits).toWellFormed());
  };
  return {
    write: (bytes: Uint8Array) => push(decoder.decode(bytes, { stream: true })),
    flush: () => {
      if (pending !== '') write(pending);
      pending = '';
    },
    blockingFlush: () => undefined,
  };
};

/** Loaded before the lock-down, used after it: everything it needs is taken here. */
export const wasiImports = (io: ShimIo, log: (level: LogLevel, line: string) => void): Imports => {
  const random = globalThis.crypto.getRandomValues.bind(globalThis.crypto);
  const monotonic = globalThis.performance.now.bind(globalThis.performance);
  const wall = Date.now;
  const nap = new Int32Array(new SharedArrayBuffer(4));
  const deadlines = new WeakMap<object, number>();

  const at = (deadline: number): Pollable => {
    const pollable = io.pollableCreate({ ready: () => monotonic() >= deadline, wait: () => undefined });
    deadlines.set(pollable, deadline);
    return pollable;
  };
  const wait = (pollables: readonly Pollable[]): readonly number[] => {
    if (pollables.length === 0)
      throw new HostFault('sandbox/host-argument', 'poll: expected a list that is not empty');
    for (;;) {
      const ready = pollables.flatMap((pollable, index) => (pollable.ready() ? [index] : []));
      if (ready.length > 0) return ready;
      const next = Math.min(
        ...pollables.map((pollable) => deadlines.get(pollable) ?? Number.POSITIVE_INFINITY),
      );
      Atomics.wait(nap, 0, 0, Math.max(0.05, Math.min(napMs, next - monotonic())));
    }
  };
  Object.defineProperty(io.poll.Pollable.prototype, 'block', {
    value(this: Pollable) {
      wait([this]);
    },
  });

  const bytes = (length: unknown): Uint8Array => {
    const count = u64(length, 'random length');
    if (count > BigInt(randomBytes)) {
      throw new HostFault('sandbox/host-argument', `random length: expected at most ${randomBytes}`);
    }
    return random(new Uint8Array(Number(count)));
  };
  const number = (): bigint => random(new BigUint64Array(1))[0] ?? 0n;
  const nanoseconds = (): bigint => BigInt(Math.floor(monotonic() * 1e6));
  const milliseconds = (duration: bigint): number => Number(duration) / 1e6;
  const closed = (): never => {
    throw { payload: { tag: 'closed' } };
  };
  const input = io.inputStreamCreate({ blockingRead: closed, subscribe: () => io.pollableCreate() });
  const output = io.outputStreamCreate(outputLines((line) => log('info', line)));
  const errors = io.outputStreamCreate(outputLines((line) => log('warn', line)));
  const none = (): undefined => undefined;
  class TerminalInput {}
  class TerminalOutput {}

  return {
    'wasi:io/error': io.error,
    'wasi:io/poll': {
      Pollable: io.poll.Pollable,
      poll: (list: readonly Pollable[]) => Uint32Array.from(wait(list)),
    },
    'wasi:io/streams': io.streams,
    'wasi:cli/stdin': { getStdin: () => input },
    'wasi:cli/stdout': { getStdout: () => output },
    'wasi:cli/stderr': { getStderr: () => errors },
    'wasi:cli/terminal-input': { TerminalInput },
    'wasi:cli/terminal-output': { TerminalOutput },
    'wasi:cli/terminal-stdin': { getTerminalStdin: none },
    'wasi:cli/terminal-stdout': { getTerminalStdout: none },
    'wasi:cli/terminal-stderr': { getTerminalStderr: none },
    'wasi:clocks/monotonic-clock': {
      now: nanoseconds,
      resolution: () => 1_000n,
      subscribeInstant: (instant: unknown) => at(milliseconds(u64(instant, 'instant'))),
      subscribeDuration: (duration: unknown) => at(monotonic() + milliseconds(u64(duration, 'duration'))),
    },
    'wasi:clocks/wall-clock': {
      now: () => {
        const time = wall();
        return { seconds: BigInt(Math.floor(time / 1_000)), nanoseconds: (time % 1_000) * 1e6 };
      },
      resolution: () => ({ seconds: 0n, nanoseconds: 1e6 }),
    },
    'wasi:random/random': { getRandomBytes: bytes, getRandomU64: number },
    'wasi:random/insecure': { getInsecureRandomBytes: bytes, getInsecureRandomU64: number },
    'wasi:random/insecure-seed': { insecureSeed: () => [number(), number()] },
  };
};
