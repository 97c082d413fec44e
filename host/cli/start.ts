/**
 * Starts a station: in the background, in a session of its own, waiting for its word that it is ready; or here.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, openSync, readFileSync, statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { failed, ok, type Problem, type Result, refuse } from '../problems/index.ts';
import { homeAt, type OpenWeb, openStation } from '../station/index.ts';
import { allocatorSettings } from './allocator.ts';
import type { Answer, Io } from './output.ts';

/** Longest wait for a station to be ready: the first start compiles the shipped components, ms. */
const readyMs = 180_000;
/** How long a station that is given up may take to end, ms. */
const endMs = 10_000;

/** `logs/station.out` is emptied at a start once it is longer, bytes. */
const outputBytes = 1024 * 1024;

/** What the background process tells, once. */
export type Word = { readonly ready: Started } | { readonly problem: Problem };

export interface Started {
  readonly pid: number;
  readonly home: string;
  readonly port?: number;
}
export interface StartOptions {
  readonly home: string;
  /** Serves HTTP there. */
  readonly port?: number | undefined;
  readonly compileCache?: string | undefined;
  /** Gives up and ends what was started. */
  readonly signal?: AbortSignal;
}

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const entry = fileURLToPath(new URL(`./detached.${extension}`, import.meta.url));

const ended = async (child: ChildProcess): Promise<void> => {
  if (child.pid === undefined || child.exitCode !== null || child.signalCode !== null) return;
  const late = setTimeout(() => child.kill('SIGKILL'), endMs);
  child.kill('SIGTERM');
  await once(child, 'exit');
  clearTimeout(late);
};

/** Sections the gate is made of: a station does not start with one that cannot be read. */
const gateSections = ['permissions', 'mcpServers', 'disabledMcpServers', 'trustedProjects'];

/**
 * The first fault of a rule or a server the gate would go by. A policy with any other fault grants nothing, and the station
 * runs; a gate that is not as it was written must not be taken for one. Read only where the file names such a section:
 * reading a policy takes as long as the start.
 */
const gateFault = async (file: string): Promise<Problem | undefined> => {
  const text = existsSync(file) && statSync(file).isFile() ? readFileSync(file, 'utf8') : '';
  if (!gateSections.some((section) => text.includes(section))) return undefined;
  const { openPolicySource } = await import('../policy/index.ts');
  return openPolicySource(file)
    .current()
    .problems.find(({ subject = '' }) => gateSections.some((section) => subject.startsWith(section)));
};

/** What the station itself writes to its output goes to `logs/station.out`; it is empty unless something is wrong. */
export const startDetached = async ({
  home,
  port,
  compileCache,
  signal,
}: StartOptions): Promise<Result<Started>> => {
  const { logs, policy, database } = homeAt(home);
  if (!existsSync(policy) && !existsSync(database)) return refuse('station/home-missing', { subject: home });
  const fault = await gateFault(policy);
  if (fault !== undefined) return failed(fault);
  mkdirSync(logs, { recursive: true, mode: 0o700 });
  const output = join(logs, 'station.out');
  // Appended: an `up` beside a station that runs, or after one that crashed, must not take away what it said.
  if ((statSync(output, { throwIfNoEntry: false })?.size ?? 0) > outputBytes) truncateSync(output);
  const log = openSync(output, 'a', 0o600);
  const child = spawn(process.execPath, [entry, home, ...(port === undefined ? [] : [String(port)])], {
    cwd: home,
    env: {
      ...process.env,
      ...allocatorSettings(process.env),
      // Here it holds for the first module too: without it Node strips types from that one every time.
      ...(compileCache === undefined ? {} : { NODE_COMPILE_CACHE: compileCache }),
    },
    detached: true,
    stdio: ['ignore', log, log, 'ipc'],
  });
  closeSync(log);
  const word = await new Promise<Word | string>((resolve) => {
    const late = setTimeout(() => settle(`it was not ready after ${readyMs / 1000} s`), readyMs);
    const settle = (found: Word | string): void => {
      clearTimeout(late);
      resolve(found);
    };
    child.once('message', (message) => settle(message as Word));
    child.once('error', (error) => settle(error.message));
    child.once('exit', (code, ended) => settle(`it ended with ${ended ?? code}; its output is in ${output}`));
    signal?.addEventListener('abort', () => settle('interrupted'), { once: true });
    if (signal?.aborted === true) settle('interrupted');
  });
  if (typeof word === 'string') {
    await ended(child);
    return signal?.aborted === true
      ? refuse('cli/interrupted')
      : refuse('station/start-failed', { subject: home, evidence: word });
  }
  if (child.connected) child.disconnect();
  child.unref();
  return 'ready' in word ? ok(word.ready) : failed(word.problem);
};

/** The HTTP server, loaded when the station wants one. */
export const openWeb: OpenWeb = async (options) => (await import('../web/index.ts')).openWeb(options);

/** Resolves at the first of these signals. */
export const interrupted = (): Promise<void> =>
  new Promise((resolve) => {
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => resolve());
  });

/** A station in this process until it is stopped, by `jupiter down` or by a signal. */
export const stayForeground = async (io: Io, port?: number): Promise<Result<Answer>> => {
  // From the beginning: a signal that comes while the home is being opened stops it as soon as that is done.
  const stop = interrupted();
  const fault = await gateFault(homeAt(io.home).policy);
  if (fault !== undefined) return failed(fault);
  const opened = await openStation({ home: io.home, port, openWeb });
  if (!opened.ok) return opened;
  const { pid } = process;
  const { port: open } = opened.value;
  const web = open === undefined ? '' : `\nport  ${open}`;
  io.event(
    { ready: { home: io.home, pid, ...(open === undefined ? {} : { port: open }) } },
    `home  ${io.home}\npid   ${pid}${web}`,
  );
  void stop.then(() => opened.value.stop());
  await opened.value.stopped;
  io.event({ stopped: true }, 'stopped');
  return ok({ json: undefined, plain: '' });
};
