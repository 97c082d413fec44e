/** What other rooms see of policy. */
import type { Problem } from '../problems/index.ts';
import type { Limits } from './limits.ts';
import type { McpEntry } from './mcp-entry.ts';

export interface Agent {
  readonly program: string;
  /** `bundle:component` that opens it. */
  readonly provider: string;
  readonly approve: 'manual' | 'auto' | 'workspace';
  /** What it may ask of the station: text files of its workspace, commands in it. */
  readonly host: { readonly read: boolean; readonly write: boolean; readonly terminals: boolean };
}
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  /** Names of environment variables the child inherits. */
  readonly inherit: readonly string[];
  readonly trust: 'full' | 'none';
}
export interface Origin {
  readonly url: string;
  /** The NAME of the variable that holds the bearer token. */
  readonly bearer?: string;
}
export interface ServerPolicy {
  readonly transport:
    | { readonly type: 'stdio'; readonly program: string }
    | { readonly type: 'http'; readonly origin: string }
    /** The station's own server: its exposure is `gateway`. */
    | { readonly type: 'station' };
  /** Agent IDs that may get it. */
  readonly consumers: readonly string[];
  readonly exposure: 'direct' | 'gateway';
  /** Tools that may be offered; absent means all. */
  readonly tools?: readonly string[];
  /** Who is asked what the server asks of a person. */
  readonly elicitation: 'queue' | 'agent';
}

/** One rule of the gate as it is written, and its place: `permissions.deny[0]`. */
export interface GateRule {
  readonly text: string;
  readonly place: string;
}
export interface GatePolicy {
  readonly deny: readonly GateRule[];
  readonly ask: readonly GateRule[];
  readonly allow: readonly GateRule[];
}

/** What is published over MCP, and to whom. */
export interface McpChannel {
  readonly bundles: boolean;
  /** Absolute folders of skills. */
  readonly folders: readonly string[];
  /** Whether a SKILL.md without name and description is served with them, or not at all. */
  readonly frontmatter: 'complete' | 'authored';
  /** NAMES of variables that hold bearer tokens; `none`: whoever reaches the port. */
  readonly tokens: readonly string[] | 'none';
}
export interface Channel {
  readonly port?: number;
  readonly mcp?: McpChannel;
}

/** Bundles whose ID is `prefix`, or goes on after it with a dot, must be signed with the key of this name. */
export interface SignaturePolicy {
  readonly prefix: string;
  readonly name: string;
  /** `ed25519:…`; undefined where the policy has no key of this name: then nothing fits. */
  readonly key: string | undefined;
}

/** A policy as read, aliases sorted. One that could not be read has `problems` and grants nothing. */
export interface Policy {
  /** SHA-256 of the file's bytes, hex: the policy revision of every record. `none` where there is no file to read. */
  readonly revision: string;
  readonly problems: readonly Problem[];
  /** Bundle ID → permissions granted. */
  readonly grants: ReadonlyMap<string, ReadonlySet<string>>;
  /** Bundle ID → what its components may use, where policy sets any of it; the defaults fill the rest. */
  readonly limits: ReadonlyMap<string, Limits>;
  readonly agents: ReadonlyMap<string, Agent>;
  readonly programs: ReadonlyMap<string, Program>;
  readonly origins: ReadonlyMap<string, Origin>;
  readonly servers: ReadonlyMap<string, ServerPolicy>;
  /** Servers in the form of other hosts, by their names as written; every agent reaches them, through the gateway. */
  readonly mcpServers: ReadonlyMap<string, McpEntry>;
  readonly disabledMcpServers: ReadonlySet<string>;
  /** Absolute folders whose settings may name servers. */
  readonly trustedProjects: readonly string[];
  readonly permissions: GatePolicy;
  /** Absent: nothing is served over HTTP. */
  readonly channel?: Channel;
  /** Whose signature bundles need. */
  readonly signatures: readonly SignaturePolicy[];
  /** Where an entry stands, `servers.probe`, for the `rule` of a decision; line and column count from 1. */
  readonly place: (path: string) => { readonly line: number; readonly column: number } | undefined;
}

/** Pure: text in, policy out. */
export type ReadPolicy = (bytes: Uint8Array, file: string) => Policy;

/** The policy as it is now: the file is looked at (size, time, inode) at each call and read again when it changed. */
export interface PolicySource {
  readonly current: () => Policy;
}
