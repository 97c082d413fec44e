/**
 * The station's own log: lines of JSON in `logs/station.log`, redacted, with a bound. A log that cannot be written
 * stops nothing: what it would have said is lost.
 */
import { closeSync, fstatSync, openSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import type { LogLevel } from '../sandbox/index.ts';

/** A log that would grow above this size is set aside, bytes. One older log is kept. */
const rotateBytes = 16 * 1024 * 1024;

export interface StationLog {
  readonly component: (name: string, level: LogLevel, text: string) => void;
  readonly station: (level: LogLevel, text: string) => void;
  readonly close: () => void;
}

/**
 * Where the lines go: what is said in one turn of the event loop is one write. Pino's own target waits for ever where
 * the disk is full, and keeps what is to be written without a bound.
 */
const openTarget = (file: string, limit: number) => {
  let fd: number | undefined;
  let size = 0;
  let waiting = '';
  let asked: NodeJS.Immediate | undefined;
  const open = (): number => {
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
  return {
    write: (line: string): void => {
      waiting += line;
      asked ??= setImmediate(flush);
      if (waiting.length > limit / 8) flush();
    },
    close: (): void => {
      clearImmediate(asked);
      if (waiting !== '') flush();
      close();
    },
  };
};

export const openStationLog = (
  logs: string,
  redact: (text: string) => string,
  limit: number = rotateBytes,
): StationLog => {
  const target = openTarget(join(logs, 'station.log'), limit);
  const log = pino({ base: null, level: 'debug' }, target);
  return {
    component: (name, level, text) => log[level]({ component: name }, redact(text)),
    station: (level, text) => log[level](redact(text)),
    close: target.close,
  };
};
