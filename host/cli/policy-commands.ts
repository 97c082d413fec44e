/** `policy …`: the file is the operator's; only `show` asks the station, for the policy as it reads it now. */
import { existsSync, statSync } from 'node:fs';
import { resolve } from 'node:path';
import type { Command } from 'commander';
import { failed, ok, refuse } from '../problems/index.ts';
import { homeAt } from '../station/index.ts';
import { type Io, problemText, type Run, short, shownText } from './output.ts';
import { example, group } from './usage.ts';
import { answer, ask } from './with-station.ts';

const plainSink = { write: () => {}, colour: false };

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
};

/** Skills of installed bundles and approved ones of other servers; undefined where no station runs that could tell. */
const installedSkills = async (io: Io) => {
  const listed = await ask(io, 'bundle.list', {});
  if (!listed.ok) return undefined;
  const remote = await ask(io, 'skills.remote', {});
  const servers = remote.ok ? remote.value.servers : [];
  return [
    ...listed.value.bundles.flatMap(({ id, skills }) => skills.map((name) => ({ name, bundle: id }))),
    ...servers
      .flatMap(({ skills }) => skills)
      .filter(({ state }) => state === 'approved')
      .map(({ name, address }) => ({ name, bundle: `mcp:${address}` })),
  ];
};

export const addPolicyCommands = (program: Command, run: Run): void => {
  const policy = group(program, 'policy', 'what this station allows', 'policy explain --agent claude');
  example(policy.command('show').description('the policy as the station reads it'), 'policy show').action(
    () =>
      run((io) =>
        answer(io, 'policy.show', {}, ({ file, revision, text, problems }) =>
          [
            `// ${file}, revision ${short(revision)}`,
            shownText(text.trimEnd()),
            ...problems.map((one) => problemText(one, plainSink)),
          ].join('\n'),
        ),
      ),
  );
  example(
    policy
      .command('check')
      .argument('[file]', 'a policy file (default: that of the home)')
      .description('find everything wrong with a policy'),
    'policy check',
    'policy check ./policy.jsonc',
  ).action((file: string | undefined) =>
    run(async (io) => {
      // Of the home a missing policy is a fact about what is allowed; of a file that was named, a slip.
      if (file !== undefined && !existsSync(resolve(file)))
        return refuse('policy/missing', {
          subject: resolve(file),
          message: 'This file does not exist.',
          fix: 'Name a policy file, or none: then that of the home is checked.',
        });
      const { policyFindings } = await import('./policy-file.ts');
      const path = file === undefined ? homeAt(io.home).policy : resolve(file);
      const { revision, problems } = policyFindings(path);
      return ok({
        json: { file: path, revision, problems },
        plain:
          problems.length === 0
            ? `${path}  ${short(revision)}  nothing wrong`
            : problems.map((one) => problemText(one, plainSink)).join('\n'),
        ...(problems.length === 0 ? {} : { exit: 1 }),
      });
    }),
  );
  example(
    policy
      .command('explain')
      .requiredOption('--agent <id>', 'an agent of the policy')
      .option('--cwd <dir>', 'a workspace: names the folder skills would be placed in')
      .description('what an agent would get, and why not the rest'),
    'policy explain --agent claude --cwd ./repo',
  ).action(({ agent, cwd }: { agent: string; cwd?: string }) =>
    run(async (io) => {
      if (cwd !== undefined && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() !== true)
        return refuse('context/workspace-missing', { subject: resolve(cwd) });
      const { explainFor } = await import('./policy-file.ts');
      const explained = explainFor(
        homeAt(io.home).policy,
        agent,
        cwd === undefined ? undefined : resolve(cwd),
        await installedSkills(io),
      );
      return explained.ok ? ok(explained.value) : failed(explained.problem);
    }),
  );
  example(
    policy
      .command('set')
      .argument('<path>', 'an entry: servers.notes.exposure')
      .argument('<value>', 'JSON, or plain text')
      .description('change one entry; comments and order stay'),
    'policy set agents.claude.approve manual',
    `policy set servers.notes.consumers '{"sessions": ["claude"]}'`,
  ).action((path: string, value: string) =>
    run(async (io) => {
      const { changePolicy } = await import('./policy-file.ts');
      return changePolicy(homeAt(io.home).policy, path, parsed(value));
    }),
  );
  example(
    policy
      .command('unset')
      .argument('<path>', 'an entry')
      .description('remove one entry; comments and order stay'),
    'policy unset servers.notes',
  ).action((path: string) =>
    run(async (io) => {
      const { changePolicy } = await import('./policy-file.ts');
      return changePolicy(homeAt(io.home).policy, path, undefined);
    }),
  );
};
