/**
 * The entries of a tar stream, read strictly: every header has a right checksum, names come from the header, a pax
 * record or a GNU long name, two empty blocks end the archive and nothing but zeros follows them. What readers of tar
 * are known to disagree about (sparse files, global overrides, an end in the middle) is refused, so that the archive
 * means the same to everybody. Header fields are decoded by the tar library; bodies pass through in pieces.
 */
import { Header } from 'tar';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';

const blockBytes = 512;
/** Longest extended header: it holds a path, and what other tools note beside it. */
const extendedBytes = 64 * 1024;

export type EntryKind = 'file' | 'folder' | 'link' | 'hard link' | 'device' | 'pipe' | 'unknown';

export interface TarEntry {
  /** As the archive has it; nothing about it was checked. */
  readonly path: string;
  readonly kind: EntryKind;
  readonly size: number;
  readonly mode: number;
}

/** Gets the pieces of one file's body, or refuses the whole archive. */
export interface TarVisit {
  /** Told of each entry before its body; a problem ends the reading. */
  readonly entry: (entry: TarEntry) => Problem | undefined;
  readonly piece: (bytes: Buffer) => void;
  readonly end: () => void;
}

const kinds: Readonly<Record<string, EntryKind>> = {
  File: 'file',
  OldFile: 'file',
  Directory: 'folder',
  SymbolicLink: 'link',
  Link: 'hard link',
  CharacterDevice: 'device',
  BlockDevice: 'device',
  FIFO: 'pipe',
};

const unreadable = (evidence: string): Problem => problem('bundle/archive-unreadable', { evidence });

/** Bytes of an async source, by number. */
const byteReader = (source: AsyncIterator<Buffer>) => {
  let rest: Buffer = Buffer.alloc(0);
  /** At least one byte and at most `most`; empty at the end. */
  const piece = async (most: number): Promise<Buffer> => {
    while (rest.length === 0) {
      const next = await source.next();
      if (next.done === true) return rest;
      rest = next.value;
    }
    const taken = rest.subarray(0, most);
    rest = rest.subarray(taken.length);
    return taken;
  };
  /** Exactly so many, or undefined where the source ends before. */
  const exactly = async (count: number): Promise<Buffer | undefined> => {
    const pieces: Buffer[] = [];
    for (let left = count; left > 0; ) {
      const bytes = await piece(left);
      if (bytes.length === 0) return undefined;
      pieces.push(bytes);
      left -= bytes.length;
    }
    return pieces.length === 1 && pieces[0] !== undefined ? pieces[0] : Buffer.concat(pieces);
  };
  return { piece, exactly };
};

const utf8 = (bytes: Uint8Array): string | undefined => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return undefined;
  }
};

interface Extended {
  readonly path?: string;
  readonly size?: number;
}

/** The records `length key=value\n` of a pax header; only what names and measures the next entry is used. */
export const paxRecords = (body: Uint8Array): Result<Extended> => {
  const found: { path?: string; size?: number } = {};
  for (let at = 0; at < body.length; ) {
    const head = Buffer.from(body.subarray(at, at + 20)).toString('latin1');
    const [digits, length] = /^([1-9][0-9]{0,6}) /.exec(head) ?? [];
    const end = at + Number(length);
    const record = body.subarray(at + (digits?.length ?? 0), end);
    const split = record.indexOf(0x3d);
    if (digits === undefined || end > body.length || record.at(-1) !== 0x0a || split < 1)
      return failed(unreadable('a pax record that is none'));
    const key = utf8(record.subarray(0, split));
    const value = utf8(record.subarray(split + 1, -1));
    if (key === 'path' && value !== undefined) found.path = value;
    else if (key === 'size' && /^[0-9]{1,15}$/.test(value ?? '')) found.size = Number(value);
    else if (key === undefined || key === 'path' || key === 'size')
      return failed(unreadable('a pax record that cannot be read'));
    else if (key.startsWith('GNU.sparse')) return failed(unreadable('a sparse file'));
    at = end;
  }
  return ok(found);
};

