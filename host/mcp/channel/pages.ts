/**
 * Pages and cursors. A cursor names the last URI of a page, so it goes on in the right place when entries came or went
 * meanwhile; one that this station did not write is refused.
 */
import { pageBytes, pageEntries, uriCharacters } from './limits.ts';
import { scheme } from './uri.ts';

const mark = 'after:';

const cursorAfter = (uri: string): string => Buffer.from(mark + uri).toString('base64url');

/** The URI behind a cursor, or undefined. */
export const afterIn = (cursor: string): string | undefined => {
  if (cursor.length > uriCharacters) return undefined;
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const uri = text.slice(mark.length);
  // Written again it must be the same: decoding forgives what was never written.
  return text.startsWith(mark + scheme) && cursorAfter(uri) === cursor ? uri : undefined;
};

export interface Page<T> {
  readonly items: readonly T[];
  readonly nextCursor?: string;
}

/** Items behind a cursor, in the order of their URIs; undefined where the cursor is none of ours. */
export const pageOf = <T extends { readonly uri: string }>(
  items: readonly T[],
  cursor: string | undefined,
  sizeOf: (item: T) => number = () => 0,
): Page<T> | undefined => {
  let start = 0;
  if (cursor !== undefined) {
    const after = afterIn(cursor);
    if (after === undefined) return undefined;
    start = items.findIndex(({ uri }) => uri > after);
    if (start === -1) return { items: [] };
  }
  let end = start;
  let bytes = 0;
  for (const item of items.slice(start, start + pageEntries)) {
    bytes += sizeOf(item);
    if (end > start && bytes > pageBytes) break;
    end += 1;
  }
  const last = items[end - 1];
  return {
    items: items.slice(start, end),
    ...(end < items.length && last !== undefined ? { nextCursor: cursorAfter(last.uri) } : {}),
  };
};
