/**
 * Reads a Wasm binary without trusting it: every read is bounded by the slice it stands in, numbers are LEB128 of at
 * most five bytes, names are strict UTF-8. A fault is thrown as a `ProblemError` and caught at the door (`admit.ts`).
 */
import { type ProblemCode, type ProblemDetail, ProblemError, problem } from '../../problems/index.ts';

/** Elements of one vector anywhere in a component; a large toolchain's type section has some hundreds. */
const vectorCap = 100_000;

export const fault = (code: ProblemCode, detail: ProblemDetail = {}): never => {
  throw new ProblemError(problem(code, detail));
};

export interface Reader {
  readonly at: () => number;
  readonly end: number;
  readonly done: () => boolean;
  readonly peek: () => number;
  readonly byte: () => number;
  /** Unsigned LEB128, 32 bits. */
  readonly u32: () => number;
  /** Unsigned LEB128, 64 bits. */
  readonly u64: () => bigint;
  /** Signed LEB128, 33 bits. */
  readonly s33: () => number;
  readonly skip: (bytes: number) => void;
  /** A length-prefixed name of at most `cap` bytes. */
  readonly name: (cap: number) => string;
  /** A length and as many elements; faults at more than `vectorCap`. */
  readonly vector: <T>(element: (index: number) => T) => T[];
  /** The next `bytes` as a reader of their own; this one moves behind them. */
  readonly slice: (bytes: number) => Reader;
}

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

export const reader = (bytes: Uint8Array, start = 0, end = bytes.length): Reader => {
  let at = start;
  const malformed = (what: string): never =>
    fault('sandbox/malformed', { evidence: `${what} at byte ${at} of the component` });
  const byte = (): number => {
    const found = at < end ? bytes[at] : undefined;
    if (found === undefined) return malformed('unexpected end');
    at += 1;
    return found;
  };
  const leb = (bits: number, signed: boolean): bigint => {
    const longest = Math.ceil(bits / 7);
    let value = 0n;
    let shift = 0n;
    for (let read = 1; ; read += 1) {
      const next = byte();
      value |= BigInt(next & 0x7f) << shift;
      shift += 7n;
      if (next < 0x80) {
        if (signed && (next & 0x40) !== 0) value -= 1n << shift;
        break;
      }
      if (read === longest) return malformed('number too long');
    }
    const low = signed ? -(1n << BigInt(bits - 1)) : 0n;
    const high = signed ? 1n << BigInt(bits - 1) : 1n << BigInt(bits);
    return value >= low && value < high ? value : malformed('number out of range');
  };
  const u32 = (): number => {
    const first = at < end ? bytes[at] : undefined;
    if (first !== undefined && first < 0x80) {
      at += 1;
      return first;
    }
    return Number(leb(32, false));
  };
  const take = (count: number): number => {
    if (count > end - at) return malformed('length beyond the end');
    at += count;
    return at - count;
  };
  return {
    at: () => at,
    end,
    done: () => at >= end,
    peek: () => (at < end ? (bytes[at] ?? 0) : malformed('unexpected end')),
    byte,
    u32,
    u64: () => leb(64, false),
    s33: () => Number(leb(33, true)),
    skip: (count) => void take(count),
    name: (cap) => {
      const length = u32();
      if (length > cap) {
        return fault('sandbox/name-refused', {
          evidence: `a name of ${length} bytes; at most ${cap} are taken`,
        });
      }
      const from = take(length);
      try {
        return decoder.decode(bytes.subarray(from, from + length));
      } catch {
        return fault('sandbox/name-refused', { evidence: `a name that is not UTF-8, at byte ${from}` });
      }
    },
    vector: (element) => {
      const count = u32();
      if (count > vectorCap) return malformed(`a list of ${count} elements`);
      return Array.from({ length: count }, (_, index) => element(index));
    },
    slice: (count) => {
      const from = take(count);
      return reader(bytes, from, from + count);
    },
  };
};

/** Unsigned LEB128 of a number below 2^32. */
export const leb128 = (value: number): number[] => {
  const out: number[] = [];
  let rest = value;
  do {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    out.push(rest > 0 ? low | 0x80 : low);
  } while (rest > 0);
  return out;
};
