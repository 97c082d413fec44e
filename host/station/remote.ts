/**
 * Skills of other servers in this station: what policy says of their addresses, when their files are retrieved, and what
 * a workspace gets of them beside the skills of bundles.
 */
import type { Database } from 'better-sqlite3';
import { type Placement, provisionFor } from '../context/index.ts';
import { openRemoteSkills, type RemoteSkills } from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import { ok, problem, type Result, refuse } from '../problems/index.ts';
import type { SkillSource } from '../skills/index.ts';
import type { EventLog } from '../state/index.ts';
import type { Home } from './home.ts';
import { openListingWatch } from './listing.ts';
import type { Placements } from './placements.ts';
import { version } from './version.ts';

export interface StationRemoteOptions {
  readonly db: Database;
  readonly home: Home;
  readonly policy: () => Policy;
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
  readonly events: EventLog;
  readonly placements: Placements;
}
export interface StationRemote {
  readonly skills: RemoteSkills;
  /** Retrieves what approved skills lack, where this agent has a folder for skills. */
  readonly retrieveFor: (agent: string) => Promise<void>;
  /** Skills of bundles and approved ones of other servers, and why any of those is not there. */
  readonly place: (
    cwd: string,
    sink: string,
    bundled: readonly SkillSource[],
  ) => Promise<Result<readonly Placement[]>>;
}

export const openStationRemote = (options: StationRemoteOptions): StationRemote => {
  const { policy, env, events, placements } = options;
  const originAt = (url: string) => {
    const wanted = URL.parse(url)?.href;
    return [...policy().origins.values()].find((origin) => URL.parse(origin.url)?.href === wanted);
  };
  const skills = openRemoteSkills({
    db: options.db,
    folder: options.home.remote,
    version,
    alias: (name) => policy().origins.get(name)?.url,
    access: (url) => {
      const origin = originAt(url);
      const variable = origin?.bearer;
      const token = variable === undefined ? undefined : env[variable];
      const unset = variable !== undefined && (token === undefined || token === '');
      return {
        named: origin !== undefined,
        token: unset ? refuse('remote/no-token', { subject: url, evidence: variable }) : ok(token),
      };
    },
    now: options.now,
    report: events.add,
  });
  const listing = openListingWatch((subject, why) => events.add('limit', subject, why));
  return {
    skills,
    retrieveFor: async (agent) => {
      if (provisionFor(policy(), agent).sink === null) return;
      await skills.retrieve();
      // What turned out to have changed leaves the workspaces.
      await placements.clear();
    },
    place: async (cwd, sink, bundled) => {
      const { sources, unready } = skills.ready();
      const placed = await placements.place(cwd, sink, [...bundled, ...sources]);
      if (!placed.ok) return placed;
      await listing.placed(sink, [...bundled, ...sources]);
      const withheld = unready.map(({ bundle, revision, name, problem: why }): Placement => {
        const seen = why.evidence === undefined ? why.code : `${why.code}, ${why.evidence}`;
        const reason = `${why.subject === undefined ? '' : `${why.subject}: `}${why.message} (${seen})`;
        events.add('withhold', `${bundle} ${name}`, problem('context/withheld', { evidence: reason }));
        return { bundle, revision, name, decision: 'refused', reason, files: 0 };
      });
      return ok([...placed.value, ...withheld]);
    },
  };
};
