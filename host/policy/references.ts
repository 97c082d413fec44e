/**
 * What a policy refers to and does not have. None of it is a problem of the whole policy, which works as it reads:
 * what needs the missing entry is withheld when it is asked for. Whoever checks the file wants to know before. Pure.
 */
import { type Problem, problem } from '../problems/index.ts';
import type { Policy } from './edge.ts';
import { evidenceFor } from './faults.ts';
import { defaultProvider } from './read.ts';
import { serverOrigin, serverProgram } from './transports.ts';

/** Where it stands, what is expected there, what is found. */
type Loose = readonly [path: string, expected: string, found: string];

const among = (section: string, names: Iterable<string>): string =>
  `a name under \`${section}\` (${[...names].join(', ') || 'it has none'})`;

const looseEnds = (policy: Policy): readonly Loose[] => {
  const { agents, programs, origins, servers, signatures } = policy;
  const loose: Loose[] = [];
  const tell = (path: string, expected: string, found: string): void => {
    loose.push([path, expected, JSON.stringify(found)]);
  };
  // A provider of one's own may need no program.
  for (const [id, { program, provider }] of agents)
    if (provider === defaultProvider && !programs.has(program))
      tell(`agents.${id}.program`, among('programs', programs.keys()), program);
  for (const [name, { transport, consumers }] of servers) {
    const at = `servers.${name}.transport`;
    if (transport.type === 'stdio' && 'reason' in serverProgram(policy, name, transport.program))
      tell(
        `${at}.program`,
        programs.has(transport.program)
          ? 'a program with "trust": "full"'
          : among('programs', programs.keys()),
        transport.program,
      );
    if (transport.type === 'http' && 'reason' in serverOrigin(policy, name, transport.origin))
      tell(`${at}.origin`, among('origins', origins.keys()), transport.origin);
    for (const [index, agent] of consumers.entries())
      if (!agents.has(agent))
        tell(`servers.${name}.consumers.sessions[${index}]`, among('agents', agents.keys()), agent);
  }
  for (const [index, { name, key }] of signatures.entries())
    if (key === undefined) tell(`signatures[${index}].key`, 'a name under `keys`', name);
  return loose;
};

/** `policy/loose-end` for each reference that leads nowhere, with its place; of a policy that grants nothing, none. */
export const looseProblems = (policy: Policy, file: string): readonly Problem[] =>
  looseEnds(policy).map(([path, expected, found]) =>
    problem('policy/loose-end', {
      subject: path,
      evidence: evidenceFor(file, policy.place(path) ?? { line: 1, column: 1 }, expected, found),
    }),
  );
