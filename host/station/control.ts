/**
 * What a client may ask a station over its control socket: lines of JSON.
 *
 *   → {"id": 1, "method": "session.say", "params": {…}}
 *   ← {"id": 1, "result": …}  or  {"id": 1, "problem": {…}}
 *   ← {"id": 1, "event": …}   any number before the result, for a method that follows
 */
import type { output } from 'zod';
import type { sessions } from '../../contracts/topics/index.ts';
import type { TranscriptEntry } from '../../contracts/transcript.ts';
import type { RemoteManifest, RemoteServer, RemoteSkill } from '../mcp/index.ts';
import type { Problem } from '../problems/index.ts';
import type { SkillSource } from '../skills/index.ts';
import type { GateEntry, StationEvent } from '../state/index.ts';
import type { Granted } from './grants.ts';
import type { Cleared, PlacedIn } from './placements.ts';

export type { TranscriptEntry };

type Request<T extends { request: import('zod').ZodType }> = output<T['request']>;
type Reply<T extends { reply: import('zod').ZodType }> = output<T['reply']>;

export interface ComponentStatus {
  readonly id: string;
  /** `waiting` is for a grant. */
  readonly state: 'running' | 'starting' | 'waiting' | 'failed' | 'parked' | 'stopping';
  readonly restarts: number;
  /** The revision that serves. */
  readonly serving?: string;
  /** A newer revision that does not serve, and why. */
  readonly candidate?: { readonly revision: string; readonly problem: Problem };
  /** The revision that served before; its package is kept. */
  readonly retained?: string;
  /** Why it does not run, or the last limit or fault it met. */
  readonly problem?: Problem;
}
export interface BundleStatus {
  readonly id: string;
  readonly version: string;
  readonly revision: string;
  /** Whether all of it serves from this revision, some from another one (mixed), or some not at all (incomplete). */
  readonly completeness: 'complete' | 'mixed' | 'incomplete';
  readonly skills: readonly string[];
  readonly topics: number;
  readonly components: readonly ComponentStatus[];
  /** Permissions its components ask for. */
  readonly asks: readonly string[];
  /** Those of them that policy does not grant. */
  readonly ungranted: readonly string[];
  readonly problem?: Problem;
}
export interface StationStatus {
  readonly pid: number;
  readonly home: string;
  readonly version: string;
  readonly startedAt: number;
  readonly policyRevision: string;
  readonly policyProblems: readonly Problem[];
  readonly bundles: readonly BundleStatus[];
  readonly sessions: Readonly<Record<string, number>>;
  /** Why it is not known what sessions there are. */
  readonly sessionsProblem?: Problem;
  readonly processes: number;
  /** Where HTTP is served, or why it is not; absent where nothing asked for it. */
  readonly web?: { readonly port?: number; readonly problem?: Problem };
}

/** A server the station is configured with, and what a call of it would meet. */
export interface McpServerStatus {
  readonly name: string;
  /** Unique, where the name is not: `policy/probe`, `project:/repo/probe`, `session:s-1/probe`. */
  readonly key: string;
  /** Where it stands. */
  readonly place: string;
  readonly status: 'connecting' | 'connected' | 'disabled' | 'needs authentication' | 'failed';
  /** Why it is disabled or failed. */
  readonly problem?: Problem;
  readonly reason?: string;
  /** How many it has listed. */
  readonly tools: number;
}
export interface McpTool {
  /** The server's own name, and the one agents call it by. */
  readonly name: string;
  readonly as: string;
  readonly description?: string;
  /** What the gate does with a call, or `not offered`. */
  readonly decision: 'allow' | 'ask' | 'deny' | 'not offered';
  readonly rule: string;
}

type Session = output<typeof sessions.sessionView>;
/** The record, with what the gate decided: how often, and the newest decisions, oldest first. */
type ShownSession = Session & { gate?: { readonly total: number; readonly calls: readonly GateEntry[] } };
type Summary = output<typeof sessions.list.reply>['sessions'][number];