const isEmpty = (block: Buffer): boolean => block.every((byte) => byte === 0);

const decoded = (block: Buffer): Result<Header> => {
  try {
    const header = new Header(block);
    return header.cksumValid ? ok(header) : failed(unreadable('a header whose checksum is wrong'));
  } catch {
    return failed(unreadable('a header that cannot be read'));
  }
};

/** Reads every entry in order (`bundle/archive-unreadable`, or what `visit.entry` answers). */
export const readTar = async (source: AsyncIterable<Buffer>, visit: TarVisit): Promise<Result<undefined>> => {
  const { piece, exactly } = byteReader(source[Symbol.asyncIterator]());
  const cutOff = refuse('bundle/archive-unreadable', { evidence: 'it ends in the middle' });
  const paddingOf = (size: number): number => (blockBytes - (size % blockBytes)) % blockBytes;

  const extended = async (size: number): Promise<Result<Buffer>> => {
    if (size > extendedBytes) return failed(unreadable(`an extended header of ${size} bytes`));
    const body = await exactly(size + paddingOf(size));
    return body === undefined ? cutOff : ok(body.subarray(0, size));
  };
  const body = async (size: number): Promise<boolean> => {
    for (let left = size; left > 0; ) {
      const bytes = await piece(left);
      if (bytes.length === 0) return false;
      visit.piece(bytes);
      left -= bytes.length;
    }
    return (await exactly(paddingOf(size))) !== undefined;
  };
  const restIsEmpty = async (): Promise<Result<undefined>> => {
    for (let bytes = await piece(blockBytes); bytes.length > 0; bytes = await piece(blockBytes * 128))
      if (!isEmpty(bytes)) return failed(unreadable('something follows the end'));
    return ok(undefined);
  };

  let next: Extended = {};
  for (;;) {
    const block = await exactly(blockBytes);
    if (block === undefined) return cutOff;
    if (isEmpty(block)) {
      if (next.path !== undefined || next.size !== undefined) return cutOff;
      const second = await exactly(blockBytes);
      if (second === undefined) return cutOff;
      return isEmpty(second) ? restIsEmpty() : failed(unreadable('an empty block between entries'));
    }
    const read = decoded(block);
    if (!read.ok) return read;
    const header = read.value;
    if (header.size === undefined) return failed(unreadable('an entry without a size'));
    const type = header.type;
    if (type === 'ExtendedHeader' || type === 'GlobalExtendedHeader') {
      const bytes = await extended(header.size);
      if (!bytes.ok) return bytes;
      const records = paxRecords(bytes.value);
      if (!records.ok) return records;
      // A global header is a comment of the tool that wrote it (git does); one that would rename what follows is not.
      if (type === 'ExtendedHeader') next = { ...next, ...records.value };
      else if (Object.keys(records.value).length > 0)
        return failed(unreadable('a global header that overrides entries'));
    } else if (type === 'NextFileHasLongPath') {
      const bytes = await extended(header.size);
      if (!bytes.ok) return bytes;
      const path = utf8(bytes.value)?.replace(/\0+$/, '');
      if (path === undefined) return failed(unreadable('a long name that is not UTF-8'));
      next = { path, ...next };
    } else if (type === 'NextFileHasLongLinkpath') {
      const bytes = await extended(header.size);
      if (!bytes.ok) return bytes;
    } else {
      const kind = kinds[type] ?? 'unknown';
      const size = kind === 'file' ? (next.size ?? header.size) : header.size;
      const refused = visit.entry({
        path: next.path ?? header.path ?? '',
        kind,
        size,
        mode: header.mode ?? 0,
      });
      if (refused !== undefined) return failed(refused);
      next = {};
      if (!(await body(size))) return cutOff;
      visit.end();
    }
  }
};
