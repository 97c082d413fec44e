/**
 * Brings what was committed to the disk without keeping the station from its work. A commit that waits for the disk
 * itself stops everything for as long as the disk takes; here commits go on, and what may only be told once they are
 * on disk waits in its order. One synchronisation serves every commit that came before it.
 */
import { closeSync, fdatasync, openSync } from 'node:fs';

export interface WalSync {
  /** Something was committed that is not on disk. */
  readonly written: () => void;
  /** Calls `then` once all that was committed so far is on disk, at once where it is; in the order of the calls. */
  readonly durable: (then: () => void) => void;
  /** Calls of `durable` that wait. */
  readonly waiting: () => number;
  /** Resolves when nothing waits any more. */
  readonly flushed: () => Promise<void>;
  /** Nobody is called any more. */
  readonly close: () => void;
}

/**
 * `wal` is SQLite's write-ahead log: it holds no lock, so opening it beside SQLite takes none away, and it is one file
 * for as long as the database is open. A disk that cannot be written stops the station: what it told would not be so.
 */
export const openWalSync = (wal: string): WalSync => {
  let waiting: (() => void)[] = [];
  let dirty = false;
  let running = false;
  let closed = false;
  let fd: number | undefined;
  let idle: (() => void)[] = [];

  const run = (): void => {
    const served = waiting;
    waiting = [];
    running = true;
    dirty = false;
    fd ??= openSync(wal, 'r+');
    const file = fd;
    fdatasync(file, (error) => {
      if (closed) closeSync(file);
      else if (error !== null) throw error;
      else serve(served);
    });
  };
  /** Calls them, and what was asked meanwhile: what came after another commit waits for the next synchronisation. */
  const serve = (served: readonly (() => void)[]): void => {
    for (const then of served) then();
    if (waiting.length > 0 && dirty) run();
    else if (waiting.length > 0) serve(waiting.splice(0));
    else {
      running = false;
      for (const told of idle.splice(0)) told();
    }
  };

  return {
    written: () => {
      dirty = true;
    },
    durable: (then) => {
      if (!dirty && !running) return then();
      waiting.push(then);
      if (!running) run();
    },
    waiting: () => waiting.length,
    flushed: () =>
      running
        ? new Promise((resolve) => {
            idle = [...idle, resolve];
          })
        : Promise.resolve(),
    close: () => {
      closed = true;
      // A descriptor is not taken away from a synchronisation: its number may be another file's by then.
      if (fd !== undefined && !running) closeSync(fd);
    },
  };
};
