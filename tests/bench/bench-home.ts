/** A home with a policy for benchmarks, and the real command line. */
import { spawn, spawnSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export const root = join(import.meta.dirname, '..', '..');
export const launcher = join(root, 'bin', 'jupiter.mjs');

export interface BenchHome {
  readonly dir: string;
  readonly home: string;
  readonly workspace: string;
  readonly jupiter: (...args: readonly string[]) => string;
  readonly end: () => void;
}

export const benchHome = (policy: unknown): BenchHome => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-bench-'));
  const home = join(dir, 'home');
  const workspace = join(dir, 'workspace');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(workspace);
  writeFileSync(join(home, 'policy.jsonc'), JSON.stringify(policy));
  const jupiter = (...args: readonly string[]) => {
    const run = spawnSync(process.execPath, [launcher, '--home', home, '--json', ...args], {
      encoding: 'utf8',
    });
    if (run.status !== 0) throw new Error(`jupiter ${args.join(' ')}: ${run.stdout}${run.stderr}`);
    return run.stdout;
  };
  return {
    dir,
    home,
    workspace,
    jupiter,
    end: () => {
      jupiter('down');
      rmSync(dir, { recursive: true, force: true });
    },
  };
};

/** Runs a child to its end; resolves with what it printed. */
export const runToEnd = (command: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let out = '';
    child.stdout.setEncoding('utf8').on('data', (text: string) => {
      out += text;
    });
    child.on('error', reject);
    child.on('close', (code) =>
      code === 0 ? resolve(out) : reject(new Error(`${command} ended with ${code}`)),
    );
  });

/** Resident memory of a process, MB. */
export const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? Number.NaN) / 1024;
