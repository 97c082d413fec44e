/**
 * What a server asks in the middle of a call. Whatever wants a person's answer goes into the session's queue, unless the
 * agent's own client is to be asked and says it can; sampling and roots are the agent's alone, and whoever did not
 * declare them is not asked.
 */
import type { Answered, Json, ServerAsk } from '../connections/edge.ts';
import type { GatewayPorts } from './edge.ts';
import { shownCharacters } from './limits.ts';
import { isRecord } from './protocol.ts';
import type { Exchange } from './visits.ts';

/** Whether a client that declared these can be asked this. */
export const canAnswer = (capabilities: Json, { method, params }: ServerAsk): boolean => {
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

/** The form or address as a person is shown it. */
export const elicitationText = (params: Json): string =>
  [text(params['message']), text(params['url'])]
    .filter((part) => part !== '')
    .join('\n')
    .slice(0, shownCharacters);

const inQueue = async (
  ports: GatewayPorts,
  exchange: Exchange,
  tool: string,
  params: Json,
  signal: AbortSignal,
): Promise<Json> => {
  const { server, session } = exchange.place;
  const form = params['mode'] !== 'url' && isRecord(params['requestedSchema']);
  exchange.waiting = `${server.original} asks a person`;
  try {
    const answer = await ports.ask(
      {
        session: session.id,
        title: `${server.original} asks`,
        tool,
        text: elicitationText(params),
        kind: 'elicitation',
        ...(form ? { schema: params['requestedSchema'] as Json } : {}),
      },
      signal,
    );
    if (signal.aborted) return { action: 'cancel' };
    if (!answer.allow) return { action: 'decline' };
    return { action: 'accept', ...(form ? { content: answer.content ?? {} } : {}) };
  } finally {
    exchange.waiting = undefined;
  }
};

export type ToClient = (ask: ServerAsk, signal: AbortSignal) => Promise<Answered>;

/** `toClient`: how the agent's client is asked; undefined where there is no way to. */
export const answerAsk =
  (ports: GatewayPorts, exchange: () => Exchange, tool: string, toClient: ToClient | undefined) =>
  async (ask: ServerAsk, signal: AbortSignal): Promise<Json | undefined> => {
    const now = exchange();
    const elicits = ask.method === 'elicitation/create';
    const mayAgent = !elicits || now.place.server.elicitation === 'agent';
    if (mayAgent && toClient !== undefined && canAnswer(now.capabilities, ask)) {
      const answered = await toClient(ask, signal);
      if ('result' in answered) return answered.result;
      return elicits ? { action: 'cancel' } : undefined;
    }
    return elicits ? inQueue(ports, now, tool, ask.params, signal) : undefined;
  };
