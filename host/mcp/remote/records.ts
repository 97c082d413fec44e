/**
 * Which servers were added, what each listed, and which content of which skill the operator approved. An approval is a
 * digest: once another one is listed it is gone, also when the old content comes back.
 */
import type { Database } from 'better-sqlite3';
import type { Problem } from '../../problems/index.ts';
import { manifestDigest, type RemoteEntry } from './entry.ts';
import { pathOf, placedName } from './names.ts';

export interface ServerRow {
  readonly label: string;
  readonly url: string;
  readonly listedAt: number;
  /** Entries that are no skills. */
  readonly leftOut: readonly Problem[];
}
export interface SkillRow {
  readonly label: string;
  readonly path: string;
  readonly name: string;
  readonly entry: RemoteEntry;
  /** Hex; empty where the content has none. */
  readonly digest: string;
  readonly approved: string | null;
  /** What was approved until the listing changed. */
  readonly approvedBefore: string | null;
  /** Still there at the last look. */
  readonly served: boolean;
}
export interface Records {
  readonly servers: () => readonly ServerRow[];
  readonly server: (label: string) => ServerRow | undefined;
  readonly skills: (label?: string) => readonly SkillRow[];
  /** Those the operator ever decided about: approved, or approved until they changed. */
  readonly decided: () => readonly SkillRow[];
  readonly skill: (label: string, path: string) => SkillRow | undefined;
  /**
   * What was listed, in one transaction. Answers the skills whose approval it ended. `gone`: URIs the
   * server no longer serves.
   */
  readonly listed: (
    server: ServerRow,
    entries: readonly RemoteEntry[],
    gone: readonly string[],
  ) => readonly SkillRow[];
  readonly approve: (label: string, uri: string, digest: string | null) => void;
  readonly forget: (label: string) => void;
}

interface StoredSkill {
  label: string;
  uri: string;
  name: string;
  entry: string;
  digest: string;
  approved: string | null;
  approved_before: string | null;
  served: number;
}

const skillOf = (row: StoredSkill): SkillRow => ({
  label: row.label,
  path: pathOf(row.uri),
  name: row.name,
  entry: JSON.parse(row.entry) as RemoteEntry,
  digest: row.digest,
  approved: row.approved,
  approvedBefore: row.approved_before,
  served: row.served === 1,
});

export const openRecords = (db: Database): Records => {
  const allServers = db.prepare<[], { label: string; url: string; listed_at: number; left_out: string }>(
    'SELECT * FROM remote_servers ORDER BY label',
  );
  const putServer = db.prepare<[string, string, number, string]>(
    `INSERT INTO remote_servers (label, url, listed_at, left_out) VALUES (?, ?, ?, ?)
     ON CONFLICT (label) DO UPDATE SET listed_at = excluded.listed_at, left_out = excluded.left_out`,
  );
  const allSkills = db.prepare<[], StoredSkill>('SELECT * FROM remote_skills ORDER BY label, uri');
  const skillsOf = db.prepare<[string], StoredSkill>(
    'SELECT * FROM remote_skills WHERE label = ? ORDER BY uri',
  );
  const decidedSkills = db.prepare<[], StoredSkill>(
    'SELECT * FROM remote_skills WHERE approved IS NOT NULL OR approved_before IS NOT NULL ORDER BY label, uri',
  );
  const skillAt = db.prepare<[string, string], StoredSkill>(
    'SELECT * FROM remote_skills WHERE label = ? AND uri = ?',
  );
  const named = db.prepare<[string], number>('SELECT 1 FROM remote_skills WHERE name = ?').pluck();
  const putSkill = db.prepare<[string, string, string, string, string]>(
    `INSERT INTO remote_skills (label, uri, name, entry, digest, served) VALUES (?, ?, ?, ?, ?, 1)
     ON CONFLICT (label, uri) DO UPDATE SET entry = excluded.entry, served = 1,
       approved_before = CASE WHEN digest = excluded.digest THEN approved_before ELSE ifnull(approved, approved_before) END,
       approved = CASE WHEN digest = excluded.digest THEN approved END,
       digest = excluded.digest`,
  );
  const dropSkill = db.prepare<[string, string]>('DELETE FROM remote_skills WHERE label = ? AND uri = ?');
  const unserve = db.prepare<[string, string]>(
    'UPDATE remote_skills SET served = 0 WHERE label = ? AND uri = ?',
  );
  const setApproved = db.prepare<[string | null, string, string]>(
    'UPDATE remote_skills SET approved = ?, approved_before = NULL WHERE label = ? AND uri = ?',
  );
  const dropSkills = db.prepare<[string]>('DELETE FROM remote_skills WHERE label = ?');
  const dropServer = db.prepare<[string]>('DELETE FROM remote_servers WHERE label = ?');

  const servers = (): readonly ServerRow[] =>
    allServers.all().map(({ label, url, listed_at, left_out }) => ({
      label,
      url,
      listedAt: listed_at,
      leftOut: JSON.parse(left_out) as readonly Problem[],
    }));
  const skills = (label?: string): readonly SkillRow[] =>
    (label === undefined ? allSkills.all() : skillsOf.all(label)).map(skillOf);

  return {
    servers,
    server: (label) => servers().find((one) => one.label === label),
    skills,
    decided: () => decidedSkills.all().map(skillOf),
    skill: (label, path) => skills(label).find((one) => one.path === path),
    listed: db.transaction(
      (server: ServerRow, entries: readonly RemoteEntry[], gone: readonly string[]): readonly SkillRow[] => {
        const { label } = server;
        putServer.run(label, server.url, server.listedAt, JSON.stringify(server.leftOut));
        const ended: SkillRow[] = [];
        for (const entry of entries) {
          const before = skillAt.get(label, entry.uri);
          const name =
            before?.name ??
            placedName(
              { label, path: pathOf(entry.uri), name: entry.frontmatter.name },
              (one) => named.get(one) === undefined,
            );
          putSkill.run(label, entry.uri, name, JSON.stringify(entry), manifestDigest(entry));
          const after = skillAt.get(label, entry.uri);
          if (before?.approved != null && after?.approved === null) ended.push(skillOf(after));
        }
        for (const uri of gone) {
          const row = skillAt.get(label, uri);
          if (row === undefined) continue;
          // What was approved stays as it was approved; anything else there is nothing to say about.
          if (row.approved === null) dropSkill.run(label, uri);
          else unserve.run(label, uri);
        }
        return ended;
      },
    ),
    approve: (label, uri, digest) => void setApproved.run(digest, label, uri),
    forget: db.transaction((label: string) => {
      dropSkills.run(label);
      dropServer.run(label);
    }),
  };
};
