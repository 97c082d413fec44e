/**
 * The log of one server: what its program says on its error stream, and what it prints that is no message. Lines come
 * whole, so a secret is seen however its bytes were cut; each is redacted before it is kept. A log that cannot be
 * written stops nothing.
 */
import { createHash } from 'node:crypto';
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { ServerEntry } from './edge.ts';

/** Text that waits to be written, UTF-16 units. */
const mostWaiting = 65_536;
/** Longest line kept, UTF-16 units. */
const lineUnits = 4_000;
/** What is looked at of a longer one. */
const readUnits = 65_536;
/** Lines remembered for the problem of a server that ends. */
const lastLines = 5;

export interface ServerLog {
  /** What the server said. */
  readonly write: (line: string) => void;
  /** What the station says of it: it stands in the log, and is none of the last lines of the server. */
  readonly note: (line: string) => void;
  /** The last lines of now, redacted. */
  readonly last: () => string;
  readonly close: () => void;
}

/** `mcp-probe.log`; names that are no file's, and entries that are not policy's, carry a mark of their key. */
export const logName = ({ key, name }: Pick<ServerEntry, 'key' | 'name'>): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64);
  if (plain === name && key === `policy/${name}`) return `mcp-${name}.log`;
  return `mcp-${plain}-${createHash('sha256').update(key).digest('hex').slice(0, 8)}.log`;
};

export const openServerLog = (
  logs: string,
  entry: ServerEntry,
  redact: (text: string) => string,
  limit: number,
): ServerLog => {
  const file = join(logs, logName(entry));
  let fd: number | undefined;
  let size = 0;
  let last: string[] = [];
  let waiting = '';
  let asked: NodeJS.Immediate | undefined;
  const open = (): number => {
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    const opened = openSync(file, 'a', 0o600);
    size = fstatSync(opened).size;
    return opened;
  };
  const close = (): void => {
    if (fd !== undefined) closeSync(fd);
    fd = undefined;
  };
  const flush = (): void => {
    asked = undefined;
    const bytes = Buffer.from(waiting);
    waiting = '';
    try {
      fd ??= open();
      if (size > 0 && size + bytes.length > limit) {
        close();
        renameSync(file, `${file}.1`);
        fd = open();
      }
      for (let at = 0; at < bytes.length; ) at += writeSync(fd, bytes, at);
      size += bytes.length;
    } catch {
      // Lost. The next lines try again.
    }
  };
  const keep = (line: string): string => {
    const kept = redact(line.slice(0, readUnits)).slice(0, lineUnits);
    waiting += `${new Date().toISOString()} ${kept}\n`;
    asked ??= setImmediate(flush);
    if (waiting.length > Math.min(limit / 8, mostWaiting)) {
      clearImmediate(asked);
      flush();
    }
    return kept;
  };
  return {
    write: (line) => {
      last = [...last, keep(line)].slice(-lastLines);
    },
    note: (line) => void keep(line),
    last: () => last.join('\n').slice(-600),
    close: () => {
      clearImmediate(asked);
      if (waiting !== '') flush();
      close();
    },
  };
};
