#!/usr/bin/env node
/**
 * Starts the command line with the Node.js that belongs to this installation. Runs on any Node.js since 18: where the
 * running one is new enough it is used, otherwise the npm package `node` brings one, which gets the same arguments and
 * signals and whose exit is this one's. Where there is none, it says so and ends with 1.
 */
import { spawn } from 'node:child_process';
import { accessSync, constants, existsSync, readFileSync } from 'node:fs';
import module, { createRequire } from 'node:module';
import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';

const neededMajor = 26;
const launcher = fileURLToPath(import.meta.url);
const root = dirname(dirname(launcher));
const source = join(root, 'host', 'cli', 'main.ts');

const majorOf = (version) => Number(version.split('.')[0]);

/** The file of the packaged runtime, or why there is none. */
const packagedRuntime = () => {
  try {
    const manifest = createRequire(import.meta.url).resolve('node/package.json');
    const { version } = JSON.parse(readFileSync(manifest, 'utf8'));
    const file = join(dirname(manifest), 'bin', process.platform === 'win32' ? 'node.exe' : 'node');
    if (majorOf(version) < neededMajor) return { missing: `the package node is ${version}` };
    return existsSync(file)
      ? { file }
      : { missing: `the package node ${version} has no ${process.platform} binary` };
  } catch {
    return { missing: 'the package node is not installed' };
  }
};

const refuse = (evidence) => {
  const problem = {
    code: 'station/runtime-missing',
    message: 'The Node.js 26 runtime that belongs to this installation is missing.',
    evidence: `running ${process.versions.node}; ${evidence}`,
    fix: 'Run `npm ci` again in the installation.',
  };
  if (process.argv.includes('--json')) console.log(JSON.stringify({ problem }, null, 2));
  const { message, fix, code } = problem;
  console.error(
    `error: ${message}\n  evidence: ${problem.evidence}\n  fix:      ${fix}\n  code:     ${code}`,
  );
  process.exitCode = 1;
};

const runElsewhere = (file) => {
  const child = spawn(file, [launcher, ...process.argv.slice(2)], { stdio: 'inherit' });
  const signals = ['SIGINT', 'SIGTERM', 'SIGHUP'];
  // From a terminal the child has them as well; it takes the second one calmly.
  for (const signal of signals) process.on(signal, () => child.kill(signal));
  child.on('error', (error) => refuse(`${file} cannot be started: ${error.message}`));
  child.on('exit', (code, signal) => {
    if (signal === null) {
      process.exitCode = code ?? 1;
      return;
    }
    process.removeAllListeners(signal);
    process.kill(process.pid, signal);
  });
};

const isWritable = (folder) => {
  try {
    accessSync(folder, constants.W_OK);
    return true;
  } catch {
    return false;
  }
};

/** Where compiled code is kept between runs: with the checkout, or where the user's caches are. */
const cacheFolder = () => {
  const modules = join(root, 'node_modules');
  if (existsSync(source) && isWritable(modules)) return join(modules, '.cache', 'jupiter');
  const caches = {
    darwin: join(homedir(), 'Library', 'Caches'),
    win32: process.env.LOCALAPPDATA || join(homedir(), 'AppData', 'Local'),
  };
  const folder = caches[process.platform] ?? (process.env.XDG_CACHE_HOME || join(homedir(), '.cache'));
  return join(folder, 'jupiter');
};

const runHere = async () => {
  const compileCache = cacheFolder();
  try {
    module.enableCompileCache(compileCache);
  } catch {
    // Only slower.
  }
  const entry = existsSync(source) ? source : join(root, 'dist', 'host', 'cli', 'main.js');
  const { main } = await import(pathToFileURL(entry).href);
  process.exitCode = await main(process.argv.slice(2), { compileCache });
};

if (majorOf(process.versions.node) >= neededMajor) await runHere();
else {
  const runtime = packagedRuntime();
  if (runtime.file === undefined) refuse(runtime.missing);
  else runElsewhere(runtime.file);
}
