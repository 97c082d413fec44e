/**
 * Cuts a stream of bytes into lines. The result does not depend on how the bytes were cut into chunks: characters
 * of several bytes may be cut anywhere, a `\r` before the line end is dropped, invalid UTF-8 becomes U+FFFD, the
 * last line needs no line end. A line over the limit stops everything; the lines before it are still handed over.
 * Memory is bounded by the limit plus one chunk.
 */
export interface LineFramer {
  /** The lines this chunk completes. After a line over the limit: none, for ever. */
  readonly push: (chunk: Buffer) => readonly string[];
  /** At the end of the stream: the last line, if it had no line end. */
  readonly rest: () => readonly string[];
  readonly tooLong: () => boolean;
}

const newline = 0x0a;
const firstHeldBytes = 64 * 1024;
const nothing = Buffer.alloc(0);

const withoutReturn = (line: string): string => (line.endsWith('\r') ? line.slice(0, -1) : line);

const linesOf = (bytes: Buffer, end: number): readonly string[] => {
  const text = bytes.toString('utf8', 0, end);
  const lines = text.split('\n');
  return text.includes('\r') ? lines.map(withoutReturn) : lines;
};

/** Where the last whole line before one that is over the limit ends, or undefined if none is over it. */
const cutBeforeTooLong = (bytes: Buffer, end: number, limit: number): number | undefined => {
  let from = 0;
  while (from <= end) {
    const found = bytes.indexOf(newline, from);
    const lineEnd = found === -1 || found > end ? end : found;
    if (lineEnd - from > limit) return from - 1;
    from = lineEnd + 1;
  }
  return undefined;
};

export const frameLines = (limit: number): LineFramer => {
  // The unfinished line: `held[0, length)`. It grows by doubling, so that a byte a chunk costs no more than one chunk.
  let held = nothing;
  let length = 0;
  let tooLong = false;

  const hold = (bytes: Buffer): void => {
    const needed = length + bytes.length;
    if (needed > held.length) {
      const grown = Buffer.allocUnsafe(Math.max(needed, held.length * 2, firstHeldBytes));
      held.copy(grown, 0, 0, length);
      held = grown;
    }
    bytes.copy(held, length);
    length = needed;
  };
  const release = (): void => {
    if (held.length > firstHeldBytes) held = nothing;
    length = 0;
  };
  const giveUp = (): void => {
    tooLong = true;
    held = nothing;
    length = 0;
  };
  const keepRest = (bytes: Buffer): void => {
    if (length + bytes.length > limit) giveUp();
    else if (bytes.length > 0) hold(bytes);
  };

  return {
    push: (chunk) => {
      if (tooLong) return [];
      const last = chunk.lastIndexOf(newline);
      if (last === -1) {
        keepRest(chunk);
        return [];
      }
      let whole = chunk;
      let end = last;
      if (length > 0) {
        hold(chunk.subarray(0, last));
        whole = held;
        end = length;
      }
      const cut = end > limit ? cutBeforeTooLong(whole, end, limit) : undefined;
      if (cut !== undefined) {
        const lines = cut < 0 ? [] : linesOf(whole, cut);
        giveUp();
        return lines;
      }
      const lines = linesOf(whole, end);
      release();
      keepRest(chunk.subarray(last + 1));
      return lines;
    },
    rest: () => {
      if (length === 0) return [];
      const line = held.toString('utf8', 0, length);
      release();
      return [withoutReturn(line)];
    },
    tooLong: () => tooLong,
  };
};
