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

/** SEP-1034: what somebody filled in, and of fields that were left out the defaults. */
export const withDefaults = (schema: unknown, content: Json): Json => {
  const properties = isRecord(schema) && isRecord(schema['properties']) ? schema['properties'] : {};
  const left = Object.entries(properties).flatMap(([name, field]) =>
    isRecord(field) &&
    field['default'] !== undefined &&
    (!Object.hasOwn(content, name) || content[name] === undefined)
      ? [[name, field['default']] as const]
      : [],
  );
  return left.length === 0 ? content : { ...content, ...Object.fromEntries(left) };
};

/** An answer that accepts a form, whole. */
const whole = (answer: Json, schema: unknown): Json => {
  if (answer['action'] !== 'accept') return answer;
  const given = isRecord(answer['content']) ? answer['content'] : {};
  const content = withDefaults(schema, given);
  return content === given ? answer : { ...answer, content };
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
      : whole(answer, ask.params['requestedSchema']);
  } catch {
    return undefined;
  }
};

/** Method not found, as of a client that never had it. */
export const refusedAsk = (method: string, why = 'nobody answers it here') => ({
  code: -32_601,
  message: `${method}: ${why}`,
});
