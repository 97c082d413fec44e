/**
 * The station's own log: lines of JSON in `logs/station.log`, redacted, with a bound. A log that cannot be written
 * stops nothing: what it would have said is lost.
 */
import { join } from 'node:path';
import { pino } from 'pino';
import type { LogLevel } from '../sandbox/index.ts';
import { openLogFile } from '../state/index.ts';

/** A log that would grow above this size is set aside, bytes. One older log is kept. */
const rotateBytes = 16 * 1024 * 1024;

export interface StationLog {
  readonly component: (name: string, level: LogLevel, text: string) => void;
  readonly station: (level: LogLevel, text: string) => void;
  readonly close: () => void;
}

export const openStationLog = (
  logs: string,
  redact: (text: string) => string,
  limit: number = rotateBytes,
): StationLog => {
  // Pino's own target waits for ever where the disk is full, and keeps what is to be written without a bound.
  const file = openLogFile(join(logs, 'station.log'), limit);
  const log = pino({ base: null, level: 'debug' }, file);
  return {
    component: (name, level, text) => log[level]({ component: name }, redact(text)),
    station: (level, text) => log[level](redact(text)),
    close: file.close,
  };
};
