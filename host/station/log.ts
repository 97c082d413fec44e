/** The station's own log: lines of JSON in `logs/station.log`, redacted, with a bound. */
import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { destination, pino } from 'pino';
import type { LogLevel } from '../sandbox/index.ts';

/** A log above this size is set aside at the next start, bytes. One older log is kept. */
const rotateBytes = 16 * 1024 * 1024;

export interface StationLog {
  readonly component: (name: string, level: LogLevel, text: string) => void;
  readonly station: (level: LogLevel, text: string) => void;
  readonly close: () => void;
}

export const openStationLog = (logs: string, redact: (text: string) => string): StationLog => {
  const file = join(logs, 'station.log');
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > rotateBytes) renameSync(file, `${file}.1`);
  const target = destination({ dest: file, append: true, sync: false, mode: 0o600 });
  const log = pino({ base: null, level: 'debug' }, target);
  return {
    component: (name, level, text) => log[level]({ component: name }, redact(text)),
    station: (level, text) => log[level](redact(text)),
    close: () => {
      try {
        target.flushSync();
      } catch {
        // Nothing was written yet: the file is not open.
      }
    },
  };
};
