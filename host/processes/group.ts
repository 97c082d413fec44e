/**
 * A process group as a whole: is anything of it left, and how it is ended. SIGTERM, a grace, SIGKILL; gone means that
 * no process of it runs any more, and none that it started and that left it. A zombie that nobody collects counts as gone.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync } from 'node:fs';
import { setTimeout as delay } from 'node:timers/promises';
import { endStrays } from './strays.ts';

/** Default time between SIGTERM and SIGKILL, ms. */
export const defaultGraceMs = 2_000;
// After SIGKILL only a process that waits in the kernel is left; it is given up after this.
const killWaitMs = 5_000;
const firstPollMs = 2;
const lastPollMs = 50;

const errorCode = (error: unknown): unknown => (error as { code?: unknown }).code;

const signalGroup = (group: number, signal: NodeJS.Signals | 0): boolean => {
  try {
    process.kill(-group, signal);
    return true;
  } catch (error) {
    // EPERM: there is a process, it is not ours to signal (a set-user-ID program).
    return errorCode(error) === 'EPERM';
  }
};

/** Whether a process runs; one that has ended and that nobody collected does not. */
export const processLives = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
  } catch (error) {
    if (errorCode(error) !== 'EPERM') return false;
  }
  return statFields(pid)?.[0] !== 'Z';
};

export interface Member {
  readonly pid: number;
  readonly zombie: boolean;
}

/** The fields of `/proc/PID/stat` behind the name, which may itself hold spaces and brackets. */
export const statFields = (pid: number): readonly string[] | undefined => {
  try {
    const text = readFileSync(`/proc/${pid}/stat`, 'utf8');
    return text.slice(text.lastIndexOf(')') + 2).split(' ');
  } catch {
    return undefined;
  }
};

/** Every process of the group, from `/proc`; undefined where there is none to read. */
export const members = (group: number): readonly Member[] | undefined => {
  if (process.platform !== 'linux') return undefined;
  return readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => {
      const fields = statFields(Number(name));
      return fields?.[2] === String(group) ? [{ pid: Number(name), zombie: fields[0] === 'Z' }] : [];
    });
};

/** `thorough` also looks whether only zombies are left, which costs a walk over every process of the machine. */
export const groupLives = (group: number, thorough: boolean): boolean => {
  if (!signalGroup(group, 0)) return false;
  return !thorough || (members(group)?.some((member) => !member.zombie) ?? true);
};

const taskkill = (pid: number, ...flags: readonly string[]): Promise<boolean> =>
  new Promise((resolve) => {
    execFile('taskkill', ['/PID', String(pid), '/T', ...flags], { windowsHide: true }, (error) =>
      resolve(error === null),
    );
  });

const endTree = async (pid: number, killAt: () => number): Promise<boolean> => {
  await taskkill(pid);
  let wait = firstPollMs;
  const alive = (): boolean => {
    try {
      return process.kill(pid, 0);
    } catch {
      return false;
    }
  };
  while (alive() && performance.now() < killAt()) {
    await delay(wait);
    wait = Math.min(wait * 2, lastPollMs);
  }
  await taskkill(pid, '/F');
  return !alive();
};

/** The leader of a group, and what everything it started is known by. */
export interface Started {
  readonly pid: number;
  readonly mark: string;
}

/**
 * Ends the group; true when nothing of it is left, false when something outlived SIGKILL by 5 s. `killAt` (in
 * `performance.now()` time) is asked at each look, so that a second caller may shorten the grace.
 */
export const endGroup = async ({ pid: group, mark }: Started, killAt: () => number): Promise<boolean> => {
  if (process.platform === 'win32') return endTree(group, killAt);
  let wait = firstPollMs;
  let killedAt: number | undefined;
  signalGroup(group, 'SIGTERM');
  while (groupLives(group, wait === lastPollMs)) {
    const now = performance.now();
    if (now >= killAt()) {
      signalGroup(group, 'SIGKILL');
      killedAt ??= now;
      if (now - killedAt > killWaitMs) return false;
    }
    await delay(wait);
    wait = Math.min(wait * 2, lastPollMs);
  }
  return endStrays(mark, killAt);
};
