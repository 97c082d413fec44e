/**
 * Brings what was committed to the disk without keeping the station from its work. A commit that waits for the disk
 * itself stops everything for as long as the disk takes; here commits go on, and what they have to be told waits in
 * their order. One synchronisation serves every commit that came before it.
 */
import { closeSync, fdatasync, openSync } from 'node:fs';

export interface WalSync {
  /** Calls `then` once all that was committed so far is on disk; in the order of the calls, never at once. */
  readonly durable: (then: () => void) => void;
  /** Resolves when nothing waits any more. */
  readonly flushed: () => Promise<void>;
  readonly close: () => void;
}

/**
 * `wal` is SQLite's write-ahead log: it holds no lock, so opening it beside SQLite takes none away, and it is one file
 * for as long as the database is open. A disk that cannot be written stops the station: what it told would not be so.
 */
export const openWalSync = (wal: string): WalSync => {
  let waiting: (() => void)[] = [];
  let running = false;
  let fd: number | undefined;
  let idle: (() => void)[] = [];

  const run = (): void => {
    const served = waiting;
    waiting = [];
    running = true;
    fd ??= openSync(wal, 'r+');
    fdatasync(fd, (error) => {
      if (error !== null) throw error;
      try {
        for (const then of served) then();
      } finally {
        running = false;
        if (waiting.length > 0) run();
        else for (const told of idle.splice(0)) told();
      }
    });
  };

  return {
    durable: (then) => {
      waiting.push(then);
      if (!running) run();
    },
    flushed: () =>
      running || waiting.length > 0
        ? new Promise((resolve) => {
            idle = [...idle, resolve];
          })
        : Promise.resolve(),
    close: () => {
      if (fd !== undefined) closeSync(fd);
    },
  };
};
