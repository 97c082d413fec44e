/**
 * How the allocator of a station in the background is set, which can only be done from outside and before it starts
 * (docs/decisions/0032). glibc raises the size from which a block is given back to the system when it is freed, up to
 * 32 MiB, as soon as one of that size was freed; a size that was set stays. Other allocators read other names.
 */
const name = 'MALLOC_TRIM_THRESHOLD_';
/** glibc's own first value, bytes. */
const bytes = '131072';

type Environment = Readonly<Record<string, string | undefined>>;

/** What is added to the environment a station is started with; what the operator set stays. */
export const allocatorSettings = (env: Environment): Readonly<Record<string, string>> =>
  env[name] === undefined ? { [name]: bytes } : {};

/** Takes it away again, once it was read: nothing the station starts is to have it. */
export const dropAllocatorSettings = (env: Record<string, string | undefined>): void => {
  if (env[name] === bytes) delete env[name];
};
