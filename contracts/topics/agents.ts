/**
 * What Sessions asks of an agent provider (Adapter, Echo), and what a provider tells.
 * A session's provider is the component that was sent its `open`; Sessions believes no other.
 */
import { z } from 'zod';
import { approve, command, empty, event, problemShape, sessionId } from './common.ts';

const stdio = z.object({ type: z.literal('stdio'), command: z.string().min(1), args: z.array(z.string()) });
const http = z.object({ type: z.literal('http'), url: z.string().min(1) });

/** One MCP server the agent is handed. It carries no secret: bearers never travel over the bus. */
export const mcpServer = z.object({ name: z.string().min(1).max(64), transport: z.union([stdio, http]) });

/** A server behind the station's gateway: its address, or a program for agents without HTTP. Neither holds a secret. */
const gateway = z.object({
  type: z.literal('gateway'),
  url: z.string().min(1),
  command: z.string().min(1),
  args: z.array(z.string()),
});
/** As `mcpServer`, or behind the gateway. */
export const reachedServer = z.object({
  name: z.string().min(1).max(64),
  transport: z.union([stdio, http, gateway]),
});

const openRequest = {
  session: sessionId,
  agent: z.string().min(1).max(200),
  program: z.string().min(1).max(200),
  cwd: z.string().min(1).max(4_096),
  approve,
};

/** Opens an agent for a session. Accepted at once; what came of it is `opened` or `failed`. */
export const open = command('bearpunch.agents.open', { request: z.object(openRequest), reply: empty });

/**
 * As `open`, with the MCP servers the agent is to start. With `resume` it takes up the session it had under that
 * name, as `opened` told it; what the agent repeats of it is told to nobody.
 */
export const openV2 = command('bearpunch.agents.open.v2', {
  request: z.object({
    ...openRequest,
    mcpServers: z.array(mcpServer).max(200),
    resume: z.object({ agentSession: z.string().min(1).max(1_000) }).optional(),
  }),
  reply: empty,
});

/**
 * As `open.v2`, with servers behind the gateway. What the agent needs to be let in there is put in by the station where
 * the provider writes it to the agent: a header `Authorization` whose value is `Bearer ${jupiter.token:<session>}`, or
 * a variable `JUPITER_GATEWAY_TOKEN` whose value is `${jupiter.token:<session>}`.
 */
export const openV3 = command('bearpunch.agents.open.v3', {
  request: z.object({
    ...openRequest,
    mcpServers: z.array(reachedServer).max(200),
    resume: z.object({ agentSession: z.string().min(1).max(1_000) }).optional(),
  }),
  reply: empty,
});

export const prompt = command('bearpunch.agents.prompt', {
  request: z.object({ session: sessionId, turn: z.string().min(1).max(64), text: z.string().max(1_000_000) }),
  reply: empty,
});

/** Answers a permission request by its ID. */
export const respond = command('bearpunch.agents.respond', {
  request: z.object({ session: sessionId, request: z.string().min(1).max(200), allow: z.boolean() }),
  reply: empty,
});

export const cancel = command('bearpunch.agents.cancel', {
  request: z.object({ session: sessionId }),
  reply: empty,
});

/** Sets one of the options the agent offered when it opened. */
export const configure = command('bearpunch.agents.configure', {
  request: z.object({ session: sessionId, option: z.string().min(1).max(200), value: z.string().max(1_000) }),
  reply: empty,
});

export const close = command('bearpunch.agents.close', {
  request: z.object({ session: sessionId }),
  reply: empty,
});

export const opened = event(
  'bearpunch.agents.opened',
  z.object({
    session: sessionId,
    /** The agent's own name for the session; absent where it has none. */
    agentSession: z.string().max(1_000).optional(),
    protocolVersion: z.number().int().optional(),
    agentInfo: z.object({ name: z.string().max(200), version: z.string().max(200).optional() }).optional(),
    /** What the agent said of itself, as it said it. */
    capabilities: z.record(z.string(), z.unknown()),
    handedOver: z.array(z.string()),
    skipped: z.array(z.object({ name: z.string(), reason: z.string().max(1_000) })),
    /** Whether `resume` can take the session up again when this agent is gone. */
    resumable: z.boolean(),
    /** How the approval setting reached the agent, or that it decides by itself, in a sentence. */
    approval: z.string().max(1_000),
  }),
);

