/**
 * The throw-away worker of one transpilation. It loads the generator, gets one component, answers, and is ended. It loads
 * jco's generator alone: its Wasm with maxima on its memories (worker limits do not reach them) and its WASI through the
 * in-process shim, so that it needs no file and no thread.
 */
import { registerHooks } from 'node:module';
import { parentPort, workerData } from 'node:worker_threads';
import { limitCoreModule, readCoreModule } from '../admission/core.ts';
import type { TranspileJob, TranspileReply, TranspileSettings } from './protocol.ts';

const settings: TranspileSettings = workerData;
const shimPrefix = '@bytecodealliance/preview2-shim/';

registerHooks({
  resolve: (specifier, context, next) =>
    specifier.startsWith(shimPrefix)
      ? {
          url: new URL(`${specifier.slice(shimPrefix.length)}.js`, settings.shim).href,
          format: 'module',
          shortCircuit: true,
        }
      : next(specifier, context),
});

/** No generator table is bounded by this: it has one, of fixed size. */
const anyTable = 2 ** 32 - 1;
const compile = WebAssembly.compile;
const compiled: WebAssembly.Module[] = [];
const bounded = async (bytes: Uint8Array | ArrayBuffer): Promise<WebAssembly.Module> => {
  const source = bytes instanceof ArrayBuffer ? new Uint8Array(bytes) : bytes;
  const module = readCoreModule(source, 0, source.length);
  const maxima = { memories: module.memories.map(() => settings.generatorPages), table: anyTable };
  const found = await compile(Buffer.concat(limitCoreModule(source, module, maxima)));
  compiled.push(found);
  return found;
};
Object.defineProperty(WebAssembly, 'compile', { value: bounded });

interface Generator {
  readonly $init: Promise<void>;
  readonly generate: (
    component: Uint8Array,
    options: Readonly<Record<string, unknown>>,
  ) => { readonly files: readonly (readonly [string, Uint8Array])[] };
}

const load = async (): Promise<Generator> => {
  const generator: Generator = await import(settings.generator);
  await generator.$init;
  return generator;
};
const loaded = load();
// Told where it is asked for.
loaded.catch(() => undefined);

const run = async ({ component, outputBytes }: TranspileJob): Promise<TranspileReply> => {
  const { generate } = await loaded;
  const { files } = generate(component, {
    name: 'g',
    map: [],
    instantiation: { tag: 'sync' },
    noTypescript: true,
    noNodejsCompat: true,
    tlaCompat: false,
    base64Cutoff: 0,
    noComponentErrorWrapping: true,
  });
  const size = files.reduce((sum, [, content]) => sum + content.length, 0);
  if (size > outputBytes) {
    return { ok: false, reason: 'output', message: `${size} bytes; ${outputBytes} are allowed` };
  }
  // What takes minutes to compile must be found here, where it can be stopped, and not when it is to run.
  for (const [name, content] of files) {
    if (name.endsWith('.wasm')) compiled.push(await compile(content));
  }
  return { ok: true, files, compiled };
};

parentPort?.once('message', (job: TranspileJob) => {
  run(job).then(
    (reply) => parentPort?.postMessage(reply),
    (error: unknown) =>
      parentPort?.postMessage({
        ok: false,
        reason: 'failed',
        message: String(error),
      } satisfies TranspileReply),
  );
});
