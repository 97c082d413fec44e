/**
 * What the sandbox sets for the whole process, before the first component starts; every worker started later has it.
 *
 * No Wasm memory grows beyond a bound, whoever made it: the bound behind the maxima that are written into modules
 * (`admission/rewrite.ts`), for where that would fail. And a worker may collect what its start left behind, once,
 * before anything of a guest runs: about 1 MB of each idle component.
 */
import { setFlagsFromString } from 'node:v8';

/** Pages of 64 KiB: 1 GiB, what the transpiler's own memory may take and twice what policy may give a component. */
export const backstopPages = 16_384;

export const prepareProcess = (): void => {
  setFlagsFromString(`--wasm-max-mem-pages=${backstopPages}`);
  setFlagsFromString('--expose-gc');
};
