/** What crosses between the host and the throw-away worker that transpiles: its settings, then one component, one reply. */
export interface TranspileSettings {
  /** URL of jco's generator. */
  readonly generator: string;
  /** URL of the folder with the shim's in-process build, ending in `/`. */
  readonly shim: string;
  /** Maximum of the generator's own Wasm memories, pages. */
  readonly generatorPages: number;
}
export interface TranspileJob {
  readonly component: Uint8Array;
  /** All output together, bytes. */
  readonly outputBytes: number;
}
export type TranspileReply =
  | {
      readonly ok: true;
      readonly files: readonly (readonly [string, Uint8Array])[];
      /** The generator and what it made, as this worker compiled them, for the host to hold: they are not run from there. */
      readonly compiled: readonly WebAssembly.Module[];
    }
  | { readonly ok: false; readonly reason: 'output' | 'failed'; readonly message: string };
