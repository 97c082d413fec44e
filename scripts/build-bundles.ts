/**
 * Builds the first-party bundles into `dist/bundles/{contracts,sessions,adapter,echo}`: what their sources say,
 * with every content digest filled in. A bundle whose sources did not change since is left alone.
 */
import { createHash } from 'node:crypto';
import { chmod, cp, glob, mkdir, mkdtemp, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { buildComponent } from '../components/guest/build.ts';
import { contractManifest } from '../contracts/manifest.ts';
import type { Manifest } from '../host/bundles/index.ts';
import { packBundle } from '../host/bundles/index.ts';
import { buildWorkers } from './build-worker.ts';

const root = resolve(import.meta.dirname, '..');
const guests = ['adapter', 'echo', 'sessions'] as const;
export type BundleName = 'contracts' | (typeof guests)[number];
export const bundleNames: readonly BundleName[] = ['contracts', ...guests];

const sha256 = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** Everything a bundle is made from, relative to the checkout. The lockfile stands for the tools. */
const sourcesOf = (name: BundleName): readonly string[] => [
  'package-lock.json',
  'scripts/build-bundles.ts',
  'contracts/**/*.ts',
  'contracts/topics.lock.json',
  ...(name === 'contracts' ? [] : ['components/guest/**/*.ts', `components/${name}/**/*`, 'wit/**/*.wit']),
];

const sourceDigest = async (name: BundleName): Promise<string> => {
  const files: string[] = [];
  for await (const file of glob([...sourcesOf(name)], { cwd: root })) files.push(file);
  const hash = createHash('sha256');
  for (const file of files.sort()) {
    const path = join(root, file);
    if ((await stat(path)).isFile()) hash.update(`${file}\0${sha256(await readFile(path))}\n`);
  }
  return hash.digest('hex');
};

const buildInto = async (name: BundleName, folder: string): Promise<void> => {
  const source = join(root, 'components', name);
  const manifest: Manifest =
    name === 'contracts'
      ? contractManifest()
      : (JSON.parse(await readFile(join(source, 'bundle.json'), 'utf8')) as Manifest);
  for (const { entry, permissions } of manifest.components) {
    await buildComponent({
      entry: join(source, 'component.ts'),
      out: join(folder, entry),
      permissions,
    });
  }
  const skills = join(source, 'skills');
  if ((await stat(skills).catch(() => undefined))?.isDirectory())
    await cp(skills, join(folder, 'skills'), { recursive: true });
  // What was ever released travels with the contracts: a station holds every bundle to it.
  if (name === 'contracts')
    await cp(join(root, 'contracts', 'topics.lock.json'), join(folder, 'topics.lock.json'));
  await writeFile(join(folder, 'bundle.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(`${name}: ${JSON.stringify(packed.problem)}`);
};

const stampOf = async (file: string): Promise<string> => readFile(file, 'utf8').catch(() => '');

/** Puts `fresh` where `place` is. Another build may have been quicker: its bundle is as good. */
const exchange = async (fresh: string, place: string): Promise<void> => {
  const old = `${fresh}.old`;
  await rename(place, old).catch(() => undefined);
  await rename(fresh, place).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
  await rm(old, { recursive: true, force: true });
};

/**
 * Brings the bundles below `out` up to date and returns those that were built. Each is made aside and renamed into
 * place, so that a build that stops half way, or two at once, leave whole bundles.
 */
export const buildBundles = async (
  out: string = join(root, 'dist', 'bundles'),
  names: readonly BundleName[] = bundleNames,
): Promise<readonly BundleName[]> => {
  const built: BundleName[] = [];
  await mkdir(out, { recursive: true });
  for (const name of names) {
    const place = join(out, name);
    const stamp = join(dirname(out), `.${name}.sources`);
    const digest = await sourceDigest(name);
    const whole = await stat(join(place, 'bundle.json')).catch(() => undefined);
    if (whole !== undefined && (await stampOf(stamp)) === digest) continue;
    const aside = await mkdtemp(join(dirname(out), `.${name}-`));
    try {
      await buildInto(name, aside);
      await chmod(aside, 0o755);
      await exchange(aside, place);
      await writeFile(stamp, digest);
      built.push(name);
    } finally {
      await rm(aside, { recursive: true, force: true });
    }
  }
  return built;
};

if (import.meta.main) {
  await buildWorkers();
  const built = await buildBundles();
  console.log(built.length === 0 ? 'bundles are up to date' : `built ${built.join(', ')}`);
}
