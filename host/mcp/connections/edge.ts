/**
 * What other rooms see of the servers the station dials itself. A server that is configured has one connection, shared
 * by all sessions that may use it; what it says of itself is a claim.
 */
import type { McpEntry } from '../../policy/index.ts';
import type { Problem, Result } from '../../problems/index.ts';
import type { Json } from '../json.ts';

export type { Json };

/**
 * One configured server. `key` is unique and says the source: `policy/<name>`, `project:<folder>/<name>`,
 * `session:<id>/<name>`; a changed entry under the same key is dialled anew.
 */
export interface ServerEntry {
  readonly key: string;
  /** As written. */
  readonly name: string;
  /** Where it stands: `servers.probe`, `.jupiter/settings.jsonc:3:5`. */
  readonly place: string;
  readonly transport:
    | Extract<McpEntry, { type: 'http' }>
    /** `inherit`: NAMES of variables handed on, beside the few every program has and `env`. */
    | (Extract<McpEntry, { type: 'stdio' }> & { readonly inherit?: readonly string[] })
    | undefined;
  /** NAME of the variable whose value is sent as bearer token. */
  readonly bearer?: string;
  /** Why it is never dialled: the operator disabled it, its project is not trusted. */
  readonly disabled?: string;
  /** Why it cannot be: `transport` is undefined then. */
  readonly fault?: Problem;
}

/** What a call would meet. */
export type ConnectionStatus =
  | { readonly state: 'connecting' }
  | { readonly state: 'connected' }
  | { readonly state: 'disabled'; readonly reason: string }
  | { readonly state: 'needs authentication' }
  | { readonly state: 'failed'; readonly problem: Problem };

/** A tool as the server listed it, unchanged. */
export interface ServerTool {
  readonly name: string;
  readonly [key: string]: unknown;
}

/** What a server asks of whoever called it, while a call runs: `elicitation/create`, `sampling/createMessage`, `roots/list`. */
export interface ServerAsk {
  readonly method: string;
  readonly params: Json;
  /** What the server calls it inside of its answer, since 2026-07-28. */
  readonly key?: string;
}
export interface RequestOptions {
  readonly signal?: AbortSignal;
  /** Without it no progress is asked for. */
  readonly onProgress?: (progress: Json) => void;
  /** `undefined`: refused as unsupported. Absent: everything is. */
  readonly onAsk?: (ask: ServerAsk, signal: AbortSignal) => Promise<Json | undefined>;
  /** What may be asked, as client capabilities, where the revision says it with each request; absent: everything. */
  readonly asks?: Json;
}
/** What became of a request: the server's result as it came, its error as it came, or why there is neither. */
export type Answered =
  | { readonly result: Json }
  | { readonly error: { readonly code: number; readonly message: string; readonly data?: unknown } }
  | { readonly problem: Problem };

/** One server. */
export interface Connection {
  readonly entry: ServerEntry;
  readonly status: () => ConnectionStatus;
  /** Every tool of every page, as last listed; empty before the first. A new array only when it changed. */
  readonly tools: () => readonly ServerTool[];
  /** What `initialize` or `server/discover` told; undefined before. */
  readonly about: () =>
    | {
        readonly serverInfo: Json;
        readonly capabilities: Json;
        readonly instructions?: string;
        readonly protocolVersion: string;
        /** Runs of the stations it leads through, where it is a gateway of one. */
        readonly stations?: readonly string[];
      }
    | undefined;
  /**
   * `connections/not-connected` (with the status in `evidence`), `connections/busy` (more than the bound wait),
   * `connections/timed-out`, `connections/lost`, `connections/too-large`. An error the server sends is no problem.
   */
  readonly request: (method: string, params: Json, options?: RequestOptions) => Promise<Answered>;
  readonly notify: (method: string, params: Json) => void;
  /** Notifications of the server, as they come. Returns the way to stop. */
  readonly listen: (listener: (method: string, params: Json) => void) => () => void;
}

export interface Connections {
  /** The entries there are now: new ones are dialled in the background, changed ones anew, others let go. */
  readonly reconcile: (entries: readonly ServerEntry[]) => void;
  readonly all: () => readonly Connection[];
  readonly get: (key: string) => Connection | undefined;
  /**
   * Starts dialling again and answers at once; `connections/unknown` names the known ones, `connections/not-dialled` says
   * why there is nothing to dial.
   */
  readonly reconnect: (key: string) => Result<void>;
  /** A status or a list of tools changed. Returns the way to stop. */
  readonly onChange: (listener: (connection: Connection, what: 'status' | 'tools') => void) => () => void;
  /** Every child gone, with its group. */
  readonly close: () => Promise<void>;
}
