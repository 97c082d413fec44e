/**
 * What a server asks in the middle of a call. Whatever wants a person's answer goes into the session's queue, unless the
 * agent's own client is to be asked and says it can; sampling and roots are the agent's alone, and whoever did not
 * declare them is not asked.
 */
import { randomUUID } from 'node:crypto';
import type { Answered, RequestOptions, ServerAsk } from '../connections/edge.ts';
import { isRecord, type Json } from '../json.ts';
import { visitOf } from './addresses.ts';
import type { GateAsk, GatewayPorts } from './edge.ts';
import { shownCharacters } from './limits.ts';
import { failure, notification, refusedError } from './protocol.ts';
import { type Client, type Exchange, lastRunning, type Place } from './visits.ts';

/** Whether a client that declared these can be asked this. */
const canAnswer = (capabilities: Json, { method, params }: ServerAsk): boolean => {
  if (method === 'sampling/createMessage') {
    const { sampling } = capabilities;
    return isRecord(sampling) && (!('tools' in params) || isRecord(sampling['tools']));
  }
  if (method === 'roots/list') return isRecord(capabilities['roots']);
  if (method !== 'elicitation/create') return false;
  const { elicitation } = capabilities;
  if (!isRecord(elicitation)) return false;
  if (params['mode'] === 'url') return isRecord(elicitation['url']);
  // Before there were modes an empty object meant forms.
  return isRecord(elicitation['form']) || !('url' in elicitation);
};

const text = (value: unknown): string => (typeof value === 'string' ? value : '');

/** What of a question a person is shown; undefined where it is none that can be answered here. */
const questionOf = (server: string, params: Json): Pick<GateAsk, 'title' | 'text' | 'schema'> | undefined => {
  const { mode = 'form', message, requestedSchema } = params;
  if (mode === 'url') {
    const visit = visitOf(params);
    return visit === undefined
      ? undefined
      : { title: `${server} asks to open ${visit.host}`, text: visit.text.slice(0, shownCharacters) };
  }
  if (mode !== 'form') return undefined;
  return {
    title: `${server} asks`,
    text: text(message).slice(0, shownCharacters),
    ...(isRecord(requestedSchema) ? { schema: requestedSchema } : {}),
  };
};

type Answerer = NonNullable<RequestOptions['onAsk']>;

/** Calls of this session that run there now: one of them is meant. */
const callsAt = ({ exchanges }: Place): readonly Exchange[] =>
  [...exchanges].filter(({ tool }) => tool !== undefined);

const inQueue = async (
  ports: GatewayPorts,
  place: Place,
  params: Json,
  signal: AbortSignal,
): Promise<Json | undefined> => {
  const { server, session } = place;
  const question = questionOf(server.original, params);
  if (question === undefined) return undefined;
  const calls = callsAt(place);
  const [tool] = calls.length === 1 ? calls.map((one) => one.tool) : [];
  for (const exchange of calls) exchange.waiting = `${server.original} asks a person`;
  try {
    const answer = await ports.ask(
      {
        session: session.id,
        ...question,
        tool: tool ?? `mcp__${place.alias}`,
        kind: 'elicitation',
      },
      signal,
    );
    if (signal.aborted) return { action: 'cancel' };
    if (!answer.allow) return { action: 'decline' };
    return { action: 'accept', ...(question.schema === undefined ? {} : { content: answer.content ?? {} }) };
  } finally {
    for (const exchange of calls) exchange.waiting = undefined;
  }
};

export type ToClient = (ask: ServerAsk, signal: AbortSignal) => Promise<Answered>;

const answerer =
  (ports: GatewayPorts, place: Place, capabilities: Json, toClient: ToClient | undefined): Answerer =>
  async (ask, signal) => {
    const elicits = ask.method === 'elicitation/create';
    const mayAgent = !elicits || place.server.elicitation === 'agent';
    if (mayAgent && toClient !== undefined && canAnswer(capabilities, ask)) {
      const answered = await toClient(ask, signal);
      if ('result' in answered) return answered.result;
      return elicits ? { action: 'cancel' } : undefined;
    }
    return elicits ? inQueue(ports, place, ask.params, signal) : undefined;
  };

/**
 * Who answers what is asked during a call. A connection asks whoever runs calls there, and where several run it must be
 * the same one: so it is one for all calls of a session, or of a client that is asked itself.
 */
export const answererOf = (
  ports: GatewayPorts,
  exchange: Exchange,
  toClient: ToClient | undefined,
): Answerer => {
  const { place, client, capabilities } = exchange;
  if (toClient !== undefined) return answerer(ports, place, capabilities, toClient);
  if (exchange.ask === undefined || !mayAsk(exchange)) {
    place.answer ??= answerer(ports, place, {}, undefined);
    return place.answer;
  }
  client.answer ??= answerer(ports, place, client.capabilities, async ({ method, params }, signal) => {
    const ask = lastRunning(client)?.ask;
    return ask === undefined ? failure(refusedError, 'The client is gone') : ask(method, params, signal);
  });
  return client.answer;
};

/** Whether what must be opened first is its client's affair, which knows the error that says so. */
export const opensItself = ({ era, capabilities, place }: Exchange): boolean =>
  era === 'older' &&
  place.server.elicitation === 'agent' &&
  canAnswer(capabilities, { method: 'elicitation/create', params: { mode: 'url' } });

/** Whether there is anything its client could be asked. */
export const mayAsk = ({ capabilities, place }: Exchange): boolean =>
  'sampling' in capabilities ||
  'roots' in capabilities ||
  ('elicitation' in capabilities && place.server.elicitation === 'agent');

/** What may be asked during a call, as the capabilities of a client: a person always answers. */
export const askable = ({ capabilities: { sampling, roots } }: Exchange): Json => ({
  elicitation: { form: {}, url: {} },
  ...(sampling === undefined ? {} : { sampling }),
  ...(roots === undefined ? {} : { roots }),
});

/** Asks a client of the older revisions by a request of ours on the way to it; it answers with a message of its own. */
export const askOver =
  (client: Client, write: (message: Json) => void): NonNullable<Exchange['ask']> =>
  (method, params, signal) =>
    new Promise<Answered>((resolve) => {
      const id = randomUUID();
      const settle = (answered: Answered): void => {
        client.asked.delete(id);
        signal.removeEventListener('abort', cancel);
        resolve(answered);
      };
      const cancel = (): void => {
        write(
          notification('notifications/cancelled', { requestId: id, reason: 'The server no longer asks' }),
        );
        settle(failure(refusedError, 'Cancelled'));
      };
      client.asked.set(id, settle);
      signal.addEventListener('abort', cancel, { once: true });
      write({ jsonrpc: '2.0', id, method, params });
    });
