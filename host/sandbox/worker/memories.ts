/**
 * How much memory a guest has taken, over all its memories: a guest that wants more than it may have gets an error it can
 * catch, so the host looks at what is in use.
 */

/** Of what is allowed: with less than this left, a failure counts as one of memory. */
const leftShare = 8;
const MiB = 1024 * 1024;

export interface Memories {
  /** Instantiates a core module and remembers its memories. */
  readonly instantiate: (module: WebAssembly.Module, imports?: object) => WebAssembly.Instance;
  /** What is in use, where a failure that says this is one of memory: next to nothing is left, or it says so itself. */
  readonly short: (said: string) => string | undefined;
}

export const watchMemories = (allowed: number): Memories => {
  const { Instance, Memory } = WebAssembly;
  const memories = new Set<WebAssembly.Memory>();
  return {
    instantiate: (module, imports) => {
      const instance = new Instance(module, imports);
      for (const found of Object.values(instance.exports)) if (found instanceof Memory) memories.add(found);
      return instance;
    },
    short: (said) => {
      const used = [...memories].reduce((sum, { buffer }) => sum + buffer.byteLength, 0);
      return allowed - used < allowed / leftShare || /out of memory/i.test(said)
        ? `${(used / MiB).toFixed(1)} of ${(allowed / MiB).toFixed(1)} MiB in use (memoryBytes)`
        : undefined;
    },
  };
};
