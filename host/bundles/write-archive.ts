/**
 * Writing an archive: `bundle.json`, the signature, then the content in its order, as a gzipped tar in which nothing
 * tells when, where or by whom it was made. The same bundle gives the same bytes on the same runtime; another one may
 * compress differently, and the identity does not depend on it.
 */
import { closeSync, createWriteStream, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import { createGzip } from 'node:zlib';
import { Header, Pax } from 'tar';
import type { VerifiedBundle } from './edge.ts';
import { signatureName } from './signature.ts';

const blockBytes = 512;
/** The byte of a gzip header that names the system it was made on, and the value for "unknown". */
const systemAt = 9;
const unknownSystem = 255;

/** Whether a path asks for an archive. */
export const isArchiveName = (path: string): boolean => /\.(tgz|tar\.gz)$/i.test(path);

const fixed = { mode: 0o644, uid: 0, gid: 0, mtime: new Date(0), type: 'File' } as const;

function* entryOf(path: string, bytes: Buffer): Generator<Buffer> {
  const header = Buffer.alloc(blockBytes);
  // What a plain header cannot hold stands in a record before it.
  if (new Header({ ...fixed, path, size: bytes.length }).encode(header)) yield new Pax({ path }).encode();
  yield header;
  yield bytes;
  yield Buffer.alloc((blockBytes - (bytes.length % blockBytes)) % blockBytes);
}

function* tarOf({ folder, manifest, signature }: VerifiedBundle): Generator<Buffer> {
  const content = manifest.content.map(({ path }) => path);
  for (const path of ['bundle.json', ...(signature === undefined ? [] : [signatureName]), ...content])
    yield* entryOf(path, readFileSync(join(folder, ...path.split('/'))));
  yield Buffer.alloc(2 * blockBytes);
}

/** Writes a verified bundle to a file that must not exist; throws what the system throws. */
export const writeArchive = async (bundle: VerifiedBundle, file: string): Promise<void> => {
  await pipeline(
    Readable.from(tarOf(bundle), { objectMode: false }),
    createGzip({ level: 9 }),
    createWriteStream(file, { flags: 'wx', mode: 0o644 }),
  );
  const fd = openSync(file, 'r+');
  try {
    writeSync(fd, Buffer.of(unknownSystem), 0, 1, systemAt);
    fsyncSync(fd);
  } finally {
    closeSync(fd);
  }
};
