/** The part of the WebAssembly JavaScript API the sandbox uses; Node's types do not declare it. */
declare namespace WebAssembly {
  class Module {
    constructor(bytes: Uint8Array);
  }
  class Instance {
    constructor(module: Module, imports?: object);
    readonly exports: Readonly<Record<string, unknown>>;
  }
  class Memory {
    constructor(size: { readonly initial: number; readonly maximum?: number });
    readonly buffer: ArrayBuffer;
  }
  class RuntimeError extends Error {}
  let compile: (bytes: Uint8Array | ArrayBuffer) => Promise<Module>;
}
