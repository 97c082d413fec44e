/**
 * The station's database: one SQLite file in the home, held exclusively by one station at a time. A commit is on
 * disk before the caller is told (WAL; FULL, or `write` and then `durable`). The lock is the operating system's, so a killed station leaves none.
 */
import Database from 'better-sqlite3';
import { ok, type Result, refuse } from '../problems/index.ts';
import { migrations } from './migrations.ts';
import { openWalSync } from './sync.ts';

export interface State {
  readonly db: Database.Database;
  /** All or nothing. Nested calls are savepoints. */
  readonly transaction: <T>(work: () => T) => T;
  /** The same, but not on disk when it returns: `durable` says when. */
  readonly write: <T>(work: () => T) => T;
  /** Calls `then` once every commit so far is on disk, in the order of the calls. */
  readonly durable: (then: () => void) => void;
  /** Resolves when nothing waits for the disk any more. */
  readonly flushed: () => Promise<void>;
  readonly close: () => void;
}

/** Opens and migrates (`station/already-running`, `state/unreadable`, `state/newer`). */
export const openState = (file: string): Result<State> => {
  let db: Database.Database | undefined;
  try {
    db = new Database(file, { timeout: 0 });
    db.pragma('locking_mode = EXCLUSIVE');
    db.pragma('journal_mode = WAL');
    db.pragma('synchronous = FULL');
    db.pragma(`wal_autocheckpoint = ${mostLogPages}`);
    const refused = migrate(db);
    if (refused !== undefined) {
      db.close();
      return refused;
    }
    return ok(stateOver(db, `${file}-wal`));
  } catch (cause) {
    db?.close();
    const code = (cause as { code?: string }).code ?? '';
    if (code.startsWith('SQLITE_BUSY')) return refuse('station/already-running');
    return refuse('state/unreadable', { subject: 'station.db', evidence: String(cause) });
  }
};

/**
 * Pages in the log before it is written back into the database in the middle of work, which then waits for the disk;
 * and how long nothing must have been written for it to be done before, ms.
 */
const mostLogPages = 8_000;
const restMs = 300;
/** What waits for the disk; beyond it a commit waits itself, and with it everybody who asks for more. */
const mostWaiting = 10_000;
/** Where a second descriptor cannot be opened beside SQLite's, every commit waits for the disk itself. */
const syncsApart = process.platform !== 'win32';

const stateOver = (db: Database.Database, wal: string): State => {
  const sync = openWalSync(wal);
  const rest = setTimeout(() => {
    if (db.open) db.pragma('wal_checkpoint(PASSIVE)');
  }, restMs).unref();
  // The outermost savepoint begins a transaction, and its release commits it.
  const savepoint = db.prepare('SAVEPOINT unit');
  const release = db.prepare('RELEASE unit');
  const rollback = db.prepare('ROLLBACK TO unit');
  const transaction: State['transaction'] = (work) => {
    savepoint.run();
    try {
      const value = work();
      release.run();
      return value;
    } catch (cause) {
      // Some failures end the whole transaction themselves; then there is nothing left to undo.
      if (db.inTransaction) {
        rollback.run();
        release.run();
      }
      throw cause;
    }
  };
  return {
    db,
    transaction,
    write: (work) => {
      if (!syncsApart || db.inTransaction || sync.waiting() >= mostWaiting) return transaction(work);
      sync.written();
      rest.refresh();
      db.pragma('synchronous = NORMAL');
      try {
        return transaction(work);
      } finally {
        db.pragma('synchronous = FULL');
      }
    },
    durable: (then) => (syncsApart ? sync.durable(then) : then()),
    flushed: sync.flushed,
    close: () => {
      clearTimeout(rest);
      db.close();
      sync.close();
    },
  };
};

const migrate = (db: Database.Database): Result<never> | undefined => {
  const version = db.pragma('user_version', { simple: true }) as number;
  if (version > migrations.length) {
    return refuse('state/newer', {
      subject: 'station.db',
      evidence: `version ${version}, known ${migrations.length}`,
    });
  }
  for (const [index, sql] of migrations.slice(version).entries()) {
    db.exec(`BEGIN IMMEDIATE; ${sql}; PRAGMA user_version = ${version + index + 1}; COMMIT;`);
  }
  return undefined;
};
