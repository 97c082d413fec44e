/**
 * Turns an admitted component's bytes into generated files, in a throw-away worker with a deadline, a heap limit and
 * a cap on its output. What comes back is checked again: names, kinds, and that every memory and table is bounded.
 */
import { fileURLToPath } from 'node:url';
import { Worker } from 'node:worker_threads';
import { ok, ProblemError, type Result, refuse } from '../../problems/index.ts';
import { readCoreModule } from '../admission/core.ts';
import { generatedName } from '../admission/names.ts';
import { transpileLimits } from '../limits.ts';
import { transpilerProgram } from '../program.ts';
import type { TranspileJob, TranspileReply, TranspileSettings } from './protocol.ts';
import { generatorUrl, shimFolder } from './tools.ts';

/** Files of a generated component by name. */
export type GeneratedFiles = ReadonlyMap<string, Uint8Array>;
export interface TranspileBounds {
  readonly deadlineMs: number;
  readonly outputBytes: number;
  readonly heapMiB: number;
}

/** The generator's own Wasm memory; 1 GiB where an unbounded one was seen to take 3.4. */
const generatorPages = 16_384;
const fileName = /^g(\.core([1-9][0-9]{0,3})?\.wasm|\.js)$/;

/** How long compiled code outlives its last use, ms. */
const warmMs = 10_000;
const warm: { compiled: readonly WebAssembly.Module[] } = { compiled: [] };
let cooling: NodeJS.Timeout | undefined;
/**
 * V8 compiles a module's functions when they are called first, which is two thirds of a transpilation, and shares
 * that work between all who compile the same bytes while one of them is held. Bundles have several components, and
 * each is compiled again to be started.
 */
const keepWarm = (compiled: readonly WebAssembly.Module[]): void => {
  warm.compiled = compiled;
  clearTimeout(cooling);
  cooling = setTimeout(() => {
    warm.compiled = [];
  }, warmMs).unref();
};

const readable = (url: string): string => `--allow-fs-read=${fileURLToPath(new URL('.', url))}*`;

/** Why a generated file may not be used. */
const faultOf = (name: string, content: Uint8Array): string | undefined => {
  if (!fileName.test(name)) return `a file named ${JSON.stringify(name.slice(0, 80))}`;
  if (name === 'g.js') return undefined;
  try {
    const module = readCoreModule(content, 0, content.length, generatedName);
    const open = [...module.memories, ...module.tables].some(({ maximum }) => maximum === undefined);
    return open ? `${name} has a memory or table without a maximum` : undefined;
  } catch (error) {
    return error instanceof ProblemError
      ? `${name}: ${error.problem.evidence ?? error.problem.code}`
      : `${name}: ${error}`;
  }
};

const checked = (reply: TranspileReply, bounds: TranspileBounds): Result<GeneratedFiles> => {
  if (!reply.ok) {
    return refuse(reply.reason === 'output' ? 'sandbox/transpile-limit' : 'sandbox/transpile-failed', {
      evidence: reply.message,
    });
  }
  const files = new Map(reply.files.map(([name, content]) => [name, content] as const));
  const size = [...files.values()].reduce((sum, content) => sum + content.length, 0);
  if (size > bounds.outputBytes) return refuse('sandbox/transpile-limit', { evidence: `${size} bytes` });
  if (files.size !== reply.files.length || !files.has('g.js')) {
    return refuse('sandbox/output-refused', { evidence: 'a file twice, or no g.js' });
  }
  for (const [name, content] of files) {
    const fault = faultOf(name, content);
    if (fault !== undefined) return refuse('sandbox/output-refused', { evidence: fault });
  }
  return ok(files);
};

/** A worker that has not seen a component yet. */
const startWorker = (heapMiB: number): Worker => {
  const [generator, shim, program] = [generatorUrl(), shimFolder(), transpilerProgram()];
  const settings: TranspileSettings = { generator, shim, generatorPages };
  const worker = new Worker(program.file, {
    workerData: settings,
    env: {},
    stdin: false,
    stdout: true,
    stderr: true,
    execArgv: [
      '--permission',
      readable(generator),
      readable(shim),
      ...program.readable.map((path) => `--allow-fs-read=${path}`),
    ],
    resourceLimits: { maxOldGenerationSizeMb: heapMiB, maxYoungGenerationSizeMb: 64 },
  });
  worker.stdout.resume();
  worker.stderr.resume();
  return worker;
};

/** The worker that was started for a component still on its way. */
let spare: { readonly worker: Worker; readonly lost: () => void } | undefined;
/** Takes it; whoever takes it ends it. */
const takeSpare = (): Worker | undefined => {
  const taken = spare;
  spare = undefined;
  return taken?.worker.off('error', taken.lost).off('exit', taken.lost);
};

/**
 * Starts a worker for a component that is being read: it loads the generator meanwhile. The answer ends it where
 * nothing was transpiled after all.
 */
export const expectTranspile = (): (() => void) => {
  if (spare === undefined) {
    const worker = startWorker(transpileLimits.heapMiB);
    // One that fails by itself is not used; the next one says why.
    const lost = (): void => {
      if (spare?.worker === worker) spare = undefined;
    };
    worker.on('error', lost).on('exit', lost);
    spare = { worker, lost };
  }
  return () => void takeSpare()?.terminate();
};

/** `component` has been read and rewritten by admission before it comes here. */
export const transpile = (
  component: Uint8Array,
  bounds: TranspileBounds = transpileLimits,
): Promise<Result<GeneratedFiles>> => {
  const { promise, resolve } = Promise.withResolvers<Result<GeneratedFiles>>();
  const worker = (bounds === transpileLimits ? takeSpare() : undefined) ?? startWorker(bounds.heapMiB);
  const end = (result: Result<GeneratedFiles>): void => {
    clearTimeout(timer);
    resolve(result);
    void worker.terminate();
  };
  const limit = (evidence: string): Result<never> => refuse('sandbox/transpile-limit', { evidence });
  const timer = setTimeout(() => end(limit(`more than ${bounds.deadlineMs} ms`)), bounds.deadlineMs);
  worker.on('message', (reply: TranspileReply) => {
    if (reply.ok) keepWarm(reply.compiled);
    end(checked(reply, bounds));
  });
  worker.on('error', (error: Error & { code?: string }) =>
    end(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? limit(`more than ${bounds.heapMiB} MiB of heap`)
        : refuse('sandbox/transpile-failed', { evidence: error.message }),
    ),
  );
  worker.on('exit', () => end(refuse('sandbox/transpile-failed', { evidence: 'the worker ended' })));
  worker.postMessage({ component, outputBytes: bounds.outputBytes } satisfies TranspileJob);
  return promise;
};
