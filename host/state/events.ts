/**
 * What an operator may want to know later: a durable ledger of what happened to bundles, components, skills and
 * grants, each with its time and subject. It is bounded three ways, and counts what each bound made it drop: by age, by
 * number for each kind (so that a component that fails all day pushes no installation out), and by how often one
 * subject is written about (so that such a component costs no write each time). A ledger that cannot be written stops
 * nobody's work.
 */
import type { Problem } from '../problems/index.ts';
import type { State } from './state.ts';

/**
 * `install` `uninstall` `refuse`: a bundle. `start` `fail` `park` `retry`: a component, or what it was asked.
 * `limit`: a component, or what is placed for an agent, reached one and goes on. `kill`: a
 * worker or a process ended by force. `grant` `revoke`: permissions. `place` `withhold` `remove`: skills and servers.
 * `differ`: bytes that are not what they were. `repair`: what was put right.
 */
export const eventKinds = [
  'install',
  'uninstall',
  'refuse',
  'start',
  'fail',
  'park',
  'limit',
  'retry',
  'kill',
  'grant',
  'revoke',
  'place',
  'withhold',
  'remove',
  'differ',
  'repair',
] as const;
export type EventKind = (typeof eventKinds)[number];

export interface StationEvent {
  readonly seq: number;
  readonly at: number;
  /** One of `eventKinds`; an older home may hold others. */
  readonly kind: string;
  readonly subject: string;
  readonly problem?: Problem;
}
export interface EventLog {
  readonly add: (kind: EventKind, subject: string, problem?: Problem) => void;
  /** The newest ones, newest first. */
  readonly newest: (count: number) => readonly StationEvent[];
  /** How many were ever dropped. */
  readonly dropped: () => number;
  /** Events as they reach the disk, which no caller of `add` waits for. Returns the way to stop. */
  readonly listen: (listener: (event: StationEvent) => void) => () => void;
  /** Writes down what is counted in memory; before the database is closed. */
  readonly flush: () => void;
}

/** Events kept of each kind. */
export const keptOfKind = 1_000;
/** Events that may be over that before the oldest go: one deletion for many. */
const slack = 50;
/** How long an event is kept, ms. */
export const keptMs = 90 * 24 * 60 * 60 * 1_000;
/** Events of one kind about one subject in `burstMs`; further ones are only counted. */
export const burst = 60;
const burstMs = 60_000;
/** Subjects whose bursts are watched at a time. */
const watched = 1_000;
/** How often old events are looked for, ms. */
const sweepMs = 60 * 60 * 1_000;
const subjectLength = 1_000;

interface EventRow {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly problem: string | null;
}

const eventOf = ({ problem, ...row }: EventRow): StationEvent => ({
  ...row,
  ...(problem === null ? {} : { problem: JSON.parse(problem) as Problem }),
});

/** Says of each event whether its subject still may be written about. */
const burstGuard = (now: () => number) => {
  const seen = new Map<string, { since: number; count: number }>();
  return (key: string): boolean => {
    const at = now();
    const known = seen.get(key);
    if (known !== undefined && at - known.since < burstMs) {
      known.count += 1;
      return known.count <= burst;
    }
    seen.delete(key);
    seen.set(key, { since: at, count: 1 });
    const [oldest] = seen.keys();
    if (seen.size > watched && oldest !== undefined) seen.delete(oldest);
    return true;
  };
};

export const openEventLog = (
  { db, write: commit, durable }: Pick<State, 'db' | 'write' | 'durable'>,
  now: () => number,
  redact: (text: string) => string,
): EventLog => {
  const insert = db.prepare<[number, string, string, string | null]>(
    'INSERT INTO events (at, kind, subject, problem) VALUES (?, ?, ?, ?)',
  );
  const trimKind = db.prepare<[string, string, number]>(
    `DELETE FROM events WHERE kind = ? AND seq <=
       (SELECT seq FROM events WHERE kind = ? ORDER BY seq DESC LIMIT 1 OFFSET ?)`,
  );
  const trimAge = db.prepare<[number]>('DELETE FROM events WHERE at < ?');
  const drop = db.prepare<[number]>(
    `INSERT INTO counters (name, value) VALUES ('events-dropped', ?)
     ON CONFLICT (name) DO UPDATE SET value = value + excluded.value`,
  );
  const droppedSoFar = db
    .prepare<[], number>("SELECT value FROM counters WHERE name = 'events-dropped'")
    .pluck();
  const newest = db.prepare<[number], EventRow>('SELECT * FROM events ORDER BY seq DESC LIMIT ?');
  const counted = db.prepare<[], { kind: string; count: number }>(
    'SELECT kind, COUNT(*) AS count FROM events GROUP BY kind',
  );
  const listeners = new Set<(event: StationEvent) => void>();
  const may = burstGuard(now);
  let counts = new Map<string, number>();
  let swept = Number.NEGATIVE_INFINITY;
  /** Dropped and not yet written down. */
  let pending = 0;

  const flush = (): void => {
    if (pending === 0) return;
    drop.run(pending);
    pending = 0;
  };
  const sweep = (): void => {
    if (now() - swept < sweepMs) return;
    swept = now();
    pending += trimAge.run(swept - keptMs).changes;
    counts = new Map(counted.all().map(({ kind, count }) => [kind, count]));
  };
  const write = (kind: EventKind, subject: string, problem: Problem | undefined): StationEvent => {
    sweep();
    const at = now();
    const text = problem === undefined ? null : redact(JSON.stringify(problem));
    const about = redact(subject).slice(0, subjectLength);
    const { lastInsertRowid } = insert.run(at, kind, about, text);
    const count = (counts.get(kind) ?? 0) + 1;
    counts.set(kind, count);
    if (count > keptOfKind + slack) {
      pending += trimKind.run(kind, kind, keptOfKind).changes;
      counts.set(kind, keptOfKind);
    }
    flush();
    return eventOf({ seq: Number(lastInsertRowid), at, kind, subject: about, problem: text });
  };

  return {
    add: (kind, subject, problem) => {
      if (!may(`${kind} ${subject}`)) {
        pending += 1;
        return;
      }
      try {
        const event = commit(() => write(kind, subject, problem));
        durable(() => {
          for (const listener of listeners) listener(event);
        });
      } catch (error) {
        if (!(error instanceof Error && 'code' in error && String(error.code).startsWith('SQLITE_')))
          throw error;
        pending += 1;
      }
    },
    newest: (count) => newest.all(count).map(eventOf),
    dropped: () => (droppedSoFar.get() ?? 0) + pending,
    listen: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
    flush,
  };
};
