/**
 * Starts processes and knows the live ones. A child is resolved and checked first, waits at the gate until the
 * watchdog and the note know its group, and is let go only then.
 */
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import type { Socket } from 'node:net';
import type { Writable } from 'node:stream';
import { ok, type Result, refuse } from '../problems/index.ts';
import { type ChildPipes, superviseChild } from './child.ts';
import type { OpenProcesses, Processes, ProcessRequest, RunningProcess } from './edge.ts';
import { canBeGated, type GateProgram, gateArguments, gateText } from './gate.ts';
import { endGroup } from './group.ts';
import { endLeftovers, removeNote, writeNote } from './notes.ts';
import { resolveCommand, searchHere } from './resolve.ts';
import { markName, newMark } from './strays.ts';
import { openWatchdog, type Watchdog } from './watchdog.ts';
import { type Launch, windowsLaunch } from './windows.ts';

/**
 * A spare gate is made this long after the last was taken, ms: the program that was started has been told what to do and still
 * loads, so nobody waits meanwhile. Later it would stand in the way of what that program says first.
 */
const spareAfterMs = 5;

const isWindows = process.platform === 'win32';

const isEnterable = (folder: string): boolean => {
  try {
    if (!statSync(folder).isDirectory()) return false;
    accessSync(folder, constants.X_OK);
    return true;
  } catch {
    return false;
  }
};

/** Resolves when the operating system has started it, or has said why not. */
const started = (child: ChildProcess): Promise<Error | undefined> =>
  new Promise((resolve) => {
    child.once('spawn', () => resolve(undefined));
    child.on('error', resolve);
  });

/** The child's pipes; `stdio` below asks for each of them, so a missing one means that it did not start. */
const pipesOf = (child: ChildProcess, mark: string): ChildPipes | undefined => {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) return undefined;
  return { child, pid, mark, stdin, stdout, stderr };
};

/** A started child that waits for `go`, or that needs none and runs already. */
interface Waiting {
  readonly pipes: ChildPipes;
  /** Lets a gate become the program. */
  readonly go: (program: GateProgram) => void;
  /** Ends a gate that is not needed: without its text it starts nothing. */
  readonly leave: () => void;
  /** Whether it can still become anything. */
  readonly isWhole: () => boolean;
}

/** Whether a child and its pipes keep this process running. */
const setReference = ({ child }: ChildPipes, how: 'ref' | 'unref'): void => {
  child[how]();
  for (const pipe of child.stdio) (pipe as Socket | null)?.[how]();
};

const isOver = ({ child }: ChildPipes): boolean => child.exitCode !== null || child.signalCode !== null;

const spawnFailed = (alias: string, evidence: string): Result<never> =>
  refuse('process/spawn-failed', { subject: alias, evidence });

