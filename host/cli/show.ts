/** The plain forms of what the station tells about bundles and sessions. */
import { join } from 'node:path';
import type { Problem } from '../problems/index.ts';
import { installation, type MethodResult } from '../station/index.ts';
import { counted, type Io, problemText, short, table, when } from './output.ts';

export type Bundle = MethodResult<'bundle.list'>['bundles'][number];
type Component = Bundle['components'][number];
export type Session = MethodResult<'session.show'>;

const about = ({ code, message, evidence }: Problem): string =>
  `${code}: ${message}${evidence === undefined ? '' : ` (${evidence})`}`;

/** `notes running`, and where another revision than the bundle's serves, which. */
const componentText = ({ id, state, serving, retained }: Component, revision: string): string => {
  const other = serving === undefined || serving === revision ? '' : ` from ${short(serving)}`;
  return `${id} ${state}${other}${retained === undefined ? '' : `, ${short(retained)} retained`}`;
};

const componentFaults = ({ id, problem, candidate, serving }: Component): readonly string[] => [
  ...(problem === undefined ? [] : [`${id}: ${about(problem)}`]),
  // Where nothing serves, the candidate's problem is the component's.
  ...(candidate === undefined || (serving === undefined && candidate.problem.code === problem?.code)
    ? []
    : [`${id}: candidate ${short(candidate.revision)}: ${about(candidate.problem)}`]),
];

/** One row a bundle, and below it one for whatever is not as it should be. */
export const bundleRows = (bundles: readonly Bundle[]): readonly (readonly string[])[] =>
  bundles.flatMap((bundle) => {
    const { id, version, revision, completeness, components, skills, topics, ungranted, problem } = bundle;
    const parts = [
      ...(completeness === 'complete' ? [] : [completeness]),
      ...components.map((component) => componentText(component, revision)),
      ...(skills.length === 0 ? [] : [`skills: ${skills.join(', ')}`]),
      ...(topics === 0 ? [] : [`${topics} topics`]),
    ];
    const faults = [
      ...(problem === undefined ? [] : [about(problem)]),
      ...components.flatMap(componentFaults),
      ...(ungranted.length === 0 ? [] : [`not granted by policy: ${ungranted.join(', ')}`]),
    ];
    return [[id, version, short(revision), parts.join('; ')], ...faults.map((fault) => ['', '', '', fault])];
  });

/** As `bundleText`, with what the bundle asks for, how to grant the rest of it, and what it took away. */
export const installedText = (bundle: MethodResult<'bundle.install'>, { typed }: Pick<Io, 'typed'>): string =>
  [
    bundleText(bundle),
    ...(bundle.places ?? []).flatMap(clearedRows),
    ...(bundle.asks.length === 0 ? [] : [`asks for  ${bundle.asks.join(', ')}`]),
    ...(bundle.ungranted.length === 0
      ? []
      : [
          `not granted  ${bundle.ungranted.join(', ')}: what needs it does not start`,
          `Grant it with: ${typed(`bundle grant ${bundle.id}`)}`,
        ]),
  ].join('\n');

/** What stops working without a bundle that ships with the station. */
const firstParty: Readonly<Record<string, string>> = {
  adapter: 'no ACP agent can be started; its sessions end',
  contracts: 'nothing at once: the topics it declares stay known',
  echo: 'agents whose provider is bearpunch.echo:echo cannot be started',
  sessions: 'no session can be created, prompted, shown or closed',
};

const missedText = (id: string, { typed }: Pick<Io, 'typed'>): readonly string[] => {
  const [, name = ''] = /^bearpunch\.(.+)$/.exec(id) ?? [];
  const stops = firstParty[name];
  if (stops === undefined) return [];
  const source = join(installation(), 'dist', 'bundles', name);
  return [`without it  ${stops}`, `Install it again with: ${typed(`bundle install ${source}`)}`];
};

/** What became of the skills that were placed in one workspace. */
export const clearedRows = ({
  cwd,
  sink,
  removed,
  kept,
  waits,
  problems,
}: MethodResult<'bundle.uninstall'>['places'][number]): readonly string[] => [
  ...removed.map(({ name, files }) => `removed  ${cwd}/${sink}/${name}  ${counted(files, 'file')}`),
  ...kept.map((path) => `kept  ${cwd}/${sink}/${path}  it was changed since it was placed`),
  ...(waits === undefined ? [] : [`kept  ${cwd}/${sink}  ${about(waits)}`]),
  ...problems.map((one) => `kept  ${cwd}/${sink}  ${about(one)}`),
];

/** What became of the skills it had placed, a line for each place; what is missed now, of one that ships with us. */
export const uninstalledText = (
  { id, revision, places }: MethodResult<'bundle.uninstall'>,
  io: Pick<Io, 'typed'>,
): string =>
  [`${id} ${short(revision)} uninstalled`, ...places.flatMap(clearedRows), ...missedText(id, io)].join('\n');

const verdictOf = (problems: readonly Problem[]): 'intact' | 'damaged' =>
  problems.length === 0 ? 'intact' : 'damaged';

