/** What people and programs ask of Sessions, and what it tells. */
import { z } from 'zod';
import { sessionMode, sessionOption, slashCommand } from './agents.ts';
import { approve, command, empty, event, sessionId } from './common.ts';

/**
 * `opening` until the agent has its session; `not-ready` where something required is missing; `idle` and
 * `running` between and in turns; `closing` until the agent is gone; `closed` by a person, `ended` by anything else.
 */
export const sessionState = z.enum(['opening', 'not-ready', 'idle', 'running', 'closing', 'closed', 'ended']);

const stage = z.enum(['offered', 'handed-over', 'connected', 'used']);

export const provisioning = z.object({
  policyRevision: z.string(),
  servers: z.array(
    z.object({
      name: z.string(),
      decision: z.enum(['offered', 'withheld', 'skipped']),
      stage: stage.optional(),
      rule: z.string(),
      reason: z.string().optional(),
    }),
  ),
  skills: z.array(
    z.object({
      bundle: z.string(),
      revision: z.string(),
      name: z.string(),
      decision: z.enum(['placed', 'unchanged', 'refused']),
      reason: z.string().optional(),
      files: z.number().int(),
    }),
  ),
  sink: z.string().nullable(),
});

export const pendingRequest = z.object({
  request: z.string(),
  at: z.number(),
  title: z.string(),
  tool: z.string().optional(),
  options: z.array(z.object({ id: z.string(), kind: z.string(), name: z.string() })),
});

const summary = {
  id: sessionId,
  agent: z.string(),
  program: z.string(),
  title: z.string().optional(),
  cwd: z.string(),
  state: sessionState,
  /** Why it is `not-ready` or `ended`. */
  reason: z.string().optional(),
  createdAt: z.number(),
};

export const sessionRecord = z.object({
  ...summary,
  approve,
  provider: z.string(),
  agentInfo: z.object({ name: z.string(), version: z.string().optional() }).optional(),
  /** Whether an agent holds the session now. One that is `idle` and not attached is taken up at the next prompt. */
  attached: z.boolean(),
  /** Whether it can be taken up again after its agent or the station is gone. */
  resumable: z.boolean(),
  /** How the approval setting reached the agent, or that it decides by itself. */
  approval: z.string().optional(),
  /** How long a permission request waits for an answer before it is denied, ms. */
  answerWithinMs: z.number().int(),
  mode: sessionMode.optional(),
  options: z.array(sessionOption).optional(),
  provisioning,
  /** The last turn's figures as the agent reported them; null where it reported none. */
  usage: z.record(z.string(), z.unknown()).nullable(),
  pending: z.array(pendingRequest),
});

/** The record with what the agent offers to be typed. */
export const sessionView = z.object({ ...sessionRecord.shape, commands: z.array(slashCommand) });

/** One line of the log behind a transcript. Pieces of text and updates of one tool call share an `id`. */
export const transcriptRow = z.object({
  seq: z.number().int(),
  at: z.number(),
  role: z.enum([
    'user',
    'agent',
    'thought',
    'tool',
    'plan',
    'usage',
    'permission',
    'commands',
    'mode',
    'option',
    'station',
    'note',
  ]),
  id: z.string().optional(),
  turn: z.string().optional(),
  state: z.string().optional(),
  title: z.string().optional(),
  server: z.string().optional(),
  text: z.string(),
  /** For programs; see `bearpunch.agents.update`. */
  data: z.record(z.string(), z.unknown()).optional(),
});

const createRequest = {
  agent: z.string().min(1).max(200),
  cwd: z.string().min(1).max(4_096),
  title: z.string().max(500).optional(),
  approve: approve.optional(),
  requireServers: z.array(z.string().min(1).max(64)).max(200).optional(),
  requireSkills: z.array(z.string().min(1).max(64)).max(200).optional(),
  /** How long a permission request waits for an answer; half an hour where it is not given. */
  answerWithinMs: z.number().int().min(100).max(604_800_000).optional(),
};
const created = z.object({ id: sessionId, state: sessionState });

