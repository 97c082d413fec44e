/** What stands for a topic in a bundle and in the lock: JSON Schema 2020-12, made from zod here and nowhere else. */
import { z } from 'zod';
import type { AnyTopic } from './topics/index.ts';

export type TopicShape = Readonly<Record<'request' | 'reply' | 'event', unknown>>;

/** `{request, reply}` of a command, `{event}` of an event. */
export const shapeOf = (topic: AnyTopic): Partial<TopicShape> =>
  topic.kind === 'command'
    ? { request: z.toJSONSchema(topic.request), reply: z.toJSONSchema(topic.reply) }
    : { event: z.toJSONSchema(topic.event) };