export const slashCommand = z.object({
  name: z.string().min(1).max(200),
  description: z.string().max(500),
  /** What may follow it. */
  hint: z.string().max(500).optional(),
});
export const sessionMode = z.object({ id: z.string().max(500), name: z.string().max(500) });
export const sessionOption = z.object({
  id: z.string().max(200),
  name: z.string().max(500),
  value: z.string().max(1_000),
  values: z.array(z.string().max(1_000)).max(100),
});

/** What the agent offers and how it is set, each whole, where it changed. */
export const announced = event(
  'bearpunch.agents.announced',
  z.object({
    session: sessionId,
    commands: z.array(slashCommand).max(200).optional(),
    mode: sessionMode.optional(),
    options: z.array(sessionOption).max(50).optional(),
  }),
);

/** What the agent calls its session; null where it takes the title back. */
export const titled = event(
  'bearpunch.agents.titled',
  z.object({ session: sessionId, title: z.string().min(1).max(500).nullable() }),
);

/**
 * One thing an agent did. Text comes in pieces; a tool call's updates carry its ID and only what changed. `text` is
 * for people, `data` for programs, by role:
 *
 *   agent, thought  `images: [{mimeType, data?}]`, base64, without `data` where it is too long
 *   tool            `kind`, `input`, `locations: [{path, line?}]`, `diffs: [{path, oldText?, newText}]`, `images`
 *   plan            `entries: [{content, status, priority?}]`
 *   usage           the agent's figures as it names them
 *   note            `update`, of a kind the provider does not know, as it came
 */
export const update = event(
  'bearpunch.agents.update',
  z.object({
    session: sessionId,
    turn: z.string().max(64).optional(),
    role: z.enum(['agent', 'thought', 'user', 'tool', 'plan', 'usage', 'note']),
    /** The tool call's ID, or the message's, where there is one. */
    id: z.string().max(500).optional(),
    state: z.enum(['pending', 'in_progress', 'completed', 'failed']).optional(),
    /** A tool call's title. */
    title: z.string().max(4_000).optional(),
    /** The MCP server a tool call goes to, where the agent says so: one of those handed over. */
    server: z.string().max(64).optional(),
    text: z.string(),
    data: z.record(z.string(), z.unknown()).optional(),
  }),
);

/** `paths` are those the request names, absolute or relative to the workspace, in the agent's words. */
export const permission = event(
  'bearpunch.agents.permission',
  z.object({
    session: sessionId,
    turn: z.string().max(64).optional(),
    request: z.string().min(1).max(200),
    tool: z.string().max(500).optional(),
    title: z.string().max(4_000),
    options: z.array(z.object({ id: z.string(), kind: z.string(), name: z.string() })).max(50),
    /** The protocol's kind of tool: `edit`, `execute`, … */
    kind: z.string().max(100).optional(),
    paths: z.array(z.string().max(4_096)).max(100),
    /** False where the request names more than `paths` could hold, or was too large to be looked through. */
    pathsWhole: z.boolean(),
    /** The provider denied it already, for this reason: nobody could have allowed it. */
    denied: z.string().max(1_000).optional(),
  }),
);

/** A turn is over. `usage` is absent where the agent reported none: that is not zero. */
export const settled = event(
  'bearpunch.agents.settled',
  z.object({
    session: sessionId,
    turn: z.string().max(64),
    stopReason: z.string().max(100),
    usage: z.record(z.string(), z.unknown()).optional(),
  }),
);

/** The agent, or one turn of it, failed. Without `turn` the agent is gone, and with it the turn it was in. */
export const failed = event(
  'bearpunch.agents.failed',
  z.object({ session: sessionId, turn: z.string().max(64).optional(), problem: problemShape }),
);

export const closed = event(
  'bearpunch.agents.closed',
  z.object({ session: sessionId, reason: z.string().max(1_000).optional() }),
);