/** A verdict for each bundle and each placed skill, and below it what is wrong. */
export const verdicts = ({ bundles, placed }: MethodResult<'bundle.verify'>) => {
  const json = {
    bundles: bundles.map(({ id, ...rest }) => ({
      id,
      verdict: verdictOf(rest.problem === undefined ? [] : [rest.problem]),
      ...rest,
    })),
    placed: placed.map((skill) => ({ ...skill, verdict: verdictOf(skill.problems) })),
  };
  const found = [
    ...json.bundles.map(({ id, verdict, problem }) => ({
      row: [id, verdict],
      problems: problem === undefined ? [] : [problem],
    })),
    ...json.placed.map(({ cwd, sink, name, verdict, problems }) => ({
      row: [`${cwd}/${sink}${name === null ? '' : `/${name}`}`, verdict],
      problems,
    })),
  ];
  const lines = table(found.map(({ row }) => row)).split('\n');
  const plain = found.flatMap(({ problems }, index) => [
    lines[index] ?? '',
    ...problems.map((one) => problemText(one, { write: () => {}, colour: false })),
  ]);
  return {
    json,
    plain: plain.join('\n'),
    damaged: found.some(({ problems }) => problems.length > 0),
  };
};

/** One line an event. */
export const eventRow = ({
  at,
  kind,
  subject,
  problem,
}: MethodResult<'events'>['events'][number]): readonly string[] => [
  when(at),
  kind,
  subject,
  problem === undefined ? '' : about(problem),
];

export const bundleText = (bundle: Bundle): string => table(bundleRows([bundle]));

const usageText = (usage: Session['usage']): string =>
  usage === null
    ? 'not reported'
    : Object.entries(usage)
        .map(
          ([name, value]) => `${name} ${typeof value === 'object' ? JSON.stringify(value) : String(value)}`,
        )
        .join(', ');

const stateText = ({ state, reason, attached }: Session): string => {
  if (reason !== undefined) return `${state}: ${reason}`;
  return state === 'idle' && !attached ? 'idle; the agent is started again at the next prompt' : state;
};

const section = (
  title: string,
  rows: readonly (readonly (string | number | undefined)[])[],
): readonly string[] => (rows.length === 0 ? [`${title}  none`] : [title, table(rows, '  ')]);

/** The newest decisions of the gate that are shown to people. */
const shownCalls = 10;

/** The whole record of a session: what it is, what it was offered, what was placed, what waits for an answer. */
export const sessionText = (session: Session): string => {
  const { provisioning, agentInfo, commands, pending, gate } = session;
  const { servers, skills, sink, policyRevision } = provisioning;
  const head: readonly (readonly [string, string])[] = [
    ['session', session.id],
    ['state', stateText(session)],
    [
      'agent',
      agentInfo === undefined
        ? session.agent
        : `${session.agent} (${agentInfo.name} ${agentInfo.version ?? ''})`,
    ],
    ['program', `${session.program}, opened by ${session.provider}`],
    ...(session.title === undefined ? [] : ([['title', session.title]] as const)),
    ['workspace', session.cwd],
    ['created', when(session.createdAt)],
    ['approve', session.approval ?? session.approve],
    ...(session.mode === undefined ? [] : ([['mode', session.mode.id]] as const)),
    ['usage', usageText(session.usage)],
    ['policy', short(policyRevision)],
    ['sink', sink ?? 'none: the program reads skills from no known folder'],
  ];
  return [
    table(head),
    ...section(
      'servers',
      servers.map(({ name, decision, stage, rule, reason }) => [
        name,
        decision,
        // What was offered begins as `offered`: said once.
        stage === undefined || stage === decision ? '-' : stage,
        rule,
        reason,
      ]),
    ),
    ...section(
      'skills',
      skills.map(({ name, decision, files, bundle, revision, reason }) => [
        name,
        decision,
        counted(files, 'file'),
        `${bundle} ${short(revision)}`,
        reason,
      ]),
    ),
    ...(commands.length === 0
      ? []
      : section(
          'commands',
          commands.map(({ name, hint, description }) => [
            `/${name}${hint === undefined ? '' : ` ${hint}`}`,
            description,
          ]),
        )),
    ...(gate === undefined
      ? []
      : section(
          `calls through the gate: ${gate.total}`,
          gate.calls
            .slice(-shownCalls)
            .map(({ at, server, tool, decision, rule }) => [when(at), decision, `${server} ${tool}`, rule]),
        )),
    ...(pending.length === 0
      ? []
      : section(
          'waiting for an answer',
          pending.map(({ request, at, tool, title }) => [request, when(at), tool, title]),
        )),
  ].join('\n');
};

export const sessionRows = (
  sessions: MethodResult<'session.list'>['sessions'],
): readonly (readonly (string | undefined)[])[] => [
  ['session', 'state', 'agent', 'created', 'title', 'workspace'],
  ...sessions.map(({ id, state, agent, createdAt, title, cwd }) => [
    id,
    state,
    agent,
    when(createdAt),
    title ?? '-',
    cwd,
  ]),
];
