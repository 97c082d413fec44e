/**
 * A server that is a program: started in the one place where processes are, in a group of its own, spoken to over its
 * input and output. What it prints that is no message, and its error stream, are its log.
 */
import { resolve } from 'node:path';
import { failed, ok, type Problem, problem, type Result } from '../../problems/index.ts';
import type { Processes } from '../../processes/index.ts';
import type { Json, ServerEntry } from './edge.ts';
import { readLine } from './frames.ts';
import type { Link } from './link.ts';
import type { ServerLog } from './log.ts';
import type { Launch } from './variables.ts';

export interface StdioOptions {
  readonly processes: Processes;
  readonly entry: ServerEntry;
  readonly launch: Launch;
  readonly cwd: string;
  readonly lineBytes: number;
  readonly log: ServerLog;
  readonly hear: (message: Json) => void;
  /** `id`: of the request the message answers, where that can be seen. */
  readonly tooLarge: (id: number | undefined) => void;
  readonly broken: (id: number | undefined) => void;
  /** Once, when nothing of its group is left. */
  readonly lost: (why: Problem) => void;
}

export const openStdio = async (options: StdioOptions): Promise<Result<Link>> => {
  const { entry, launch, log } = options;
  const gone = Promise.withResolvers<void>();

  const onLine = (line: string): void => {
    // A character is at most three bytes.
    const read = readLine(line, options.lineBytes / 3);
    if (read.kind === 'message') {
      if (read.before !== undefined) log.write(`output: ${read.before}`);
      options.hear(read.message);
      return;
    }
    if (line.trim() !== '') log.write(`output: ${line}`);
    if (read.kind === 'too large') options.tooLarge(read.id);
    if (read.kind === 'broken') options.broken(read.id);
  };

  const started = await options.processes.start({
    alias: entry.name,
    command: launch.command,
    args: launch.args,
    cwd: resolve(options.cwd, launch.cwd ?? ''),
    env: launch.env,
    lineBytes: options.lineBytes,
    cutLines: true,
    onLines: (lines, stream) => {
      for (const line of lines) {
        if (stream === 'stderr') log.write(line);
        else onLine(line);
      }
    },
    onExit: ({ code, signal, problem: found }) => {
      const how = signal === null ? `exit code ${code}` : `signal ${signal}`;
      const last = log.last();
      const evidence = `${found === undefined ? how : `${found.message} ${found.evidence ?? ''}`}${last === '' ? '' : `; last in its log: ${last}`}`;
      const tooLong = found?.code === 'process/line-too-long';
      options.lost(
        problem(tooLong ? 'connections/too-large' : 'connections/exited', { subject: entry.name, evidence }),
      );
      gone.resolve();
    },
  });
  if (!started.ok) return failed(started.problem);
  const running = started.value;
  const refused = (): Problem => problem('connections/lost', { subject: entry.name });
  // A write costs more than what else a call does: the first of a turn of the event loop goes at once, what follows it in
  // the same turn is one write.
  let waiting: { readonly line: string; readonly refuse: () => void }[] = [];
  let open = true;
  const flush = (): void => {
    const lines = waiting;
    waiting = [];
    open = true;
    if (lines.length === 0 || running.write(lines.map(({ line }) => line).join(''))) return;
    for (const { refuse } of lines) refuse();
  };
  const write = (message: Json, refuse: () => void): void => {
    const line = `${JSON.stringify(message)}\n`;
    if (!open) {
      waiting.push({ line, refuse });
      return;
    }
    open = false;
    setImmediate(flush);
    if (!running.write(line)) refuse();
  };
  return ok({
    carry: (message) =>
      new Promise((resolve, reject) => {
        write(message, () => reject(new Error('its input is closed')));
        setImmediate(resolve);
      }),
    send: (message, _sent, tell) => write(message, () => tell({ problem: refused() })),
    ownStreams: false,
    sessionId: () => undefined,
    speak: () => {},
    close: async () => {
      await running.end();
      await gone.promise;
    },
  });
};
