/**
 * The permissions a component may ask for, and which platform interface needs which. An interface that is not in
 * this table cannot be imported; one with `undefined` needs no permission.
 */
import { permission as bus } from './bus.ts';
import { permission as process } from './process.ts';
import { permission as sessionContext } from './session-context.ts';
import { permission as store } from './store.ts';

export const permissionFor = {
  log: undefined,
  clock: undefined,
  random: undefined,
  store,
  bus,
  process,
  'session-context': sessionContext,
} as const satisfies Record<string, string | undefined>;

export type PlatformInterface = keyof typeof permissionFor;
export type Permission = NonNullable<(typeof permissionFor)[PlatformInterface]>;

export const permissions: readonly Permission[] = Object.values(permissionFor)
  .filter((name) => name !== undefined)
  .sort();
