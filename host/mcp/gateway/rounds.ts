/**
 * Asking the agent's client in 2026-07-28: there the answer to its request is what it is asked, and it comes again with
 * what it found. The call at the server runs on meanwhile. What comes again is known by a token that is used once; its
 * arguments are not read a second time, so what runs is what was decided.
 */
import { randomUUID } from 'node:crypto';
import type { Answered, ServerAsk } from '../connections/edge.ts';
import { isRecord, type Json } from '../json.ts';
import { roundMs } from './limits.ts';
import { failure, invalidParams } from './protocol.ts';
import type { Exchange, Place } from './visits.ts';

interface Question {
  readonly ask: ServerAsk;
  readonly answer: (answered: Answered) => void;
}

export interface Round {
  /** The request that waits now. */
  exchange: Exchange;
  readonly toClient: (ask: ServerAsk, signal: AbortSignal) => Promise<Answered>;
  /** Aborts when the call is given up. */
  readonly signal: AbortSignal;
}

interface Held extends Round {
  readonly place: Place;
  /** Method and name, which a request that comes again must repeat. */
  readonly subject: string;
  readonly questions: Map<string, Question>;
  readonly stop: AbortController;
  readonly final: Promise<Answered>;
  asked: () => void;
  timer?: NodeJS.Timeout;
}

const cancelled: Answered = failure(invalidParams, 'The call was given up before it was answered');

export const openRounds = () => {
  const waiting = new Map<string, Held>();

  /** Until the call is done or asks something more. */
  const wait = async (held: Held, exchange: Exchange): Promise<Answered> => {
    held.exchange = exchange;
    const stop = (): void => held.stop.abort();
    if (exchange.stop.signal.aborted) stop();
    exchange.stop.signal.addEventListener('abort', stop, { once: true });
    const asked = new Promise<undefined>((resolve) => {
      held.asked = () => resolve(undefined);
      if (held.questions.size > 0) resolve(undefined);
    });
    const answered = await Promise.race([held.final, asked]);
    exchange.stop.signal.removeEventListener('abort', stop);
    if (answered !== undefined) return answered;
    const token = randomUUID();
    const { session } = held.place;
    const giveUp = (): void => {
      if (waiting.delete(token)) held.stop.abort();
      session.ends.delete(giveUp);
    };
    waiting.set(token, held);
    session.ends.add(giveUp);
    held.timer = setTimeout(giveUp, roundMs).unref();
    const inputRequests = Object.fromEntries(
      [...held.questions].map(
        ([
          key,
          {
            ask: { method, params },
          },
        ]) => [key, { method, params }],
      ),
    );
    return { result: { resultType: 'input_required', inputRequests, requestState: token } };
  };

  const begin = (
    exchange: Exchange,
    subject: string,
    start: (round: Round) => Promise<Answered>,
  ): Promise<Answered> => {
    const stop = new AbortController();
    const questions = new Map<string, Question>();
    let count = 0;
    const toClient = (ask: ServerAsk, signal: AbortSignal): Promise<Answered> =>
      new Promise((resolve) => {
        count += 1;
        const key = ask.key !== undefined && !questions.has(ask.key) ? ask.key : `ask-${count}`;
        const answer = (answered: Answered): void => {
          questions.delete(key);
          resolve(answered);
        };
        for (const one of [signal, stop.signal]) {
          one.addEventListener('abort', () => answer(cancelled), { once: true });
        }
        questions.set(key, { ask, answer });
        // A server often asks more than one thing at once; they are told together.
        setImmediate(() => held.asked());
      });
    const round = { exchange, toClient, signal: stop.signal };
    const held: Held = Object.assign(round, {
      place: exchange.place,
      subject,
      questions,
      stop,
      final: Promise.resolve(cancelled),
      asked: () => {},
    });
    const started: Held = Object.assign(held, { final: start(round) });
    return wait(started, exchange);
  };

  /** Undefined: this request does not come again. */
  const resume = (exchange: Exchange, subject: string, params: Json): Promise<Answered> | undefined => {
    const { requestState, inputResponses } = params;
    if (requestState === undefined) return undefined;
    const held = typeof requestState === 'string' ? waiting.get(requestState) : undefined;
    if (held === undefined || held.place !== exchange.place || held.subject !== subject) {
      const data = { reason: 'invalid_request_state' };
      return Promise.resolve(failure(invalidParams, 'Invalid or expired requestState', data));
    }
    waiting.delete(String(requestState));
    clearTimeout(held.timer);
    const answers = isRecord(inputResponses) ? inputResponses : {};
    for (const [key, { answer }] of [...held.questions]) {
      const found = answers[key];
      if (isRecord(found)) answer({ result: found });
    }
    return wait(held, exchange);
  };

  return { begin, resume };
};
export type Rounds = ReturnType<typeof openRounds>;
