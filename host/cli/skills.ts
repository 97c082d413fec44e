/**
 * `skills …`: works on this machine's folders, without a station; the skills of installed bundles are there when
 * `bundles` can name them.
 */
import { existsSync } from 'node:fs';
import { homedir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { type Command, Option } from 'commander';
import type { RemoteServer } from '../mcp/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { Look, Skill, SkillLibrary, SkillSource } from '../skills/index.ts';
import { counted } from './output.ts';
import {
  findingText,
  lookJson,
  lookText,
  oneLine,
  placedText,
  remoteText,
  safe,
  showText,
  skillJson,
} from './skill-text.ts';
import { example, group } from './usage.ts';
import { ask } from './with-station.ts';

interface Answer {
  readonly json: unknown;
  readonly plain: string;
  readonly exit?: 1;
}
/** Runs what a command does, prints its answer or problem, and keeps its exit code. */
export type RunSkills = (act: (io: SkillsIo) => Promise<Result<Answer>>) => Promise<void>;
export interface SkillsIo {
  readonly home: string;
  /** A command as this person would type it. */
  readonly typed?: (command: string) => string;
}

/** The skills of the bundles in service; none where no station runs, since nothing else knows what is intact. */
export const bundledSkills = async (home: string): Promise<readonly SkillSource[]> => {
  const found = await ask({ home }, 'skills.bundled', {});
  return found.ok ? found.value.skills : [];
};

/** Skills of other servers, as the station knows them; none where no station runs. */
export const remoteSkills = async (home: string): Promise<readonly RemoteServer[]> => {
  const found = await ask({ home }, 'skills.remote', {});
  return found.ok ? found.value.servers : [];
};

export interface SkillsPorts {
  /** Servers added to a home, with their skills; none where no station runs. */
  readonly remote?: (home: string) => Promise<readonly RemoteServer[]>;
  /** Skills of the bundles installed in a home; none where no station runs. */
  readonly bundles?: (home: string) => Promise<readonly SkillSource[]>;
  /** A skill of another server, `label/path`. */
  readonly show?: (io: SkillsIo, skill: string) => Promise<Result<Answer>>;
  /** Folder of the person's skills (default: `~/.jupiter/skills`). */
  readonly person?: string;
  /** Folder of the shipped skills (default: `skills` of this installation). */
  readonly shipped?: string;
}

const installed = (): string => {
  let dir = dirname(fileURLToPath(import.meta.url));
  while (!existsSync(join(dir, 'package.json')) && dirname(dir) !== dir) dir = dirname(dir);
  return join(dir, 'skills');
};

/** The group, for what is registered beside these. */
export const registerSkills = (program: Command, run: RunSkills, ports: SkillsPorts = {}): Command => {
  const skills = group(
    program,
    'skills',
    'the skills of this person, this project, the installed bundles and the product',
    'skills list',
  );
  const shows: Readonly<Record<string, string>> = {
    list: 'skills list --cwd ./repo',
    show: 'skills show deploy',
    render: 'skills render deploy staging',
    complete: "skills complete '/dep'",
    serve: 'skills serve --cwd ./repo',
    verify: 'skills verify --cwd ./repo',
    check: 'skills check ./skills --family claude codex',
  };

  let sources: readonly SkillSource[] = [];
  let library: SkillLibrary | undefined;
  const looked = async (home: string, cwd: string): Promise<Look> => {
    const { openSkillLibrary } = await import('../skills/index.ts');
    sources = (await ports.bundles?.(home)) ?? [];
    library ??= openSkillLibrary({
      person: ports.person ?? join(homedir(), '.jupiter', 'skills'),
      bundles: () => sources,
      shipped: ports.shipped ?? installed(),
    });
    return library.look({ cwd: resolve(cwd) });
  };
  const named = async (home: string, cwd: string, name: string): Promise<Result<Skill>> => {
    const look = await looked(home, cwd);
    const wanted = name.replace(/^\//, '').normalize('NFC');
    const found = look.skills.find((skill) => skill.name === wanted);
    const names = look.skills.map((skill) => skill.name).join(', ');
    return found === undefined
      ? refuse('skill/unknown', { subject: name, evidence: `there are: ${names || 'none'}` })
      : ok(found);
  };
  const withCwd = (command: Command): Command =>
    command.option('--cwd <dir>', 'working directory whose project skills count', '.');

  withCwd(skills.command('list'))
    .description('every skill, where it comes from, and what was left out and why')
    .action(({ cwd }: { cwd: string }) =>
      run(async ({ home }) => {
        const look = await looked(home, cwd);
        const remote = (await ports.remote?.(home)) ?? [];
        return ok({
          json: { ...lookJson(look), remote },
          plain: [lookText(look), ...remoteText(remote)].join('\n'),
        });
      }),
    );

  withCwd(
    skills.command('show').argument('<name>', 'name of a skill, or label/path of one of another server'),
  )
    .description('one skill with its files')
    .action((name: string, { cwd }: { cwd: string }) =>
      run(async (io) => {
        // No skill of this machine has a slash in its name.
        if (name.lastIndexOf('/') > 0 && ports.show !== undefined) return ports.show(io, name);
        const { home } = io;
        const found = await named(home, cwd, name);
        if (!found.ok) return found;
        const folder = found.value.files();
        if (!folder.ok) return folder;
        const { files, digest, document } = folder.value;
        const json = {
          ...(skillJson(found.value) as object),
          files,
          folderDigest: digest,
          body: document.body,
        };
        return ok({ json, plain: showText(found.value, files) });
      }),
    );

  withCwd(
    skills
      .command('render')
      .argument('<name>', 'name of a skill')
      .argument('[args...]', 'what would stand behind /name')
      .allowUnknownOption(),
  )
    .description('print the prompt that `/name args` becomes')
    .action((name: string, args: readonly string[], { cwd }: { cwd: string }) =>
      run(async ({ home }) => {
        const found = await named(home, cwd, name);
        if (!found.ok) return found;
        const document = found.value.document();
        if (!document.ok) return document;
        const { renderSkill } = await import('../skills/index.ts');
        const text = renderSkill({ document: document.value, dir: found.value.dir }, args.join(' '));
        return ok({ json: { name: found.value.name, text }, plain: safe(text) });
      }),
    );

  withCwd(skills.command('complete').argument('[text]', 'a prompt as far as it is typed', '/'))
    .description('what a prompt that begins with a skill can go on with: names, then what the skill hints at')
    .action((text: string, { cwd }: { cwd: string }) =>
      run(async ({ home }) => {
        const { argumentSuggestions, hintOf, nameSuggestions } = await import('../skills/index.ts');
        const { skills: all } = await looked(home, cwd);
        const [, name = '', rest] = /^\/?([^\s/]*)(?:\s+(.*))?$/s.exec(text) ?? [];
        const skill = all.find((one) => one.name === name.normalize('NFC'));
        const suggestions =
          rest === undefined
            ? nameSuggestions(all, name).map((one) => ({ text: `/${one.name}`, hint: hintOf(one) }))
            : (skill === undefined ? [] : argumentSuggestions(skill, rest)).map((one) => ({
                text: `/${name} ${one}`,
                hint: '',
              }));
        const plain = suggestions.map((one) => oneLine(`${one.text} ${one.hint}`)).join('\n');
        return ok({ json: { suggestions }, plain });
      }),
    );

  withCwd(skills.command('serve'))
    .description("an agent's MCP server over standard input and output: the tool Skill, and what there is")
    .action(({ cwd }: { cwd: string }) =>
      run(async ({ home }) => {
        const { serveSkills } = await import('../mcp/index.ts');
        const { version } = await import('../station/index.ts');
        const server = { name: 'jupiter-skills', version };
        await serveSkills({ server, library: { look: (where) => looked(home, where.cwd) }, cwd });
        return ok({ json: undefined, plain: '' });
      }),
    );

  skills
    .command('verify')
    .requiredOption('--cwd <dir>', 'a workspace')
    .description('compare the skills placed in a workspace with their records; exit 1 when one differs')
    .action(({ cwd }: { cwd: string }) =>
      run(async () => {
        const { verifyPlaced } = await import('../context/index.ts');
        const found = await verifyPlaced(resolve(cwd));
        if (!found.ok) return found;
        const plain = found.value.map(placedText).join('\n') || 'no placed skills';
        const whole = found.value.every(({ problems }) => problems.length === 0);
        return ok({ json: { skills: found.value }, plain, ...(whole ? {} : { exit: 1 as const }) });
      }),
    );

  const familyNames = ['agentskills', 'claude', 'codex', 'opencode', 'gemini', 'qwen'] as const;
  skills
    .command('check')
    .argument('<path...>', 'a SKILL.md, a folder that holds one, or a folder of such folders')
    .addOption(new Option('--family <name...>', 'agent families to check for').choices(familyNames))
    .description('what agent families will refuse, cut or misread; exit 1 when something refuses a skill')
    .action((paths: readonly string[], { family }: { family?: readonly (typeof familyNames)[number][] }) =>
      run(async () => {
        const { lintSkills } = await import('../skills/index.ts');
        const report = lintSkills(paths, family);
        if (!report.ok) return report;
        const { findings, skills: checked } = report.value;
        const errors = findings.filter(({ level }) => level === 'error').length;
        const sum = `${checked.length} checked, ${counted(errors, 'error')}, ${counted(findings.length - errors, 'warning')}`;
        return ok({
          json: report.value,
          plain: [...findings.map(findingText), sum].join('\n'),
          ...(errors === 0 ? {} : { exit: 1 as const }),
        });
      }),
    );
  for (const command of skills.commands) example(command, shows[command.name()] ?? 'skills list');
  return skills;
};
