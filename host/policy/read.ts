/**
 * A policy from its bytes. Pure. Any problem, in whatever entry, leaves a policy that grants nothing: a file that is
 * half right was not meant as it reads. A reference to an alias that is not there is no problem here; whoever needs
 * it withholds what it cannot have and says why.
 */
import { createHash } from 'node:crypto';
import { type Problem, problem } from '../problems/index.ts';
import type {
  Agent,
  Channel,
  GatePolicy,
  GateRule,
  Origin,
  Policy,
  Program,
  ReadPolicy,
  ServerPolicy,
} from './edge.ts';
import { evidenceFor, shapeProblems } from './faults.ts';
import { type Limits, usualLimits } from './limits.ts';
import { mcpEntryFrom } from './mcp-entry.ts';
import { type PolicyFile, policyShape } from './schema.ts';
import { dotted, faultLimit, type Place, placer, plainValue, policyBytes, readTree, walk } from './tree.ts';

export const defaultProvider = 'bearpunch.adapter:adapter';

/** The revision of a policy file that is not there or could not be read. */
export const noRevision = 'none';

const sorted = <V, W>(table: Record<string, V> | undefined, to: (value: V) => W): ReadonlyMap<string, W> =>
  new Map(
    Object.entries(table ?? {})
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, value]) => [key, to(value)]),
  );

type Entry<K extends 'agents' | 'programs' | 'origins' | 'servers'> = NonNullable<PolicyFile[K]>[string];

const agentOf = ({ program, provider, approve, host }: Entry<'agents'>): Agent => ({
  program,
  provider: provider ?? defaultProvider,
  approve: approve ?? 'manual',
  host: {
    read: host?.files !== undefined,
    write: host?.files === 'write',
    terminals: host?.terminals === true,
  },
});
const programOf = ({ command, args, inherit, trust }: Entry<'programs'>): Program => ({
  command,
  args: args ?? [],
  inherit: inherit ?? [],
  trust: trust ?? 'none',
});
const originOf = ({ url, bearer }: Entry<'origins'>): Origin =>
  bearer === undefined ? { url } : { url, bearer };
const serverOf = ({
  transport,
  consumers,
  exposure,
  tools,
  elicitation,
}: Entry<'servers'>): ServerPolicy => ({
  transport,
  consumers: consumers.sessions,
  exposure,
  ...(tools === undefined ? {} : { tools }),
  elicitation: elicitation ?? 'queue',
});

const gateOf = (found: PolicyFile['permissions']): GatePolicy => {
  const rules = (kind: keyof GatePolicy): readonly GateRule[] =>
    (found?.[kind] ?? []).map((text, at) => ({ text, place: `permissions.${kind}[${at}]` }));
  return { deny: rules('deny'), ask: rules('ask'), allow: rules('allow') };
};

const channelOf = ({ port, mcp }: NonNullable<PolicyFile['channel']>): Channel => {
  const sources = mcp === undefined || mcp.skills === 'none' ? [] : mcp.skills;
  return {
    ...(port === undefined ? {} : { port }),
    ...(mcp === undefined
      ? {}
      : {
          mcp: {
            bundles: sources.includes('bundles'),
            folders: [...new Set(sources.filter((source) => source !== 'bundles'))],
            frontmatter: mcp.frontmatter ?? 'complete',
            tokens: mcp.tokens,
          },
        }),
  };
};

const limitsOf = (chosen: NonNullable<PolicyFile['limits']>[string]): Limits => ({
  ...usualLimits,
  ...Object.fromEntries(Object.entries(chosen).filter(([, value]) => value !== undefined)),
});

/** Problems of a policy, and nothing granted. */
export const nothingGranted = (
  revision: string,
  problems: readonly Problem[],
  place: Policy['place'] = () => undefined,
): Policy => ({
  revision,
  problems,
  grants: new Map(),
  limits: new Map(),
  agents: new Map(),
  programs: new Map(),
  origins: new Map(),
  servers: new Map(),
  mcpServers: new Map(),
  disabledMcpServers: new Set(),
  trustedProjects: [],
  permissions: { deny: [], ask: [], allow: [] },
  signatures: [],
  place,
});

export const readPolicy: ReadPolicy = (bytes, file) => {
  const revision = createHash('sha256').update(bytes).digest('hex');
  if (bytes.byteLength > policyBytes) {
    const evidence = `${file}: expected at most ${policyBytes} bytes, found more`;
    return nothingGranted(revision, [problem('policy/too-large', { subject: file, evidence })]);
  }
  let text: string;
  try {
    text = new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    const evidence = `${file}: expected UTF-8, found other bytes`;
    return nothingGranted(revision, [problem('policy/not-text', { subject: file, evidence })]);
  }
  const at = placer(text);
  const { root, faults } = readTree(text);
  const problems: Problem[] = faults.map(({ kind, subject, offset, expected, found }) =>
    problem(kind === 'syntax' ? 'policy/syntax' : 'policy/duplicate-key', {
      subject: subject ?? file,
      evidence: evidenceFor(file, at(offset), expected, found),
    }),
  );
  if (root === undefined) return nothingGranted(revision, problems);

  const places = new Map<string, Place>();
  walk(root, (path, _value, node) => {
    // The schema checker passes over this one key; it is refused like any other unknown name.
    if (path.at(-1) === '__proto__')
      problems.push(
        problem('policy/wrong-name', {
          subject: dotted(path),
          evidence: evidenceFor(file, at(node.offset), 'another name', 'the name "__proto__"'),
        }),
      );
    const name = dotted(path);
    if (!places.has(name)) places.set(name, at(node.offset));
  });
  const place = (path: string): Place | undefined => places.get(path);
  // A tree that was guessed around a syntax fault is not worth more problems.
  if (faults.some(({ kind }) => kind === 'syntax')) return nothingGranted(revision, problems, place);

  const value = plainValue(root);
  const parsed = policyShape.safeParse(value);
  if (!parsed.success)
    problems.push(
      ...shapeProblems(file, value, parsed.error.issues, (path) => place(path) ?? at(root.offset)),
    );
  if (problems.length > 0 || !parsed.success)
    return nothingGranted(revision, problems.slice(0, faultLimit), place);

  const { grants, limits, agents, programs, origins, servers, channel, keys, signatures } = parsed.data;
  const { mcpServers, disabledMcpServers, trustedProjects } = parsed.data;
  return {
    revision,
    problems: [],
    grants: sorted(grants, (granted) => new Set<string>(granted)),
    limits: sorted(limits, limitsOf),
    agents: sorted(agents, agentOf),
    programs: sorted(programs, programOf),
    origins: sorted(origins, originOf),
    servers: sorted(servers, serverOf),
    mcpServers: sorted(mcpServers, mcpEntryFrom),
    disabledMcpServers: new Set(disabledMcpServers),
    trustedProjects: trustedProjects ?? [],
    permissions: gateOf(parsed.data.permissions),
    ...(channel === undefined ? {} : { channel: channelOf(channel) }),
    signatures: (signatures ?? []).map(({ prefix, key }) => ({ prefix, name: key, key: keys?.[key] })),
    place,
  };
};
