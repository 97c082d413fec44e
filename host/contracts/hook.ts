/**
 * `jupiter contracts hook install`: a pre-commit hook that checks what is staged. It is one shell script in the folder
 * git looks into; a hook that is there already is kept beside it and runs first. No configuration is changed.
 */
import {
  chmodSync,
  cpSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { dirname, isAbsolute, join, relative, resolve, sep } from 'node:path';
import { failed, ok, problem, type Result, refuse } from '../problems/index.ts';
import { type CheckOptions, openProject } from './check.ts';
import { gitOutput } from './git.ts';
import { commonFolder, type Repository } from './repository.ts';

export interface HookOptions extends Pick<CheckOptions, 'repo' | 'cwd' | 'env' | 'manifests' | 'lock'> {
  /** Absolute path of the `jupiter` launcher, a JavaScript file; the hook tries it before `jupiter` on the PATH. */
  readonly launcher?: string;
}

export interface InstalledHook {
  /** Absolute path of the hook. */
  readonly file: string;
  /** The hook that was there before and runs first. */
  readonly chained?: string;
  /** False when it was installed already, letter by letter. */
  readonly changed: boolean;
}

const mark = '# jupiter contracts hook 1';
const keptName = 'pre-commit.before-jupiter';

const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;

/** The script: what was there first, then one check a project, each with the arguments it was installed with. */
const hookScript = (
  launcher: string | undefined,
  kept: string | undefined,
  checks: readonly string[],
): string =>
  [
    '#!/bin/sh',
    mark,
    '# Written by `jupiter contracts hook install`: checks what is staged. Remove this file to be rid of it.',
    ...(kept === undefined
      ? []
      : [`before="$(dirname "$0")/${kept}"`, 'if [ -x "$before" ]; then "$before" "$@" || exit $?; fi']),
    'jupiter_contracts() {',
    ...(launcher === undefined
      ? []
      : [
          `  if [ -f ${quoted(launcher)} ] && command -v node >/dev/null 2>&1; then`,
          `    node ${quoted(launcher)} contracts check --staged "$@"`,
          '    return $?',
          '  fi',
        ]),
    '  if [ -x ./node_modules/.bin/jupiter ]; then',
    '    ./node_modules/.bin/jupiter contracts check --staged "$@"',
    '  elif command -v jupiter >/dev/null 2>&1; then',
    '    jupiter contracts check --staged "$@"',
    '  else',
    "    echo 'pre-commit: jupiter was not found, so the topic contracts were not checked.' >&2",
    "    echo 'Install it, run `jupiter contracts hook install` again, or remove this hook.' >&2",
    '    return 1',
    '  fi',
    '}',
    ...checks.map((check) => `jupiter_contracts ${check}`.trimEnd()).map((line) => `${line} || exit $?`),
    '',
  ].join('\n');

/** The checks of a script of ours. */
const checksOf = (script: string): string[] =>
  script.split('\n').flatMap((line) => {
    const found = /^jupiter_contracts(?! *\() ?(.*) \|\| exit \$\?$/.exec(line);
    return found === null ? [] : [found[1] ?? ''];
  });

/** Installs the hook, or says why not (`contract/hook-refused`, `contract/no-repository`). A second run changes nothing. */
export const installHook = async (options: HookOptions): Promise<Result<InstalledHook>> => {
  const project = await openProject(options);
  if (!project.ok) return project;
  const { repository, without } = project.value;
  if (repository === undefined) return failed(without ?? problem('contract/no-repository'));
  const folder = await hookFolder(repository);
  if (!folder.ok) return folder;
  const { path, shared } = folder.value;
  const file = join(path, 'pre-commit');
  const there = readHook(file);
  const ours = there?.includes(`\n${mark}\n`) === true;
  if (there !== undefined && /husky|\$\(dirname "?\$0"?\)"?\/h\b/.test(there) && !ours)
    return refuse('contract/hook-refused', {
      subject: file,
      evidence: 'husky writes this folder anew and finds its hooks by name',
      fix: 'Put the line `npx jupiter contracts check --staged` into .husky/pre-commit.',
    });
  const check = argumentsOf(options, repository);
  const before = ours ? checksOf(there) : [];
  const known = before.some((other) => scopeOf(other) === scopeOf(check));
  const checks = known
    ? before.map((other) => (scopeOf(other) === scopeOf(check) ? check : other))
    : [...before, check];
  const kept = ours ? keptBy(there) : there === undefined && !existsLink(file) ? undefined : freeName(path);
  const script = hookScript(launcherFor(options.launcher, repository, shared), kept, checks);
  const chained = kept === undefined ? {} : { chained: join(path, kept) };
  if (script === there) return ok({ file, ...chained, changed: false });
  try {
    mkdirSync(path, { recursive: true });
    // Copied, not moved: there is a working hook at every moment.
    if (kept !== undefined && !ours)
      cpSync(file, join(path, kept), {
        verbatimSymlinks: true,
        errorOnExist: true,
        force: false,
        preserveTimestamps: true,
      });
    const draft = `${file}.${process.pid}.new`;
    writeFileSync(draft, script, { flag: 'wx', mode: 0o755 });
    chmodSync(draft, 0o755);
    try {
      renameSync(draft, file);
    } catch (error) {
      rmSync(draft, { force: true });
      throw error;
    }
  } catch (error) {
    return refuse('contract/write-failed', {
      subject: file,
      evidence: (error as NodeJS.ErrnoException).code ?? '',
    });
  }
  return ok({ file, ...chained, changed: true });
};

const existsLink = (file: string): boolean => lstatSync(file, { throwIfNoEntry: false }) !== undefined;
const readHook = (file: string): string | undefined =>
  existsSync(file) ? readFileSync(file, 'latin1') : undefined;
const keptBy = (script: string): string | undefined =>
  /^before="\$\(dirname "\$0"\)\/([\w.-]+)"$/m.exec(script)?.[1];

const freeName = (folder: string): string => {
  let name = keptName;
  for (let number = 2; existsLink(join(folder, name)); number += 1) name = `${keptName}-${number}`;
  return name;
};

/** The project a check is of. */
const scopeOf = (check: string): string => /^--repo ('(?:[^']|'\\'')*')/.exec(check)?.[1] ?? '';

/** `--repo` first: it tells the checks of several projects in one repository apart. */
const argumentsOf = (options: HookOptions, { prefix }: Repository): string => {
  const words = prefix === '' ? [] : ['--repo', quoted(prefix.slice(0, -1))];
  if (options.lock !== undefined) words.push('--lock', quoted(options.lock));
  for (const manifest of options.manifests ?? []) words.push('--manifest', quoted(manifest));
  return words.join(' ');
};

const within = (folder: string, path: string): boolean => {
  const way = relative(folder, path);
  return way === '' || !(way === '..' || way.startsWith(`..${sep}`) || isAbsolute(way));
};

/** Below the working tree from its top, so that a moved clone still works; elsewhere as it is, unless others share the hook. */
const launcherFor = (
  launcher: string | undefined,
  { top }: Repository,
  shared: boolean,
): string | undefined => {
  if (launcher === undefined) return undefined;
  if (within(top, launcher)) return `./${relative(top, launcher).split(sep).join('/')}`;
  return shared ? undefined : launcher;
};

/** Where git looks for hooks, worktrees and `core.hooksPath` considered. Shared: it may be committed. */
const hookFolder = async (repository: Repository): Promise<Result<{ path: string; shared: boolean }>> => {
  const output = await gitOutput(repository.place, ['rev-parse', '--git-path', 'hooks']);
  if (!output.ok) return output;
  const common = await commonFolder(repository);
  if (!common.ok) return common;
  const named = resolve(repository.top, output.value.toString().replace(/\n$/, ''));
  const path = existsSync(named) ? realpathSync.native(named) : named;
  if (within(realpathSync.native(common.value), path)) return ok({ path: named, shared: false });
  if (within(realpathSync.native(repository.top), path)) return ok({ path: named, shared: true });
  return refuse('contract/hook-refused', {
    subject: named,
    evidence: 'core.hooksPath leads out of this repository: a hook there would run in others too',
    fix: `Call \`jupiter contracts check --staged\` from ${join(dirname(named), 'pre-commit')}, if that is what you want.`,
  });
};
