/** Every release this host serves, oldest first; none is ever taken out (docs/decisions/0010). */
import type { Release } from './release.ts';
import { since010 } from './since-0.1.0.ts';
import { since020 } from './since-0.2.0.ts';
import { since030 } from './since-0.3.0.ts';

export type { Ask, Imports, Interface, Release } from './release.ts';
export const releases: readonly Release[] = [since010, since020, since030];

export const releaseOf = (version: string): Release | undefined =>
  releases.find((release) => release.version === version);