export const openProcesses: OpenProcesses = async ({ run }): Promise<Processes> => {
  await mkdir(run, { recursive: true, mode: 0o700 });
  if (!isWindows) await endLeftovers(run);
  const watchdog: Watchdog | undefined = isWindows ? undefined : openWatchdog();
  const live = new Set<RunningProcess>();
  const starting = new Set<Promise<unknown>>();

  /** Makes the group known to the watchdog and in a note; why it could not be, or undefined. */
  const tellOf = async ({ pid, mark }: ChildPipes): Promise<string | undefined> => {
    if (watchdog === undefined) return undefined;
    const [known, noted] = await Promise.allSettled([watchdog.add(pid, mark), writeNote(run, pid, mark)]);
    if (noted.status === 'rejected') return `no note of it can be written: ${String(noted.reason)}`;
    return known.status === 'fulfilled' && known.value ? undefined : 'the watchdog does not answer';
  };

  const forget = ({ pid, mark }: ChildPipes): void => {
    watchdog?.remove(pid, mark);
    removeNote(run, pid);
  };

  /** Spawns and makes the group known to the watchdog. */
  const spawnKnown = async (
    alias: string,
    launch: Launch,
    options: SpawnOptions,
  ): Promise<Result<Waiting>> => {
    const mark = newMark();
    let child: ChildProcess;
    try {
      child = spawn(launch.file, launch.args, {
        ...options,
        env: { ...options.env, [markName]: mark },
        detached: !isWindows,
        windowsHide: true,
        windowsVerbatimArguments: launch.verbatim,
      });
    } catch (error) {
      // Node throws for what the kernel would refuse: a NUL in an argument or in the environment.
      return spawnFailed(alias, error instanceof Error ? error.message : String(error));
    }
    const pipes = pipesOf(child, mark);
    const [fault, unknown] = await Promise.all([
      started(child),
      pipes === undefined ? undefined : tellOf(pipes),
    ]);
    if (fault !== undefined || pipes === undefined) return spawnFailed(alias, fault?.message ?? 'no process');
    const gate = (child.stdio[3] as Writable | undefined) ?? null;
    gate?.on('error', () => {});
    const leave = (): void => {
      gate?.destroy();
      // One that was started directly runs already, and may have started others.
      if (gate === null && !isOver(pipes)) void endGroup(pipes, () => 0);
      for (const pipe of [pipes.stdin, pipes.stdout, pipes.stderr]) pipe.destroy();
      forget(pipes);
    };
    if (unknown !== undefined) {
      leave();
      return spawnFailed(alias, unknown);
    }
    return ok({
      pipes,
      go: (program) => void gate?.end(gateText(program)),
      leave,
      isWhole: () => !isOver(pipes) && gate?.writable !== false,
    });
  };

  const openGate = (alias: string): Promise<Result<Waiting>> =>
    spawnKnown(
      alias,
      { file: '/bin/sh', args: [...gateArguments], verbatim: false },
      { cwd: '/', env: {}, stdio: ['pipe', 'pipe', 'pipe', 'pipe'] },
    );

  /** One gate waits ahead of need. */
  let spare: Promise<Result<Waiting>> | undefined;
  let making: NodeJS.Timeout | undefined;
  let closing = false;
  const makeSpare = (): void => {
    if (isWindows || closing || making !== undefined || spare !== undefined) return;
    making = setTimeout(() => {
      making = undefined;
      if (closing) return;
      spare = openGate('gate');
      // A gate that waits keeps nobody: a process that has nothing else to do may end, and the gate with it.
      void spare.then((made) => made.ok && setReference(made.value.pipes, 'unref'));
    }, spareAfterMs);
    making.unref();
  };
  const takeGate = async (alias: string): Promise<Result<Waiting>> => {
    const kept = spare;
    spare = undefined;
    const ready = await kept;
    makeSpare();
    if (ready?.ok !== true) return openGate(alias);
    setReference(ready.value.pipes, 'ref');
    if (ready.value.isWhole()) return ready;
    ready.value.leave();
    return openGate(alias);
  };

  const waitingFor = async (request: ProcessRequest, file: string): Promise<Result<Waiting>> => {
    if (!isWindows && canBeGated(request)) return takeGate(request.alias);
    const { alias, args, cwd, env } = request;
    const shell = process.env.ComSpec ?? 'C:\\Windows\\System32\\cmd.exe';
    const launch = isWindows ? windowsLaunch(alias, file, args, shell) : ok({ file, args, verbatim: false });
    if (!launch.ok) return launch;
    return spawnKnown(alias, launch.value, { cwd, env: { ...env }, stdio: ['pipe', 'pipe', 'pipe'] });
  };

  const start = async (request: ProcessRequest): Promise<Result<RunningProcess>> => {
    const { alias, args, cwd, env } = request;
    const texts = [cwd, ...args, ...Object.entries(env).flat()];
    if (texts.some((text) => text.includes('\0')))
      return spawnFailed(alias, 'null bytes in an argument or in the environment');
    const resolved = resolveCommand(alias, request.command, searchHere());
    if (!resolved.ok) return resolved;
    if (!isEnterable(cwd)) return refuse('process/no-directory', { subject: alias, evidence: cwd });
    const waiting = await waitingFor(request, resolved.value);
    if (!waiting.ok) return waiting;
    const { pipes, go } = waiting.value;
    const running = superviseChild(pipes, request, (gone) => {
      live.delete(running);
      if (gone) forget(pipes);
    });
    live.add(running);
    const marked = { ...env, [markName]: pipes.mark };
    go({ file: resolved.value, args, cwd, env: marked, merged: request.onBytes !== undefined });
    return ok(running);
  };

  return {
    start: (request) => {
      const begun = start(request);
      starting.add(begun);
      return begun.finally(() => starting.delete(begun));
    },
    endAll: async (graceMs) => {
      closing = true;
      clearTimeout(making);
      const unused = await spare;
      spare = undefined;
      if (unused?.ok === true) unused.value.leave();
      await Promise.allSettled([...starting]);
      await Promise.all([...live].map((running) => running.end(graceMs)));
    },
    running: () => live.size,
  };
};
