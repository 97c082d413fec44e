/** A small generator of pseudo-random numbers: the same seed makes the same run. */
export interface Random {
  /** A whole number from 0 below `most`. */
  readonly below: (most: number) => number;
  readonly one: <T>(of: readonly T[]) => T;
  readonly chance: (part: number) => boolean;
  readonly bytes: (count: number) => Uint8Array;
}

/** Mulberry32. */
export const randomFrom = (seed: number): Random => {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = state;
    mixed = Math.imul(mixed ^ (mixed >>> 15), mixed | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (most: number): number => Math.floor(next() * most);
  return {
    below,
    one: (of) => of[below(of.length)] as (typeof of)[number],
    chance: (part) => next() < part,
    bytes: (count) => Uint8Array.from({ length: count }, () => below(256)),
  };
};

/** The seed of this run: `FUZZ_SEED` to see another one, or a failure again. */
export const seed = Number(process.env['FUZZ_SEED'] ?? 20_260_101);
/** `FUZZ_ROUNDS` times as many rounds as usual. */
export const rounds = (usual: number): number => usual * Number(process.env['FUZZ_ROUNDS'] ?? 1);
