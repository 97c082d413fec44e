/**
 * The permissions a component may ask for, and which platform interface needs which. An interface that is not in
 * this table cannot be imported; one with `undefined` needs no permission.
 */
export const permissionFor = {
  log: undefined,
  clock: undefined,
  random: undefined,
  store: 'store:own',
  bus: 'bus:publish',
  process: 'process:spawn',
  'session-context': 'session-context:provision',
} as const satisfies Record<string, string | undefined>;

export type PlatformInterface = keyof typeof permissionFor;
export type Permission = NonNullable<(typeof permissionFor)[PlatformInterface]>;

export const permissions: readonly Permission[] = Object.values(permissionFor)
  .filter((name) => name !== undefined)
  .sort();
