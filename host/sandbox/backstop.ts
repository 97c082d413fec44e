/**
 * The bound behind the bounds: no Wasm memory of this process grows beyond it, whoever made it. Components are held
 * far below by the maxima written into their modules (`admission/rewrite.ts`); this holds where that would fail.
 */
import { setFlagsFromString } from 'node:v8';

/** Pages of 64 KiB: 1 GiB, what the transpiler's own memory may take and twice what policy may give a component. */
export const backstopPages = 16_384;

/** For the whole process and every worker it starts from now on. */
export const boundWasmMemory = (): void => setFlagsFromString(`--wasm-max-mem-pages=${backstopPages}`);
