/**
 * A published package in a folder of its own below `node_modules/.cache`, fetched by the machine's npm and kept for the
 * next run. It is there whole or not at all, however many runs fetch it at once.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';

/** Longest fetch, ms. */
const fetchMs = 240_000;
const kept = join(import.meta.dirname, '..', '..', 'node_modules', '.cache', 'conformance');

const npm = (args: readonly string[], cwd: string): Promise<void> =>
  new Promise((done, failed) => {
    const windows = process.platform === 'win32';
    const child = spawn('npm', [...args], {
      cwd,
      stdio: ['ignore', 'ignore', 'pipe'],
      timeout: fetchMs,
      shell: windows,
    });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said = (said + text).slice(-2_000);
    });
    child.on('error', failed);
    child.on('close', (code) =>
      code === 0 ? done() : failed(new Error(`npm ${args.join(' ')} → ${code}\n${said}`)),
    );
  });

/** The folder of the package. No script of it or of what it needs is run. */
export const installed = async (name: string, version: string): Promise<string> => {
  const folder = join(kept, `${name.replace('/', '+')}-${version}`);
  const found = join(folder, 'node_modules', ...name.split('/'));
  if (existsSync(join(found, 'package.json'))) return found;
  await mkdir(dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}.new-`);
  try {
    await writeFile(join(aside, 'package.json'), '{"private":true}\n');
    const args = [
      'install',
      '--no-audit',
      '--no-fund',
      '--ignore-scripts',
      '--no-save',
      `${name}@${version}`,
    ];
    await npm(args, aside);
    await rename(aside, folder);
  } catch (error) {
    // Another run was quicker.
    if (!existsSync(join(found, 'package.json'))) throw error;
  } finally {
    await rm(aside, { recursive: true, force: true });
  }
  return found;
};
