/**
 * Takes the middle out of lines that are over a limit, so that a program that once says too much needs not be ended for
 * it: what is handed on is the beginning, a NUL, and the last bytes. The result does not depend on how the bytes were
 * cut into chunks. A line that goes on to the most is over.
 */
export interface LineCutter {
  readonly push: (chunk: Buffer) => Buffer;
  readonly over: () => boolean;
}

/** Bytes of the end that are kept. */
export const keptTail = 512;
/** A line this many times the limit ends the program. */
export const mostTimes = 4;

const newline = 0x0a;
const lineEnd = Buffer.from('\n');
const mark = Buffer.from([0]);
const nothing = Buffer.alloc(0);

export const cutLines = (limit: number): LineCutter => {
  /** Bytes of the line at hand. */
  let since = 0;
  let tail = nothing;
  const most = limit * mostTimes;
  return {
    push: (chunk) => {
      if (since + chunk.length <= limit) {
        const last = chunk.lastIndexOf(newline);
        since = last === -1 ? since + chunk.length : chunk.length - last - 1;
        return chunk;
      }
      const out: Buffer[] = [];
      for (let from = 0; from < chunk.length; ) {
        const found = chunk.indexOf(newline, from);
        const part = chunk.subarray(from, found === -1 ? chunk.length : found);
        const fits = Math.min(part.length, Math.max(0, limit - since));
        if (fits > 0) out.push(part.subarray(0, fits));
        if (fits < part.length) tail = Buffer.concat([tail, part.subarray(fits)]).subarray(-keptTail);
        since += part.length;
        if (since > most) break;
        if (found === -1) break;
        if (since > limit) out.push(mark, tail);
        out.push(lineEnd);
        since = 0;
        tail = nothing;
        from = found + 1;
      }
      return Buffer.concat(out);
    },
    over: () => since > most,
  };
};
