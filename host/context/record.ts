/**
 * `.bearpunch-placed.json`, the marker in each placed skill's folder: which bytes in it are ours. It has no time
 * stamps, so that the same placement is the same bytes. It says so to whoever reads the workspace; the home believes
 * only markers it remembers (decision 30).
 *
 * While files change it also holds `pending`: what is about to be there. It is written before the first file
 * changes and replaced after the last, so that whatever a kill leaves behind, each file's digest is in the record
 * of its folder, and a folder with `pending` is never taken for a whole skill.
 */
import { hash } from 'node:crypto';
import { z } from 'zod';

export const recordName = '.bearpunch-placed.json';
/** Longest record read, bytes. */
export const recordBytes = 4 * 1024 * 1024;
/** Most files of one skill. */
export const skillFiles = 10_000;

export interface PlacedFile {
  readonly path: string;
  readonly sha256: string;
  readonly size: number;
}
/** One revision of a skill, files sorted by path. */
export interface PlacedSet {
  readonly bundle: string;
  readonly revision: string;
  readonly files: readonly PlacedFile[];
}
export interface PlacedRecord extends PlacedSet {
  readonly pending?: PlacedSet;
}

const files = z
  .array(
    z.strictObject({
      path: z.string().min(1).max(1_024),
      sha256: z.string().regex(/^[0-9a-f]{64}$/),
      size: z.int().min(0),
    }),
  )
  .max(skillFiles * 2);
const set = { bundle: z.string().min(1).max(500), revision: z.string().min(1).max(500), files };
const shape = z.strictObject({ placed: z.literal(1), ...set, pending: z.strictObject(set).optional() });

export const byPath = (a: { readonly path: string }, b: { readonly path: string }): number =>
  a.path < b.path ? -1 : a.path > b.path ? 1 : 0;

const setOf = ({ bundle, revision, files: listed }: PlacedSet): PlacedSet => ({
  bundle,
  files: listed.map(({ path, sha256, size }) => ({ path, sha256, size })).sort(byPath),
  revision,
});

/** The bytes of a record: keys and files sorted, two spaces, a line end. */
export const recordText = (record: PlacedRecord): string => {
  const { bundle, files: listed, revision } = setOf(record);
  const pending = record.pending === undefined ? {} : { pending: setOf(record.pending) };
  return `${JSON.stringify({ bundle, files: listed, ...pending, placed: 1, revision }, null, 2)}\n`;
};

/** A record from its bytes, or undefined where they are none of ours. */
export const parseRecord = (bytes: Uint8Array): PlacedRecord | undefined => {
  try {
    const parsed = shape.safeParse(JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes)));
    if (!parsed.success) return undefined;
    const { bundle, revision, files: listed, pending } = parsed.data;
    return { bundle, revision, files: listed, ...(pending === undefined ? {} : { pending }) };
  } catch {
    return undefined;
  }
};

/** What a home remembers of a marker. */
export const markerOf = (bytes: string | Uint8Array): string => hash('sha256', bytes);

/** Which digests of a path count as ours, and how long such a file may be. */
export interface Owned {
  readonly digests: ReadonlySet<string>;
  readonly longest: number;
}

export const ownedBy = (record: PlacedRecord | undefined): ReadonlyMap<string, Owned> => {
  const owned = new Map<string, { digests: Set<string>; longest: number }>();
  for (const { path, sha256, size } of [...(record?.files ?? []), ...(record?.pending?.files ?? [])]) {
    const known = owned.get(path) ?? { digests: new Set<string>(), longest: 0 };
    known.digests.add(sha256);
    known.longest = Math.max(known.longest, size);
    owned.set(path, known);
  }
  return owned;
};
