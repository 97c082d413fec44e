/**
 * Store reads while a batch is open: what the host has, with the batch's own writes laid over it. Keys sort by their
 * UTF-8 bytes, which is the order of code points and not that of UTF-16 units.
 */
import type { StoreEntry } from '../protocol.ts';

/** Most entries of one scan, ours and the host's. */
const scanCap = 1_000;

const firstOfSurrogates = 0xd800;
const rank = (unit: number): number =>
  // Units above the surrogates stand for smaller code points than a surrogate pair does.
  unit >= 0xe000 ? unit - 0x800 : unit >= firstOfSurrogates ? unit + 0x2000 : unit;

/** Negative, zero or positive, as the UTF-8 bytes of two well-formed strings compare. */
export const compareUtf8 = (a: string, b: string): number => {
  const shorter = Math.min(a.length, b.length);
  for (let at = 0; at < shorter; at += 1) {
    const left = a.charCodeAt(at);
    const right = b.charCodeAt(at);
    if (left !== right) return rank(left) - rank(right);
  }
  return a.length - b.length;
};

export interface Scan {
  readonly prefix: string;
  readonly after: string | null;
  readonly limit: number;
}

/** One scan over the host's entries (`page` returns at most `limit` of them, in order) and the writes. */
export const overlaidScan = (
  scan: Scan,
  writes: ReadonlyMap<string, string | null>,
  page: (scan: Scan) => readonly StoreEntry[],
): readonly StoreEntry[] => {
  const limit = Math.min(scan.limit, scanCap);
  if (limit === 0) return [];
  const { prefix } = scan;
  const ours = [...writes]
    .flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
    .filter(({ key }) => key.startsWith(prefix) && (scan.after === null || compareUtf8(key, scan.after) > 0))
    .sort((a, b) => compareUtf8(a.key, b.key));
  const out: StoreEntry[] = [];
  let taken = 0;
  const takeOurs = (before: string | undefined): void => {
    for (let next = ours[taken]; next !== undefined && out.length < limit; next = ours[taken]) {
      if (before !== undefined && compareUtf8(next.key, before) > 0) return;
      out.push(next);
      taken += 1;
    }
  };
  for (let after = scan.after; ; ) {
    const entries = page({ prefix, after, limit });
    for (const entry of entries) {
      takeOurs(entry.key);
      if (out.length >= limit) return out;
      if (!writes.has(entry.key)) out.push(entry);
      if (out.length >= limit) return out;
    }
    const last = entries.at(-1);
    if (last === undefined || entries.length < limit) break;
    after = last.key;
  }
  takeOurs(undefined);
  return out;
};
