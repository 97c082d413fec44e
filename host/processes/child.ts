/**
 * One running child from its first line to its last process: output framed and handed on, input bounded, the group
 * ended when its leader exits, when somebody asks, or when it breaks a rule. `onExit` comes once, last of all.
 */
import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';
import { setTimeout as delay } from 'node:timers/promises';
import { type Problem, type ProblemCode, problem } from '../problems/index.ts';
import { cutLines, keptTail } from './cut.ts';
import type { ProcessRequest, RunningProcess } from './edge.ts';
import { defaultGraceMs, endGroup } from './group.ts';
import { frameLines } from './lines.ts';

/** Longest line of output unless the request says otherwise, bytes. */
export const defaultLineBytes = 8 * 1024 * 1024;
/** Text that waits to be read by the child, characters. */
export const inputQueueLength = 32 * 1024 * 1024;
// A child that closed its output or input but does not exit within this is ended, ms.
const closedWaitMs = 1_000;
// A child that is told to end may still ask: its input stays open this long for the answer, ms.
const lastAnswerMs = 500;
// What is left in the pipes after the last process of the group has gone is read for this long, ms. Only a process
// that left the group on purpose can keep them open.
const drainMs = 500;

export interface ChildPipes {
  readonly child: ChildProcess;
  readonly pid: number;
  /** What everything it starts is known by. */
  readonly mark: string;
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
}

interface Ended {
  readonly code: number | null;
  readonly signal: string | null;
}

/** `onGone(true)` before `onExit`, when nothing of the group is left; `onGone(false)` when something outlived SIGKILL. */
export const superviseChild = (
  { child, pid, mark, stdin, stdout, stderr }: ChildPipes,
  request: ProcessRequest,
  onGone: (gone: boolean) => void,
): RunningProcess => {
  let found: Problem | undefined;
  let exited = false;
  let killAt = Number.POSITIVE_INFINITY;
  let ending: Promise<boolean> | undefined;
  const timers = new Set<NodeJS.Timeout>();
  // How the leader ended; undefined where it outlived SIGKILL.
  const leader = Promise.withResolvers<Ended | undefined>();

  const endWithin = (graceMs: number): Promise<boolean> => {
    killAt = Math.min(killAt, performance.now() + graceMs);
    const closing = setTimeout(() => stdin.end(), Math.min(lastAnswerMs, graceMs / 2));
    if (exited) clearTimeout(closing);
    else timers.add(closing);
    ending ??= endGroup({ pid, mark }, () => killAt).then((gone) => {
      if (!gone) leader.resolve(undefined);
      return gone;
    });
    return ending;
  };
  const stop = (code: ProblemCode, evidence?: string): void => {
    found ??= problem(code, { subject: request.alias, ...(evidence === undefined ? {} : { evidence }) });
    void endWithin(defaultGraceMs);
  };
  const stopUnlessExited = (code: ProblemCode): void => {
    if (exited || ending !== undefined) return;
    const timer = setTimeout(() => {
      if (!exited) stop(code, `it was still running ${closedWaitMs} ms later`);
    }, closedWaitMs);
    timers.add(timer);
  };

  const limit = request.lineBytes ?? defaultLineBytes;
  const follow = (source: Readable, stream: 'stdout' | 'stderr'): Promise<void> => {
    const { onBytes } = request;
    if (onBytes !== undefined) {
      source.on('data', (chunk: Buffer) => onBytes(chunk, stream));
      source.on('error', () => {});
      return new Promise((resolve) => source.once('close', resolve));
    }
    const cutter = request.cutLines === true ? cutLines(limit) : undefined;
    const framer = frameLines(cutter === undefined ? limit : limit + keptTail + 1);
    const hand = (lines: readonly string[]): void => {
      if (lines.length > 0) request.onLines(lines, stream);
    };
    source.on('data', (chunk: Buffer) => {
      hand(framer.push(cutter?.push(chunk) ?? chunk));
      if (!framer.tooLong() && cutter?.over() !== true) return;
      source.destroy();
      stop('process/line-too-long', `more than ${limit} bytes without a newline on ${stream}`);
    });
    source.once('end', () => hand(framer.rest()));
    source.on('error', () => {});
    return new Promise((resolve) => {
      source.once('close', () => {
        if (stream === 'stdout') stopUnlessExited('process/output-closed');
        resolve();
      });
    });
  };
  const drained = Promise.all([follow(stdout, 'stdout'), follow(stderr, 'stderr')]);
  stdin.on('error', () => request.onBytes === undefined && stopUnlessExited('process/input-closed'));
  if (request.onBytes !== undefined) stdin.end();

  const onLeaderExit = (): void => {
    exited = true;
    for (const timer of timers) clearTimeout(timer);
    leader.resolve({ code: child.exitCode, signal: child.signalCode });
    // A reader that paused and went away must not keep the last lines, and the end, from being told.
    stdout.resume();
    stderr.resume();
  };
  if (child.exitCode !== null || child.signalCode !== null) onLeaderExit();
  else child.once('exit', onLeaderExit);

  const finished = (async (): Promise<void> => {
    const exit = await leader.promise;
    // What the leader left behind goes with it.
    const gone = await endWithin(defaultGraceMs);
    if (!gone) found ??= problem('process/not-ended', { subject: request.alias, evidence: `group ${pid}` });
    await Promise.race([drained, delay(drainMs)]);
    for (const pipe of [stdin, stdout, stderr]) pipe.destroy();
    onGone(gone);
    request.onExit({
      code: exit?.code ?? null,
      signal: exit?.signal ?? null,
      ...(found === undefined ? {} : { problem: found }),
    });
  })();

  return {
    pid,
    write: (text) => {
      if (!stdin.writable) return false;
      stdin.write(text);
      if (stdin.writableLength <= inputQueueLength) return true;
      stop('process/input-stuck', `more than ${inputQueueLength} characters wait to be read`);
      return false;
    },
    pause: () => {
      if (exited) return;
      stdout.pause();
      stderr.pause();
    },
    resume: () => {
      stdout.resume();
      stderr.resume();
    },
    end: async (graceMs = defaultGraceMs) => {
      void endWithin(graceMs);
      await finished;
    },
  };
};
