/**
 * Git, through its own binary and nothing else: no shell, no configuration written, no index refreshed, no program
 * that a repository's configuration names started. Every run is bounded in time and output.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { ok, type Result, refuse } from '../problems/index.ts';

/** Longest run of one command, ms. Reading 2,000 commits takes well below a second. */
const runLimit = 120_000;
/** Most output of one command, bytes. */
const outputLimit = 256 * 1024 * 1024;
const errorLimit = 2_000;

export type Environment = Readonly<Record<string, string | undefined>>;

export interface GitPlace {
  readonly cwd: string;
  readonly env: Environment;
}

export interface GitRun {
  readonly code: number;
  readonly stdout: Buffer;
  readonly stderr: string;
}

// Variables that say which repository is meant: `git rev-parse --local-env-vars` without the settings a user passes
// along (`safe.directory` may be among them).
const repositoryVariables = [
  'GIT_ALTERNATE_OBJECT_DIRECTORIES',
  'GIT_COMMON_DIR',
  'GIT_DIR',
  'GIT_GRAFT_FILE',
  'GIT_IMPLICIT_WORK_TREE',
  'GIT_INDEX_FILE',
  'GIT_INTERNAL_SUPER_PREFIX',
  'GIT_NAMESPACE',
  'GIT_OBJECT_DIRECTORY',
  'GIT_PREFIX',
  'GIT_QUARANTINE_PATH',
  'GIT_REPLACE_REF_BASE',
  'GIT_SHALLOW_FILE',
  'GIT_WORK_TREE',
];
// Variables that change what a command prints, reads as a path or writes beside its answer.
const disturbing =
  /^GIT_(TRACE.*|.*_PATHSPECS|EXTERNAL_DIFF|DIFF_OPTS|PAGER|REDIRECT_.*|FLUSH|DEFAULT_HASH)$/;

export const withoutRepository = (env: Environment): Environment =>
  Object.fromEntries(Object.entries(env).filter(([name]) => !repositoryVariables.includes(name)));
export const namesRepository = (env: Environment): boolean =>
  ['GIT_DIR', 'GIT_INDEX_FILE', 'GIT_WORK_TREE'].some((name) => (env[name] ?? '') !== '');

const calm = (env: Environment): NodeJS.ProcessEnv => ({
  ...Object.fromEntries(Object.entries(env).filter(([name]) => !disturbing.test(name))),
  LC_ALL: 'C',
  GIT_OPTIONAL_LOCKS: '0',
  GIT_TERMINAL_PROMPT: '0',
  GIT_NO_REPLACE_OBJECTS: '1',
});
const settings = [
  '--no-pager',
  ...['core.fsmonitor=false', 'log.showSignature=false', 'log.showRoot=true', 'log.follow=false'].flatMap(
    (setting) => ['-c', setting],
  ),
];

const start = (place: GitPlace, args: readonly string[]) =>
  spawn('git', [...settings, ...args], {
    cwd: place.cwd,
    env: calm(place.env),
    stdio: ['pipe', 'pipe', 'pipe'],
    windowsHide: true,
    timeout: runLimit,
    killSignal: 'SIGKILL',
  });

const failed = (args: readonly string[], evidence: string): Result<never> =>
  refuse('contract/git-failed', { subject: `git ${args[0] ?? ''}`, evidence });

/** Runs one command and gives what it said, whatever its exit code (`contract/git-missing`, `contract/git-failed`). */
export const runGit = async (place: GitPlace, args: readonly string[]): Promise<Result<GitRun>> => {
  const child = start(place, args);
  const chunks: Buffer[] = [];
  let size = 0;
  let stderr = '';
  child.stdout.on('data', (chunk: Buffer) => {
    size += chunk.length;
    if (size > outputLimit) child.kill('SIGKILL');
    else chunks.push(chunk);
  });
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < errorLimit) stderr = (stderr + chunk.toString()).slice(0, errorLimit);
  });
  child.stdin.on('error', () => undefined);
  child.stdin.end();
  const ended = await once(child, 'close').catch((error: NodeJS.ErrnoException) => error);
  if (ended instanceof Error)
    return (ended as NodeJS.ErrnoException).code === 'ENOENT'
      ? refuse('contract/git-missing')
      : failed(args, ended.message);
  const [code, signal] = ended as [number | null, string | null];
  if (code === null)
    return failed(args, size > outputLimit ? `more than ${outputLimit} bytes` : `ended by ${signal}`);
  return ok({ code, stdout: Buffer.concat(chunks), stderr });
};

