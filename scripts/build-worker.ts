/** Makes one plain module of each sandbox worker's sources (host/sandbox/program.ts says why), with their digests. */
import { createHash } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import type { ProgramSources } from '../host/sandbox/program.ts';

const root = join(import.meta.dirname, '..');

const programs = { worker: 'worker/main.ts', transpiler: 'transpile/worker.ts' } as const;

const buildProgram = async (name: keyof typeof programs): Promise<void> => {
  const { outputFiles, metafile } = await build({
    entryPoints: [`host/sandbox/${programs[name]}`],
    absWorkingDir: root,
    bundle: true,
    write: false,
    metafile: true,
    format: 'esm',
    platform: 'node',
    target: 'node26',
    legalComments: 'none',
    logLevel: 'silent',
  });
  const digest = (path: string) =>
    createHash('sha256')
      .update(readFileSync(join(root, path)))
      .digest('hex');
  const listing: ProgramSources = {
    sources: Object.fromEntries(
      Object.keys(metafile.inputs)
        .sort()
        .map((path) => [path, digest(path)]),
    ),
  };
  mkdirSync(join(root, 'dist'), { recursive: true });
  const put = (file: string, text: string) => {
    const place = join(root, 'dist', file);
    writeFileSync(`${place}.${process.pid}`, text);
    renameSync(`${place}.${process.pid}`, place);
  };
  put(`${name}.mjs`, outputFiles[0]?.text ?? '');
  put(`${name}.json`, `${JSON.stringify(listing, null, 2)}\n`);
};

export const buildWorkers = async (): Promise<void> => {
  await buildProgram('worker');
  await buildProgram('transpiler');
};
