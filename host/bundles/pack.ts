/**
 * Packing: an author's folder becomes a bundle whose manifest names every file with digest and size. The author's
 * fields keep their order; only `content` is ours, and a folder that did not change gets the same bytes and no write.
 * With `out` the folder is left as it is and a whole bundle appears there at once, or nothing.
 */
import { createHash, randomBytes } from 'node:crypto';
import { existsSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { shownPath } from '../paths/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';
import type { ContentFile, PackBundle } from './edge.ts';
import { type ByteSink, examine, readManifestBytes, rootOf, verified } from './examine.ts';
import { decodeManifest, manifestOf } from './manifest.ts';
import { pathFaults } from './rules.ts';
import { breather, readRegular, type TreeFile, walkTree } from './tree.ts';
import { folderSink, replaceFile, writeFault } from './write.ts';

interface Packed {
  readonly before: Buffer;
  readonly manifest: Buffer;
}

/** `bundle/version-control` where a path leads into the history of a repository, or is that of a submodule. */
const historyFault = (paths: readonly string[]): Problem | undefined => {
  const inside = (path: string): boolean => path.split('/').some((name) => /^\.(git|hg|svn)$/i.test(name));
  const found = paths.find(inside);
  return found === undefined ? undefined : problem('bundle/version-control', { subject: shownPath(found) });
};

/** None where the folder cannot be read: the walk says why. */
const namesIn = (folder: string): readonly string[] => {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
};

/** Reads every file of a folder and forms the manifest; the first fault ends it. */
const packed = async (root: string): Promise<Result<Packed>> => {
  const own = historyFault(namesIn(root));
  if (own !== undefined) return failed(own);
  const problems: Problem[] = [];
  const content: ContentFile[] = [];
  const breathe = breather();
  let bytes: Result<Buffer> = refuse('bundle/manifest-missing');
  let total = 0;
  const met = await walkTree(root, {
    manifest: async (file) => {
      bytes = await readManifestBytes(file);
    },
    visit: async (file) => {
      total += file.size;
      // Over the bound files are counted on, for the number a person needs, but no longer read.
      if (total > bundleBounds.totalBytes) return;
      const digest = createHash('sha256');
      const read = await readRegular(file, bundleBounds.fileBytes, (chunk) => digest.update(chunk), breathe);
      if (read.ok) content.push({ path: file.path, sha256: digest.digest('hex'), size: read.value });
      else problems.push(read.problem);
    },
    found: (fault) => problems.push(fault),
  });
  const [fault] = [...pathFaults(met), ...problems];
  if (fault !== undefined) return failed(fault);
  if (total > bundleBounds.totalBytes) return failed(overLimit('totalBytes', total));
  if (!bytes.ok) return bytes;
  const other = historyFault(content.map(({ path }) => path));
  if (other !== undefined) return failed(other);
  const authored = decodeManifest(bytes.value);
  if (!authored.ok) return authored;
  if (typeof authored.value !== 'object' || authored.value === null || Array.isArray(authored.value))
    return refuse('bundle/manifest-invalid', {
      subject: 'bundle.json',
      message: 'The manifest is not an object.',
    });
  const whole = { ...authored.value, content };
  const [wrong] = manifestOf(whole).problems;
  if (wrong !== undefined) return failed(wrong);
  const manifest = Buffer.from(`${JSON.stringify(whole, null, 2)}\n`);
  return manifest.length > bundleBounds.manifestBytes
    ? failed(overLimit('manifestBytes', manifest.length, 'bundle.json'))
    : ok({ before: bytes.value, manifest });
};

const within = (inner: string, outer: string): boolean => inner === outer || inner.startsWith(outer + sep);

/** Where `out` really is, once it may be written: outside the bundle, and free or a whole bundle of ours. */
const targetOf = async (root: string, out: string): Promise<Result<string>> => {
  const refusal = (message: string): Result<never> =>
    refuse('bundle/pack-target', { subject: shownPath(out), message });
  const wanted = resolve(out);
  if (!existsSync(dirname(wanted))) return refusal('The folder above the target does not exist.');
  const target = join(realpathSync(dirname(wanted)), basename(wanted));
  if (within(target, root) || within(root, target))
    return refusal('The target and the bundle lie inside each other.');
  if (!existsSync(target)) return ok(target);
  const there = rootOf(target);
  if (!there.ok || there.value !== target) return refusal('The target exists and is not a folder.');
  if (readdirSync(target).length === 0 || (await examine(target)).problems.length === 0) return ok(target);
  return refusal('The target exists and holds something that is not a whole bundle.');
};

const packTo = async (root: string, target: string, { manifest }: Packed) => {
  const temporary = join(dirname(target), `.${basename(target)}-${randomBytes(8).toString('hex')}`);
  const aside = `${temporary}-old`;
  try {
    const sink = folderSink(temporary);
    const copy = await copyTree(root, sink, manifest);
    if (!copy.ok) return copy;
    await sink.sync();
    const result = verified(await examine(temporary));
    if (!result.ok) return result;
    if (existsSync(target)) renameSync(target, aside);
    renameSync(temporary, target);
    return ok({ ...result.value, folder: target });
  } catch (error) {
    return failed(writeFault(error));
  } finally {
    rmSync(temporary, { recursive: true, force: true });
    rmSync(aside, { recursive: true, force: true });
  }
};

const copyTree = async (root: string, sink: ByteSink, manifest: Buffer): Promise<Result<undefined>> => {
  const problems: Problem[] = [];
  const copied = async (file: TreeFile): Promise<void> => {
    const copy = sink.begin(file.path);
    if (file.path === 'bundle.json') copy.write(manifest);
    else {
      const read = await readRegular(file, bundleBounds.fileBytes, copy.write);
      if (!read.ok) problems.push(read.problem);
    }
    copy.end();
  };
  await walkTree(root, { manifest: copied, visit: copied, found: (fault) => problems.push(fault) });
  return problems[0] === undefined ? ok(undefined) : failed(problems[0]);
};

export const packBundle: PackBundle = async (dir, out) => {
  const root = rootOf(dir);
  if (!root.ok) return root;
  if (out !== undefined && resolve(out) !== resolve(dir)) {
    const target = await targetOf(root.value, out);
    if (!target.ok) return target;
    const result = await packed(root.value);
    return result.ok ? packTo(root.value, target.value, result.value) : result;
  }
  const result = await packed(root.value);
  if (!result.ok) return result;
  if (!result.value.manifest.equals(result.value.before)) {
    const written = replaceFile(join(root.value, 'bundle.json'), result.value.manifest);
    if (!written.ok) return written;
  }
  return verified(await examine(root.value));
};
