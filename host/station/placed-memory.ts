/**
 * What this home wrote into workspaces, in its own database: a marker in a workspace counts only if it is known here
 * (decision 30). What is set is with the operating system when the call returns, as the files it is about are.
 */
import type { Database } from 'better-sqlite3';
import { z } from 'zod';
import type { PlacedMemory } from '../context/index.ts';

export interface PlacedMemories {
  /** `cwd` is the real path of the workspace. */
  readonly in: (cwd: string, sink: string) => PlacedMemory;
  /** Forgets what is remembered of places that `placements` no longer holds. */
  readonly trim: () => void;
}

const list = z.array(z.string());
const listed = (text: string): readonly string[] => list.parse(JSON.parse(text));

/** `write` commits without waiting for the disk. */
export const openPlacedMemories = (db: Database, write: (work: () => void) => void): PlacedMemories => {
  const one = db.prepare<[string, string, string], { bundle: string; markers: string; made: string }>(
    'SELECT bundle, markers, made FROM placed WHERE cwd = ? AND sink = ? AND name = ?',
  );
  const put = db.prepare<[string, string, string, string, string, string]>(
    'INSERT OR REPLACE INTO placed (cwd, sink, name, bundle, markers, made) VALUES (?, ?, ?, ?, ?, ?)',
  );
  const forget = db.prepare<[string, string, string]>(
    'DELETE FROM placed WHERE cwd = ? AND sink = ? AND name = ?',
  );
  const trim = db.prepare(
    'DELETE FROM placed WHERE NOT EXISTS (SELECT 1 FROM placements WHERE placements.cwd = placed.cwd AND placements.sink = placed.sink)',
  );
  return {
    in: (cwd, sink) => ({
      of: (name) => {
        const row = one.get(cwd, sink, name);
        return row === undefined
          ? undefined
          : { bundle: row.bundle, markers: listed(row.markers), made: listed(row.made) };
      },
      set: (name, what) =>
        write(() => {
          if (what === undefined) forget.run(cwd, sink, name);
          else put.run(cwd, sink, name, what.bundle, JSON.stringify(what.markers), JSON.stringify(what.made));
        }),
    }),
    trim: () => void trim.run(),
  };
};
