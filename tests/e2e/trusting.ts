/** What tests of strangers’ bundles share. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { buildComponent } from '../../components/guest/build.ts';
import { packBundle } from '../../host/bundles/index.ts';
import { watGuest } from '../sandbox/guests.ts';
import { type Bench, type Run, repository } from './harness.ts';

export interface Status {
  id: string;
  revision: string;
  asks: string[];
  ungranted: string[];
  components: { id: string; state: string; problem?: { code: string } }[];
  problem?: { code: string; subject?: string };
}
export interface Verified {
  bundles: { id: string; problem?: { code: string; subject?: string } }[];
  placed: { cwd: string; sink: string; name: string; problems: { code: string; subject: string }[] }[];
}

/** Answers one message with `done`: an outcome of zeros. Each mark is other bytes. */
const quietGuest = (mark: string) =>
  watGuest({
    core: `(data (i32.const 8) "\\20\\00\\00\\00\\01\\00\\00\\00") (data (i32.const 1024) "${mark}")`,
  });

/** A packed bundle with one small component that asks for these permissions. */
export const componentBundle = async (
  dir: string,
  id: string,
  permissions: readonly string[] = [],
  version = '1.0.0',
): Promise<string> => {
  const folder = join(dir, id);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  writeFileSync(join(folder, 'it.wasm'), await quietGuest(id));
  writeFileSync(join(folder, 'note.txt'), `version ${version}\n`);
  const components = [{ id: 'it', driver: 'wasm', entry: 'it.wasm', permissions }];
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ manifest: 2, id, version, components }));
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

/**
 * A packed bundle `test.<name>` with one component `<name>`, written for the test: `source` is what `defineComponent`
 * takes, `uses` its entry in the manifest.
 */
export const writtenBundle = async (
  dir: string,
  name: string,
  source: string,
  uses: { readonly permissions: readonly string[]; readonly [key: string]: readonly string[] },
): Promise<string> => {
  const folder = join(dir, `test.${name}`);
  mkdirSync(folder);
  const written = mkdtempSync(join(tmpdir(), `jupiter-${name}-`));
  try {
    const entry = join(written, 'component.ts');
    const sdk = JSON.stringify(join(repository, 'components', 'guest', 'index.ts'));
    const text = `import { defineComponent } from ${sdk};\nexport const component = defineComponent(${source});\n`;
    writeFileSync(entry, text);
    await buildComponent({ entry, out: join(folder, `${name}.wasm`), permissions: uses.permissions });
  } finally {
    rmSync(written, { recursive: true, force: true });
  }
  const component = { id: name, driver: 'wasm', entry: `${name}.wasm`, ...uses };
  const manifest = { manifest: 2, id: `test.${name}`, version: '1.0.0', components: [component] };
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

export const problemOf = (run: Run): { code: string; subject?: string; evidence?: string } => {
  assert.equal(run.code, 1, run.stdout + run.stderr);
  return (run.json() as { problem: { code: string } }).problem;
};
export const flip = (file: string, at = 3): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};
export const statusOf = async (bench: Bench, id: string): Promise<Status> => {
  const { bundles } = await bench.ask<{ bundles: Status[] }>('bundle', 'list');
  const found = bundles.find((one) => one.id === id);
  assert.ok(found, id);
  return found;
};
export const create = (bench: Bench, cwd = bench.workspace) =>
  bench.ask<{ id: string; state: string; provisioning: { skills: { name: string; decision: string }[] } }>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    cwd,
  );
export const restart = async (bench: Bench): Promise<void> => {
  await bench.ask('down');
  await bench.ask('up');
};
