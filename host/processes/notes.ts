/**
 * Which groups are alive, noted in the home, so that the next station ends what this one left even if the watchdog
 * was killed with it. A number may belong to somebody else by then: a group is ended only if its leader is the very
 * process that was noted (by its start time in this boot) or, where the leader has gone, if a process of the group
 * still holds the output it was started with. A group about which that cannot be said is left alone; who left it is known by
 * a mark nobody else has.
 */
import { execFile } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { defaultGraceMs, endGroup, members, statFields } from './group.ts';
import { endStrays } from './strays.ts';

interface Note {
  readonly group: number;
  readonly mark: string;
  /** The boot and the leader's start time in it; the platform's own text. */
  readonly started: string;
  /** What the leader's output is connected to: `socket:[123]`. Empty where the platform does not tell. */
  readonly output: readonly string[];
}

const noteName = /^group-(\d+)\.json$/;
const noteOf = (run: string, group: number): string => join(run, `group-${group}.json`);

const startOf = async (pid: number): Promise<string | undefined> => {
  if (process.platform === 'linux') {
    const ticks = statFields(pid)?.[19];
    return ticks && `${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim()} ${ticks}`;
  }
  return new Promise((resolve) => {
    execFile('/bin/ps', ['-o', 'lstart=', '-p', String(pid)], { env: { LC_ALL: 'C' } }, (error, text) =>
      resolve(error === null ? text.trim() || undefined : undefined),
    );
  });
};

const outputOf = (pid: number): readonly string[] =>
  [1, 2].flatMap((descriptor) => {
    try {
      return [readlinkSync(`/proc/${pid}/fd/${descriptor}`)].filter((link) => link.startsWith('socket:'));
    } catch {
      return [];
    }
  });

/** Before the program runs: while its leader waits at the gate. */
export const writeNote = async (run: string, group: number, mark: string): Promise<void> => {
  const started = await startOf(group);
  if (started === undefined) return;
  const note: Note = { group, mark, started, output: outputOf(group) };
  writeFileSync(noteOf(run, group), JSON.stringify(note), { mode: 0o600 });
};

/** One that cannot be removed is found wrong, and removed, by the next station. */
export const removeNote = (run: string, group: number): void => {
  try {
    rmSync(noteOf(run, group), { force: true });
  } catch {}
};

const readNote = (file: string): Note | undefined => {
  try {
    const note = JSON.parse(readFileSync(file, 'utf8')) as Note;
    const sound = Number.isSafeInteger(note.group) && note.group > 1 && Array.isArray(note.output);
    return sound && typeof note.started === 'string' ? note : undefined;
  } catch {
    return undefined;
  }
};

const isOurs = async (note: Note): Promise<boolean> => {
  const started = await startOf(note.group);
  if (started !== undefined) return started === note.started;
  const sameBoot =
    process.platform === 'linux' &&
    readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() === note.started.split(' ')[0];
  return (
    sameBoot &&
    (members(note.group) ?? []).some(({ pid }) => outputOf(pid).some((link) => note.output.includes(link)))
  );
};

/** Ends every noted group that is still ours, all at once, and forgets the notes. */
export const endLeftovers = async (run: string): Promise<void> => {
  const notes = readdirSync(run).filter((name) => noteName.test(name));
  await Promise.all(
    notes.map(async (name) => {
      const note = readNote(join(run, name));
      if (note !== undefined) {
        const { group: pid, mark } = note;
        const killAt = performance.now() + defaultGraceMs;
        const end = (await isOurs(note))
          ? endGroup({ pid, mark }, () => killAt)
          : endStrays(mark, () => killAt);
        if (!(await end)) return;
      }
      rmSync(join(run, name), { force: true });
    }),
  );
};
