/** What tests of strangers’ bundles share. */
import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { packBundle } from '../../host/bundles/index.ts';
import { watGuest } from '../sandbox/guests.ts';
import type { Bench, Run } from './harness.ts';

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
export const quietGuest = (mark: string) =>
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
