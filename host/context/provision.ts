/**
 * Which servers an agent gets: those whose consumers name it and that can be handed over as policy stands, and those
 * the station reaches for everybody. Every other server is listed with the reason, so that nobody has to guess. Pure.
 */
import {
  type Policy,
  type ServerPolicy,
  serverOrigin,
  serverProgram,
  type Unusable,
} from '../policy/index.ts';
import type { Offered, Provision, ProvisionFor, Reached, Withheld } from './edge.ts';
import { noStdioFor, sinkFor } from './families.ts';

type Verdict = { readonly offered: Offered['transport'] } | Unusable;

const transportOf = (policy: Policy, name: string, server: ServerPolicy): Verdict => {
  if (server.transport.type === 'stdio') {
    const program = serverProgram(policy, name, server.transport.program);
    return 'reason' in program
      ? program
      : { offered: { type: 'stdio', command: program.command, args: program.args } };
  }
  // Policy takes this one through the gateway only.
  if (server.transport.type === 'station')
    return { rule: `servers.${name}.exposure`, reason: 'the station is reached through its gateway' };
  const alias = server.transport.origin;
  const origin = serverOrigin(policy, name, alias);
  if ('reason' in origin) return origin;
  // A direct connection would need the token itself to travel to the agent.
  if (origin.bearer !== undefined)
    return {
      rule: `origins.${alias}.bearer`,
      reason: `the origin "${alias}" needs a bearer token, which is never handed to an agent`,
    };
  return { offered: { type: 'http', url: origin.url } };
};

const verdictFor = (
  policy: Policy,
  agent: string,
  name: string,
  server: ServerPolicy,
  reached: Reached | undefined,
): Verdict => {
  if (!server.consumers.includes(agent))
    return { rule: `servers.${name}.consumers`, reason: `agent "${agent}" is not among its consumers` };
  const known = policy.agents.get(agent);
  if (known === undefined) return { rule: 'agents', reason: `agent "${agent}" is not in the policy` };
  if (server.exposure === 'gateway') {
    if (reached === undefined)
      return {
        rule: `servers.${name}.exposure`,
        reason: 'it is behind the gateway, where only a session can be let in',
      };
    return 'reason' in reached.by
      ? { rule: reached.place, reason: reached.by.reason }
      : { offered: reached.by };
  }
  if (policy.disabledMcpServers.has(name))
    return { rule: 'disabledMcpServers', reason: 'the operator disabled it' };
  const noStdio = server.transport.type === 'stdio' ? noStdioFor(known.program) : undefined;
  return noStdio === undefined
    ? transportOf(policy, name, server)
    : { rule: `agents.${agent}.program`, reason: noStdio };
};

export const provisionFor: ProvisionFor = (policy, agent, reached = []): Provision => {
  const known = policy.agents.get(agent);
  const offered: Offered[] = [];
  const withheld: Withheld[] = [];
  const byPlace = new Map(reached.map((one) => [one.place, one]));
  for (const [name, server] of policy.servers) {
    const way = byPlace.get(`servers.${name}`);
    const verdict = verdictFor(policy, agent, name, server, way);
    if ('reason' in verdict) withheld.push({ name, ...verdict });
    else
      offered.push({
        name: way?.name ?? name,
        rule: `servers.${name}.consumers`,
        transport: verdict.offered,
      });
  }
  for (const { name, place, by } of reached) {
    if (place.startsWith('servers.')) continue;
    if ('reason' in by) withheld.push({ name, rule: place, reason: by.reason });
    else offered.push({ name, rule: place, transport: by });
  }
  return {
    policyRevision: policy.revision,
    program: known?.program ?? null,
    provider: known?.provider ?? null,
    approve: known?.approve ?? 'manual',
    sink: (known === undefined ? undefined : sinkFor(known.program)) ?? null,
    offered,
    withheld,
  };
};
