/** The `store` interface over SQLite: one key space a component. Keys compare by UTF-8 bytes (SQLite BINARY). */
import type { Database } from 'better-sqlite3';

export interface StoreRow {
  readonly key: string;
  readonly value: string;
}

export interface ComponentStore {
  readonly get: (owner: string, key: string) => string | undefined;
  /** Keys that begin with `prefix` and sort after `after`, in order, at most `limit`. */
  readonly scan: (owner: string, prefix: string, after: string | null, limit: number) => readonly StoreRow[];
  readonly put: (owner: string, key: string, value: string) => void;
  readonly remove: (owner: string, key: string) => void;
  /** Keys and values of an owner, bytes of UTF-8. */
  readonly used: (owner: string) => number;
  /** The same of one entry; 0 where there is none. */
  readonly sizeOf: (owner: string, key: string) => number;
}

export const openComponentStore = (db: Database): ComponentStore => {
  const get = db
    .prepare<[string, string], string>('SELECT value FROM store WHERE owner = ? AND key = ?')
    .pluck();
  // One bound each: of two, SQLite may begin at the lower and walk over all that was read already.
  const scanFrom = db.prepare<[string, string, number], StoreRow>(
    'SELECT key, value FROM store WHERE owner = ? AND key >= ? ORDER BY key LIMIT ?',
  );
  const scanAfter = db.prepare<[string, string, number], StoreRow>(
    'SELECT key, value FROM store WHERE owner = ? AND key > ? ORDER BY key LIMIT ?',
  );
  const put = db.prepare<[string, string, string]>(
    'INSERT INTO store (owner, key, value) VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET value = excluded.value',
  );
  const remove = db.prepare<[string, string]>('DELETE FROM store WHERE owner = ? AND key = ?');
  const used = db.prepare<[string], number>('SELECT bytes FROM store_usage WHERE owner = ?').pluck();
  const size = db
    .prepare<[string, string], number>(
      'SELECT octet_length(key) + octet_length(value) FROM store WHERE owner = ? AND key = ?',
    )
    .pluck();
  return {
    get: (owner, key) => get.get(owner, key),
    scan: (owner, prefix, after, limit) => {
      const goesOn = after !== null && Buffer.compare(Buffer.from(after), Buffer.from(prefix)) >= 0;
      const rows = goesOn ? scanAfter.all(owner, after, limit) : scanFrom.all(owner, prefix, limit);
      const end = rows.findIndex((row) => !row.key.startsWith(prefix));
      return end < 0 ? rows : rows.slice(0, end);
    },
    put: (owner, key, value) => void put.run(owner, key, value),
    remove: (owner, key) => void remove.run(owner, key),
    used: (owner) => used.get(owner) ?? 0,
    sizeOf: (owner, key) => size.get(owner, key) ?? 0,
  };
};
