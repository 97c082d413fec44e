/** What of the workspaces' affairs an operator finds in the ledger. */
import type { Provision } from '../context/index.ts';
import { problem } from '../problems/index.ts';
import type { EventLog } from '../state/index.ts';
import type { StationLog } from './log.ts';
import type { PlacedIn, Placements } from './placements.ts';

/** A server this agent is a consumer of and does not get; those meant for others are no news. */
export const tellWithheld = (events: EventLog, agent: string, { withheld }: Provision): void => {
  for (const { name, rule, reason } of withheld)
    if (rule !== `servers.${name}.consumers`)
      events.add(
        'withhold',
        `${name} from ${agent}`,
        problem('context/server-withheld', { evidence: reason }),
      );
};

/** A placed skill that is not what was placed. */
export const tellDiffering = (events: EventLog, { cwd, sink, name, bundle, problems }: PlacedIn): void => {
  const [first] = problems;
  if (first !== undefined)
    events.add('differ', `${bundle ?? 'unknown'} ${name ?? ''} in ${cwd}/${sink}`, first);
};

/** Takes away what waited for a session to end; what cannot be taken away now is looked at again later. */
export const cleared = async (placements: Placements, log: StationLog): Promise<void> => {
  try {
    for (const { bundle, cwd, problems } of await placements.clear())
      for (const found of problems) log.station('warn', `${bundle} in ${cwd}: ${found.message}`);
  } catch (cause) {
    log.station('error', `clearing placed skills: ${cause}`);
  }
};
