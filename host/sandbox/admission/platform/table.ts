/** One interface: its types and functions, each written out as `types.ts` writes them. */
export interface Interface {
  readonly types: Readonly<Record<string, string>>;
  readonly funcs: Readonly<Record<string, string>>;
}
