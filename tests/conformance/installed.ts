/** A published package in a folder of its own, fetched by the machine's npm and kept for the next run. */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { tmpdir, userInfo } from 'node:os';
import { join } from 'node:path';

/** Longest fetch, ms. */
const fetchMs = 240_000;

/** The folder of the package. No script of it or of what it needs is run. */
export const installed = (name: string, version: string): string => {
  const folder = join(
    tmpdir(),
    `jupiter-conformance-${userInfo().uid}`,
    `${name.replace('/', '+')}-${version}`,
  );
  const found = join(folder, 'node_modules', ...name.split('/'));
  if (!existsSync(join(found, 'package.json'))) {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    const args = ['install', '--no-audit', '--no-fund', '--ignore-scripts', '--no-save', '--prefix', folder];
    const run = spawnSync('npm', [...args, `${name}@${version}`], {
      encoding: 'utf8',
      timeout: fetchMs,
      shell: process.platform === 'win32',
    });
    if (run.status !== 0)
      throw new Error(`npm could not fetch ${name}@${version}: ${run.stderr.slice(-500)}`);
  }
  return found;
};