export const create = command('bearpunch.sessions.create', {
  request: z.object(createRequest),
  reply: created,
});

/** As `create`, with a file of servers for this session: its absolute path. It is read each time an agent is opened. */
export const createV2 = command('bearpunch.sessions.create.v2', {
  request: z.object({ ...createRequest, mcpConfig: z.string().min(1).max(4_096) }),
  reply: created,
});

/** Starts a turn; `seq` is the row of the text. Its end is a `changed` event with the same turn. */
export const say = command('bearpunch.sessions.say', {
  request: z.object({ id: sessionId, text: z.string().min(1).max(1_000_000) }),
  reply: z.object({ turn: z.string(), seq: z.number().int() }),
});

export const respond = command('bearpunch.sessions.respond', {
  request: z.object({ id: sessionId, request: z.string().min(1).max(200), allow: z.boolean() }),
  reply: empty,
});

/** As `respond`, with what an MCP server asked for in a form. */
export const respondV2 = command('bearpunch.sessions.respond.v2', {
  request: z.object({
    id: sessionId,
    request: z.string().min(1).max(200),
    allow: z.boolean(),
    content: z.record(z.string(), z.unknown()),
  }),
  reply: empty,
});

/**
 * Puts a request of the station's gate, or of an MCP server behind it, into the session's queue. Only the station may.
 * The answer is an `answered` event.
 */
export const ask = command('bearpunch.sessions.ask', {
  request: z.object({
    id: sessionId,
    request: z.string().min(1).max(200),
    kind: z.enum(['call', 'elicitation']),
    title: z.string().max(4_000),
    tool: z.string().max(500),
    text: z.string().max(100_000),
    /** JSON Schema of the content an elicitation asks for. */
    schema: z.record(z.string(), z.unknown()).optional(),
  }),
  reply: empty,
});
/** Takes such a request off the queue: whoever asked has stopped waiting. Only the station may. */
export const withdraw = command('bearpunch.sessions.withdraw', {
  request: z.object({ id: sessionId, request: z.string().min(1).max(200), why: z.string().max(1_000) }),
  reply: empty,
});
/** How far a server behind the gateway got, as the gateway saw it. Only the station may say. */
export const observed = command('bearpunch.sessions.observed', {
  request: z.object({
    id: sessionId,
    server: z.string().min(1).max(100),
    stage: z.enum(['connected', 'used']),
  }),
  reply: empty,
});

export const cancel = command('bearpunch.sessions.cancel', {
  request: z.object({ id: sessionId }),
  reply: empty,
});
export const close = command('bearpunch.sessions.close', {
  request: z.object({ id: sessionId }),
  reply: empty,
});

export const list = command('bearpunch.sessions.list', {
  request: z.object({ after: z.string().optional(), limit: z.number().int().min(1).max(200).optional() }),
  reply: z.object({ sessions: z.array(z.object(summary)), next: z.string().optional() }),
});

export const get = command('bearpunch.sessions.get', {
  request: z.object({ id: sessionId }),
  reply: sessionView,
});

/** Rows after `after`, oldest first, about 256 KiB at most; `next` where more are there. */
export const transcript = command('bearpunch.sessions.transcript', {
  request: z.object({
    id: sessionId,
    after: z.number().int().min(0).optional(),
    limit: z.number().int().min(1).max(500).optional(),
  }),
  reply: z.object({ rows: z.array(transcriptRow), next: z.number().int().optional() }),
});

/** A session's state, its queue or its transcript (`seq`, the newest row) changed. `settled` names a turn that ended. */
export const changed = event(
  'bearpunch.sessions.changed',
  z.object({
    id: sessionId,
    state: sessionState,
    seq: z.number().int(),
    pending: z.number().int(),
    settled: z.object({ turn: z.string(), stopReason: z.string() }).optional(),
  }),
);

/** A request that `ask` put into the queue has its answer. */
export const answered = event(
  'bearpunch.sessions.answered',
  z.object({
    id: sessionId,
    request: z.string(),
    allow: z.boolean(),
    why: z.string().max(1_000),
    content: z.record(z.string(), z.unknown()).optional(),
  }),
);
