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
  `
  -- What each owner keeps, bytes of UTF-8, held by the database itself so that no writer can forget it.
  CREATE TABLE store_usage (
    owner TEXT PRIMARY KEY,
    bytes INTEGER NOT NULL
  ) WITHOUT ROWID;
  INSERT INTO store_usage (owner, bytes)
    SELECT owner, SUM(octet_length(key) + octet_length(value)) FROM store GROUP BY owner;
  CREATE TRIGGER store_added AFTER INSERT ON store BEGIN
    INSERT INTO store_usage (owner, bytes) VALUES (new.owner, octet_length(new.key) + octet_length(new.value))
      ON CONFLICT DO UPDATE SET bytes = bytes + excluded.bytes;
  END;
  CREATE TRIGGER store_changed AFTER UPDATE ON store BEGIN
    UPDATE store_usage SET bytes = bytes + octet_length(new.value) - octet_length(old.value)
      WHERE owner = new.owner;
  END;
  CREATE TRIGGER store_removed AFTER DELETE ON store BEGIN
    UPDATE store_usage SET bytes = bytes - octet_length(old.key) - octet_length(old.value)
      WHERE owner = old.owner;
  END;

  -- Which revision of each component serves, which one came before it, and what became of a newer one.
  CREATE TABLE standings (
    bundle TEXT NOT NULL,
    component TEXT NOT NULL,
    serving TEXT,
    retained TEXT,
    candidate TEXT,
    problem TEXT,
    PRIMARY KEY (bundle, component)
  ) WITHOUT ROWID;

  -- Bundles whose uninstall was asked for and waits for the last call in flight.
  CREATE TABLE leaving (
    bundle TEXT PRIMARY KEY
  ) WITHOUT ROWID`,
  `
  -- What the gate decided, by session; the numbers of a session go on where old rows were taken out.
  CREATE TABLE gate_calls (
    session TEXT NOT NULL,
    nr INTEGER NOT NULL,
    at INTEGER NOT NULL,
    server TEXT NOT NULL,
    tool TEXT NOT NULL,
    decision TEXT NOT NULL,
    rule TEXT NOT NULL,
    PRIMARY KEY (session, nr)
  ) WITHOUT ROWID`,
  `
  -- Servers whose skills the operator added, under the label they have here.
  CREATE TABLE remote_servers (
    label TEXT PRIMARY KEY NOT NULL,
    url TEXT NOT NULL,
    listed_at INTEGER NOT NULL,
    left_out TEXT NOT NULL
  ) STRICT;

  -- What each listed: the entry as it came, the digest of its manifest, and which digest the operator approved.
  -- name is what it is placed under; it is given once.
  CREATE TABLE remote_skills (
    label TEXT NOT NULL,
    uri TEXT NOT NULL,
    name TEXT NOT NULL UNIQUE,
    entry TEXT NOT NULL,
    digest TEXT NOT NULL,
    approved TEXT,
    approved_before TEXT,
    served INTEGER NOT NULL,
    PRIMARY KEY (label, uri)
  ) STRICT`,
  `
  -- What the home itself wrote into workspaces: for each skill the digests of its markers, and the folders that were made
  -- for it; for the sink itself under the name ''. Lists are JSON.
  CREATE TABLE placed (
    cwd TEXT NOT NULL,
    sink TEXT NOT NULL,
    name TEXT NOT NULL,
    bundle TEXT NOT NULL,
    markers TEXT NOT NULL,
    made TEXT NOT NULL,
    PRIMARY KEY (cwd, sink, name)
  ) WITHOUT ROWID, STRICT`,
];
