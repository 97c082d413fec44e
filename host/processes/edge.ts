/** What other rooms see of processes. */
import type { Problem, Result } from '../problems/index.ts';

export interface ProcessRequest {
  /** Shown in problems: the alias, not the path. */
  readonly alias: string;
  readonly command: string;
  readonly args: readonly string[];
  readonly cwd: string;
  /** The whole environment of the child; nothing is inherited beyond it. */
  readonly env: Readonly<Record<string, string>>;
  /** Longest line of output, bytes. */
  readonly lineBytes?: number;
  /** A longer line comes with a NUL in place of its middle; only one of four times the limit ends the program. */
  readonly cutLines?: true;
  /** Whole lines without their line end, in order, as they come. */
  readonly onLines: (lines: readonly string[], stream: 'stdout' | 'stderr') => void;
  /**
   * Instead of lines: the output as it comes, both streams in one where the platform allows it, and no input. Such a process may close its output and go on, and ends
   * by itself or when it is told to.
   */
  readonly onBytes?: (bytes: Buffer, stream: 'stdout' | 'stderr') => void;
  /** Once, after the last line and after the whole group is gone. */
  readonly onExit: (exit: ProcessExit) => void;
}

export interface ProcessExit {
  readonly code: number | null;
  readonly signal: string | null;
  /**
   * Set where the station ended it: `process/line-too-long`, `process/output-closed`, `process/input-closed`,
   * `process/input-stuck`; and `process/not-ended` where something of the group outlived SIGKILL.
   */
  readonly problem?: Problem;
}

/** A child in its own process group. */
export interface RunningProcess {
  readonly pid: number;
  /**
   * Queues text for its input; false when the queue is over its bound (the process is ended as
   * `process/input-stuck`) and once its input is closed.
   */
  readonly write: (text: string) => boolean;
  /** Stops and starts reading its output: back pressure. What is left when it has exited is read all the same. */
  readonly pause: () => void;
  readonly resume: () => void;
  /**
   * Input closed, SIGTERM to the group, SIGKILL after the grace (2 s); resolves when the whole group is gone and
   * `onExit` was called. A later call may shorten the grace.
   */
  readonly end: (graceMs?: number) => Promise<void>;
}

/** The one place where a process is started. */
export interface Processes {
  /** Refuses with `process/not-found` (names the alias and the PATH searched), `process/not-executable`, `process/no-directory`, `process/spawn-failed`. */
  readonly start: (request: ProcessRequest) => Promise<Result<RunningProcess>>;
  /** Ends every group; resolves when all are gone. */
  readonly endAll: (graceMs?: number) => Promise<void>;
  readonly running: () => number;
}

export interface ProcessesOptions {
  /** Folder where live groups are noted (`run/` of the home): what a killed station left is ended at the next start. */
  readonly run: string;
}
export type OpenProcesses = (options: ProcessesOptions) => Promise<Processes>;