/** The output of a command that has to succeed. */
export const gitOutput = async (place: GitPlace, args: readonly string[]): Promise<Result<Buffer>> => {
  const run = await runGit(place, args);
  if (!run.ok) return run;
  return run.value.code === 0 ? ok(run.value.stdout) : failed(args, run.value.stderr.trim());
};

export interface ObjectReader {
  /** Names the objects that will be read next, in this order: git looks them up while earlier ones are worked on. */
  readonly announce: (names: readonly string[]) => void;
  /** The bytes of a blob, valid until the read after the next; undefined where the repository does not have it. */
  readonly read: (name: string) => Promise<Result<Buffer | undefined>>;
  readonly close: () => void;
}

/** Reads objects by name through one `git cat-file --batch`; objects over `limit` bytes are refused. */
export const readObjects = (place: GitPlace, limit: number): ObjectReader => {
  const args = ['cat-file', '--batch'];
  const child = start(place, args);
  const chunks = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>;
  let stderr = '';
  let broken: Error | undefined;
  child.on('error', (error) => {
    broken = error;
  });
  child.stdin.on('error', () => undefined);
  child.stderr.on('data', (chunk: Buffer) => {
    if (stderr.length < errorLimit) stderr += chunk.toString();
  });
  // Two buffers in turn, grown as needed: a history of large locks is read without one allocation a version.
  const buffers = [Buffer.alloc(0), Buffer.alloc(0)];
  let turn = 0;
  let rest: Buffer = Buffer.alloc(0);

  const more = async (): Promise<boolean> => {
    const next = await chunks.next();
    if (next.done === true) return false;
    rest = rest.length === 0 ? next.value : Buffer.concat([rest, next.value]);
    return true;
  };
  const line = async (): Promise<string | undefined> => {
    let end = rest.indexOf(10);
    while (end < 0) {
      if (!(await more())) return undefined;
      end = rest.indexOf(10);
    }
    const text = rest.toString('utf8', 0, end);
    rest = rest.subarray(end + 1);
    return text;
  };
  const body = async (size: number): Promise<Buffer | undefined> => {
    turn = 1 - turn;
    let target = buffers[turn] ?? Buffer.alloc(0);
    if (target.length < size) {
      target = Buffer.allocUnsafeSlow(Math.ceil(size * 1.25));
      buffers[turn] = target;
    }
    // The line feed that ends an object is read with it.
    for (let filled = 0; filled <= size; ) {
      if (rest.length === 0 && !(await more())) return undefined;
      const taken = Math.min(rest.length, size + 1 - filled);
      rest.copy(target, filled, 0, Math.min(taken, size - filled));
      rest = rest.subarray(taken);
      filled += taken;
    }
    return target.subarray(0, size);
  };
  const announced: string[] = [];
  let reached = 0;
  return {
    announce: (objects) => {
      announced.push(...objects);
      if (broken === undefined) child.stdin.write(objects.map((object) => `${object}\n`).join(''));
    },
    read: async (name) => {
      if (name.includes('\n')) return ok(undefined);
      if (announced[reached] === name) reached += 1;
      else if (broken === undefined) child.stdin.write(`${name}\n`);
      const header = await line().catch(() => undefined);
      if (header === undefined)
        return (broken as NodeJS.ErrnoException | undefined)?.code === 'ENOENT'
          ? refuse('contract/git-missing')
          : failed(args, stderr.trim() || 'it ended early');
      const [, type, length] = /^\S+ (\w+) (\d+)$/.exec(header) ?? [];
      if (type === undefined) return ok(undefined);
      if (Number(length) > limit) return failed(args, `an object of ${length} bytes; the limit is ${limit}`);
      const bytes = await body(Number(length)).catch(() => undefined);
      if (bytes === undefined) return failed(args, stderr.trim() || 'it ended early');
      return ok(type === 'blob' ? bytes : undefined);
    },
    close: () => {
      child.stdin.end();
      child.stdout.destroy();
      child.kill('SIGKILL');
    },
  };
};
