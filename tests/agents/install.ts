/**
 * The agents these tests run, each at one version, installed from npm when it is first asked for and kept between
 * runs. Install scripts run only where an agent does not work without them.
 */
import { spawn } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, mkdtemp, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { repository } from '../e2e/harness.ts';

export interface Pinned {
  readonly package: string;
  readonly version: string;
  /** The name of its executable. */
  readonly bin: string;
  /** It does not work without its install script. */
  readonly scripts?: boolean;
}

/** Longest time one installation may take, ms. */
const installMs = 4 * 60_000;
const kept = resolve(process.env['JUPITER_AGENTS'] ?? join(repository, 'node_modules', '.cache', 'agents'));

const run = (command: string, args: readonly string[], cwd: string): Promise<void> =>
  new Promise((done, failed) => {
    const child = spawn(command, args, { cwd, stdio: ['ignore', 'ignore', 'pipe'], timeout: installMs });
    let said = '';
    child.stderr.setEncoding('utf8').on('data', (text: string) => {
      said += text;
    });
    child.on('error', failed);
    child.on('close', (code) =>
      code === 0 ? done() : failed(new Error(`${command} ${args.join(' ')} → ${code}\n${said}`)),
    );
  });

const install = async (agent: Pinned, folder: string): Promise<void> => {
  await mkdir(dirname(folder), { recursive: true });
  const aside = await mkdtemp(`${folder}.new-`);
  // A cache of its own: what another npm does with the user's at the same time is nothing to these tests.
  const cache = await mkdtemp(join(tmpdir(), 'jupiter-npm-'));
  await writeFile(join(aside, 'package.json'), '{"private":true}\n');
  const attempt = () =>
    run(
      'npm',
      [
        'install',
        '--no-audit',
        '--no-fund',
        '--no-save',
        `--cache=${cache}`,
        ...(agent.scripts === true ? [] : ['--ignore-scripts']),
        `${agent.package}@${agent.version}`,
      ],
      aside,
    );
  try {
    // A registry that stumbles once is no failure of the agent.
    await attempt().catch(attempt);
  } catch (error) {
    await rm(aside, { recursive: true, force: true });
    throw error;
  } finally {
    await rm(cache, { recursive: true, force: true });
  }
  // Whole or not at all; another run may have been quicker.
  await rename(aside, folder).catch(async (error: NodeJS.ErrnoException) => {
    await rm(aside, { recursive: true, force: true });
    if (error.code !== 'ENOTEMPTY' && error.code !== 'EEXIST') throw error;
  });
};

/** The file behind the agent's executable name. */
export const installed = async (agent: Pinned): Promise<string> => {
  const folder = join(kept, `${agent.package.replaceAll('/', '+')}-${agent.version}`);
  if (!existsSync(folder)) await install(agent, folder);
  const home = join(folder, 'node_modules', agent.package);
  const { bin } = JSON.parse(await readFile(join(home, 'package.json'), 'utf8')) as {
    bin: string | Record<string, string>;
  };
  const file = typeof bin === 'string' ? bin : bin[agent.bin];
  if (file === undefined) throw new Error(`${agent.package} has no executable ${agent.bin}`);
  return join(home, file);
};
