/** A home, a workspace and the real command line, for tests from outside. Everything it starts ends with the test. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import { packBundle } from '../../host/bundles/index.ts';
import { main } from '../../host/cli/main.ts';

const root = join(import.meta.dirname, '..', '..');
export const repository = root;

export interface Run {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
  /** The one JSON document of `--json`. */
  readonly json: () => Record<string, unknown>;
}

// The first home of a run transpiles the shipped components; the others begin with its cache, which admission checks byte
// for byte. A test file that is run by itself is a run of its own.
const ownRun = join(tmpdir(), `jupiter-e2e-${process.pid}`);
const transpiled = join(process.env['JUPITER_TEST_RUN'] ?? ownRun, 'cache');
process.on('exit', () => rmSync(ownRun, { recursive: true, force: true }));
/** Whole or not at all: several files may end their first test at once. */
const keepTranspiled = (cache: string): void => {
  if (existsSync(transpiled) || !existsSync(cache)) return;
  const own = `${transpiled}-${process.pid}`;
  cpSync(cache, own, { recursive: true });
  try {
    renameSync(own, transpiled);
  } catch {
    rmSync(own, { recursive: true, force: true });
  }
};

/** Longest time one command may take, ms. */
const commandMs = 60_000;

/** Commands whose process matters: what it starts inherits of it, or it ends by a signal. */
const ofItsOwn = new Set(['up', 'demo', 'skills', 'component', 'contracts']);

export interface Bench {
  readonly home: string;
  readonly workspace: string;
  /** The HOME the station and what it starts see: the tester's own unless the bench has one. */
  readonly userHome: string;
  readonly jupiter: (...args: readonly string[]) => Promise<Run>;
  /** Runs with `--json` and fails the test when the command did. */
  readonly ask: <T = Record<string, unknown>>(...args: readonly string[]) => Promise<T>;
  /** As `ask`, where exit 1 may stand beside a whole answer: a session that ended, a turn that failed. */
  readonly document: <T = Record<string, unknown>>(...args: readonly string[]) => Promise<T>;
  readonly policy: (text: string) => void;
  readonly file: (path: string, text: string) => string;
  readonly read: (path: string) => string;
}

export const openBench = (
  t: TestContext,
  options: {
    readonly policy: unknown;
    readonly env?: Record<string, string>;
    /** A home directory of its own, so that nothing an agent does touches the tester's. */
    readonly ownHome?: boolean;
  },
): Bench => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-e2e-'));
  const home = join(dir, 'home');
  const workspace = join(dir, 'workspace');
  mkdirSync(workspace);
  const userHome = options.ownHome === true ? join(dir, 'user') : (process.env['HOME'] ?? '');
  if (options.ownHome === true) mkdirSync(userHome);
  const env = { HOME: userHome, ...options.env };
  // A command that only asks the station is run here: it has the same arguments, text and exit code as in a process of its
  // own, which tests/cli starts, and most of the time of one was its start.
  const jupiter = (...args: readonly string[]) =>
    args.some((word) => ofItsOwn.has(word))
      ? runJupiter(['--home', home, ...args], env)
      : runHere(['--home', home, ...args]);
  const asking =
    (accepted: (run: Run) => boolean) =>
    async <T>(...args: readonly string[]): Promise<T> => {
      const run = await jupiter('--json', ...args);
      if (!accepted(run))
        throw new Error(`jupiter ${args.join(' ')} → ${run.code}\n${run.stdout}\n${run.stderr}`);
      return run.json() as T;
    };
  const bench: Bench = {
    home,
    workspace,
    userHome,
    jupiter,
    ask: asking(({ code }) => code === 0),
    document: asking(({ code, json }) => code === 0 || (code === 1 && json()['problem'] === undefined)),
    policy: (text) => writeFileSync(join(home, 'policy.jsonc'), text),
    file: (path, text) => {
      const full = join(workspace, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
      return full;
    },
    read: (path) => readFileSync(join(workspace, path), 'utf8'),
  };
  mkdirSync(home, { mode: 0o700 });
  if (existsSync(transpiled)) cpSync(transpiled, join(home, 'cache'), { recursive: true });
  bench.policy(typeof options.policy === 'string' ? options.policy : JSON.stringify(options.policy, null, 2));
  t.after(async () => {
    await jupiter('down');
    keepTranspiled(join(home, 'cache'));
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return bench;
};

const runHere = async (args: readonly string[]): Promise<Run> => {
  let [stdout, stderr] = ['', ''];
  const late = Promise.withResolvers<never>();
  const timer = setTimeout(
    () => late.reject(new Error(`jupiter ${args.join(' ')} took longer than ${commandMs} ms`)),
    commandMs,
  );
  const code = await Promise.race([
    late.promise,
    main(args, {
      out: { colour: false, write: (text) => (stdout += text) },
      err: { colour: false, write: (text) => (stderr += text) },
    }),
  ]).finally(() => clearTimeout(timer));
  return { code, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, unknown> };
};

export const runJupiter = (args: readonly string[], env: Record<string, string> = {}): Promise<Run> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [join(root, 'bin', 'jupiter.mjs'), ...args], {
      env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    let stdout = '';
    let stderr = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      stdout += text;
    });
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      stderr += text;
    });
    const late = setTimeout(() => child.kill('SIGKILL'), commandMs);
    child.on('error', reject);
    child.on('close', (code) => {
      clearTimeout(late);
      resolve({ code, stdout, stderr, json: () => JSON.parse(stdout) as Record<string, unknown> });
    });
  });

