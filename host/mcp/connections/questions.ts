/**
 * What a server asks by requests of its own while calls run, as the older revisions do. Such a request does not say
 * which call it is for: it reaches whoever made the calls that run, and nobody where several did.
 */
import type { Json } from '../json.ts';
import { askedBy, refusedAsk } from './asks.ts';
import type { RequestOptions } from './edge.ts';

/** Questions of a server that are open at a time. */
const mostAsked = 32;
/** Questions of one call, withdrawn ones too: each is a line in somebody's queue that stays. */
const mostAskedInCall = 100;
const askable: ReadonlySet<string> = new Set(['elicitation/create', 'sampling/createMessage', 'roots/list']);

/** A call that can be asked. */
export interface Asker {
  readonly options: Pick<RequestOptions, 'onAsk'>;
  readonly ended: AbortController;
  /** Questions that wait for it: meanwhile no time of it passes. */
  asking: number;
  /** Questions it had. */
  asked: number;
}

export interface Questions {
  /** True where the message was a question; it is answered in its time. */
  readonly heard: (id: string | number, method: string, params: Json) => boolean;
  /** True where it was a question that waited. */
  readonly withdrawn: (id: string | number) => boolean;
  /** Nobody hears an answer any more. */
  readonly end: () => void;
}

/** Whose question it is: all calls that could be asked have the same answerer, or nobody can tell. */
const askerOf = <T extends Asker>(running: Iterable<T>): T | 'nobody' | 'several' => {
  let found: T | undefined;
  for (const call of running) {
    if (call.options.onAsk === undefined) continue;
    if (found !== undefined && found.options.onAsk !== call.options.onAsk) return 'several';
    found = call;
  }
  return found ?? 'nobody';
};

/** `answered`: a call was asked and goes on. */
export const openQuestions = <T extends Asker>(
  post: (message: Json) => void,
  running: () => Iterable<T>,
  answered: (call: T) => void,
): Questions => {
  /** What was asked and is not answered yet, by the server's own number. */
  const asked = new Map<string | number, AbortController>();
  let over = false;

  const ask = async (id: string | number, method: string, params: Json): Promise<void> => {
    const refuse = (why?: string): void => post({ id, error: refusedAsk(method, why) });
    if (asked.size >= mostAsked) return refuse(`${mostAsked} questions are open`);
    const call = askerOf(running());
    if (call === 'several') return refuse('calls of several sessions run, so nobody can tell whom it asks');
    if (call === 'nobody') return refuse('no call runs that could be asked');
    if (call.asked >= mostAskedInCall) return refuse(`more than ${mostAskedInCall} questions of one call`);
    call.asked += 1;
    const withdrawn = new AbortController();
    asked.set(id, withdrawn);
    call.asking += 1;
    const signal = AbortSignal.any([withdrawn.signal, call.ended.signal]);
    const answer = await askedBy(call.options.onAsk, { method, params }, signal);
    asked.delete(id);
    call.asking -= 1;
    answered(call);
    if (withdrawn.signal.aborted || over) return;
    if (answer === undefined) refuse();
    else post({ id, result: answer });
  };

  return {
    heard: (id, method, params) => {
      if (!askable.has(method)) return false;
      void ask(id, method, params);
      return true;
    },
    withdrawn: (id) => {
      const found = asked.get(id);
      found?.abort();
      return found !== undefined;
    },
    end: () => {
      over = true;
      for (const withdrawn of asked.values()) withdrawn.abort();
    },
  };
};
