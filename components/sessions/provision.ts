/**
 * What an agent gets: what policy offers it, what is placed into its workspace, the record of both, and the
 * opening by its provider. Done when a session is created, and again each time it is taken up: policy may have changed.
 */
import type { Placement, Provision, Result } from '../guest/index.ts';
import { type Host, note, noteAll, type Session, type SessionRecord } from './records.ts';
import { problemText } from './text.ts';

type Provisioning = SessionRecord['provisioning'];

const openToken = (id: string): string => `open:${id}`;

export interface Provisioned {
  readonly provision: Provision;
  readonly skills: readonly Placement[];
  /** Why no skill was placed. */
  readonly why?: string;
}

const place = (station: Host, cwd: string, provision: Provision): Omit<Provisioned, 'provision'> => {
  const { program, sink } = provision;
  if (program === undefined) return { skills: [] };
  if (sink === null)
    return { skills: [], why: `the program ${program} reads skills from no folder the station knows` };
  const result = station.context.placeSkills(cwd, sink);
  return result.ok ? { skills: result.value } : { skills: [], why: problemText(result.problem) };
};

export interface Wanted {
  readonly id: string;
  readonly agent: string;
  readonly cwd: string;
  /** The file of servers given for this session. */
  readonly mcpConfig?: string | undefined;
}

/** Asks the host. What fails of the placing is part of the answer; without policy's answer there is none. */
export const provisionFor = (station: Host, { id, agent, cwd, mcpConfig }: Wanted): Result<Provisioned> => {
  const found = station.context.serversFor(id, agent, cwd, mcpConfig);
  if (!found.ok) return found;
  return { ok: true, value: { provision: found.value, ...place(station, cwd, found.value) } };
};

export const provisioningOf = ({ provision, skills }: Provisioned): Provisioning => ({
  policyRevision: provision.policyRevision,
  servers: [
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
  ],
  skills: [...skills],
  sink: provision.sink,
});

const files = (count: number): string => (count === 1 ? '1 file' : `${count} files`);

export const serverLine = ({ name, decision, rule, reason }: Provisioning['servers'][number]): string =>
  reason === undefined
    ? `server ${name}: ${decision} (${rule})`
    : `server ${name}: ${decision}: ${reason} (${rule})`;

const skillLine = (skill: Provisioning['skills'][number]): string => {
  const from = `${skill.bundle} ${skill.revision.slice(0, 12)}`;
  return skill.reason === undefined
    ? `skill ${skill.name}: ${skill.decision}, ${files(skill.files)} (${from})`
    : `skill ${skill.name}: ${skill.decision}: ${skill.reason} (${from})`;
};

/** Writes into the transcript what was decided and placed. */
export const noteProvisioning = (
  station: Host,
  { id, provisioning }: SessionRecord,
  at: number,
  why: string | undefined,
): void => {
  noteAll(station, id, at, provisioning.servers.map(serverLine));
  if (provisioning.servers.length === 0) note(station, id, at, 'servers: policy has none for this agent');
  noteAll(station, id, at, provisioning.skills.map(skillLine));
  if (why !== undefined) note(station, id, at, `skills: none placed: ${why}`);
  else if (provisioning.skills.length === 0) note(station, id, at, 'skills: no installed bundle has any');
};

/** Has the provider open the agent, or take up the session the agent had. */
export const openAgent = (
  station: Host,
  { record }: Session,
  provision: Provision,
  agentSession?: string,
): void => {
  const options = { to: record.provider, token: openToken(record.id) };
  const request = {
    session: record.id,
    agent: record.agent,
    program: record.program,
    cwd: record.cwd,
    approve: record.approve,
    ...(agentSession === undefined ? {} : { resume: { agentSession } }),
  };
  const reached = provision.offered.map(({ name, transport }) => ({ name, transport }));
  const direct = reached.flatMap(({ name, transport }) =>
    transport.type === 'gateway' ? [] : [{ name, transport }],
  );
  // A provider that knows no gateway is asked as ever where none is needed.
  if (direct.length === reached.length)
    station.bus.command('bearpunch.agents.open.v2', { ...request, mcpServers: direct }, options);
  else station.bus.command('bearpunch.agents.open.v3', { ...request, mcpServers: reached }, options);
};

/** The provider takes no servers behind the gateway: it is asked again without them, and the record says so. */
export const openWithoutGateway = (station: Host, session: Session, at: number): boolean => {
  const { record } = session;
  const found = station.context.serversFor(record.id, record.agent, record.cwd, session.mcpConfig);
  if (!found.ok) return false;
  const { offered } = found.value;
  const direct = offered.filter(({ transport }) => transport.type !== 'gateway');
  const kept = new Set(direct.map(({ name }) => name));
  for (const server of record.provisioning.servers) {
    if (server.decision !== 'offered' || kept.has(server.name)) continue;
    server.decision = 'skipped';
    server.reason = `its provider ${record.provider} takes no servers behind the gateway`;
    delete server.stage;
    note(station, record.id, at, serverLine(server));
  }
  openAgent(station, session, { ...found.value, offered: direct }, session.agentSession);
  return true;
};

/**
 * How it would be if its agent were opened anew: what policy offers is handed over, but for what the agent did not take
 * when it was opened before.
 */
export const expected = ({ record }: Session, found: Provisioned): Provisioning => {
  const now = provisioningOf(found);
  return {
    ...now,
    servers: now.servers.map((server) => {
      const before = record.provisioning.servers.find(({ name }) => name === server.name);
      const notTaken = before?.decision === 'skipped' || before?.stage === 'offered';
      if (before !== undefined && notTaken) return before;
      return server.decision === 'offered' ? { ...server, stage: 'handed-over' as const } : server;
    }),
  };
};

/** What the caller required and the session has not got, in words. */
export const missing = (
  { record, requireServers, requireSkills }: Session,
  { servers, skills }: Provisioning = record.provisioning,
): string[] => {
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