const node = process.execPath;
/** Arguments of Node for a fixture in TypeScript, which starts in two thirds of the time with them. */
export const compiled = ['--import', join(root, 'tests', 'fixtures', 'compiled.mjs')] as const;
export const demoAgent = join(root, 'demo', 'agent.ts');
export const demoProbe = join(root, 'demo', 'probe.ts');
export const fixtureAgent = join(root, 'tests', 'fixtures', 'agents', 'agent.mjs');

export const firstPartyGrants = {
  'bearpunch.sessions': ['store:own', 'bus:publish', 'session-context:provision'],
  'bearpunch.adapter': ['store:own', 'bus:publish', 'process:spawn'],
  'bearpunch.echo': ['store:own', 'bus:publish'],
};

/** One `probe` alias for the agent `listed`; `other` runs the same program and is not among its consumers. */
export const probePolicy = (more: Record<string, unknown> = {}) => ({
  grants: firstPartyGrants,
  agents: {
    listed: { program: 'claude-acp' },
    other: { program: 'claude-acp' },
    stranger: { program: 'some-agent' },
    echo: { program: 'echo', provider: 'bearpunch.echo:echo' },
  },
  programs: {
    'claude-acp': {
      command: node,
      args: [...compiled, demoAgent],
      inherit: ['PATH', 'CANARY_TOKEN'],
      trust: 'full',
    },
    'some-agent': { command: node, args: [...compiled, demoAgent], inherit: ['PATH'], trust: 'full' },
    probe: { command: node, args: [...compiled, demoProbe], trust: 'full' },
  },
  servers: {
    probe: {
      transport: { type: 'stdio', program: 'probe' },
      consumers: { sessions: ['listed', 'stranger'] },
      exposure: 'direct',
    },
  },
  ...more,
});

/** A packed bundle folder with skills; returns its path. */
export const skillBundle = async (
  dir: string,
  id: string,
  skills: Readonly<Record<string, Readonly<Record<string, string>>>>,
  version = '1.0.0',
): Promise<string> => {
  const folder = join(dir, id);
  rmSync(folder, { recursive: true, force: true });
  for (const [name, files] of Object.entries(skills)) {
    for (const [path, text] of Object.entries(files)) {
      const full = join(folder, 'skills', name, path);
      mkdirSync(dirname(full), { recursive: true });
      writeFileSync(full, text);
    }
  }
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ manifest: 2, id, version }));
  const packed = await packBundle(folder);
  if (!packed.ok) throw new Error(JSON.stringify(packed.problem));
  return folder;
};

export const skillText = (name: string, body = 'Do it.') =>
  `---\nname: ${name}\ndescription: What ${name} is for.\n---\n${body}\n`;

/** Every file below a folder, with its text, for searches. */
export const everyFile = (dir: string): readonly (readonly [string, Buffer])[] =>
  existsSync(dir)
    ? readdirSync(dir, { recursive: true, encoding: 'utf8' })
        .map((name) => join(dir, name))
        .filter((path) => statSync(path, { throwIfNoEntry: false })?.isFile() === true)
        .map((path) => [path, readFileSync(path)] as const)
    : [];

/** Processes whose command line or environment names `text` (Linux), without this one. */
export const processesNaming = (text: string): readonly number[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .filter((name) => {
      try {
        return readFileSync(`/proc/${name}/cmdline`, 'utf8').includes(text);
      } catch {
        return false;
      }
    })
    .map(Number);

/** The events of `status --events`, oldest first, as `kind subject`. */
export const eventsOf = async (bench: Bench): Promise<readonly string[]> => {
  const { events } = await bench.ask<{ events: readonly { kind: string; subject: string }[] }>(
    'status',
    '--events',
    '500',
  );
  return events.map(({ kind, subject }) => `${kind} ${subject}`);
};

/** Looks until there is something to see; between two looks the station has the processor. */
export const looked = async <T>(look: () => Promise<T | undefined>): Promise<T> => {
  for (;;) {
    const seen = await look();
    if (seen !== undefined) return seen;
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

/** A command that follows: its lines of JSON as they come. Ends with the test, or by `stop`. */
export const followJupiter = (t: TestContext, args: readonly string[]) => {
  const child = spawn(process.execPath, [join(root, 'bin', 'jupiter.mjs'), ...args], {
    env: { PATH: process.env['PATH'] ?? '', HOME: process.env['HOME'] ?? '' },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const lines: Record<string, unknown>[] = [];
  let waiting: (() => void) | undefined;
  let rest = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    const parts = (rest + text).split('\n');
    rest = parts.pop() ?? '';
    // Its last word, when the station stops under it, is a whole document: not a line of JSON.
    for (const part of parts) if (part.startsWith('{"')) lines.push(JSON.parse(part));
    waiting?.();
  });
  let isOver = false;
  const closed = new Promise<void>((resolve) =>
    child.once('close', () => {
      isOver = true;
      resolve();
    }),
  );
  t.after(async () => {
    child.kill('SIGKILL');
    await closed;
  });
  return {
    /** The first line that is as wanted, once it is there. */
    line: async (wanted: (line: Record<string, unknown>) => boolean): Promise<Record<string, unknown>> => {
      for (let seen = 0; ; ) {
        for (; seen < lines.length; seen += 1) {
          const line = lines[seen];
          if (line !== undefined && wanted(line)) return line;
        }
        const { promise, resolve } = Promise.withResolvers<void>();
        waiting = resolve;
        assert.ok(!isOver, `no such line came: ${JSON.stringify(lines)}`);
        await Promise.race([promise, closed]);
      }
    },
  };
};
