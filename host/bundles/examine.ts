/**
 * Reads a bundle once, every byte, and says everything that is wrong with it. The identity is known only of a bundle
 * with nothing wrong: SHA-256 over a fixed prefix, then the manifest and, in the byte order of their paths, every
 * content path and its bytes, each with its length as eight bytes before it.
 */
import { createHash } from 'node:crypto';
import { realpathSync, statSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import { shownPath } from '../paths/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds } from './bounds.ts';
import type { Manifest, VerifiedBundle } from './edge.ts';
import { decodeManifest, manifestOf } from './manifest.ts';
import { pathFaults } from './rules.ts';
import {
  type BundleSignature,
  parseSignature,
  signatureFits,
  signatureName,
  wrongSignature,
} from './signature.ts';
import { breather, readFault, readRegular, type TreeFile, walkTree } from './tree.ts';

/** Gets the bytes of a bundle while they are read; asked only for paths a sound manifest names. */
export interface ByteSink {
  readonly begin: (path: string) => { readonly write: (chunk: Uint8Array) => void; readonly end: () => void };
}

export interface Examined {
  readonly folder: string;
  readonly manifest?: Manifest;
  readonly manifestBytes?: Buffer;
  /** Set only where nothing is wrong with manifest and content. */
  readonly identity?: string;
  readonly signature?: BundleSignature;
  readonly signatureBytes?: Buffer;
  readonly problems: readonly Problem[];
}

const length = (value: number): Buffer => {
  const bytes = Buffer.alloc(8);
  bytes.writeBigUInt64BE(BigInt(value));
  return bytes;
};

/** The hash an identity is made of, in the order it is fed. */
export const identityHash = (manifest: Uint8Array) => {
  const hash = createHash('sha256')
    .update('jupiter bundle 2\n')
    .update(length(manifest.length))
    .update(manifest);
  return {
    file: (path: string, size: number): void => {
      const name = Buffer.from(path);
      hash.update(length(name.length)).update(name).update(length(size));
    },
    bytes: (chunk: Uint8Array): void => {
      hash.update(chunk);
    },
    done: (): string => hash.digest('hex'),
  };
};

/** The real folder a person named; links above a bundle are theirs, below it there are none. */
export const rootOf = (dir: string): Result<string> => {
  try {
    const folder = realpathSync(isAbsolute(dir) ? dir : resolve(dir));
    return statSync(folder).isDirectory()
      ? ok(folder)
      : refuse('bundle/folder-missing', { subject: shownPath(dir) });
  } catch (error) {
    const fault = readFault(error, dir);
    return fault.code === 'bundle/changed-while-read'
      ? refuse('bundle/folder-missing', { subject: shownPath(dir) })
      : failed(fault);
  }
};

/** Bytes of the manifest or the signature, bounded. */
const readWhole = async (
  file: TreeFile,
  bound: 'manifestBytes' | 'signatureBytes',
): Promise<Result<Buffer>> => {
  const chunks: Buffer[] = [];
  const read = await readRegular(file, bound, (chunk) => chunks.push(Buffer.from(chunk)));
  return read.ok ? ok(Buffer.concat(chunks)) : read;
};
export const readManifestBytes = (file: TreeFile): Promise<Result<Buffer>> =>
  readWhole(file, 'manifestBytes');

const mismatch = (
  code: 'bundle/size-mismatch' | 'bundle/digest-mismatch',
  path: string,
  expected: string,
  observed: string,
) => problem(code, { subject: shownPath(path), evidence: `expected ${expected}, observed ${observed}` });

/** `dir` must exist (`rootOf`). Changes nothing but through `sink`. */
export const examine = async (folder: string, sink?: ByteSink): Promise<Examined> => {
  const problems: Problem[] = [];
  const found = (fault: Problem): void => {
    if (problems.length < bundleBounds.problems) problems.push(fault);
  };
  const breathe = breather();
  let seen = false;
  let manifestBytes: Buffer | undefined;
  let manifest: Manifest | undefined;
  let hash: ReturnType<typeof identityHash> | undefined;
  let signature: BundleSignature | undefined;
  let signatureBytes: Buffer | undefined;
  const expected = new Map<string, { readonly sha256: string; readonly size: number }>();

  const readManifest = async (file: TreeFile): Promise<void> => {
    seen = true;
    const bytes = await readManifestBytes(file);
    if (!bytes.ok) return found(bytes.problem);
    const value = decodeManifest(bytes.value);
    if (!value.ok) return found(value.problem);
    const read = manifestOf(value.value);
    read.problems.forEach(found);
    manifestBytes = bytes.value;
    manifest = read.manifest;
    for (const entry of read.manifest?.content ?? []) expected.set(entry.path, entry);
    if (problems.length === 0) {
      hash = identityHash(bytes.value);
      const copy = sink?.begin('bundle.json');
      copy?.write(bytes.value);
      copy?.end();
    }
  };
  const readSignature = async (file: TreeFile): Promise<void> => {
    const bytes = await readWhole(file, 'signatureBytes');
    if (!bytes.ok) return found(bytes.problem);
    const parsed = parseSignature(bytes.value);
    if (!parsed.ok) return found(parsed.problem);
    signature = parsed.value;
    signatureBytes = bytes.value;
    if (problems.length > 0) return;
    const copy = sink?.begin(signatureName);
    copy?.write(bytes.value);
    copy?.end();
  };
  const readContent = async (file: TreeFile): Promise<void> => {
    if (file.path === signatureName) return readSignature(file);
    const entry = expected.get(file.path);
    if (entry === undefined) {
      if (manifest !== undefined)
        found(
          problem('bundle/file-extra', {
            subject: shownPath(file.path),
            evidence: `expected no such file, observed ${file.size} bytes`,
          }),
        );
      return;
    }
    expected.delete(file.path);
    if (file.size !== entry.size)
      return found(mismatch('bundle/size-mismatch', file.path, `${entry.size} bytes`, `${file.size} bytes`));
    const digest = createHash('sha256');
    // Paths become places on disk only once every rule about them has been met.
    const whole = problems.length === 0 ? hash : undefined;
    const copy = whole === undefined ? undefined : sink?.begin(file.path);
    whole?.file(file.path, entry.size);
    const read = await readRegular(
      file,
      'fileBytes',
      (chunk) => {
        digest.update(chunk);
        whole?.bytes(chunk);
        copy?.write(chunk);
      },
      breathe,
    );
    copy?.end();
    if (!read.ok) return found(read.problem);
    const observed = digest.digest('hex');
    if (observed !== entry.sha256)
      found(mismatch('bundle/digest-mismatch', file.path, `sha256 ${entry.sha256}`, `sha256 ${observed}`));
  };

  const met = await walkTree(folder, { manifest: readManifest, visit: readContent, found });
  if (!seen && !problems.some((fault) => fault.subject === 'bundle.json'))
    problems.unshift(problem('bundle/manifest-missing'));
  for (const path of expected.keys())
    found(
      problem('bundle/file-missing', {
        subject: shownPath(path),
        evidence: 'expected a file, observed none',
      }),
    );
  // Twins and unusable names on disk that the manifest does not tell of: named before what follows from them.
  const told = new Set(problems.map((fault) => `${fault.code} ${fault.subject}`));
  const names = pathFaults(met.filter((path) => path !== signatureName)).filter(
    (fault) => !told.has(`${fault.code} ${fault.subject}`),
  );
  problems.unshift(...names.slice(0, bundleBounds.problems));
  const bare = {
    folder,
    ...(manifest && { manifest }),
    ...(manifestBytes && { manifestBytes }),
    ...(signature && { signature }),
    ...(signatureBytes && { signatureBytes }),
  };
  if (problems.length > 0 || hash === undefined) return { ...bare, problems };
  const identity = hash.done();
  if (signature !== undefined && !signatureFits(signature, identity))
    found(wrongSignature(manifest?.id ?? '', identity, signature));
  return { ...bare, identity, problems };
};

/** The bundle, or the first thing wrong with it. */
export const verified = (examined: Examined): Result<VerifiedBundle> => {
  const [first] = examined.problems;
  if (first !== undefined) return failed(first);
  const { manifest, identity, folder, signature } = examined;
  if (manifest === undefined || identity === undefined)
    throw new Error('an examined bundle without identity');
  return ok({ manifest, identity, folder, ...(signature && { signature }) });
};
