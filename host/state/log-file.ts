/**
 * A file of lines with a bound: one that would grow above it is set aside as `<file>.1`, and one older file is kept.
 * What is said in one turn of the event loop is one write. A log that cannot be written stops nothing: what it would
 * have said is lost, and the next lines try again.
 */
import { closeSync, fstatSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

export interface LogFile {
  /** Whole lines, with their ends, redacted already. */
  readonly write: (lines: string) => void;
  /** Writes what waits. */
  readonly close: () => void;
}

/** Text that waits to be written, UTF-16 units, and as a part of the file's own bound. */
const mostWaiting = 65_536;
const waitingPart = 1 / 8;

/** `limit`: bytes of the file. */
export const openLogFile = (file: string, limit: number): LogFile => {
  let fd: number | undefined;
  let size = 0;
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
    clearImmediate(asked);
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
      // Lost.
    }
  };
  return {
    write: (lines) => {
      waiting += lines;
      asked ??= setImmediate(flush);
      if (waiting.length > Math.min(limit * waitingPart, mostWaiting)) flush();
    },
    close: () => {
      if (waiting !== '') flush();
      close();
    },
  };
};
