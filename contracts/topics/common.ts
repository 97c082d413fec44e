/** What the topics of several families share: IDs, problems, and how a topic is declared. */
import { z } from 'zod';

/** A session ID as Sessions makes it: `s-` and 20 lower-case letters and digits. */
export const sessionId = z.string().min(1).max(64);
export const approve = z.enum(['manual', 'auto', 'workspace']);

/** The one error shape, as it crosses the bus. */
export const problemShape = z.object({
  code: z.string().max(100),
  message: z.string().max(4_000),
  subject: z.string().max(1_000).optional(),
  evidence: z.string().max(4_000).optional(),
  fix: z.string().max(1_000).optional(),
});

export const empty = z.object({});

export interface CommandTopic<
  Id extends string = string,
  Q extends z.ZodType = z.ZodType,
  R extends z.ZodType = z.ZodType,
> {
  readonly id: Id;
  readonly kind: 'command';
  readonly request: Q;
  readonly reply: R;
}
export interface EventTopic<Id extends string = string, E extends z.ZodType = z.ZodType> {
  readonly id: Id;
  readonly kind: 'event';
  readonly event: E;
}
export type AnyTopic = CommandTopic | EventTopic;

/** A command goes to one handler and has a reply. */
export const command = <Id extends string, Q extends z.ZodType, R extends z.ZodType>(
  id: Id,
  shape: { request: Q; reply: R },
): CommandTopic<Id, Q, R> => ({ id, kind: 'command', ...shape });

/** An event goes to its subscribers and has no reply. */
export const event = <Id extends string, E extends z.ZodType>(id: Id, shape: E): EventTopic<Id, E> => ({
  id,
  kind: 'event',
  event: shape,
});
