/** Real repositories, built with the git binary in temporary folders, far from this machine's configuration. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import {
  asText,
  type CheckOptions,
  type CheckReport,
  checkContracts,
  type Finding,
  updateContracts,
} from '../../host/contracts/index.ts';

const outside = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_')));

/** Names and times come from here; the third commit of a test is the third second of 2026. */
export const environment = (home: string): Record<string, string | undefined> => ({
  ...outside,
  PATH: `${dirname(process.execPath)}:${outside.PATH}`,
  HOME: home,
  XDG_CONFIG_HOME: home,
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: join(home, 'gitconfig'),
  GIT_AUTHOR_NAME: 'A',
  GIT_AUTHOR_EMAIL: 'a@example.org',
  GIT_COMMITTER_NAME: 'A',
  GIT_COMMITTER_EMAIL: 'a@example.org',
});

export const folder = (t: TestContext): string => {
  const path = realpathSync.native(mkdtempSync(join(tmpdir(), 'contracts-')));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};

export interface Throwaway {
  readonly dir: string;
  readonly home: string;
  readonly env: Record<string, string | undefined>;
  /** Runs git and gives what it printed; throws where it fails. */
  readonly git: (...args: string[]) => string;
  /** Runs git and gives its exit code and everything it printed. */
  readonly tried: (...args: string[]) => { code: number; output: string };
  readonly write: (path: string, text: string) => void;
  readonly read: (path: string) => string;
  /** Adds everything and commits it; gives the commit. */
  readonly commit: (message?: string) => string;
  readonly update: (more?: Partial<CheckOptions>) => Promise<CheckReport>;
  readonly check: (more?: Partial<CheckOptions>) => Promise<CheckReport>;
  /** Writes the manifest, updates the lock, commits both. */
  readonly release: (topics: Topics) => Promise<string>;
}

export type Topics = Readonly<Record<string, unknown>>;
export const lockPath = 'contracts/topics.lock.json';

/** A manifest of events by ID; `{request, reply}` makes a command. */
export const manifest = (topics: Topics): string => {
  const list = Object.entries(topics).map(([id, schema]) =>
    typeof schema === 'object' && schema !== null && 'request' in schema
      ? { id, kind: 'command', shape: schema }
      : { id, kind: 'event', shape: { event: schema } },
  );
  return `${JSON.stringify({ manifest: 2, id: 'probe', version: '1.0.0', topics: list }, null, 2)}\n`;
};

export const at = (dir: string, home: string): Throwaway => {
  const env = environment(home);
  const git = (...args: string[]): string =>
    execFileSync('git', args, { cwd: dir, env, encoding: 'utf8', stdio: ['ignore', 'pipe', 'pipe'] });
  const write = (path: string, text: string): void => {
    mkdirSync(dirname(join(dir, path)), { recursive: true });
    writeFileSync(join(dir, path), text);
  };
  const update = async (more: Partial<CheckOptions> = {}): Promise<CheckReport> => {
    const done = await updateContracts({ cwd: dir, env, ...more });
    assert.ok(done.ok, done.ok ? '' : JSON.stringify(done.problem));
    return done.value.check;
  };
  const commit = (message = 'change'): string => {
    git('add', '-A');
    git('commit', '-q', '--allow-empty', '-m', message);
    return git('rev-parse', 'HEAD').trim();
  };
  return {
    dir,
    home,
    env,
    git,
    write,
    update,
    commit,
    read: (path) => readFileSync(join(dir, path), 'utf8'),
    tried: (...args) => {
      try {
        return { code: 0, output: git(...args) };
      } catch (error) {
        const { status, stdout, stderr } = error as { status: number; stdout: string; stderr: string };
        return { code: status, output: `${stdout}${stderr}` };
      }
    },
    check: async (more = {}) => {
      const report = await checkContracts({ cwd: dir, env, ...more });
      assert.ok(report.ok, report.ok ? '' : JSON.stringify(report.problem));
      return report.value;
    },
    release: async (topics) => {
      write('bundle.json', manifest(topics));
      const report = await update();
      assert.deepEqual(report.findings, []);
      return commit(`release ${Object.keys(topics).join(' ')}`);
    },
  };
};

export const repository = (t: TestContext): Throwaway => {
  const base = folder(t);
  const dir = join(base, 'repo');
  mkdirSync(dir);
  if (!existsSync(join(base, 'home'))) mkdirSync(join(base, 'home'));
  const made = at(dir, join(base, 'home'));
  made.git('init', '-q', '-b', 'main');
  return made;
};

/** `code subject` of each finding. */
export const told = (report: CheckReport): string[] =>
  report.findings.map(
    ({ code, subject }) => `${code.replace('contract/', '')}${subject === undefined ? '' : ` ${subject}`}`,
  );

export const only = (report: CheckReport): Finding => {
  const [found, ...others] = report.findings;
  assert.ok(found !== undefined && others.length === 0, asText(report));
  return found;
};

export const text = (max: number) => ({
  type: 'object',
  properties: { text: { type: 'string', maxLength: max } },
});
