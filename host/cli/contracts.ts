/** `jupiter contracts`: arguments in, a report out. Exit 0 done, 1 findings or a problem, 2 usage. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { Command, Option } from 'commander';
import type { CheckReport, Format } from '../contracts/index.ts';
import type { Problem } from '../problems/index.ts';

interface Common {
  readonly repo?: string;
  readonly lock?: string;
  readonly manifest?: readonly string[];
  readonly json?: boolean;
}
interface Check extends Common {
  readonly against?: readonly string[];
  readonly ci?: boolean;
  readonly staged?: boolean;
  readonly format?: Format;
}

const each = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const options = ({ repo, lock, manifest }: Common) => ({
  cwd: process.cwd(),
  env: process.env,
  ...(repo === undefined ? {} : { repo }),
  ...(lock === undefined ? {} : { lock }),
  ...(manifest === undefined ? {} : { manifests: manifest }),
});

const explain = (found: Problem, json: boolean): number => {
  const lines = [found.subject, found.evidence, found.fix].filter((line) => line !== undefined);
  if (json) process.stdout.write(`${JSON.stringify({ ok: false, problem: found }, null, 2)}\n`);
  else
    process.stderr.write(
      [`${found.code}: ${found.message}`, ...lines.map((line) => `    ${line}`), ''].join('\n'),
    );
  return found.code === 'cli/usage' ? 2 : 1;
};

/** From where the command was run to the folder that was checked, as the annotations of a workflow need it. */
const baseOf = (repo: string | undefined): string =>
  repo === undefined || repo === '.' ? '' : `${relative('.', repo).split(sep).join('/')}/`;

const check = async (asked: Check): Promise<number> => {
  const { checkContracts, rendered } = await import('../contracts/index.ts');
  const format = asked.format ?? (asked.json === true ? 'json' : 'text');
  const report = await checkContracts({
    ...options(asked),
    ...(asked.against === undefined ? {} : { against: asked.against }),
    ci: asked.ci === true,
    staged: asked.staged === true,
  });
  if (!report.ok) return explain(report.problem, format === 'json');
  process.stdout.write(rendered(report.value, format, baseOf(asked.repo)));
  return exitOf(report.value);
};

const exitOf = (report: CheckReport): number => (report.findings.length === 0 ? 0 : 1);

const update = async (asked: Common): Promise<number> => {
  const { asText, updateContracts } = await import('../contracts/index.ts');
  const done = await updateContracts(options(asked));
  if (!done.ok) return explain(done.problem, asked.json === true);
  const { check: report, written, added } = done.value;
  if (asked.json === true) {
    process.stdout.write(`${JSON.stringify({ ok: report.findings.length === 0, ...done.value }, null, 2)}\n`);
  } else if (report.findings.length > 0) {
    process.stdout.write(`${asText(report)}nothing was written: the lock only takes what is new\n`);
  } else {
    const lines = [...added.map((id) => `added ${id}`), ...written.map((file) => `wrote ${file}`)];
    process.stdout.write(`${(lines.length === 0 ? ['nothing is new'] : lines).join('\n')}\n`);
  }
  return exitOf(report);
};

/** The launcher of this installation: `bin/jupiter.mjs` beside or above this file. */
const launcher = (): string | undefined => {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'bin', 'jupiter.mjs');
    if (existsSync(file)) return file;
    if (dirname(folder) === folder) return undefined;
  }
};

const install = async (asked: Common): Promise<number> => {
  const { installHook } = await import('../contracts/index.ts');
  const found = launcher();
  const done = await installHook({ ...options(asked), ...(found === undefined ? {} : { launcher: found }) });
  if (!done.ok) return explain(done.problem, asked.json === true);
  const { file, chained, changed } = done.value;
  const lines = [
    `${changed ? 'installed' : 'already installed'}: ${file}`,
    ...(chained === undefined ? [] : [`runs first: ${chained}`]),
  ];
  process.stdout.write(
    asked.json === true ? `${JSON.stringify({ ok: true, ...done.value })}\n` : `${lines.join('\n')}\n`,
  );
  return 0;
};

const common = (command: Command): Command =>
  command
    .option('--repo <dir>', 'the folder of the project (default: the top of this repository)')
    .option('--lock <path>', 'the lock of the topics, from that folder')
    .option(
      '--manifest <path>',
      'a manifest, from that folder; several allowed (default: every bundle.json)',
      each,
    )
    .option('--json', 'one JSON document');

/** The `contracts` command. `exit` gets the exit code of whatever ran. */
export const contractsCommand = (
  exit: (code: number) => void = (code) => (process.exitCode = code),
): Command => {
  const contracts = new Command('contracts').description(
    'hold every topic to the one shape its ID stands for',
  );
  common(contracts.command('check'))
    .description('compare the manifests with the lock, and the lock with everything ever released')
    .option(
      '--against <ref>',
      'compare with a branch, tag or commit, not with the whole history; several allowed',
      each,
    )
    .option('--ci', 'fail where something cannot be seen')
    .option('--staged', 'check what is staged against HEAD, as the hook does')
    .addOption(new Option('--format <format>', 'how to report').choices(['text', 'json', 'sarif', 'github']))
    .action(async (asked: Check) => exit(await check(asked)));
  common(contracts.command('update'))
    .description('put what is new into the lock; never changes or removes an entry')
    .action(async (asked: Common) => exit(await update(asked)));
  const hook = contracts.command('hook').description('the pre-commit hook');
  common(hook.command('install'))
    .description('check what is staged before each commit; a hook that is there runs first')
    .action(async (asked: Common) => exit(await install(asked)));
  return contracts;
};
