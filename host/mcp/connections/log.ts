/**
 * The log of one server: what its program says on its error stream, and what it prints that is no message. Lines come
 * whole, so a secret is seen however its bytes were cut; each is redacted before it is kept. A log that cannot be
 * written stops nothing.
 */
import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { openLogFile } from '../../state/index.ts';
import type { ServerEntry } from './edge.ts';

/** Longest line kept, UTF-16 units. */
const lineUnits = 4_000;
/** What is looked at of a longer one. */
const readUnits = 65_536;
/** Lines remembered for the problem of a server that ends, and UTF-16 units of them that are told. */
const lastLines = 5;
const lastUnits = 600;

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
const logName = ({ key, name }: Pick<ServerEntry, 'key' | 'name'>): string => {
  const plain = name.replace(/[^A-Za-z0-9_-]+/g, '-').slice(0, 64);
  if (plain === name && key === `policy/${name}`) return `mcp-${name}.log`;
  return `mcp-${plain}-${createHash('sha256').update(key).digest('hex').slice(0, 8)}.log`;
};

/** `limit`: bytes of its file. */
export const openServerLog = (
  logs: string,
  entry: ServerEntry,
  redact: (text: string) => string,
  limit: number,
): ServerLog => {
  const file = openLogFile(join(logs, logName(entry)), limit);
  let last: string[] = [];
  const keep = (line: string): string => {
    const kept = redact(line.slice(0, readUnits)).slice(0, lineUnits);
    file.write(`${new Date().toISOString()} ${kept}\n`);
    return kept;
  };
  return {
    write: (line) => {
      last = [...last, keep(line)].slice(-lastLines);
    },
    note: (line) => void keep(line),
    last: () => last.join('\n').slice(-lastUnits),
    close: file.close,
  };
};
