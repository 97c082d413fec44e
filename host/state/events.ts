/** What an operator may want to know later. The newest `kept` are kept; one that cannot be written is lost. */
import type { Database } from 'better-sqlite3';
import type { Problem } from '../problems/index.ts';

export interface StationEvent {
  readonly seq: number;
  readonly at: number;
  readonly kind: string;
  readonly subject: string;
  readonly problem?: Problem;
}
export interface EventLog {
  readonly add: (kind: string, subject: string, problem?: Problem) => void;
  readonly newest: (count: number) => readonly StationEvent[];
}

const kept = 10_000;

export const openEventLog = (db: Database, now: () => number, redact: (text: string) => string): EventLog => {
  const insert = db.prepare<[number, string, string, string | null]>(
    'INSERT INTO events (at, kind, subject, problem) VALUES (?, ?, ?, ?)',
  );
  const trim = db.prepare<[number]>('DELETE FROM events WHERE seq <= ?');
  const newest = db.prepare<
    [number],
    { seq: number; at: number; kind: string; subject: string; problem: string | null }
  >('SELECT * FROM events ORDER BY seq DESC LIMIT ?');
  return {
    add: (kind, subject, problem) => {
      const text = problem === undefined ? null : redact(JSON.stringify(problem));
      try {
        const { lastInsertRowid } = insert.run(now(), kind, redact(subject), text);
        const seq = Number(lastInsertRowid);
        if (seq % 100 === 0) trim.run(seq - kept);
      } catch (cause) {
        // A full disk must not end the station for want of a note about it.
        if (!(cause instanceof Error) || !String((cause as { code?: unknown }).code).startsWith('SQLITE_'))
          throw cause;
      }
    },
    newest: (count) =>
      newest.all(count).map(({ problem, ...row }) => ({
        ...row,
        ...(problem === null ? {} : { problem: JSON.parse(problem) as Problem }),
      })),
  };
};
