/**
 * The permissions an operator may grant, and the platform interface each opens. An interface that is not in this
 * table cannot be imported; one with `undefined` needs no permission. What each does is in host/capabilities.
 */
export const permissionFor = {
  log: undefined,
  clock: undefined,
  random: undefined,
  store: 'store:own',
  bus: 'bus:publish',
  process: 'process:spawn',
  // What they do is done for a process the component started; whether it is done is policy of the agent (decision 23).
  workspace: 'process:spawn',
  terminals: 'process:spawn',
  'session-context': 'session-context:provision',
} as const satisfies Record<string, string | undefined>;

export type Permission = NonNullable<(typeof permissionFor)[keyof typeof permissionFor]>;

export const permissions: readonly Permission[] = [
  ...new Set(Object.values(permissionFor).filter((name) => name !== undefined)),
].sort();
