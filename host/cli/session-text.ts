/** The plain forms of what the station tells about sessions. */
import type { MethodResult } from '../station/index.ts';
import { counted, short, table, when } from './output.ts';

type Session = MethodResult<'session.show'>;

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

/** The setting, and how it reached the agent; the transcript says it as a sentence that begins with both words. */
const approvalText = ({ approve, approval }: Session): string =>
  approval?.replace(/^approval /, '') ?? approve;

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
    ['approve', approvalText(session)],
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
