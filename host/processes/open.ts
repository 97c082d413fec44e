/**
 * Starts processes and knows the live ones. A child is resolved and checked first, waits at the gate until the
 * watchdog and the note know its group, and is let go only then.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { constants } from 'node:fs';
import { access, mkdir, stat } from 'node:fs/promises';
import type { Writable } from 'node:stream';
import { ok, type Result, refuse } from '../problems/index.ts';
import { type ChildPipes, superviseChild } from './child.ts';
import type { OpenProcesses, Processes, ProcessRequest, RunningProcess } from './edge.ts';
import { canBeGated, gateArguments } from './gate.ts';
import { endLeftovers, removeNote, writeNote } from './notes.ts';
import { resolveCommand } from './resolve.ts';
import { openWatchdog, type Watchdog } from './watchdog.ts';
import { type Launch, windowsLaunch } from './windows.ts';

const isWindows = process.platform === 'win32';

const isEnterable = async (folder: string): Promise<boolean> => {
  try {
    if (!(await stat(folder)).isDirectory()) return false;
    await access(folder, constants.X_OK);
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
const pipesOf = (child: ChildProcess): (ChildPipes & { readonly gate: Writable | null }) | undefined => {
  const { pid, stdin, stdout, stderr } = child;
  if (pid === undefined || stdin === null || stdout === null || stderr === null) return undefined;
  return { child, pid, stdin, stdout, stderr, gate: (child.stdio[3] as Writable | undefined) ?? null };
};

const launchOf = (request: ProcessRequest, file: string): Result<Launch & { readonly gated: boolean }> => {
  if (isWindows) {
    const shell = process.env.ComSpec ?? 'C:\\Windows\\System32\\cmd.exe';
    const launch = windowsLaunch(request.alias, file, request.args, shell);
    return launch.ok ? ok({ ...launch.value, gated: false }) : launch;
  }
  return canBeGated(request.env)
    ? ok({
        file: '/bin/sh',
        args: gateArguments(file, request.args, request.env),
        verbatim: false,
        gated: true,
      })
    : ok({ file, args: request.args, verbatim: false, gated: false });
};

const spawnFailed = (alias: string, evidence: string): Result<never> =>
  refuse('process/spawn-failed', { subject: alias, evidence });

export const openProcesses: OpenProcesses = async ({ run }): Promise<Processes> => {
  await mkdir(run, { recursive: true, mode: 0o700 });
  if (!isWindows) await endLeftovers(run);
  const watchdog: Watchdog | undefined = isWindows ? undefined : openWatchdog();
  const live = new Set<RunningProcess>();
  const starting = new Set<Promise<unknown>>();

  /** The watchdog and the note know the group; false where the watchdog does not answer. */
  const tellOf = async (pid: number): Promise<boolean> => {
    if (watchdog === undefined) return true;
    const [known] = await Promise.all([watchdog.add(pid), writeNote(run, pid)]);
    return known;
  };

  const start = async (request: ProcessRequest): Promise<Result<RunningProcess>> => {
    const [resolved, enterable] = await Promise.all([
      resolveCommand(request.alias, request.command, {
        path: process.env.PATH ?? '',
        platform: process.platform,
        ...(process.env.PATHEXT === undefined ? {} : { extensions: process.env.PATHEXT }),
      }),
      isEnterable(request.cwd),
    ]);
    if (!resolved.ok) return resolved;
    if (!enterable) {
      return refuse('process/no-directory', { subject: request.alias, evidence: request.cwd });
    }
    const launch = launchOf(request, resolved.value);
    if (!launch.ok) return launch;
    const { file, args, verbatim, gated } = launch.value;
    let child: ChildProcess;
    try {
      child = spawn(file, args, {
        cwd: request.cwd,
        env: request.env,
        detached: !isWindows,
        stdio: gated ? ['pipe', 'pipe', 'pipe', 'pipe'] : ['pipe', 'pipe', 'pipe'],
        windowsHide: true,
        windowsVerbatimArguments: verbatim,
      });
    } catch (error) {
      // Node throws for what the kernel would refuse: a NUL in an argument or in the environment.
      return spawnFailed(request.alias, error instanceof Error ? error.message : String(error));
    }
    const pipes = pipesOf(child);
    const [fault, known] = await Promise.all([
      started(child),
      pipes === undefined ? false : tellOf(pipes.pid),
    ]);
    if (fault !== undefined || pipes === undefined) {
      return spawnFailed(request.alias, fault?.message ?? 'no process');
    }
    const { pid, gate } = pipes;
    gate?.on('error', () => {});
    const forget = (): void => {
      watchdog?.remove(pid);
      removeNote(run, pid);
    };
    const ended = child.exitCode !== null || child.signalCode !== null;
    if (!known || (gated && ended)) {
      // Without its line the gate starts nothing; a child that was started directly is ended by number.
      gate?.destroy();
      if (!ended) child.kill('SIGKILL');
      forget();
      return spawnFailed(request.alias, known ? 'it ended before it began' : 'the watchdog does not answer');
    }
    const running = superviseChild(pipes, request, (gone) => {
      live.delete(running);
      if (gone) forget();
    });
    live.add(running);
    gate?.end('go\n');
    return ok(running);
  };

  return {
    start: (request) => {
      const begun = start(request);
      starting.add(begun);
      return begun.finally(() => starting.delete(begun));
    },
    endAll: async (graceMs) => {
      await Promise.allSettled([...starting]);
      await Promise.all([...live].map((running) => running.end(graceMs)));
    },
    running: () => live.size,
  };
};
