/** `skills add | update | approve | remove`: skills that other servers publish. The station does it all. */
import type { Command } from 'commander';
import type { RemoteManifest, RemoteServer, RemoteSkill } from '../mcp/index.ts';
import { ok, type Problem, type Result } from '../problems/index.ts';
import { type Answer, counted, type Io, type Run, short, shown } from './output.ts';
import { clearedRows } from './show.ts';
import type { SkillsIo } from './skills.ts';
import { example } from './usage.ts';
import { answer } from './with-station.ts';

const why = ({ message, code, evidence }: Problem): string =>
  `${message} (${code}${evidence === undefined ? '' : `, ${evidence}`})`;

const bytes = (size: number): string => (size < 10_000 ? `${size} bytes` : `${Math.ceil(size / 1_024)} KiB`);

/** What is known of one skill before it is used, and what to type next. */
const skillLines = (skill: RemoteSkill, typed: Io['typed']): readonly string[] => {
  const { address, state, digest, name, files, size, dropped, problem } = skill;
  const rows = [
    `${address}  ${state}  ${counted(files, 'file')}, ${bytes(size)}${digest === '' ? '' : `, digest ${short(digest)}`}`,
    `  ${shown(skill.description).slice(0, 200)}`,
    ...(state === 'approved' ? [`  placed as ${name}`] : []),
    ...(dropped.length === 0 ? [] : [`  not passed on: ${dropped.join(', ')}`]),
    ...(skill.withdrawn === true ? ['  the server serves it no more'] : []),
    ...(problem === undefined ? [] : [`  ${why(problem)}`]),
  ];
  const approve = `  approve it: ${typed(`skills approve ${address} ${short(digest)}`)}`;
  return state === 'waiting' || state === 'changed' ? [...rows, approve] : rows;
};

/** One skill with its files: what an approval lets in. */
const manifestText = (skill: RemoteManifest, typed: Io['typed']): string =>
  [
    ...skillLines(skill, typed),
    `uri:     ${skill.uri}`,
    ...(skill.digest === '' ? [] : [`digest:  ${skill.digest}`]),
    ...skill.manifest.map(({ path, size }) => `file:    ${path} (${size} bytes)`),
  ]
    .map(shown)
    .join('\n');

const serverText = (server: RemoteServer, typed: Io['typed']): string =>
  [
    `${server.label}  ${server.url}  ${counted(server.skills.length, 'skill')}`,
    ...(server.problem === undefined ? [] : [`  not listed: ${why(server.problem)}`]),
    ...server.skills.flatMap((skill) => skillLines(skill, typed).map((line) => `  ${line}`)),
    ...server.leftOut.map((left) => `  left out: ${left.subject ?? ''}: ${why(left)}`),
  ]
    .map(shown)
    .join('\n');

/** `skills show label/path`; the station knows it. */
export const showRemote = async (
  { home, typed = (command) => `jupiter ${command}` }: SkillsIo,
  skill: string,
): Promise<Result<Answer>> => {
  const { connectStation } = await import('./client.ts');
  const station = await connectStation(home);
  if (!station.ok) return station;
  const found = await station.value.call('skills.show', { skill });
  station.value.close();
  return found.ok ? ok({ json: found.value, plain: manifestText(found.value, typed) }) : found;
};

export const registerRemoteSkills = (skills: Command, run: Run): void => {
  example(
    skills
      .command('add')
      .argument('<url>', 'MCP address of a server that publishes skills, or an alias of `origins`')
      .option('--as <label>', 'what the server is called here (default: the alias, or from its address)')
      .option('--skill <uri...>', 'only these skills, also when the server does not list them')
      .description('list the skills another server publishes; none is used before it is approved'),
    'skills add https://team.example/v1/mcp --as team',
  ).action((address: string, { as, skill }: { as?: string; skill?: string[] }) =>
    run((io) =>
      answer(
        io,
        'skills.add',
        {
          address,
          ...(as === undefined ? {} : { label: as }),
          ...(skill === undefined ? {} : { skills: skill }),
        },
        (server) => serverText(server, io.typed),
      ),
    ),
  );
  example(
    skills
      .command('update')
      .argument('[label]', 'only this server')
      .description('list the servers again; what changed needs a new approval'),
    'skills update team',
  ).action((label: string | undefined) =>
    run((io) =>
      answer(io, 'skills.update', label === undefined ? {} : { label }, ({ servers }) =>
        servers.length === 0
          ? 'no server was added'
          : servers.map((server) => serverText(server, io.typed)).join('\n'),
      ),
    ),
  );
  example(
    skills
      .command('approve')
      .argument('<skill>', 'label/path, as `skills list` shows it')
      .argument('<digest>', 'its digest as shown there, 12 characters or more')
      .description('let sessions have exactly this content of a skill'),
    'skills approve team/deploy 3f6c1a9be042',
  ).action((skill: string, digest: string) =>
    run((io) =>
      answer(io, 'skills.approve', { skill, digest }, (one) =>
        skillLines(one, io.typed).map(shown).join('\n'),
      ),
    ),
  );
  example(
    skills
      .command('remove')
      .argument('<what>', 'a label: the server and all its skills; label/path: the approval of one')
      .description('forget a server, or take back an approval; placed copies are taken away'),
    'skills remove team/deploy',
    'skills remove team',
  ).action((address: string) =>
    run((io) =>
      answer(io, 'skills.remove', { address }, ({ removed, places }) =>
        [`${removed} removed`, ...places.flatMap(clearedRows)].map(shown).join('\n'),
      ),
    ),
  );
};
