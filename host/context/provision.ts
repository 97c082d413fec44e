/**
 * Which servers an agent gets: those whose consumers name it and that can be handed over as policy stands. Every
 * other server of the policy is listed with the reason, so that nobody has to guess. Pure.
 */
import type { Policy, ServerPolicy } from '../policy/index.ts';
import type { Offered, Provision, ProvisionFor, Withheld } from './edge.ts';
import { noStdioFor, sinkFor } from './families.ts';

type Verdict =
  | { readonly offered: Offered['transport'] }
  | { readonly rule: string; readonly reason: string };

const transportOf = (policy: Policy, name: string, server: ServerPolicy): Verdict => {
  if (server.transport.type === 'stdio') {
    const alias = server.transport.program;
    const program = policy.programs.get(alias);
    if (program === undefined)
      return {
        rule: `servers.${name}.transport.program`,
        reason: `the program "${alias}" is not in the policy`,
      };
    if (program.trust !== 'full')
      return { rule: `programs.${alias}`, reason: `the program "${alias}" is not trusted ("trust": "full")` };
    return { offered: { type: 'stdio', command: program.command, args: program.args } };
  }
  if (server.transport.type === 'station')
    return { rule: `servers.${name}.transport`, reason: 'the station is reached through its gateway only' };
  const alias = server.transport.origin;
  const origin = policy.origins.get(alias);
  if (origin === undefined)
    return { rule: `servers.${name}.transport.origin`, reason: `the origin "${alias}" is not in the policy` };
  // A direct connection would need the token itself to travel to the agent.
  if (origin.bearer !== undefined && server.exposure === 'direct')
    return {
      rule: `origins.${alias}.bearer`,
      reason: `the origin "${alias}" needs a bearer token, which is never handed to an agent`,
    };
  return { offered: { type: 'http', url: origin.url } };
};

const verdictFor = (policy: Policy, agent: string, name: string, server: ServerPolicy): Verdict => {
  if (!server.consumers.includes(agent))
    return { rule: `servers.${name}.consumers`, reason: `agent "${agent}" is not among its consumers` };
  const known = policy.agents.get(agent);
  if (known === undefined) return { rule: 'agents', reason: `agent "${agent}" is not in the policy` };
  const noStdio =
    server.transport.type === 'stdio' && server.exposure === 'direct' ? noStdioFor(known.program) : undefined;
  if (noStdio !== undefined) return { rule: `agents.${agent}.program`, reason: noStdio };
  const verdict = transportOf(policy, name, server);
  if ('reason' in verdict || server.exposure === 'direct') return verdict;
  return {
    rule: `servers.${name}.exposure`,
    reason: 'exposure "gateway" is not supported yet; only "direct" is',
  };
};

export const provisionFor: ProvisionFor = (policy, agent): Provision => {
  const known = policy.agents.get(agent);
  const offered: Offered[] = [];
  const withheld: Withheld[] = [];
  for (const [name, server] of policy.servers) {
    const verdict = verdictFor(policy, agent, name, server);
    if ('reason' in verdict) withheld.push({ name, ...verdict });
    else offered.push({ name, rule: `servers.${name}.consumers`, transport: verdict.offered });
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
