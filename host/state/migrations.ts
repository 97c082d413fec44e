/**
 * The home's schema, one step a release, add-only: a step that was released is never edited.
 */
export const migrations: readonly string[] = [
  `
  -- Installed revisions; the manifest as its exact bytes. One active revision an ID.
  CREATE TABLE bundles (
    id TEXT NOT NULL,
    identity TEXT NOT NULL,
    version TEXT NOT NULL,
    manifest BLOB NOT NULL,
    active INTEGER NOT NULL,
    installed_at INTEGER NOT NULL,
    PRIMARY KEY (id, identity)
  );
  CREATE UNIQUE INDEX one_active ON bundles (id) WHERE active = 1;

  -- Every topic ever activated here. A topic ID stands for one shape for ever, so rows stay after uninstall.
  CREATE TABLE topics (
    id TEXT PRIMARY KEY,
    kind TEXT NOT NULL,
    shape TEXT NOT NULL,
    digest TEXT NOT NULL,
    bundle TEXT NOT NULL,
    identity TEXT NOT NULL
  );

  -- What components keep; owner is bundle:component, whatever its revision.
  CREATE TABLE store (
    owner TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    PRIMARY KEY (owner, key)
  ) WITHOUT ROWID;

  -- What an operator may want to know later: messages that failed, components that did.
  CREATE TABLE events (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    subject TEXT NOT NULL,
    problem TEXT
  )`,
  `
  CREATE INDEX events_by_kind ON events (kind, seq);

  -- Numbers that outlive what they count.
  CREATE TABLE counters (
    name TEXT PRIMARY KEY NOT NULL,
    value INTEGER NOT NULL
  ) STRICT;

  -- Where skills of a bundle were placed: written before the first file is, so that an uninstallation finds them all.
  CREATE TABLE placements (
    cwd TEXT NOT NULL,
    sink TEXT NOT NULL,
    bundle TEXT NOT NULL,
    at INTEGER NOT NULL,
    PRIMARY KEY (cwd, sink, bundle)
  ) STRICT`,
];
