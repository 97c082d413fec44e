/** What the parameters of each control method must look like. Unknown keys are refused: both sides are one version. */
import { z } from 'zod';
import { sessions } from '../../contracts/topics/index.ts';
import { type Method, mostTopics, type Params } from './control.ts';

/** Longest wait a client may ask for, ms. */
const longestWait = 10 * 60_000;

const nothing = z.strictObject({});
const id = z.string().min(1).max(200);
const waitMs = z.number().int().min(0).max(longestWait);
const byId = z.strictObject({ id });

/** Events in one answer. */
const mostEvents = 1_000;
const granting = z.strictObject({
  id,
  permissions: z.array(z.string().min(1).max(100)).min(1).max(32).exactOptional(),
});

const serverName = z.string().min(1).max(5_000);
const byServer = z.strictObject({ server: serverName });

export const paramsOf = {
  status: nothing,
  down: nothing,
  'bundle.install': z.strictObject({ source: z.string().min(1).max(4_096) }),
  'bundle.list': nothing,
  'bundle.verify': z.strictObject({ id: id.exactOptional() }),
  'bundle.conflicts': z.strictObject({
    topics: z
      .array(
        z.strictObject({
          id: z.string().min(1).max(200),
          kind: z.string().max(20),
          digest: z.string().regex(/^[0-9a-f]{64}$/),
        }),
      )
      .max(mostTopics),
  }),
  'bundle.retry': z.strictObject({ component: z.string().min(1).max(400) }),
  'bundle.uninstall': byId,
  'skills.bundled': nothing,
  'skills.add': z.strictObject({
    address: z.string().min(1).max(2_048),
    label: z.string().min(1).max(100).exactOptional(),
    skills: z.array(z.string().min(1).max(4_096)).min(1).max(64).exactOptional(),
  }),
  'skills.update': z.strictObject({ label: z.string().min(1).max(100).exactOptional() }),
  'skills.approve': z.strictObject({
    skill: z.string().min(1).max(4_200),
    digest: z.string().min(1).max(100),
  }),
  'skills.show': z.strictObject({ skill: z.string().min(1).max(4_200) }),
  'skills.remove': z.strictObject({ address: z.string().min(1).max(4_200) }),
  'skills.remote': nothing,
  'bundle.grant': granting,
  'bundle.revoke': granting,
  events: z.strictObject({
    limit: z.number().int().min(0).max(mostEvents).exactOptional(),
    follow: z.boolean().exactOptional(),
  }),
  'policy.show': nothing,
  'session.create': sessions.create.request
    .extend({ mcpConfig: z.string().min(1).max(4_096).exactOptional(), waitMs: waitMs.exactOptional() })
    .strict(),
  'session.say': sessions.say.request.extend({ wait: z.boolean().exactOptional() }).strict(),
  'session.list': nothing,
  'session.show': byId,
  'session.transcript': z.strictObject({ id, follow: z.boolean().exactOptional() }),
  'session.respond': sessions.respond.request
    .extend({ content: z.record(z.string(), z.unknown()).exactOptional() })
    .strict(),
  'session.cancel': byId,
  'session.close': z.strictObject({ id, waitMs: waitMs.exactOptional() }),
  'mcp.list': nothing,
  'mcp.tools': byServer,
  'mcp.call': z.strictObject({
    server: serverName,
    tool: z.string().min(1).max(1_000),
    args: z.record(z.string(), z.unknown()),
  }),
  'mcp.reconnect': byServer,
  'mcp.enable': byServer,
  'mcp.disable': byServer,
} as const satisfies { readonly [M in Method]: z.ZodType<Params<M>> };

/** The request around them. */
export const envelope = z.strictObject({
  id: z.number().int().min(0),
  method: z.string().max(100),
  params: z.unknown().optional(),
});

export const isMethod = (name: string): name is Method => Object.hasOwn(paramsOf, name);
