/**
 * What must never be seen: the values of the variables policy and its servers name, and values that stand in an entry
 * of them. New objects only when something changed.
 */
import type { Policy } from '../policy/index.ts';
import type { Secrets } from './servers.ts';
import { channelTokens } from './web.ts';

export const knownSecrets = (
  current: () => Policy,
  env: Readonly<Record<string, string | undefined>>,
  ofServers: () => Secrets | undefined,
) => {
  let revision: string | undefined;
  let seen: Secrets | undefined;
  let names: ReadonlySet<string> = new Set();
  // Values by what they are stand beside the environment, under names no variable can have.
  let looked = false;
  const values: Record<string, string | undefined> = Object.create(env);
  return {
    values,
    names: () => {
      // Asked for every line and row: once in a turn of the event loop is as often as it can change for anybody.
      if (looked) return names;
      looked = true;
      setImmediate(() => {
        looked = false;
      });
      const policy = current();
      const servers = ofServers();
      if (policy.revision !== revision || servers !== seen) {
        revision = policy.revision;
        seen = servers;
        for (const [what, value] of servers?.values ?? []) values[`{${what}}`] = value;
        // What was known once stays known: it may still stand in a running agent's output.
        names = new Set([
          ...names,
          ...[...policy.programs.values()].flatMap((program) => program.inherit),
          ...[...policy.origins.values()].flatMap((origin) => origin.bearer ?? []),
          ...channelTokens(policy),
          ...(servers?.names ?? []),
          ...[...(servers?.values.keys() ?? [])].map((what) => `{${what}}`),
        ]);
      }
      return names;
    },
  };
};
