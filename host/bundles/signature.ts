/**
 * Signatures of bundles: Ed25519 over the identity, kept in `bundle.sig.json` beside the manifest. It is no content
 * and changes no identity. Which bundles need one, and of whose key, is for policy to say; a key stands there as
 * `ed25519:` and its 32 bytes in base64. A signature that is there must fit, also where nobody requires one.
 */
import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto';
import { closeSync, constants, fstatSync, openSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { shownPath } from '../paths/index.ts';
import { ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { bundleBounds } from './bounds.ts';

export const signatureName = 'bundle.sig.json';

/** A private key file is a few hundred bytes. */
const keyFileBytes = 16 * 1024;

const keyText = /^ed25519:[A-Za-z0-9+/]{43}=$/;
const shape = z.strictObject({
  signature: z.literal(1),
  /** The public key of who signed. */
  key: z.string().regex(keyText),
  /** 64 bytes, base64. */
  value: z.string().regex(/^[A-Za-z0-9+/]{86}==$/),
});
export type BundleSignature = z.output<typeof shape>;

/** One rule of policy: bundles whose ID is `prefix`, or goes on after it with a dot, are signed with `key`. */
export interface SignatureRule {
  readonly prefix: string;
  /** The name policy gives the key. */
  readonly name: string;
  /** `ed25519:…`; undefined where policy has no key of this name. */
  readonly key: string | undefined;
}

// What is signed names what it is for, so that a signature made for anything else means nothing here.
const signedBytes = (identity: string): Buffer => Buffer.from(`jupiter bundle signature 1\n${identity}\n`);

const publicText = (key: KeyObject): string => {
  const { x } = key.export({ format: 'jwk' });
  return `ed25519:${Buffer.from(x ?? '', 'base64url').toString('base64')}`;
};
const publicKey = (text: string): KeyObject =>
  createPublicKey({
    format: 'jwk',
    key: {
      kty: 'OKP',
      crv: 'Ed25519',
      x: Buffer.from(text.slice('ed25519:'.length), 'base64').toString('base64url'),
    },
  });

/** Makes a key; the private one goes into a new file only its owner reads, the public one is the answer. */
export const makeKey = (file: string): Result<{ readonly file: string; readonly key: string }> => {
  const pair = generateKeyPairSync('ed25519');
  try {
    writeFileSync(file, pair.privateKey.export({ format: 'pem', type: 'pkcs8' }), {
      flag: 'wx',
      mode: 0o600,
    });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'unknown';
    return code === 'EEXIST'
      ? refuse('bundle/key-exists', { subject: shownPath(file) })
      : refuse('bundle/write-failed', {
          subject: shownPath(file),
          message: 'The key could not be written.',
          evidence: code,
          fix: 'Check that the folder exists, and who may write there.',
        });
  }
  return ok({ file, key: publicText(pair.publicKey) });
};

/** `bundle/key-unreadable`, `bundle/key-open`. Nothing of the key's text is ever repeated. */
export const readKey = (file: string): Result<KeyObject> => {
  const subject = shownPath(file);
  let fd: number | undefined;
  try {
    fd = openSync(file, 'r');
    const stat = fstatSync(fd);
    if (!stat.isFile() || stat.size > keyFileBytes) return refuse('bundle/key-unreadable', { subject });
    if (process.platform !== 'win32' && (stat.mode & 0o077) !== 0)
      return refuse('bundle/key-open', { subject, evidence: `mode ${(stat.mode & 0o777).toString(8)}` });
    const key = createPrivateKey(readFileSync(fd));
    return key.asymmetricKeyType === 'ed25519' ? ok(key) : refuse('bundle/key-unreadable', { subject });
  } catch (error) {
    return refuse('bundle/key-unreadable', {
      subject,
      ...(error instanceof Error && 'code' in error && error.code === 'ENOENT'
        ? { message: 'There is no private key at this place.' }
        : {}),
    });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

/** The bytes of `bundle.sig.json`. The same key and identity give the same bytes. */
export const signatureBytes = (identity: string, key: KeyObject): Buffer => {
  const made: BundleSignature = {
    signature: 1,
    key: publicText(createPublicKey(key)),
    value: sign(null, signedBytes(identity), key).toString('base64'),
  };
  return Buffer.from(`${JSON.stringify(made, null, 2)}\n`);
};

/** `bundle/signature-unreadable`. */
export const parseSignature = (bytes: Uint8Array): Result<BundleSignature> => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
    const read = shape.safeParse(JSON.parse(text));
    if (read.success) return ok(read.data);
  } catch {
    // Neither text nor JSON: the same answer.
  }
  return refuse('bundle/signature-unreadable', { subject: signatureName });
};

/** The signature in a package, or undefined (`bundle/signature-unreadable`). */
export const storedSignature = (folder: string): Result<BundleSignature | undefined> => {
  let fd: number | undefined;
  try {
    fd = openSync(join(folder, signatureName), constants.O_RDONLY | (constants.O_NOFOLLOW ?? 0));
    const stat = fstatSync(fd);
    return stat.isFile() && stat.size <= bundleBounds.signatureBytes
      ? parseSignature(readFileSync(fd))
      : refuse('bundle/signature-unreadable', { subject: signatureName });
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'ENOENT'
      ? ok(undefined)
      : refuse('bundle/signature-unreadable', { subject: signatureName });
  } finally {
    if (fd !== undefined) closeSync(fd);
  }
};

export const signatureFits = (signature: BundleSignature, identity: string): boolean =>
  verify(null, signedBytes(identity), publicKey(signature.key), Buffer.from(signature.value, 'base64'));

/** `bundle/signature-wrong`. */
export const wrongSignature = (id: string, identity: string, { key }: BundleSignature): Problem =>
  problem('bundle/signature-wrong', { subject: id, evidence: `key ${key}, identity ${identity}` });

const covers = (prefix: string, id: string): boolean => id === prefix || id.startsWith(`${prefix}.`);

/** The rules for a bundle: those of the longest prefix that covers its ID. Any of their keys will do. */
export const rulesFor = (id: string, rules: readonly SignatureRule[]): readonly SignatureRule[] => {
  const own = rules.filter(({ prefix }) => covers(prefix, id));
  const longest = Math.max(0, ...own.map(({ prefix }) => prefix.length));
  return own.filter(({ prefix }) => prefix.length === longest);
};

export interface Signed {
  readonly id: string;
  readonly identity: string;
  readonly signature: BundleSignature | undefined;
}

/** Why policy does not let a bundle of this identity in, or undefined. */
export const signatureRefusal = (
  { id, identity, signature }: Signed,
  rules: readonly SignatureRule[],
): Problem | undefined => {
  const own = rulesFor(id, rules);
  if (own.length === 0) return undefined;
  const wanted = `expected a signature by ${own.map(({ name }) => `"${name}"`).join(' or ')}`;
  if (signature === undefined)
    return problem('bundle/signature-missing', { subject: id, evidence: `${wanted}, observed none` });
  const rule = own.find(({ key }) => key === signature.key);
  if (rule === undefined) {
    const unnamed = own.every(({ key }) => key === undefined) ? '; policy has no key of this name' : '';
    const evidence = `${wanted}, observed ${signature.key}${unnamed}`;
    return problem('bundle/signature-key', { subject: id, evidence });
  }
  return signatureFits(signature, identity) ? undefined : wrongSignature(id, identity, signature);
};
