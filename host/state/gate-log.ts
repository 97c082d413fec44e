/**
 * What the gate decided, call by call, for the record of a session. A row is written before whoever called has its
 * answer, so that it outlives a station that is killed; nobody waits for the disk, which would cost ten times the call.
 * Rows of one turn of the event loop are one commit, because a commit costs more than a hundred rows. Bounded by session;
 * what was dropped is counted by how far the numbers have gone.
 */
import type { State } from './state.ts';

export interface GateCall {
  readonly session: string;
  readonly server: string;
  /** The server's own name of it. */
  readonly tool: string;
  readonly decision: 'allowed' | 'denied';
  /** The rule, and who answered where somebody was asked. */
  readonly rule: string;
}
export interface GateEntry extends Omit<GateCall, 'session'> {
  readonly at: number;
}
export interface GateLog {
  /** Resolves when the row is written. */
  readonly add: (call: GateCall) => Promise<void>;
  /** The newest calls of a session, oldest first, and how many there ever were. */
  readonly of: (session: string, limit: number) => { readonly total: number; readonly calls: GateEntry[] };
  /** Writes what waits; before the database is closed. */
  readonly flush: () => void;
}

/** Calls kept of one session. */
export const keptOfSession = 2_000;
/** Calls that may be over that before the oldest go: one deletion for many. */
const slack = 200;
/** Sessions whose last number is remembered. */
const numbered = 1_000;
const textUnits = 1_000;

export const openGateLog = (
  { db, write: commit }: Pick<State, 'db' | 'write'>,
  now: () => number,
  redact: (text: string) => string,
): GateLog => {
  const insert = db.prepare<[string, number, number, string, string, string, string]>(
    'INSERT INTO gate_calls (session, nr, at, server, tool, decision, rule) VALUES (?, ?, ?, ?, ?, ?, ?)',
  );
  const last = db
    .prepare<[string], number>('SELECT nr FROM gate_calls WHERE session = ? ORDER BY nr DESC LIMIT 1')
    .pluck();
  const trim = db.prepare<[string, number]>('DELETE FROM gate_calls WHERE session = ? AND nr <= ?');
  const newest = db.prepare<[string, number], GateEntry>(
    'SELECT at, server, tool, decision, rule FROM gate_calls WHERE session = ? ORDER BY nr DESC LIMIT ?',
  );
  const numbers = new Map<string, number>();
  let waiting: { call: GateCall; at: number; done: () => void; failed: (cause: unknown) => void }[] = [];

  const write = ({ session, server, tool, decision, rule }: GateCall, at: number): void => {
    const nr = (numbers.get(session) ?? last.get(session) ?? 0) + 1;
    const text = (value: string): string => redact(value).slice(0, textUnits).toWellFormed();
    insert.run(session, nr, at, text(server), text(tool), decision, text(rule));
    if (numbers.size >= numbered && !numbers.has(session)) numbers.clear();
    numbers.set(session, nr);
    if (nr % slack === 0 && nr > keptOfSession) trim.run(session, nr - keptOfSession);
  };
  const flush = (): void => {
    const rows = waiting;
    if (rows.length === 0) return;
    waiting = [];
    try {
      commit(() => {
        for (const { call, at } of rows) write(call, at);
      });
    } catch (cause) {
      numbers.clear();
      for (const { failed } of rows) failed(cause);
      return;
    }
    for (const { done } of rows) done();
  };
  return {
    add: (call) =>
      new Promise((done, failed) => {
        if (waiting.length === 0) setImmediate(flush);
        waiting.push({ call, at: now(), done, failed });
      }),
    of: (session, limit) => ({
      total: numbers.get(session) ?? last.get(session) ?? 0,
      calls: newest.all(session, limit).reverse(),
    }),
    flush,
  };
};
