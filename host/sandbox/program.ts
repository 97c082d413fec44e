/**
 * The worker's program. From its TypeScript sources each worker would load Node's type stripper for itself, which
 * costs 40 ms and 15 MB a component; `npm ci` makes one plain module of them. It is used only while every source it
 * was made from is what it was; otherwise, and in a published package, the sources as they are.
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
const built = here('../../dist/worker.mjs');
const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';

const fromSources = (): WorkerProgram => ({
  file: here(`./worker/main.${extension}`),
  readable: [
    `${fileURLToPath(here('./worker/'))}*`,
    `${fileURLToPath(here('./releases/'))}*`,
    fileURLToPath(here(`./protocol.${extension}`)),
  ],
});

const isCurrent = (): boolean => {
  try {
    const { sources } = JSON.parse(readFileSync(here('../../dist/worker.json'), 'utf8')) as ProgramSources;
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

let program: WorkerProgram | undefined;

export const workerProgram = (): WorkerProgram => {
  program ??=
    extension === 'ts' && isCurrent() ? { file: built, readable: [fileURLToPath(built)] } : fromSources();
  return program;
};
