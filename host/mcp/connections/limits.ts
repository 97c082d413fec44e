/** Every bound of the connections in one place; tests shorten the times. */
export interface ConnectionLimits {
  /** Attempts that begin at once, of programs and of addresses. */
  readonly programs: number;
  readonly addresses: number;
  /** A slow attempt gives its turn to the next after this, ms, and goes on. */
  readonly turnMs: number;
  /** Time of the first attempt, ms; each later one has twice that of the one before, up to the most. */
  readonly attemptMs: number;
  readonly mostAttemptMs: number;
  /** Wait before the second attempt, ms; doubles up to the most. A fifth of it is left to chance. */
  readonly backoffMs: number;
  readonly mostBackoffMs: number;
  /** A connection that held this long, ms, is dialled again at once when it is lost. */
  readonly steadyMs: number;
  /** A call without an answer and without progress, ms. While the server waits for an answer of ours no time passes. */
  readonly callMs: number;
  /** Calls a server has at a time, and calls that wait for one of them to end. */
  readonly inFlight: number;
  readonly waiting: number;
  /** Longest message, bytes. */
  readonly messageBytes: number;
  /** Times a call may be asked something before it must answer. */
  readonly rounds: number;
  /** Quiet after `list_changed` before the list is read, ms, and the longest it is put off. */
  readonly debounceMs: number;
  readonly mostDebounceMs: number;
  /** Of a server's list: pages read of it, and tools. */
  readonly pages: number;
  readonly tools: number;
  /** All tools of one list as JSON, UTF-16 units: pages that fit alone could together be more than memory holds. */
  readonly listUnits: number;
  /** The log of one server, bytes; one older log is kept. */
  readonly logBytes: number;
}

export const usualLimits: ConnectionLimits = {
  programs: 8,
  addresses: 32,
  turnMs: 5_000,
  attemptMs: 30_000,
  mostAttemptMs: 120_000,
  backoffMs: 1_000,
  mostBackoffMs: 300_000,
  steadyMs: 10_000,
  callMs: 600_000,
  inFlight: 128,
  waiting: 1_024,
  messageBytes: 32 * 1024 * 1024,
  rounds: 10,
  debounceMs: 100,
  mostDebounceMs: 1_000,
  pages: 200,
  tools: 10_000,
  listUnits: 32 * 1024 * 1024,
  logBytes: 4 * 1024 * 1024,
};
