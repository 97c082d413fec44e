/** What the alias in a server's transport stands for, or which rule keeps it from being used, and why. Pure. */
import type { Origin, Policy, Program } from './edge.ts';

export interface Unusable {
  /** Where in the policy it stands. */
  readonly rule: string;
  readonly reason: string;
}

/** A program that is there and trusted. `server`: the server's name in the policy. */
export const serverProgram = (
  policy: Pick<Policy, 'programs'>,
  server: string,
  alias: string,
): Program | Unusable => {
  const program = policy.programs.get(alias);
  if (program === undefined)
    return {
      rule: `servers.${server}.transport.program`,
      reason: `the program "${alias}" is not in the policy`,
    };
  return program.trust === 'full'
    ? program
    : { rule: `programs.${alias}`, reason: `the program "${alias}" is not trusted ("trust": "full")` };
};

/** An origin that is there. */
export const serverOrigin = (
  policy: Pick<Policy, 'origins'>,
  server: string,
  alias: string,
): Origin | Unusable =>
  policy.origins.get(alias) ?? {
    rule: `servers.${server}.transport.origin`,
    reason: `the origin "${alias}" is not in the policy`,
  };
