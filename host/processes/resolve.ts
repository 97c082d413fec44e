/**
 * Which file a program's command means: an absolute path, or a name looked up on the STATION's PATH. The child's own
 * environment and the workspace have no say: a relative path, and a relative or empty entry of PATH, are never
 * followed, so that a workspace cannot put its own program in place of the operator's.
 */
import { accessSync, closeSync, constants, openSync, readSync, statSync } from 'node:fs';
import { delimiter, extname, isAbsolute, join } from 'node:path';
import { ok, type Result, refuse } from '../problems/index.ts';

export interface Search {
  /** The station's PATH. */
  readonly path: string;
  readonly platform: NodeJS.Platform;
  /** Windows: extensions tried for a name without one. */
  readonly extensions?: string;
}

/** As this process finds programs. */
export const searchHere = (): Search => ({
  path: process.env.PATH ?? '',
  platform: process.platform,
  ...(process.env.PATHEXT === undefined ? {} : { extensions: process.env.PATHEXT }),
});

type Fitness = 'executable' | 'not-executable' | 'missing';

// A look at a local file takes microseconds; waiting for it in the thread pool takes more than all of them together.
const fitness = (file: string): Fitness => {
  if (statSync(file, { throwIfNoEntry: false })?.isFile() !== true) return 'missing';
  try {
    accessSync(file, constants.X_OK);
    return 'executable';
  } catch {
    return 'not-executable';
  }
};
const fitnessOf = (file: string): Fitness => {
  try {
    return fitness(file);
  } catch {
    // A folder on the way that cannot be entered, or is no folder.
    return 'missing';
  }
};

/** The interpreter a script names and that does not exist, or undefined. The kernel's own answer names the script. */
const missingInterpreter = (file: string): string | undefined => {
  const head = Buffer.alloc(256);
  let bytesRead = 0;
  try {
    const descriptor = openSync(file, 'r');
    try {
      bytesRead = readSync(descriptor, head, 0, head.length, 0);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return undefined;
  }
  const line = head.toString('utf8', 0, bytesRead).split('\n', 1)[0] ?? '';
  const interpreter = /^#![ \t]*(\/[^ \t\r]+)/.exec(line)?.[1];
  return interpreter === undefined || fitnessOf(interpreter) === 'executable' ? undefined : interpreter;
};

const candidates = (command: string, search: Search): readonly string[] => {
  const names =
    search.platform === 'win32' && extname(command) === ''
      ? (search.extensions ?? '.COM;.EXE;.BAT;.CMD').split(';').map((extension) => command + extension)
      : [command];
  if (isAbsolute(command)) return names;
  return search.path
    .split(delimiter)
    .filter((folder) => isAbsolute(folder))
    .flatMap((folder) => names.map((name) => join(folder, name)));
};

/** `process/not-found` and `process/not-executable` name the alias and the PATH searched. */
export const resolveCommand = (alias: string, command: string, search: Search): Result<string> => {
  const named = isAbsolute(command);
  if (command === '' || command.includes('\0') || (!named && /[/\\]/.test(command))) {
    return refuse('process/not-found', {
      subject: alias,
      message: `The command of program ${JSON.stringify(alias)} is neither a name nor an absolute path.`,
      evidence: JSON.stringify(command),
    });
  }
  const where = named ? `file ${command}` : `command ${command}; PATH searched: ${search.path || '(empty)'}`;
  let blocked: string | undefined;
  for (const file of candidates(command, search)) {
    const found = fitnessOf(file);
    if (found === 'not-executable') blocked ??= file;
    if (found !== 'executable') continue;
    const interpreter = search.platform === 'win32' ? undefined : missingInterpreter(file);
    if (interpreter === undefined) return ok(file);
    return refuse('process/not-executable', {
      subject: alias,
      message: `The program ${JSON.stringify(alias)} is a script whose interpreter is missing.`,
      evidence: `${file} needs ${interpreter}; ${where}`,
    });
  }
  if (blocked !== undefined) {
    return refuse('process/not-executable', {
      subject: alias,
      message: `The program ${JSON.stringify(alias)} cannot be executed.`,
      evidence: `${blocked} is not executable; ${where}`,
    });
  }
  return refuse('process/not-found', {
    subject: alias,
    message: named
      ? `The program ${JSON.stringify(alias)} was not found at ${command}.`
      : `The program ${JSON.stringify(alias)} was not found on the station's PATH.`,
    evidence: where,
  });
};
