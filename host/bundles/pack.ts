/**
 * Packing: an author's folder becomes a bundle whose manifest names every file with digest and size. The author's
 * fields keep their order; only `content` is ours, and a folder that did not change gets the same bytes and no write.
 * With `out` the folder is left as it is and a whole bundle appears there at once, or nothing.
 */
import { createHash, type KeyObject, randomBytes } from 'node:crypto';
import { existsSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync } from 'node:fs';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { shownPath } from '../paths/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds, overLimit } from './bounds.ts';
import type { ContentFile, PackBundle, VerifiedBundle } from './edge.ts';
import { type ByteSink, type Examined, examine, readManifestBytes, rootOf, verified } from './examine.ts';
import { decodeManifest, manifestOf } from './manifest.ts';
import { pathFaults } from './rules.ts';
import { signatureBytes, signatureFits, signatureName } from './signature.ts';
import { openSource } from './source.ts';
import { breather, readRegular, type TreeFile, walkTree } from './tree.ts';
import { folderSink, replaceFile, writeFault } from './write.ts';
import { isArchiveName, writeArchive } from './write-archive.ts';

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
      if (file.path === signatureName) return;
      total += file.size;
      // Over the bound files are counted on, for the number a person needs, but no longer read.
      if (total > bundleBounds.totalBytes) return;
      const digest = createHash('sha256');
      const read = await readRegular(file, 'fileBytes', (chunk) => digest.update(chunk), breathe);
      if (read.ok) content.push({ path: file.path, sha256: digest.digest('hex'), size: read.value });
      else problems.push(read.problem);
    },
    found: (fault) => problems.push(fault),
  });
  const [fault] = [...pathFaults(met.filter((path) => path !== signatureName)), ...problems];
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

/** Where `out` really is, once it may be written: outside the bundle, and free or a whole bundle of the same kind. */
const targetOf = async (root: string, out: string): Promise<Result<string>> => {
  const refusal = (message: string): Result<never> =>
    refuse('bundle/pack-target', { subject: shownPath(out), message });
  const wanted = resolve(out);
  if (!existsSync(dirname(wanted))) return refusal('The folder above the target does not exist.');
  const target = join(realpathSync(dirname(wanted)), basename(wanted));
  if (within(target, root) || within(root, target))
    return refusal('The target and the bundle lie inside each other.');
  const there = lstatSync(target, { throwIfNoEntry: false });
  if (there === undefined) return ok(target);
  if (isArchiveName(target)) {
    if (!there.isFile()) return refusal('The target exists and is not a file.');
    const whole = (await wholeArchive(target)).ok;
    return whole ? ok(target) : refusal('The target exists and is not the archive of a whole bundle.');
  }
  if (!there.isDirectory()) return refusal('The target exists and is not a folder.');
  if (readdirSync(target).length === 0 || (await examine(target)).problems.length === 0) return ok(target);
  return refusal('The target exists and holds something that is not a whole bundle.');
};

/** What an archive holds, unpacked beside it for the look. */
const wholeArchive = async (file: string) => {
  const source = await openSource(file, beside(file));
  if (!source.ok) return source;
  try {
    return verified(await examine(source.value.folder));
  } finally {
    source.value.close();
  }
};

const beside = (target: string): string =>
  join(dirname(target), `.${basename(target)}-${randomBytes(8).toString('hex')}`);

/** The signature a bundle gets: a new one, or the one it has while that fits. */
const signatureFor = (there: Examined, identity: string, key: KeyObject | undefined): Buffer | undefined => {
  if (key !== undefined) return signatureBytes(identity, key);
  return there.signature !== undefined && signatureFits(there.signature, identity)
    ? there.signatureBytes
    : undefined;
};

/** A whole bundle in a new folder, durable. */
const assemble = async (
  root: string,
  folder: string,
  { manifest }: Packed,
  key: KeyObject | undefined,
): Promise<Result<VerifiedBundle>> => {
  const sink = folderSink(folder);
  const copy = await copyTree(root, sink, manifest);
  if (!copy.ok) return copy;
  await sink.sync();
  const whole = await examine(folder);
  if (whole.identity === undefined) return verified(whole);
  const signature = signatureFor(await examine(root), whole.identity, key);
  if (signature === undefined) return verified(whole);
  const written = replaceFile(join(folder, signatureName), signature);
  return written.ok ? verified(await examine(folder)) : written;
};

const packTo = async (root: string, target: string, packed: Packed, key: KeyObject | undefined) => {
  const temporary = beside(target);
  const aside = `${temporary}-old`;
  const archive = `${temporary}.tgz`;
  try {
    const whole = await assemble(root, temporary, packed, key);
    if (!whole.ok) return whole;
    if (isArchiveName(target)) {
      await writeArchive(whole.value, archive);
      const back = await wholeArchive(archive);
      if (!back.ok) return back;
      renameSync(archive, target);
    } else {
      if (existsSync(target)) renameSync(target, aside);
      renameSync(temporary, target);
    }
    return ok({ ...whole.value, folder: target });
  } catch (error) {
    return failed(writeFault(error));
  } finally {
    for (const left of [temporary, aside, archive]) rmSync(left, { recursive: true, force: true });
  }
};

const copyTree = async (root: string, sink: ByteSink, manifest: Buffer): Promise<Result<undefined>> => {
  const problems: Problem[] = [];
  const copied = async (file: TreeFile): Promise<void> => {
    if (file.path === signatureName) return;
    const copy = sink.begin(file.path);
    if (file.path === 'bundle.json') copy.write(manifest);
    else {
      const read = await readRegular(file, 'fileBytes', copy.write);
      if (!read.ok) problems.push(read.problem);
    }
    copy.end();
  };
  await walkTree(root, { manifest: copied, visit: copied, found: (fault) => problems.push(fault) });
  return problems[0] === undefined ? ok(undefined) : failed(problems[0]);
};

/** Writes the manifest and the signature where they differ from what is there. */
const packInPlace = async (
  root: string,
  { before, manifest }: Packed,
  key: KeyObject | undefined,
): Promise<Result<VerifiedBundle>> => {
  if (!manifest.equals(before)) {
    const written = replaceFile(join(root, 'bundle.json'), manifest);
    if (!written.ok) return written;
  }
  const there = await examine(root);
  if (there.identity === undefined) return verified(there);
  const signature = signatureFor(there, there.identity, key);
  if (signature === undefined ? there.signature === undefined : there.signatureBytes?.equals(signature))
    return verified(there);
  if (signature === undefined) rmSync(join(root, signatureName), { force: true });
  else {
    const written = replaceFile(join(root, signatureName), signature);
    if (!written.ok) return written;
  }
  return verified(await examine(root));
};

export const packBundle: PackBundle = async (dir, out, key) => {
  const root = rootOf(dir);
  if (!root.ok) return root;
  if (out !== undefined && resolve(out) !== resolve(dir)) {
    const target = await targetOf(root.value, out);
    if (!target.ok) return target;
    const result = await packed(root.value);
    return result.ok ? packTo(root.value, target.value, result.value, key) : result;
  }
  const result = await packed(root.value);
  return result.ok ? packInPlace(root.value, result.value, key) : result;
};
