/** The policy file as the operator's commands read and write it. */
import { dirname, join } from 'node:path';
import { type Provision, provisionFor } from '../context/index.ts';
import { reachableServers, readProjectSettings, serverEntries } from '../mcp/index.ts';
import {
  type Agent,
  changePolicyFile,
  defaultProvider,
  openPolicySource,
  type Policy,
  policyWarnings,
} from '../policy/index.ts';
import { failed, ok, type Problem, problem, type Result, refuse } from '../problems/index.ts';
import { resolveCommand, searchHere } from '../processes/index.ts';
import { type Answer, short, table } from './output.ts';

/** Read as the station reads it, bounds and all. */
const readPolicyFile = (file: string): Policy => openPolicySource(file).current();

/** Programs that this shell would not find; a station that was started with another PATH may. */
const programsAmiss = ({ programs, mcpServers }: Policy): readonly Problem[] => {
  const commands = [
    ...[...programs].map(([alias, { command }]) => [`programs.${alias}`, command] as const),
    ...[...mcpServers].flatMap(([name, entry]) =>
      entry.type === 'stdio' ? [[`mcpServers.${name}`, entry.command] as const] : [],
    ),
  ];
  return commands.flatMap(([subject, command]) => {
    const found = resolveCommand(subject, command, searchHere());
    if (found.ok) return [];
    if (found.problem.code !== 'process/not-found') return { ...found.problem, subject };
    return problem('process/not-found', {
      subject,
      message: 'A station started from this shell would not find the program.',
      evidence: command,
    });
  });
};

/** What is wrong with a policy; as warnings, names in it that lead nowhere and programs that are not there. */
export const checkPolicyFile = (
  file: string,
): Pick<Policy, 'revision' | 'problems'> & { readonly warnings: readonly Problem[] } => {
  const policy = readPolicyFile(file);
  const { revision, problems } = policy;
  return { revision, problems, warnings: [...policyWarnings(policy, file), ...programsAmiss(policy)] };
};

export interface InstalledSkill {
  readonly name: string;
  readonly bundle: string;
}

const skillsText = (skills: readonly InstalledSkill[] | undefined): string => {
  if (skills === undefined) return 'skills   not known: no station runs for this home';
  return skills.length === 0
    ? 'skills   none'
    : `skills\n${table(
        skills.map(({ name, bundle }) => [name, bundle]),
        '  ',
      )}`;
};

/** What hands an agent the servers it reaches through the station; a provider of one's own may not have it. */
const handing = 'bearpunch.agents.open.v3';

const wayText = (transport: Provision['offered'][number]['transport'], provider: string | null): string => {
  if (transport.type === 'gateway')
    return provider === defaultProvider
      ? 'through the station'
      : `through the station, if ${provider ?? 'its provider'} handles ${handing}`;
  return transport.type === 'http' ? transport.url : [transport.command, ...transport.args].join(' ');
};

/** What the agent may ask the station to do in its workspace. */
const hostText = ({ read, write, terminals }: Agent['host']): string => {
  const may = [
    ...(write ? ['read and write files'] : read ? ['read files'] : []),
    ...(terminals ? ['run commands'] : []),
  ];
  return may.length === 0
    ? 'the agent may ask the station for no file and no command'
    : `the agent may ask the station to ${may.join(' and to ')}`;
};

/** `skills`: those of installed bundles, where a station runs that knows. What `agent` would get under the policy in `file`; a policy with problems grants nothing, and says so. */
export const explainFor = (
  file: string,
  agent: string,
  cwd: string | undefined,
  skills: readonly InstalledSkill[] | undefined,
): Result<Answer> => {
  const policy = readPolicyFile(file);
  const [first] = policy.problems;
  if (first !== undefined) return failed(first);
  if (!policy.agents.has(agent)) {
    const known = [...policy.agents.keys()].join(', ');
    return refuse('session/agent-unknown', {
      subject: agent,
      evidence: known === '' ? 'the policy names no agent' : `the policy names: ${known}`,
    });
  }
  const project = cwd === undefined ? undefined : readProjectSettings(cwd);
  const entries = serverEntries({
    policy,
    home: dirname(file),
    ...(project === undefined ? {} : { project }),
  });
  const found = provisionFor(
    policy,
    agent,
    // The address is made when a session is.
    reachableServers(policy, agent, entries).map(({ alias, place, reason }) => ({
      name: alias,
      place,
      by: reason === undefined ? { type: 'gateway' as const, url: '', command: '', args: [] } : { reason },
    })),
  );
  const sink = found.sink === null || cwd === undefined ? found.sink : join(cwd, found.sink);
  const rows = [
    ...found.offered.map(({ name, rule, transport }) => [
      name,
      'offered',
      rule,
      wayText(transport, found.provider),
    ]),
    ...found.withheld.map(({ name, rule, reason }) => [name, 'withheld', rule, reason]),
  ];
  const host = policy.agents.get(agent)?.host ?? { read: false, write: false, terminals: false };
  const head = table([
    ['agent', agent],
    ['program', programText(policy, found)],
    ['provider', found.provider ?? 'none'],
    ['approve', found.approve],
    ['policy', short(found.policyRevision)],
    ['workspace', hostText(host)],
    ['sink', sink ?? 'none: the program reads skills from no known folder'],
    ['servers', rows.length === 0 ? 'none' : ''],
  ]);
  return ok({
    json: {
      agent,
      host,
      ...found,
      offered: found.offered.map((one) =>
        one.transport.type === 'gateway' ? { ...one, transport: { type: 'gateway' } } : one,
      ),
      ...(cwd === undefined ? {} : { cwd }),
      ...(skills === undefined ? {} : { skills }),
    },
    plain: [head, ...(rows.length === 0 ? [] : [table(rows, '  ')]), skillsText(skills)].join('\n'),
  });
};

/** The program, and that policy describes none of that name: a provider of one's own may need none. */
const programText = (
  { programs }: Policy,
  { program, provider }: { readonly program: string | null; readonly provider: string | null },
): string => {
  if (program === null) return 'none: the agent is not in the policy';
  return provider !== defaultProvider || programs.has(program)
    ? program
    : `${program}: policy has none of that name under \`programs\``;
};

/** Sets (or, with `undefined`, removes) one entry. */
export const changePolicy = async (file: string, path: string, value: unknown): Promise<Result<Answer>> => {
  const changed = changePolicyFile(file, [{ path, value }]);
  if (!changed.ok) return changed;
  const { revision, problems } = changed.value;
  return ok({
    json: { file, revision, problems },
    plain: `${path} ${value === undefined ? 'removed' : 'set'}; the policy is now ${short(revision)}`,
  });
};
