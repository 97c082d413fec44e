/**
 * One placement at a time in a sink, over processes, and without a lock that outlives its owner.
 *
 * Who wants the sink makes a file there that names its process, then looks: if no other live owner's file is there,
 * it has the sink; otherwise it takes its own away and waits. Of two who come at once the later to look sees the
 * other, so never two go on. Files of dead owners are removed by whoever meets them: a name is never used twice, so
 * removing one cannot take a live owner's place.
 */
import { hash, randomBytes } from 'node:crypto';
import { lstatSync, readdirSync, readFileSync, readlinkSync, unlinkSync } from 'node:fs';
import { hostname } from 'node:os';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { ok, type Result, refuse } from '../problems/index.ts';
import { errnoOf, writeNew } from './bytes.ts';

const lockName = /^\.bearpunch-lock-([0-9a-f]{8})-([0-9]{1,10})-([0-9a-z]{1,16})-([0-9a-f]{12})$/;
/** An owner on another machine or in another container cannot be asked; its file counts for this long. */
const foreignMs = 10 * 60_000;
/** Longest pause between two looks, milliseconds. */
const pauseMs = 25;
/** How long a placement waits for another one, milliseconds. */
export const lockWaitMs = 30_000;

const quietly = <T>(read: () => T): T | undefined => {
  try {
    return read();
  } catch {
    return undefined;
  }
};

/** Where process IDs mean the same: one machine, one PID namespace. */
const machine = hash(
  'sha256',
  `${hostname()}\n${quietly(() => readlinkSync('/proc/self/ns/pid')) ?? ''}`,
).slice(0, 8);

/** When a process started, as far as the system tells; `0` where it tells nothing. Process IDs are used again. */
const startOf = (pid: number): string => {
  const stat = quietly(() => readFileSync(`/proc/${pid}/stat`, 'latin1'));
  const ticks = stat?.slice(stat.lastIndexOf(')') + 2).split(' ')[19];
  if (ticks === undefined) return '0';
  const boot = quietly(() => readFileSync('/proc/sys/kernel/random/boot_id', 'latin1')) ?? '';
  return hash('sha256', `${boot}${ticks}`).slice(0, 8);
};

const exists = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errnoOf(error) === 'EPERM';
  }
};

const ownTokens = new Set<string>();

const isLive = (folder: string, name: string): boolean => {
  const [, where, pid, start, token] = lockName.exec(name) ?? [];
  if (where === undefined || token === undefined) return false;
  if (where !== machine) {
    const stat = quietly(() => lstatSync(join(folder, name)));
    // A time to come is nobody's: it would hold for ever.
    return stat !== undefined && Math.abs(Date.now() - stat.mtimeMs) < foreignMs;
  }
  if (Number(pid) === process.pid) return ownTokens.has(token);
  return exists(Number(pid)) && startOf(Number(pid)) === start;
};

/** A live owner's file other than `own`; files of dead owners are removed on the way. */
const otherOwner = (folder: string, own?: string): string | undefined => {
  let found: string | undefined;
  for (const name of readdirSync(folder)) {
    if (name === own || !lockName.test(name)) continue;
    if (isLive(folder, name)) found = name;
    else quietly(() => unlinkSync(join(folder, name)));
  }
  return found;
};

/** Removes what killed placements left in a sink; does nothing where nothing is left. */
export const sweepSink = (folder: string): void => {
  quietly(() => otherOwner(folder));
};

/**
 * Takes the sink, an existing folder; the answer lets it go. `context/placement-busy` after `waitMs`,
 * `context/write-failed` where no file can be made. `onClaim` is called between the
 * claim and the second look, for tests.
 */
export const takeSink = async (
  folder: string,
  waitMs: number = lockWaitMs,
  onClaim: () => void = () => {},
): Promise<Result<() => void>> => {
  const token = randomBytes(6).toString('hex');
  const name = `.bearpunch-lock-${machine}-${process.pid}-${startOf(process.pid)}-${token}`;
  const path = join(folder, name);
  const release = (): void => {
    quietly(() => unlinkSync(path));
    ownTokens.delete(token);
  };
  const until = performance.now() + waitMs;
  for (;;) {
    try {
      if (otherOwner(folder) === undefined) {
        ownTokens.add(token);
        writeNew(path, Buffer.alloc(0));
        onClaim();
        if (otherOwner(folder, name) === undefined) return ok(release);
        release();
      }
      if (performance.now() > until)
        return refuse('context/placement-busy', { subject: join(folder, otherOwner(folder) ?? '') });
    } catch (error) {
      release();
      return refuse('context/write-failed', { evidence: `${errnoOf(error)} while taking the folder` });
    }
    await setTimeout(1 + Math.random() * pauseMs);
  }
};
