/**
 * Names in a policy that lead nowhere: an agent's program that is not there, a consumer no agent is called. The policy
 * holds all the same, and whoever needs such an entry withholds what it cannot have; these are warnings for a check.
 * Pure.
 */
import { type Problem, problem } from '../problems/index.ts';
import type { Policy } from './edge.ts';
import { evidenceFor } from './faults.ts';
import { defaultProvider } from './read.ts';

interface Reference {
  /** Where the name stands: `agents.claude.program`. */
  readonly path: string;
  readonly name: string;
  readonly section: 'agents' | 'programs' | 'origins' | 'keys';
  readonly known: boolean;
}

/** Names at most told of what there is. */
const shownNames = 20;

const references = (policy: Policy): readonly Reference[] => {
  const { agents, programs, origins, servers, signatures } = policy;
  return [
    ...[...agents].map(([id, { program, provider }]) => ({
      path: `agents.${id}.program`,
      name: program,
      section: 'programs' as const,
      // A provider of one's own may need no program.
      known: programs.has(program) || provider !== defaultProvider,
    })),
    ...[...servers].flatMap(([id, { transport, consumers }]): Reference[] => {
      const at = `servers.${id}`;
      const way = ((): readonly Reference[] => {
        if (transport.type === 'station') return [];
        if (transport.type === 'http') {
          const { origin } = transport;
          const path = `${at}.transport.origin`;
          return [{ path, name: origin, section: 'origins', known: origins.has(origin) }];
        }
        const { program } = transport;
        const path = `${at}.transport.program`;
        return [{ path, name: program, section: 'programs', known: programs.has(program) }];
      })();
      const sessions = consumers.map((name, index) => ({
        path: `${at}.consumers.sessions[${index}]`,
        name,
        section: 'agents' as const,
        known: agents.has(name),
      }));
      return [...way, ...sessions];
    }),
    ...signatures.map(({ name, key }, index) => ({
      path: `signatures[${index}].key`,
      name,
      section: 'keys' as const,
      known: key !== undefined,
    })),
  ];
};

/** Programs that agents or servers are started with and that policy does not trust, so they are not. */
const untrusted = ({ agents, programs, servers }: Policy): readonly string[] => {
  const used = new Set([
    ...[...agents.values()]
      .filter(({ provider }) => provider === defaultProvider)
      .map(({ program }) => program),
    ...[...servers.values()].flatMap(({ transport }) =>
      transport.type === 'stdio' ? [transport.program] : [],
    ),
  ]);
  return [...used].filter((alias) => programs.get(alias)?.trust === 'none').sort();
};

/** `policy/unknown-alias` and `process/not-trusted`, each with its place in `file`; none for a policy with problems. */
export const policyWarnings = (policy: Policy, file: string): readonly Problem[] => {
  const there: Readonly<Record<Reference['section'], readonly string[] | undefined>> = {
    agents: [...policy.agents.keys()],
    programs: [...policy.programs.keys()],
    origins: [...policy.origins.keys()],
    keys: undefined,
  };
  const placed = (path: string, expected: string, found: string): string => {
    const place = policy.place(path);
    return place === undefined
      ? `${file}: expected ${expected}, found ${found}`
      : evidenceFor(file, place, expected, found);
  };
  const unknown = references(policy)
    .filter(({ known }) => !known)
    .map(({ path, name, section }) => {
      const names = there[section]?.slice(0, shownNames).join(', ');
      const listed = names === undefined ? '' : ` (${names || 'there is none'})`;
      const expected = `a name under \`${section}\`${listed}`;
      return problem('policy/unknown-alias', {
        subject: path,
        evidence: placed(path, expected, JSON.stringify(name)),
      });
    });
  const distrusted = untrusted(policy).map((alias) =>
    problem('process/not-trusted', {
      subject: `programs.${alias}`,
      evidence: placed(`programs.${alias}`, '"trust": "full"', 'no trust'),
    }),
  );
  return [...unknown, ...distrusted];
};
