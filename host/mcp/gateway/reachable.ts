/**
 * Which of the configured servers the agent of a session reaches through the station, under what name, and why it does
 * not reach the others. What its own client connects to, and what is meant for other agents, is not among them. Pure.
 */
import type { Policy } from '../../policy/index.ts';
import type { Problem } from '../../problems/index.ts';
import type { ServerEntry } from '../connections/edge.ts';
import { disabledByPolicy } from '../connections/entries.ts';
import { serverAlias } from '../gate/names.ts';

export interface Reachable {
  /** As it is configured, and as agents call it. */
  readonly original: string;
  readonly alias: string;
  readonly place: string;
  /** Its connection, by its key; none where its entry cannot be used. */
  readonly upstream: { readonly key: string } | 'station' | undefined;
  /** Why an agent that is opened now is not given it. */
  readonly reason: string | undefined;
}

const reasonOf = ({ message, evidence }: Problem): string =>
  evidence === undefined ? message : `${message} (${evidence})`;

/** `entries` are those of the session. */
export const reachableServers = (
  policy: Policy,
  agent: string,
  entries: readonly ServerEntry[],
): readonly Reachable[] => {
  const found = entries.flatMap(({ key, name, place, disabled, fault }): Reachable[] => {
    const server = place === `servers.${name}` ? policy.servers.get(name) : undefined;
    if (server !== undefined && (server.exposure !== 'gateway' || !server.consumers.includes(agent)))
      return [];
    const reason = fault === undefined ? disabled : reasonOf(fault);
    const upstream = fault === undefined ? { key } : undefined;
    return [{ original: name, alias: serverAlias(name), place, upstream, reason }];
  });
  const own = [...policy.servers].flatMap(([name, { transport, consumers }]): Reachable[] => {
    if (transport.type !== 'station' || !consumers.includes(agent)) return [];
    const reason = policy.disabledMcpServers.has(name) ? disabledByPolicy : undefined;
    const place = `servers.${name}`;
    return [{ original: name, alias: serverAlias(name), place, upstream: 'station', reason }];
  });
  return [...found, ...own];
};
