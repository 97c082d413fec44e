/** `contracts …`: needs no station and no home; runs on any repository that holds manifests and a lock. */
import { existsSync } from 'node:fs';
import { dirname, join, relative, sep } from 'node:path';
import { type Command, Option } from 'commander';
import type { CheckReport, Format } from '../contracts/index.ts';
import { ok } from '../problems/index.ts';
import type { Run } from './output.ts';
import { example, group } from './usage.ts';

interface Common {
  readonly repo?: string;
  readonly lock?: string;
  readonly manifest?: readonly string[];
}
interface Check extends Common {
  readonly against?: readonly string[];
  readonly ci?: boolean;
  readonly staged?: boolean;
  readonly format?: Format;
}

const each = (value: string, before: readonly string[] = []): readonly string[] => [...before, value];

const placed = ({ repo, lock, manifest }: Common) => ({
  cwd: process.cwd(),
  env: process.env,
  ...(repo === undefined ? {} : { repo }),
  ...(lock === undefined ? {} : { lock }),
  ...(manifest === undefined ? {} : { manifests: manifest }),
});

const exitOf = (report: CheckReport): { readonly exit?: 1 } =>
  report.findings.length === 0 ? {} : { exit: 1 };

/** From where the command was run to the folder that was checked, as the annotations of a workflow need it. */
const baseOf = (repo = ''): string => {
  const way = relative('.', repo);
  return way === '' ? '' : `${way.split(sep).join('/')}/`;
};

/** The launcher of this installation: `bin/jupiter.mjs` above this file. */
const launcher = (): { readonly launcher?: string } => {
  for (let folder = import.meta.dirname; ; folder = dirname(folder)) {
    const file = join(folder, 'bin', 'jupiter.mjs');
    if (existsSync(file)) return { launcher: file };
    if (dirname(folder) === folder) return {};
  }
};

const common = (command: Command): Command =>
  command
    .option('--repo <dir>', 'the folder of the project (default: the top of this repository)')
    .option('--lock <path>', 'the lock of the topics, from that folder (default: contracts/topics.lock.json)')
    .option(
      '--manifest <path>',
      'a manifest, from that folder, repeatable (default: every bundle.json)',
      each,
    );

export const addContractsCommands = (program: Command, run: Run): void => {
  const contracts = group(
    program,
    'contracts',
    'hold every topic to the one shape its ID stands for',
    'contracts update',
    'contracts check',
    'contracts hook install',
  );
  example(
    common(contracts.command('check'))
      .option('--against <ref>', 'a branch, tag or commit, repeatable (default: the whole history)', each)
      .option('--ci', 'fail where something cannot be seen')
      .option('--staged', 'check what is staged against HEAD, as the hook does')
      .addOption(
        new Option('--format <format>', 'how to report').choices(['text', 'json', 'sarif', 'github']),
      )
      .description('compare the manifests with the lock, and the lock with everything ever released'),
    'contracts check',
    'contracts check --ci --format github',
    'contracts check --against origin/main --against v1.0.0',
    'contracts check --format sarif > contracts.sarif',
  ).action((asked: Check) =>
    run(async () => {
      const { checkContracts, rendered } = await import('../contracts/index.ts');
      const { against, ci = false, staged = false } = asked;
      const report = await checkContracts({
        ...placed(asked),
        ...(against === undefined ? {} : { against }),
        ci,
        staged,
      });
      if (!report.ok) return report;
      return ok({
        json: { ok: report.value.findings.length === 0, ...report.value },
        plain: rendered(report.value, asked.format ?? 'text', baseOf(asked.repo)).trimEnd(),
        ...exitOf(report.value),
      });
    }),
  );
  example(
    common(contracts.command('update')).description(
      'put what is new into the lock; never changes or removes an entry',
    ),
    'contracts update',
    'contracts update --repo packages/probe --manifest bundle/bundle.json',
  ).action((asked: Common) =>
    run(async () => {
      const { asText, updateContracts } = await import('../contracts/index.ts');
      const done = await updateContracts(placed(asked));
      if (!done.ok) return done;
      const { check, written, added } = done.value;
      const news = [...added.map((id) => `added ${id}`), ...written.map((file) => `wrote ${file}`)];
      const lines =
        check.findings.length > 0
          ? [asText(check).trimEnd(), 'nothing was written: the lock only takes what is new']
          : news.length > 0
            ? news
            : ['nothing is new'];
      return ok({
        json: { ok: check.findings.length === 0, written, added, check },
        plain: lines.join('\n'),
        ...exitOf(check),
      });
    }),
  );
  const hook = group(contracts, 'hook', 'the pre-commit hook', 'contracts hook install');
  example(
    common(hook.command('install')).description(
      'check what is staged before each commit; a hook that is there runs first',
    ),
    'contracts hook install',
    'contracts hook install --repo packages/probe',
  ).action((asked: Common) =>
    run(async () => {
      const { installHook } = await import('../contracts/index.ts');
      const done = await installHook({ ...placed(asked), ...launcher() });
      if (!done.ok) return done;
      const { file, chained, changed } = done.value;
      const lines = [
        `${changed ? 'installed' : 'already installed'}: ${file}`,
        ...(chained === undefined ? [] : [`runs first: ${chained}`]),
      ];
      return ok({ json: done.value, plain: lines.join('\n') });
    }),
  );
};
