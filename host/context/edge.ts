/** What other rooms see of session-context. The shapes are those of WIT `session-context`. */
import type { Policy } from '../policy/index.ts';
import type { Problem, Result } from '../problems/index.ts';

export interface Offered {
  readonly name: string;
  /** The place in the policy that decided: `servers.probe.consumers`. */
  readonly rule: string;
  readonly transport:
    | { readonly type: 'stdio'; readonly command: string; readonly args: readonly string[] }
    | { readonly type: 'http'; readonly url: string }
    /** Through the station: its address, and a program for agents without HTTP. */
    | {
        readonly type: 'gateway';
        readonly url: string;
        readonly command: string;
        readonly args: readonly string[];
      };
}
export interface Withheld {
  readonly name: string;
  readonly rule: string;
  readonly reason: string;
}
export interface Provision {
  readonly policyRevision: string;
  readonly program: string | null;
  readonly provider: string | null;
  readonly approve: 'manual' | 'auto' | 'workspace';
  readonly sink: string | null;
  readonly offered: readonly Offered[];
  readonly withheld: readonly Withheld[];
}
/**
 * A server the station itself reaches, as it would be offered: at its address, or not, for a reason. `name` is what
 * agents call it, `place` where it is configured.
 */
export interface Reached {
  readonly name: string;
  readonly place: string;
  readonly by: Extract<Offered['transport'], { type: 'gateway' }> | { readonly reason: string };
}
/**
 * Pure: what this agent may get under this policy. `reached` are the servers behind the gateway: those of the policy's
 * `servers` go to their consumers, all others to every agent.
 */
export type ProvisionFor = (policy: Policy, agent: string, reached?: readonly Reached[]) => Provision;

/** One skill of an installed bundle: where its admitted bytes lie and what they must be. */
export interface SkillSource {
  readonly bundle: string;
  /** The bundle's identity, hex. */
  readonly revision: string;
  readonly name: string;
  /** Absolute folder of the skill in the staged package. */
  readonly folder: string;
  readonly files: readonly { readonly path: string; readonly sha256: string; readonly size: number }[];
}

export interface Placement {
  readonly bundle: string;
  readonly revision: string;
  readonly name: string;
  readonly decision: 'placed' | 'unchanged' | 'refused';
  readonly reason: string | null;
  /** Files now in place that this placement vouches for. */
  readonly files: number;
}

/** What a home remembers of one skill's folder in a sink; of the sink itself under the name `''`. */
export interface Remembered {
  readonly bundle: string;
  /** SHA-256 of the bytes of each marker it wrote there: one, and more while files change. */
  readonly markers: readonly string[];
  /** Folders it made, relative to the workspace, parents first. */
  readonly made: readonly string[];
}
/**
 * A home's own record of a sink. Anybody who can write in a workspace can write a marker: only one that is remembered
 * here makes a file ours. What is set survives the kill of this process.
 */
export interface PlacedMemory {
  readonly of: (name: string) => Remembered | undefined;
  readonly set: (name: string, what: Remembered | undefined) => void;
}

/**
 * Puts skills under `cwd/sink` (`context/sink-invalid`, `context/workspace-missing`, … refuse the whole call before
 * any file is touched; a single skill that cannot be placed is a `refused` placement and the others go on).
 */
export type PlaceSkills = (request: {
  readonly cwd: string;
  readonly sink: string;
  readonly skills: readonly SkillSource[];
  readonly memory: PlacedMemory;
}) => Promise<Result<readonly Placement[]>>;

/** A placed skill compared with its record. `name` is null where the sink itself cannot be looked into. */
export interface PlacedSkill {
  readonly sink: string;
  readonly name: string | null;
  readonly bundle: string | null;
  readonly revision: string | null;
  /** What differs, is missing or was never finished; none where the skill is whole. */
  readonly problems: readonly Problem[];
  /** Files someone put beside ours. */
  readonly added: readonly string[];
}
/**
 * Every placed skill in a sink, or in every known one; folders without a marker are not ours and not listed. With
 * `memory` neither are those whose marker the home never wrote; one it wrote and that was replaced is a problem.
 */
export type VerifyPlaced = (
  cwd: string,
  sink?: string,
  memory?: PlacedMemory,
) => Promise<Result<readonly PlacedSkill[]>>;

export interface RemovedSkill {
  readonly name: string;
  /** Files that were removed. */
  readonly removed: number;
  /** Files that were changed since they were placed, or that this home never placed: they stay, the user's. */
  readonly kept: readonly string[];
  readonly problem?: Problem;
}
/**
 * Takes away what a bundle has placed in a sink, as far as it is still ours, with folders that were made for it and are
 * empty now; skills that `keep` names stay.
 */
export type RemovePlaced = (request: {
  readonly cwd: string;
  readonly sink: string;
  readonly bundle: string;
  readonly memory: PlacedMemory;
  readonly keep?: (name: string) => boolean;
}) => Promise<Result<readonly RemovedSkill[]>>;
