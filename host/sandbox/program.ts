/**
 * The programs of the sandbox's workers. From its TypeScript sources each worker would load Node's type stripper for
 * itself, which costs 40 ms and 15 MB a component; `npm ci` makes one plain module of them. It is used only while every
 * source it was made from is what it was; otherwise, and in a published package, the sources as they are.
 */
import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

export interface WorkerProgram {
  readonly file: URL;
  /** What a worker must be able to read to run it. */
  readonly readable: readonly string[];
}

/** Beside the program: its sources, relative to the checkout, with their SHA-256. */
export interface ProgramSources {
  readonly sources: Readonly<Record<string, string>>;
}

const here = (path: string): URL => new URL(path, import.meta.url);
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const isCurrent = (name: string): boolean => {
  try {
    const { sources } = JSON.parse(readFileSync(here(`../../dist/${name}.json`), 'utf8')) as ProgramSources;
    return Object.entries(sources).every(
      ([path, digest]) =>
        createHash('sha256')
          .update(readFileSync(here(`../../${path}`)))
          .digest('hex') === digest,
    );
  } catch {
    return false;
  }
};

/** `name` of the built program, and where its sources lie: the module that starts it, and all it may read. */
const program = (name: string, main: string, sources: readonly string[]): (() => WorkerProgram) => {
  let found: WorkerProgram | undefined;
  return () => {
    const built = here(`../../dist/${name}.mjs`);
    found ??=
      extension === 'ts' && isCurrent(name)
        ? { file: built, readable: [fileURLToPath(built)] }
        : {
            file: here(main),
            readable: sources.map((path) =>
              path.endsWith('/') ? `${fileURLToPath(here(path))}*` : fileURLToPath(here(path)),
            ),
          };
    return found;
  };
};

/** Runs one activation. */
export const workerProgram = program('worker', `./worker/main.${extension}`, [
  './worker/',
  './releases/',
  `./protocol.${extension}`,
]);

/** Transpiles one component. */
export const transpilerProgram = program('transpiler', `./transpile/worker.${extension}`, [
  './transpile/',
  './admission/',
  '../problems/',
]);
