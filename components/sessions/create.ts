/**
 * Creating a session: what policy offers this agent, what is placed into its workspace, the record of both, and
 * `open.v2` to the agent's provider. What fails on the way is written down and the session goes on; whether
 * something required is missing is decided when the agent has opened.
 */
import { type FirstParty, fail, type Message, type Placement, type Provision } from '../guest/index.ts';
import {
  announce,
  enter,
  type Host,
  newId,
  note,
  type Session,
  type SessionRecord,
  save,
} from './records.ts';
import { problemText } from './turns.ts';

type CreateRequest = FirstParty['bearpunch.sessions.create']['request'];
type Provisioning = SessionRecord['provisioning'];

export const openToken = (id: string): string => `open:${id}`;

const serversOf = (provision: Provision): Provisioning['servers'] => [
  ...provision.offered.map(({ name, rule }) => ({
    name,
    decision: 'offered' as const,
    stage: 'offered' as const,
    rule,
  })),
  ...provision.withheld.map(({ name, rule, reason }) => ({
    name,
    decision: 'withheld' as const,
    rule,
    reason,
  })),
];

const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`);

export const serverLine = ({ name, decision, rule, reason }: Provisioning['servers'][number]): string =>
  reason === undefined
    ? `server ${name}: ${decision} (${rule})`
    : `server ${name}: ${decision}: ${reason} (${rule})`;

export const skillLine = (skill: Provisioning['skills'][number]): string => {
  const from = `${skill.bundle} ${skill.revision.slice(0, 12)}`;
  return skill.reason === undefined
    ? `skill ${skill.name}: ${skill.decision}, ${files(skill.files)} (${from})`
    : `skill ${skill.name}: ${skill.decision}: ${skill.reason} (${from})`;
};

interface Placed {
  readonly skills: readonly Placement[];
  /** Why nothing was placed. */
  readonly why?: string;
}

const place = (station: Host, cwd: string, program: string, sink: string | null): Placed => {
  if (sink === null)
    return { skills: [], why: `the program ${program} reads skills from no folder the station knows` };
  const result = station.context.placeSkills(cwd, sink);
  return result.ok ? { skills: result.value } : { skills: [], why: problemText(result.problem) };
};

const begun = (
  { payload, at }: Message<CreateRequest>,
  id: string,
  provision: Provision,
  skills: readonly Placement[],
): Session => ({
  record: {
    id,
    agent: payload.agent,
    program: provision.program ?? '',
    ...(payload.title === undefined ? {} : { title: payload.title }),
    cwd: payload.cwd,
    state: 'opening',
    createdAt: at,
    approve: payload.approve ?? provision.approve,
    provider: provision.provider ?? '',
    provisioning: {
      policyRevision: provision.policyRevision,
      servers: serversOf(provision),
      skills: [...skills],
      sink: provision.sink,
    },
    usage: null,
    pending: [],
  },
  requireServers: payload.requireServers ?? [],
  requireSkills: payload.requireSkills ?? [],
  turns: 0,
});

const nothing: Provision = {
  policyRevision: '',
  approve: 'manual',
  sink: null,
  offered: [],
  withheld: [],
};

export const create = (
  message: Message<CreateRequest>,
  station: Host,
): FirstParty['bearpunch.sessions.create']['reply'] => {
  const { payload, at } = message;
  const found = station.context.servers(payload.agent);
  const provision = found.ok ? found.value : nothing;
  const { program, provider } = provision;
  if (found.ok && (program === undefined || provider === undefined))
    return fail('session/agent-unknown', `Policy knows no agent "${payload.agent}".`, {
      subject: payload.agent,
      fix: 'Add it under `agents` in policy.jsonc; `jupiter policy show` lists the ones it has.',
    });
  const placed = program === undefined ? undefined : place(station, payload.cwd, program, provision.sink);
  const id = newId(station, at);
  const session = begun(message, id, provision, placed?.skills ?? []);
  const { record } = session;
  enter(station, session);

  if (!found.ok) {
    // Without policy's answer there is no program that may be started for this agent.
    record.state = 'ended';
    record.reason = problemText(found.problem);
    note(station, id, at, `servers: policy could not be asked: ${record.reason}`);
    save(station, session);
    announce(station, session);
    return { id, state: record.state };
  }

  for (const server of record.provisioning.servers) note(station, id, at, serverLine(server));
  if (record.provisioning.servers.length === 0)
    note(station, id, at, 'servers: policy has none for this agent');
  for (const skill of record.provisioning.skills) note(station, id, at, skillLine(skill));
  if (placed?.why !== undefined) note(station, id, at, `skills: none placed: ${placed.why}`);
  else if (record.provisioning.skills.length === 0)
    note(station, id, at, 'skills: no installed bundle has any');

  station.bus.command(
    'bearpunch.agents.open.v2',
    {
      session: id,
      agent: payload.agent,
      program: record.program,
      cwd: payload.cwd,
      approve: record.approve,
      mcpServers: provision.offered.map(({ name, transport }) => ({ name, transport })),
    },
    { to: record.provider, token: openToken(id) },
  );
  announce(station, session);
  return { id, state: record.state };
};

/** What the caller required and the session has not got, in words. */
export const missing = ({ record, requireServers, requireSkills }: Session): string[] => {
  const { servers, skills } = record.provisioning;
  const because = (reason: string | undefined, otherwise: string): string => reason ?? otherwise;
  return [
    ...requireServers.flatMap((name) => {
      const server = servers.find((each) => each.name === name);
      if (server?.stage !== undefined && server.stage !== 'offered') return [];
      if (server === undefined) return [`server ${name} (policy has none of that name for this agent)`];
      return [`server ${name} (${server.decision}: ${because(server.reason, 'the agent did not take it')})`];
    }),
    ...requireSkills.flatMap((name) => {
      const found = skills.filter((each) => each.name === name);
      if (found.some(({ decision }) => decision !== 'refused')) return [];
      if (found.length === 0) return [`skill ${name} (not placed)`];
      return [`skill ${name} (refused: ${because(found[0]?.reason, 'no reason was given')})`];
    }),
  ];
};
