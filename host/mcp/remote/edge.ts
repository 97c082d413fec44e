/** What other rooms see of skills that come from other servers. */
import type { Database } from 'better-sqlite3';
import type { Problem, Result } from '../../problems/index.ts';
import type { SkillSource } from '../../skills/index.ts';
import type { RemoteManifest, RemoteServer, RemoteSkill } from './view.ts';

export type { RemoteManifest, RemoteServer, RemoteSkill };

/** What policy says of an address. */
export interface Access {
  /** `remote/no-token` where policy names a variable that is not set. */
  readonly token: Result<string | undefined>;
  /** Policy names this address itself. */
  readonly named: boolean;
}
export interface RemoteOptions {
  readonly db: Database;
  /** Folder of retrieved files, of the host alone. */
  readonly folder: string;
  readonly version: string;
  /** The URL of an alias of policy. */
  readonly alias: (name: string) => string | undefined;
  readonly access: (url: string) => Access;
  readonly now: () => number;
  readonly report: (
    kind: 'refuse' | 'grant' | 'revoke' | 'install' | 'uninstall',
    subject: string,
    why?: Problem,
  ) => void;
  /** Shorter times, for tests. */
  readonly connectMs?: number;
  readonly retrieveMs?: number;
}
/** A skill that was approved and is not placed. */
export interface Unready {
  readonly bundle: string;
  readonly revision: string;
  readonly name: string;
  readonly problem: Problem;
}
export interface RemoteSkills {
  /** `address`: a URL or an alias of policy. `skills`: URIs of skills the server may not list. */
  readonly add: (request: {
    readonly address: string;
    readonly label?: string;
    readonly skills?: readonly string[];
  }) => Promise<Result<RemoteServer>>;
  /** Lists the servers again, or one. One that cannot be listed has its problem and stays as it was. */
  readonly update: (label?: string) => Promise<Result<readonly RemoteServer[]>>;
  /** `digest`: at least 12 characters of the manifest's, as it was shown. */
  readonly approve: (address: string, digest: string) => Promise<Result<RemoteSkill>>;
  /** A skill: its approval and its files. A server: all of it. */
  readonly remove: (address: string) => Promise<Result<{ readonly removed: string }>>;
  readonly list: () => readonly RemoteServer[];
  readonly show: (address: string) => Result<RemoteManifest>;
  /** Retrieves what approved skills lack, as far as it can be had in time. */
  readonly retrieve: () => Promise<void>;
  readonly ready: () => { readonly sources: readonly SkillSource[]; readonly unready: readonly Unready[] };
  /** Whether a source of placements is a skill that is approved now. */
  readonly holds: (source: string) => boolean;
}
