/** What one component may use of the sandbox. Reaching a bound is a problem with a code, never a silent cut. */
import { usualLimits } from '../policy/index.ts';

export interface ComponentLimits {
  /** Wall clock for one batch, host calls included, ms. */
  readonly callDeadlineMs: number;
  /** Wall clock from the worker's start to a guest ready for messages, ms. */
  readonly startDeadlineMs: number;
  /** Maximum of each linear memory, bytes (a multiple of 64 KiB), and of all together. */
  readonly memoryBytes: number;
  /** Maximum of each table, elements. */
  readonly tableElements: number;
  /** Messages in one batch. */
  readonly batch: number;
  /** Effects of one message. */
  readonly effects: number;
  /** Text of all effects and the outcome of one message, UTF-16 units. */
  readonly effectUnits: number;
}

/** What a component has that policy says nothing about. */
export const defaultLimits = usualLimits;

/** What admission itself may use: the transpiler runs in a throw-away worker under these. */
export const transpileLimits = {
  /** A component's size, bytes. */
  componentBytes: 32 * 1024 * 1024,
  /** Wall clock of one transpilation, ms. */
  deadlineMs: 30_000,
  /** All generated files together, bytes. */
  outputBytes: 64 * 1024 * 1024,
  /** Memory of the worker's JavaScript heap, MiB. */
  heapMiB: 512,
};
