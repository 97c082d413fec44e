/**
 * What other rooms see of the gateway: the agent of a session reaches each server it was given at an address of its own
 * on this machine, with a token of that session alone, and every call passes the gate. Everything it needs from the
 * station is handed to it here, so that the room knows no session's state.
 */
import type { Result } from '../../problems/index.ts';
import type { Connection, Json } from '../connections/edge.ts';
import type { Decision, Wanted } from '../gate/edge.ts';

/** A server as one session reaches it. */
export interface GatewayServer {
  /** Part of the address, and what the agent calls the server: `[A-Za-z0-9_-]`, mapped from `original`. */
  readonly alias: string;
  readonly original: string;
  /** `station`: the station's own skills server, which has no connection. */
  readonly upstream: Connection | 'station';
  /** Tools that may be offered and called, by the server's own names; undefined: all. */
  readonly tools?: readonly string[];
  readonly elicitation: 'queue' | 'agent';
}

/** One decision as it is kept. */
export interface GateRow {
  readonly session: string;
  readonly server: string;
  /** The server's own name of the tool; `Skill(name)` of a skill. At most 200 characters of it. */
  readonly tool: string;
  readonly decision: 'allowed' | 'denied';
  /** The rule and, where a person or a setting answered, who. */
  readonly rule: string;
}

/** What a session is asked, beside what its agent asks. */
export interface GateAsk {
  readonly session: string;
  readonly title: string;
  /** `mcp__probe__write` */
  readonly tool: string;
  /** What is shown of the arguments, or the form that is to be filled in. */
  readonly text: string;
  readonly kind: 'call' | 'elicitation';
  /** JSON Schema of the answer's content, of an elicitation. */
  readonly schema?: Json;
}
export interface GateAnswer {
  readonly allow: boolean;
  /** Who answered, in words: `by a person`, `nobody answered within 30 minutes`. */
  readonly why: string;
  /** Of an elicitation. */
  readonly content?: Json;
}

export interface GatewayPorts {
  /** Pure decision by policy as it is now: `decide(policy.permissions, wanted)`. */
  readonly decide: (session: string, wanted: Wanted) => Decision;
  /** The servers of a session as policy stands now: what is not in it is not there, whatever the agent was told. */
  readonly servers: (session: string) => readonly GatewayServer[];
  /** Puts a request into the session's queue; withdrawn when the signal aborts. */
  readonly ask: (ask: GateAsk, signal: AbortSignal) => Promise<GateAnswer>;
  /** Kept before the answer leaves; resolves when it is on disk. Rows of one turn of the event loop are one commit. */
  readonly record: (row: GateRow) => Promise<void>;
  /** The agent's client spoke to this server (`connected`), or a call of it was let through (`used`). Once a stage. */
  readonly observed: (session: string, server: string, stage: 'connected' | 'used') => void;
  /** Whether a turn of the session runs: then the list of tools is the one it began with. */
  readonly inTurn: (session: string) => boolean;
  /** The tool `Skill` for the session's folder; undefined where the skill is denied or unknown is answered by itself. */
  readonly skills: (session: string) => Promise<StationServer>;
}

/** The station's own server as the gateway serves it. */
export interface StationServer {
  readonly instructions?: string;
  readonly tools: readonly Json[];
  readonly call: (tool: string, args: Json) => Promise<Json>;
}

/** How an agent reaches one server. `command` is for agents without HTTP: a program that takes the token from its environment. */
export interface GatewayAddress {
  readonly url: string;
  readonly command: string;
  readonly args: readonly string[];
}

export interface Gateway {
  /** Of `127.0.0.1`; any free port. */
  readonly port: number;
  readonly address: (alias: string) => GatewayAddress;
  /** A new token of this session, which ends the one before; kept as a hash only. */
  readonly admit: (session: string) => string;
  /** The session can call nothing any more; what it still waits for is aborted. */
  readonly dismiss: (session: string) => void;
  /** A turn began or ended: the list of tools is held, or told again where it changed meanwhile. */
  readonly turn: (session: string, running: boolean) => void;
  /** Status or tools of a connection changed: whoever is shown them is told. For `Connections.onChange`. */
  readonly changed: (connection: Connection) => void;
  readonly close: () => Promise<void>;
}
export type OpenGateway = (options: {
  readonly ports: GatewayPorts;
  readonly server: { readonly name: string; readonly version: string };
  /** The program of the shim, and what stands before its own arguments. */
  readonly shim: { readonly command: string; readonly args: readonly string[] };
  readonly onBug: (error: unknown) => void;
}) => Promise<Result<Gateway>>;
