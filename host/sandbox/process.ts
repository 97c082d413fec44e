/**
 * What the sandbox sets for the whole process, before the first component starts; every worker started later has it.
 *
 * No Wasm memory grows beyond a bound, whoever made it: the bound behind the maxima that are written into modules
 * (`admission/rewrite.ts`), for where that would fail. And a thread may collect what its start left behind: a worker once,
 * before anything of a guest runs, about 1 MB of each idle component; the station itself when it is told to.
 */
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

/** Pages of 64 KiB: 1 GiB, what the transpiler's own memory may take and twice what policy may give a component. */
export const backstopPages = 16_384;

export const prepareProcess = (): void => {
  setFlagsFromString(`--wasm-max-mem-pages=${backstopPages}`);
  setFlagsFromString('--expose-gc');
};

/**
 * Collects everything this thread does not need and gives the room back to the system, the young generation included,
 * which V8 keeps at its largest otherwise. Takes 25 to 70 ms; call it when nobody waits.
 */
export const giveBackMemory = (): void => {
  // A context made before the flag was set has no `gc`.
  const collect: unknown = runInNewContext('globalThis.gc');
  if (typeof collect === 'function') collect({ type: 'major', execution: 'sync', flavor: 'last-resort' });
};
