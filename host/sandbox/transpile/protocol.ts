/** What crosses between the host and the throw-away worker that transpiles. */
export interface TranspileJob {
  readonly component: Uint8Array;
  /** URL of jco's generator. */
  readonly generator: string;
  /** URL of the folder with the shim's in-process build, ending in `/`. */
  readonly shim: string;
  /** All output together, bytes. */
  readonly outputBytes: number;
  /** Maximum of the generator's own Wasm memories, pages. */
  readonly generatorPages: number;
}
export type TranspileReply =
  | {
      readonly ok: true;
      readonly files: readonly (readonly [string, Uint8Array])[];
      /** The generator as this worker compiled it, for the host to hold: it is not run there. */
      readonly generator: readonly WebAssembly.Module[];
    }
  | { readonly ok: false; readonly reason: 'output' | 'failed'; readonly message: string };
