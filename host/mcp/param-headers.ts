/**
 * SEP-2243: a parameter of a tool as a header. What both sides need: as a client of other servers, and as a server of
 * agents.
 */

/** In the schema of a property: the header is `Mcp-Param-` and what stands here. */
export const headerMark = 'x-mcp-header';
export const headerName = (mark: string): string => `Mcp-Param-${mark}`;

/** What may stand behind `Mcp-Param-`. */
export const markedName = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** A value as text; undefined where it is none that a header repeats: an object, a list, an integer nobody has exactly. */
export const headerText = (value: unknown): string | undefined => {
  if (typeof value === 'string') return value;
  if (typeof value === 'boolean') return String(value);
  return Number.isFinite(value) && (!Number.isInteger(value) || Number.isSafeInteger(value))
    ? String(value)
    : undefined;
};

const plain = /^[\t\u0020-\u007e]+$/;
const inBase64 = /^=\?base64\?((?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?)\?=$/;
const utf8 = new TextDecoder('utf-8', { fatal: true });
const isMarked = (text: string): boolean => text.startsWith('=?base64?') && text.endsWith('?=');

/** A text that no header could hold, or that would be taken for one in base64, stands in base64. */
export const encodedHeader = (text: string): string =>
  plain.test(text) && text === text.trim() && !isMarked(text)
    ? text
    : `=?base64?${Buffer.from(text).toString('base64')}?=`;

/** The text of a header's value; undefined where it is neither plain nor canonical base64 of UTF-8. */
export const decodedHeader = (value: string): string | undefined => {
  if (!isMarked(value)) return value;
  const [, base64] = inBase64.exec(value) ?? [];
  if (base64 === undefined) return undefined;
  try {
    return utf8.decode(Buffer.from(base64, 'base64'));
  } catch {
    return undefined;
  }
};
