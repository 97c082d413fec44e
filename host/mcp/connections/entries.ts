/**
 * Which servers there are for one session: the policy's, those of a project the operator trusts, those given for the
 * session. An inner layer adds names and takes none over; what a layer disables stays disabled. Pure, but for the real
 * path of folders, which is passed in.
 */
import { realpathSync } from 'node:fs';
import { isAbsolute, resolve } from 'node:path';
import {
  type McpEntry,
  type NamedEntry,
  type Policy,
  type ServerPolicy,
  serverOrigin,
  serverProgram,
  type Unusable,
} from '../../policy/index.ts';
import { type Problem, problem } from '../../problems/index.ts';
import type { ProjectServers } from './config.ts';
import type { ServerEntry } from './edge.ts';

export interface EntrySources {
  readonly policy: Policy;
  /** Where the policy's programs are started. */
  readonly home: string;
  readonly project?: ProjectServers;
  readonly session?: { readonly id: string; readonly cwd: string; readonly servers: readonly NamedEntry[] };
  /** Real path of a folder; the folder itself where it has none. */
  readonly realPath?: (folder: string) => string;
}

type Transport = NonNullable<ServerEntry['transport']>;
type Found = Pick<ServerEntry, 'transport' | 'bearer' | 'disabled' | 'fault'>;

const realPathOf = (folder: string): string => {
  try {
    return realpathSync(folder);
  } catch {
    return folder;
  }
};

/** Folders and programs that are named by a relative path stand below the folder their source stands for. */
const placed = (entry: McpEntry, base: string): Transport => {
  if (entry.type === 'http') return entry;
  const { cwd, command } = entry;
  const folder = cwd === undefined ? base : isAbsolute(cwd) || cwd.startsWith('$') ? cwd : resolve(base, cwd);
  return { ...entry, cwd: folder, command: /^\.{1,2}[/\\]/.test(command) ? resolve(base, command) : command };
};

const faulty = (name: string, { rule, reason }: Unusable): Found => ({
  transport: undefined,
  fault: problem('connections/no-transport', { subject: name, evidence: `${rule}: ${reason}` }),
});

const ofPolicy = (policy: Policy, home: string, name: string, { transport }: ServerPolicy): Found => {
  if (transport.type === 'station') return { transport: undefined };
  if (transport.type === 'stdio') {
    const program = serverProgram(policy, name, transport.program);
    if ('reason' in program) return faulty(name, program);
    const { command, args, inherit } = program;
    return { transport: { type: 'stdio', command, args, env: {}, cwd: home, inherit } };
  }
  const origin = serverOrigin(policy, name, transport.origin);
  if ('reason' in origin) return faulty(name, origin);
  return {
    transport: { type: 'http', url: origin.url, headers: {} },
    ...(origin.bearer === undefined ? {} : { bearer: origin.bearer }),
  };
};

/** Names that people cannot tell apart are one name. */
const nameKey = (name: string): string => name.normalize('NFC').toLowerCase();

/** The whole list, so that it can be pasted: what is trusted stays trusted. */
const trustCommand = (policy: Policy, folder: string): string =>
  `jupiter policy set trustedProjects '${JSON.stringify([...policy.trustedProjects, folder])}'`;

export const serverEntries = (sources: EntrySources): readonly ServerEntry[] => {
  const { policy, home, project, session, realPath = realPathOf } = sources;
  const entries: ServerEntry[] = [];
  const taken = new Map<string, string>();
  const disabledBy = (name: string): string | undefined => {
    if (policy.disabledMcpServers.has(name)) return 'disabled by policy (disabledMcpServers)';
    return project?.disabled.has(name) === true ? `disabled by ${project.file}` : undefined;
  };
  const add = (key: string, name: string, place: string, found: Found): void => {
    const disabled = found.disabled ?? disabledBy(name);
    entries.push({ key, name, place, ...found, ...(disabled === undefined ? {} : { disabled }) });
  };
  /** The fault of a name that an outer layer has; otherwise it is this layer's. */
  const claim = (name: string, place: string): Problem | undefined => {
    const owner = taken.get(nameKey(name));
    if (owner === undefined) taken.set(nameKey(name), place);
    return owner === undefined
      ? undefined
      : problem('connections/name-taken', { subject: name, evidence: `${place}; it is that of ${owner}` });
  };

  for (const [name, server] of policy.servers) {
    const place = `servers.${name}`;
    taken.set(nameKey(name), place);
    if (server.transport.type === 'station') continue;
    const found = ofPolicy(policy, home, name, server);
    add(
      `policy/${name}`,
      name,
      place,
      server.exposure === 'gateway'
        ? found
        : { ...found, disabled: "direct: the agent's own client connects" },
    );
  }
  for (const [name, entry] of policy.mcpServers) {
    const place = `mcpServers.${name}`;
    const fault = claim(name, place);
    if (fault === undefined) add(`policy/${name}`, name, place, { transport: placed(entry, home) });
    else add(`policy/mcpServers/${name}`, name, place, { transport: undefined, fault });
  }

  const layer = (prefix: string, base: string, servers: readonly NamedEntry[]): void => {
    for (const { name, place, entry } of servers) {
      const fault = claim(name, place) ?? (entry.ok ? undefined : entry.problem);
      if (fault !== undefined) add(`${prefix}/${name}`, name, place, { transport: undefined, fault });
      else if (entry.ok) add(`${prefix}/${name}`, name, place, { transport: placed(entry.value, base) });
    }
  };
  if (project?.servers !== undefined) {
    const { folder, servers } = project;
    const prefix = `project:${folder}`;
    if (policy.trustedProjects.some((trusted) => realPath(trusted) === folder))
      layer(prefix, folder, servers);
    else {
      const disabled = `its project is not trusted; ${trustCommand(policy, folder)} trusts it`;
      for (const { name, place } of servers)
        add(`${prefix}/${name}`, name, place, { transport: undefined, disabled });
    }
  }
  if (session !== undefined) layer(`session:${session.id}`, session.cwd, session.servers);
  return entries;
};

/**
 * The entries of several sessions as one list: a server that one session's project disables is still dialled for the
 * others.
 */
export const allEntries = (views: readonly (readonly ServerEntry[])[]): readonly ServerEntry[] => {
  const found = new Map<string, ServerEntry>();
  for (const entry of views.flat()) {
    const known = found.get(entry.key);
    if (known === undefined || (known.disabled !== undefined && entry.disabled === undefined))
      found.set(entry.key, entry);
  }
  return [...found.values()];
};
