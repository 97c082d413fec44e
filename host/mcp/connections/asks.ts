/**
 * What a server asks while a call runs, and how whoever made the call answers. Older revisions ask in a request of their
 * own (questions.ts), 2026-07-28 inside of the answer.
 */
import { isRecord, type Json } from '../json.ts';
import type { RequestOptions, ServerAsk } from './edge.ts';

/** Most questions in one answer. */
const mostRequests = 32;

export const inputRequests = (result: Json): readonly (readonly [key: string, ask: ServerAsk])[] => {
  const requests = result['inputRequests'];
  if (!isRecord(requests)) return [];
  return Object.entries(requests)
    .slice(0, mostRequests)
    .flatMap(([key, request]) =>
      isRecord(request) && typeof request['method'] === 'string'
        ? [[key, { method: request['method'], params: isRecord(request['params']) ? request['params'] : {} }]]
        : [],
    );
};

/** SEP-1034: fields of the form that were left out and have a default. */
const withDefaults = (answer: Json, schema: unknown): Json => {
  const properties = isRecord(schema) ? schema['properties'] : undefined;
  if (answer['action'] !== 'accept' || !isRecord(properties)) return answer;
  const content = isRecord(answer['content']) ? answer['content'] : {};
  const defaults = Object.entries(properties).flatMap(([name, field]) =>
    isRecord(field) && Object.hasOwn(field, 'default') && content[name] === undefined
      ? [[name, field['default']] as const]
      : [],
  );
  return defaults.length === 0
    ? answer
    : { ...answer, content: { ...content, ...Object.fromEntries(defaults) } };
};

/** The answer to send; undefined where nobody answers. What an answerer throws is its bug, and no answer. */
export const askedBy = async (
  onAsk: RequestOptions['onAsk'],
  ask: ServerAsk,
  signal: AbortSignal,
): Promise<Json | undefined> => {
  if (onAsk === undefined) return undefined;
  try {
    const answer = await onAsk(ask, signal);
    return answer === undefined || ask.method !== 'elicitation/create'
      ? answer
      : withDefaults(answer, ask.params['requestedSchema']);
  } catch {
    return undefined;
  }
};

/** Method not found, as of a client that never had it. */
export const refusedAsk = (method: string, why = 'nobody answers it here') => ({
  code: -32_601,
  message: `${method}: ${why}`,
});
