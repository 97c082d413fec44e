/** The topics of the installed bundles, with their shapes ready to check. */
import { ok, type Result, refuse } from '../problems/index.ts';
import { type Shape, shapeFrom } from './shape.ts';

export interface DeclaredTopic {
  readonly id: string;
  readonly kind: 'command' | 'event';
  /** `{request, reply}` of a command, `{event}` of an event. */
  readonly shape: Readonly<Record<string, unknown>>;
}

export interface Topic {
  readonly id: string;
  readonly kind: 'command' | 'event';
  readonly request: Shape;
  readonly reply: Shape;
}

export interface TopicRegistry {
  readonly get: (id: string) => Result<Topic>;
  /** Replaces what a bundle declares. */
  readonly declare: (bundle: string, topics: readonly DeclaredTopic[]) => void;
  readonly forget: (bundle: string) => void;
}

type Schema = Readonly<Record<string, unknown>>;

const topicFrom = (declared: DeclaredTopic): Topic => {
  const { request, reply, event } = declared.shape as Record<string, Schema | undefined>;
  return {
    id: declared.id,
    kind: declared.kind,
    request: shapeFrom((declared.kind === 'command' ? request : event) ?? {}),
    reply: shapeFrom(reply ?? {}),
  };
};

export const openTopicRegistry = (): TopicRegistry => {
  const byBundle = new Map<string, readonly DeclaredTopic[]>();
  let topics = new Map<string, { readonly declared: DeclaredTopic; topic?: Topic }>();
  const rebuild = () => {
    topics = new Map([...byBundle.values()].flat().map((declared) => [declared.id, { declared }]));
  };
  return {
    get: (id) => {
      const entry = topics.get(id);
      if (entry === undefined) return refuse('bus/topic-unknown', { subject: id });
      // Shapes are made at first use: most topics of a bundle are never used in a run.
      entry.topic ??= topicFrom(entry.declared);
      return ok(entry.topic);
    },
    declare: (bundle, declared) => {
      byBundle.set(bundle, declared);
      rebuild();
    },
    forget: (bundle) => {
      byBundle.delete(bundle);
      rebuild();
    },
  };
};
