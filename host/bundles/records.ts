/**
 * The records of what is installed, and of every topic ever activated. Rows in, rows out; the rule what conflicts
 * is here because a topic is compared with its row inside the transaction that adds it.
 */
import type { Database } from 'better-sqlite3';
import type { Problem } from '../problems/index.ts';
import { topicConflict } from './claims.ts';
import type { TopicClaim, TopicSaid } from './edge.ts';

export interface BundleRow {
  readonly id: string;
  readonly identity: string;
  readonly version: string;
  readonly manifest: Buffer;
  readonly active: 0 | 1;
  readonly installed_at: number;
}
interface TopicRow {
  readonly id: string;
  readonly kind: string;
  readonly shape: string;
  readonly digest: string;
  readonly bundle: string;
  readonly identity: string;
}

export interface Records {
  readonly rows: () => readonly BundleRow[];
  readonly activeRow: (id: string) => BundleRow | undefined;
  readonly row: (id: string, identity: string) => BundleRow | undefined;
  readonly conflicts: (claims: readonly TopicSaid[]) => readonly Problem[];
  /** Makes the row the active one of its ID. Within a transaction. */
  readonly makeActive: (row: Omit<BundleRow, 'active'>) => void;
  /** Adds the topics that are not known yet. Within a transaction, after `conflicts` found none. */
  readonly addTopics: (claims: readonly TopicClaim[], bundle: string, identity: string) => void;
  /** Every revision of an ID. */
  readonly forget: (id: string) => void;
  readonly forgetRevision: (id: string, identity: string) => void;
}

export const openRecords = (db: Database): Records => {
  const all = db.prepare<[], BundleRow>('SELECT * FROM bundles ORDER BY id, installed_at DESC, identity');
  const activeOne = db.prepare<[string], BundleRow>('SELECT * FROM bundles WHERE id = ? AND active = 1');
  const one = db.prepare<[string, string], BundleRow>('SELECT * FROM bundles WHERE id = ? AND identity = ?');
  const topic = db.prepare<[string], TopicRow>('SELECT * FROM topics WHERE id = ?');
  const rest = db.prepare<[string]>('UPDATE bundles SET active = 0 WHERE id = ? AND active = 1');
  const insert = db.prepare<[string, string, string, Buffer, number]>(
    `INSERT INTO bundles (id, identity, version, manifest, active, installed_at) VALUES (?, ?, ?, ?, 1, ?)
     ON CONFLICT (id, identity) DO UPDATE SET active = 1, installed_at = excluded.installed_at`,
  );
  const insertTopic = db.prepare<[string, string, string, string, string, string]>(
    `INSERT INTO topics (id, kind, shape, digest, bundle, identity) VALUES (?, ?, ?, ?, ?, ?)
     ON CONFLICT (id) DO NOTHING`,
  );
  const forgetAll = db.prepare<[string]>('DELETE FROM bundles WHERE id = ?');
  const forgetOne = db.prepare<[string, string]>('DELETE FROM bundles WHERE id = ? AND identity = ?');

  const standing = (known: TopicRow): string => {
    const row = one.get(known.bundle, known.identity);
    return row === undefined ? 'no longer installed' : row.active === 1 ? 'installed' : 'an earlier revision';
  };
  return {
    rows: () => all.all(),
    activeRow: (id) => activeOne.get(id),
    row: (id, identity) => one.get(id, identity),
    conflicts: (claims) =>
      claims.flatMap((entry) => {
        const known = topic.get(entry.id);
        const conflict = known && topicConflict(entry, known, standing(known));
        return conflict === undefined ? [] : [conflict];
      }),
    makeActive: (row) => {
      rest.run(row.id);
      insert.run(row.id, row.identity, row.version, row.manifest, row.installed_at);
    },
    addTopics: (claims, bundle, identity) => {
      for (const { id, kind, shape, digest } of claims)
        insertTopic.run(id, kind, shape, digest, bundle, identity);
    },
    forget: (id) => {
      forgetAll.run(id);
    },
    forgetRevision: (id, identity) => {
      forgetOne.run(id, identity);
    },
  };
};
