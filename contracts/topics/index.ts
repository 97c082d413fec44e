import * as agents from './agents.ts';
import type { AnyTopic } from './common.ts';
import * as sessions from './sessions.ts';

export type { AnyTopic, CommandTopic, EventTopic } from './common.ts';
export { agents, sessions };

const topicsOf = (room: Record<string, unknown>): AnyTopic[] =>
  Object.values(room).filter(
    (value): value is AnyTopic =>
      typeof value === 'object' && value !== null && 'id' in value && 'kind' in value,
  );

/** Every first-party topic, sorted by ID. */
export const firstPartyTopics: readonly AnyTopic[] = [...topicsOf(agents), ...topicsOf(sessions)].sort(
  (a, b) => (a.id < b.id ? -1 : 1),
);
