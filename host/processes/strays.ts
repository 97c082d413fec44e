/**
 * Processes that left the group they were started in, as a daemon does by `setsid`. Whatever a program starts inherits its
 * environment, and in it a mark that only this start has; by that they are found and ended with it. One that begins with
 * an environment of its own is not found, and where the platform has no `/proc` none is.
 */
import { randomBytes } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';

export const markName = 'JUPITER_STARTED_BY';
export const newMark = (): string => randomBytes(12).toString('hex');

const pollMs = 20;
/** After SIGKILL only a process that waits in the kernel is left; it is given up after this, ms. */
const killWaitMs = 5_000;

const isMarked = (pid: string, entry: string): boolean => {
  try {
    return readFileSync(`/proc/${pid}/environ`, 'latin1').split('\0').includes(entry);
  } catch {
    // It is gone, or another user's.
    return false;
  }
};

/** A zombie has no environment any more and is none. */
const strays = (mark: string): readonly number[] => {
  if (process.platform !== 'linux') return [];
  const entry = `${markName}=${mark}`;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && isMarked(name, entry))
    .map(Number);
};

const signal = (pid: number, name: NodeJS.Signals): void => {
  try {
    process.kill(pid, name);
  } catch {
    // It is gone, or a set-user-ID program.
  }
};

/** Once the group has gone: ends who left it. True when nobody is left; `killAt` is in `performance.now()` time. */
export const endStrays = async (mark: string, killAt: () => number): Promise<boolean> => {
  const told = new Set<number>();
  let killedAt: number | undefined;
  for (let left = strays(mark); left.length > 0; left = strays(mark)) {
    const now = performance.now();
    const isLate = now >= killAt();
    if (isLate) killedAt ??= now;
    if (killedAt !== undefined && now - killedAt > killWaitMs) return false;
    for (const pid of left) {
      if (isLate) signal(pid, 'SIGKILL');
      else if (!told.has(pid)) signal(pid, 'SIGTERM');
      told.add(pid);
    }
    await delay(pollMs);
  }
  return true;
};
