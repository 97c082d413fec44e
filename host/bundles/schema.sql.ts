/** The tables of this room; the state room's migration makes them. */

/**
 * `bundles` has a row for each revision that was activated and not uninstalled; at most one of an ID is active.
 * `topics` only ever grows: a topic ID once activated stands for its shape for ever.
 */
export const bundleTables = `
CREATE TABLE bundles (
  id TEXT NOT NULL,
  identity TEXT NOT NULL,
  version TEXT NOT NULL,
  manifest BLOB NOT NULL,
  active INTEGER NOT NULL CHECK (active IN (0, 1)),
  installed_at INTEGER NOT NULL,
  PRIMARY KEY (id, identity)
) STRICT;
CREATE UNIQUE INDEX bundles_active ON bundles (id) WHERE active = 1;
CREATE TABLE topics (
  id TEXT PRIMARY KEY NOT NULL,
  kind TEXT NOT NULL CHECK (kind IN ('command', 'event')),
  shape TEXT NOT NULL,
  digest TEXT NOT NULL,
  bundle TEXT NOT NULL,
  identity TEXT NOT NULL
) STRICT;
`;
