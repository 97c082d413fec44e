/**
 * Windows: an `.exe` is started as it is; a `.cmd` or `.bat` (npm's shims) only runs through `cmd.exe`, whose reading
 * of a line differs from every program's. Every argument is quoted so that both read it as one word.
 * Written with care, never run: this project has no Windows machine.
 */
import { extname } from 'node:path';
import { ok, type Result, refuse } from '../problems/index.ts';

export interface Launch {
  readonly file: string;
  readonly args: readonly string[];
  /** `args` are already one command line. */
  readonly verbatim: boolean;
}

// A percent sign would start a variable even between quotes. `%cd:~,%` is an expansion that is always empty; behind a
// percent sign it uses that sign up, so what is left of `%%cd:~,%` is the sign itself.
const percent = '%%cd:~,%';

/** One argument as `cmd.exe` and then the C runtime read it. */
export const quoteForBatch = (argument: string): string => {
  const quoted = argument
    .replace(/(\\*)"/g, '$1$1""')
    .replace(/(\\+)$/, '$1$1')
    .replaceAll('%', percent);
  return `"${quoted}"`;
};

/** `process/spawn-failed` for an argument with a line end, which no batch file can be given. */
export const windowsLaunch = (
  alias: string,
  file: string,
  args: readonly string[],
  shell: string,
): Result<Launch> => {
  if (!['.cmd', '.bat'].includes(extname(file).toLowerCase())) return ok({ file, args, verbatim: false });
  if ([file, ...args].some((word) => /[\r\n\0]/.test(word))) {
    return refuse('process/spawn-failed', {
      subject: alias,
      message: 'An argument with a line end cannot be handed to a batch file.',
      fix: 'Name the program behind the batch file in the policy.',
    });
  }
  const line = [file, ...args].map(quoteForBatch).join(' ');
  return ok({ file: shell, args: ['/e:ON', '/v:OFF', '/d', '/s', '/c', `"${line}"`], verbatim: true });
};
