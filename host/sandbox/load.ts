/**
 * What a worker is started with. The generated files are read, compared and used in one read: the glue travels to the
 * worker as text and the modules as compiled code, so nothing can change between the check and the use, and a worker
 * may read no file but its own program.
 */
import { fileURLToPath } from 'node:url';
import { ok, type Result, refuse } from '../problems/index.ts';
import { readEntry } from './cache.ts';
import type { AdmittedComponent } from './edge.ts';
import { workerProgram } from './program.ts';
import { shimFolder } from './transpile/tools.ts';

export interface LoadedComponent {
  readonly glue: string;
  readonly modules: readonly (readonly [string, WebAssembly.Module])[];
  readonly wasi: readonly string[];
  readonly shim: string;
  /** What the worker may read. */
  readonly readable: readonly string[];
}

/** Components whose compiled modules are kept for the next start; the one used longest ago goes first. */
const keptComponents = 16;
/** Compiled modules by digest of the cache entry’s files: compiled once, shared by every worker. */
const compiled = new Map<string, Promise<LoadedComponent['modules']>>();

const compile = (
  files: ReadonlyMap<string, Uint8Array>,
  digests: ReadonlyMap<string, string>,
): Promise<LoadedComponent['modules']> => {
  const key = [...digests.values()].join();
  const found = compiled.get(key);
  const modules =
    found ??
    Promise.all(
      [...files]
        .filter(([name]) => name.endsWith('.wasm'))
        .map(async ([name, bytes]) => [name, await WebAssembly.compile(bytes)] as const),
    );
  compiled.delete(key);
  compiled.set(key, modules);
  modules.catch(() => compiled.delete(key));
  for (const oldest of compiled.keys()) {
    if (compiled.size <= keptComponents) break;
    compiled.delete(oldest);
  }
  return modules;
};

/** Everything a start needs (`sandbox/cache-changed` where a file is not what was written). */
export const loadComponent = async (component: AdmittedComponent): Promise<Result<LoadedComponent>> => {
  const entry = await readEntry(component.folder);
  if (!entry.ok) return entry;
  if (entry.value === undefined || entry.value.component !== component.digest) {
    return refuse('sandbox/cache-changed', { evidence: 'the cache has no entry for this component' });
  }
  const { files, digests, surface } = entry.value;
  try {
    const modules = await compile(files, digests);
    const shim = surface.wasi.length === 0 ? '' : shimFolder();
    return ok({
      glue: new TextDecoder().decode(files.get('g.js')),
      modules,
      wasi: surface.wasi,
      shim,
      readable: [...workerProgram().readable, ...(shim === '' ? [] : [`${fileURLToPath(shim)}*`])],
    });
  } catch (error) {
    return refuse('sandbox/start-failed', { evidence: String(error) });
  }
};
