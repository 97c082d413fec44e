/** What a table of problem codes holds: one table a room, put together in `registry.ts`. */
export interface KnownProblem {
  /** What happened, as a sentence a person can read without the code. */
  readonly message: string;
  /** What to do next. */
  readonly fix?: string;
}

/** Keeps the literal codes of a table as its type. */
export const codes = <const T extends Record<string, KnownProblem>>(
  table: T,
): { readonly [C in keyof T]: KnownProblem } => table;