export interface ControlMethods extends McpMethods {
  status: { params: Record<string, never>; result: StationStatus };
  /** Answers once everything is stopped; the socket closes after it, and the process ends. */
  down: { params: Record<string, never>; result: { stopped: true; pid: number } };
  /** `places`: where the revision before had skills this one has not, and what became of them. */
  'bundle.install': {
    params: { source: string };
    result: BundleStatus & { readonly places?: readonly Cleared[] };
  };
  'bundle.list': { params: Record<string, never>; result: { bundles: readonly BundleStatus[] } };
  'bundle.verify': {
    params: { id?: string };
    result: {
      bundles: readonly { id: string; problem?: Problem }[];
      /** Every skill placed in a workspace the station knows of. */
      placed: readonly PlacedIn[];
    };
  };
  /** Which of these topics are known here with another shape, the installation named. Changes nothing. */
  'bundle.conflicts': {
    params: { topics: { id: string; kind: string; digest: string }[] };
    result: { problems: readonly Problem[] };
  };
  'bundle.retry': { params: { component: string }; result: BundleStatus };
  /** The skills of the bundles in service, where their admitted bytes lie. */
  'skills.bundled': { params: Record<string, never>; result: { skills: readonly SkillSource[] } };
  /** Skills of other servers. `address`: a URL or an alias of policy; `skills`: URIs the server may not list. */
  'skills.add': { params: { address: string; label?: string; skills?: string[] }; result: RemoteServer };
  'skills.update': { params: { label?: string }; result: { servers: readonly RemoteServer[] } };
  'skills.approve': { params: { skill: string; digest: string }; result: RemoteSkill };
  'skills.show': { params: { skill: string }; result: RemoteManifest };
  /** A server with all its skills, or the approval of one; `places` as in `bundle.uninstall`. */
  'skills.remove': { params: { address: string }; result: { removed: string; places: readonly Cleared[] } };
  'skills.remote': { params: Record<string, never>; result: { servers: readonly RemoteServer[] } };
  /** `places`: the workspaces it had skills in, and what became of them. */
  'bundle.uninstall': {
    params: { id: string };
    result: { id: string; revision: string; places: readonly Cleared[] };
  };
  /** Without `permissions`, all that the installed bundle asks for. */
  'bundle.grant': { params: { id: string; permissions?: string[] }; result: Granted };
  /** Without `permissions`, all that policy grants it. */
  'bundle.revoke': { params: { id: string; permissions?: string[] }; result: Granted };
  /** The newest `limit` events, oldest first, and how many were ever dropped; with `follow`, those that come as well. */
  events: {
    params: { limit?: number; follow?: boolean };
    event: StationEvent;
    result: { events: readonly StationEvent[]; dropped: number };
  };
  'policy.show': {
    params: Record<string, never>;
    result: { file: string; revision: string; text: string; problems: readonly Problem[] };
  };
  /** Waits until the session is `idle`, `not-ready` or `ended` (at most `waitMs`). */
  'session.create': {
    params: Request<typeof sessions.create> & { mcpConfig?: string; waitMs?: number };
    result: Session;
  };
  /** With `wait`, follows the turn: transcript entries as events, and the turn's end as the result. */
  'session.say': {
    params: Request<typeof sessions.say> & { wait?: boolean };
    event: TranscriptEntry;
    result: Reply<typeof sessions.say> & { stopReason?: string; state?: string };
  };
  'session.list': { params: Record<string, never>; result: { sessions: readonly Summary[] } };
  'session.show': { params: { id: string }; result: ShownSession };
  /** Entries are events when the caller follows, and when they are too many for one answer. */
  'session.transcript': {
    params: { id: string; follow?: boolean };
    event: TranscriptEntry;
    result: { entries: readonly TranscriptEntry[] };
  };
  /** `content`: what an MCP server asked for in a form. */
  'session.respond': {
    params: Request<typeof sessions.respond> & { content?: { [key: string]: unknown } };
    result: { [key: string]: never };
  };
  'session.cancel': { params: { id: string }; result: { [key: string]: never } };
  'session.close': { params: { id: string; waitMs?: number }; result: Session };
}

/** `server` is a name, or a key where several have it. */
export interface McpMethods {
  'mcp.list': { params: { [key: string]: never }; result: { servers: readonly McpServerStatus[] } };
  'mcp.tools': {
    params: { server: string };
    result: { server: McpServerStatus; tools: readonly McpTool[] };
  };
  /** As the person at the command line, who answers what the gate would ask by calling. */
  'mcp.call': {
    params: { server: string; tool: string; args: { [key: string]: unknown } };
    result: { result: { readonly [key: string]: unknown } };
  };
  /** Each answers when what it starts has begun. */
  'mcp.reconnect': { params: { server: string }; result: McpServerStatus };
  'mcp.enable': { params: { server: string }; result: McpServerStatus };
  'mcp.disable': { params: { server: string }; result: McpServerStatus };
}

export type Method = keyof ControlMethods;
export type Params<M extends Method> = ControlMethods[M]['params'];
export type MethodResult<M extends Method> = ControlMethods[M]['result'];
export type MethodEvent<M extends Method> = ControlMethods[M] extends { event: infer E } ? E : never;

/** Longest line either side accepts, bytes. */
export const controlLineBytes = 16 * 1024 * 1024;
/** Topics compared at once; who has more asks again. */
export const mostTopics = 10_000;
