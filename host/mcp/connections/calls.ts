/**
 * Requests over one live connection: numbered, bounded, timed, cancelled, answered as the server answers. Ordinary
 * requests go to the wire and back without the SDK between: nothing a server sends is checked against a schema, so
 * nothing of it is lost, and a call costs one parse and one serialisation.
 */
import { type Problem, type ProblemCode, problem } from '../../problems/index.ts';
import { type AskOf, askedBy, inputRequests, refusedAsk } from './asks.ts';
import type { Answered, Json, RequestOptions } from './edge.ts';
import type { ConnectionLimits } from './limits.ts';

/** Our numbers begin here; those of the SDK stay far below. */
const firstId = 1_000_000_000;
/** The server has no session of this name any more: nothing was done, the request may be sent again. */
export const forgotten = Symbol('session forgotten');
/** Questions of a server that are open at a time. */
const mostAsked = 32;
/** Questions of one call, withdrawn ones too: each is a line in somebody's queue that stays. */
const mostAskedInCall = 100;
export type Outcome = Answered | typeof forgotten;

export interface Sent {
  readonly id: number;
  readonly signal: AbortSignal;
}
export interface Wire {
  /** `failed` at most once, when what was sent did not reach the server or its answer cannot come. */
  readonly send: (message: Json, sent: Sent | undefined, failed: (why: Outcome) => void) => void;
  /** 2026-07-28 and later: nothing is asked outside of an answer, and each request says who calls. */
  readonly modern: boolean;
  /** A request is cancelled by ending its stream; otherwise by a notification. */
  readonly ownStreams: boolean;
  /** `_meta` of every request and notification. */
  readonly envelope?: (asks: boolean, what?: Json) => Json;
  /** What leaves beside the body, of a request to a tool. */
  readonly name: string;
}

interface Call {
  readonly method: string;
  readonly params: Json;
  readonly options: RequestOptions;
  readonly settle: (outcome: Outcome) => void;
  /** Aborts what the server asked of us for it, and its stream. */
  readonly ended: AbortController;
  deadline: number;
  asking: number;
  /** Questions it had. */
  asked: number;
  rounds: number;
  id: number;
}

export interface Calls {
  readonly request: (method: string, params: Json, options?: RequestOptions) => Promise<Outcome>;
  readonly notify: (method: string, params: Json) => void;
  /** True where the message was for a call of ours, or asked something of one. */
  readonly heard: (message: Json) => boolean;
  /** A frame that was meant for this number was broken. */
  readonly broken: (id: number | undefined) => void;
  readonly tooLarge: (id: number | undefined) => void;
  /** Everything that waits gets this; nothing is taken any more. */
  readonly end: (why: Problem) => void;
  readonly running: () => number;
  readonly waiting: () => number;
  /** When nothing runs and nothing waits. */
  readonly idle: () => Promise<void>;
}

const withMeta = (params: Json, meta: Json): Json => ({
  ...params,
  _meta: { ...meta, ...(params['_meta'] as Json | undefined) },
});

export const openCalls = (
  wire: Wire,
  limits: ConnectionLimits,
  now: () => number,
  heardNotification: (method: string, params: Json) => void,
): Calls => {
  const running = new Map<number, Call>();
  const queue = new Set<Call>();
  /** What the server asked and was not answered yet, by its own number. */
  const asked = new Map<string | number, AbortController>();
  const idlers: (() => void)[] = [];
  let next = firstId;
  let over: Problem | undefined;
  let sweeper: NodeJS.Timeout | undefined;

  const fault = (code: ProblemCode, evidence?: string): Answered => ({
    problem: problem(code, { subject: wire.name, ...(evidence === undefined ? {} : { evidence }) }),
  });
  const post = (message: Json): void => wire.send({ jsonrpc: '2.0', ...message }, undefined, () => {});
  const notify = (method: string, params: Json): void => {
    post({ method, params: wire.envelope === undefined ? params : withMeta(params, wire.envelope(false)) });
  };

  const sweep = (): void => {
    const at = now();
    for (const call of [...running.values(), ...queue])
      if (call.asking === 0 && call.deadline <= at)
        cancel(call, fault('connections/timed-out', `${limits.callMs} ms without an answer or progress`));
  };
  const watch = (): void => {
    sweeper ??= setInterval(sweep, Math.min(1_000, Math.max(5, limits.callMs / 4)));
    sweeper.unref();
  };
  const unwatch = (): void => {
    if (running.size > 0 || queue.size > 0) return;
    clearInterval(sweeper);
    sweeper = undefined;
    for (const tell of idlers.splice(0)) tell();
  };

  const done = (call: Call, outcome: Outcome): void => {
    running.delete(call.id);
    queue.delete(call);
    // With a reason of its own no exception is made, which would cost more than all else here.
    call.ended.abort('ended');
    call.settle(outcome);
    for (const waiting of queue) {
      if (running.size >= limits.inFlight) break;
      queue.delete(waiting);
      send(waiting);
    }
    unwatch();
  };
  const cancel = (call: Call, why: Answered): void => {
    const { id } = call;
    const sent = running.get(id) === call;
    if (sent && !(wire.modern && wire.ownStreams))
      notify('notifications/cancelled', {
        requestId: id,
        reason: 'problem' in why ? why.problem.message : '',
      });
    done(call, why);
  };

  const send = (call: Call, extra?: Json): void => {
    next += 1;
    const id = next;
    call.id = id;
    running.set(id, call);
    let { params } = call;
    const wants = call.options.onProgress !== undefined;
    const meta = params['_meta'] as Json | undefined;
    if (wants || meta?.['progressToken'] !== undefined) {
      // Somebody else's token means nothing here, and could be taken for one of ours.
      const { progressToken: _theirs, ...rest } = meta ?? {};
      params = { ...params, _meta: wants ? { ...rest, progressToken: id } : rest };
    }
    if (wire.envelope !== undefined) {
      const { _meta: own, ...rest } = params;
      const { onAsk, asks } = call.options;
      params = { ...rest, _meta: { ...(own as Json), ...wire.envelope(onAsk !== undefined, asks) } };
    }
    if (extra !== undefined) params = { ...params, ...extra };
    wire.send(
      { jsonrpc: '2.0', id, method: call.method, params },
      { id, signal: call.ended.signal },
      (why) => {
        if (running.get(id) === call) done(call, why);
      },
    );
  };

  const touch = (call: Call): void => {
    call.deadline = now() + limits.callMs;
  };

  /** Answers to what the server asked inside of its answer; then the request is sent again with them. */
  const askAndSendAgain = async (call: Call, result: Json): Promise<void> => {
    if (call.rounds >= limits.rounds) {
      done(call, fault('connections/handshake', `it asked for more ${limits.rounds} times`));
      return;
    }
    call.rounds += 1;
    call.asking += 1;
    const requests = inputRequests(result);
    const inputResponses: Record<string, Json> = {};
    let refused: string | undefined;
    await Promise.all(
      requests.map(async ([key, ask]) => {
        const answer = await askedBy(call.options.onAsk, { ...ask, key }, call.ended.signal);
        if (answer === undefined) refused ??= ask.method;
        else inputResponses[key] = answer;
      }),
    );
    call.asking -= 1;
    if (call.ended.signal.aborted || running.get(call.id) !== call) return;
    if (refused !== undefined) {
      done(call, { error: refusedAsk(refused) });
      return;
    }
    touch(call);
    running.delete(call.id);
    const state = result['requestState'];
    send(call, {
      ...(requests.length === 0 ? {} : { inputResponses }),
      ...(state === undefined ? {} : { requestState: state }),
    });
  };

  /** Whose question it is: all calls that could be asked have the same answerer, or nobody can tell. */
  const asker = (): AskOf<Call> => {
    let found: Call | undefined;
    for (const call of running.values()) {
      if (call.options.onAsk === undefined) continue;
      if (found !== undefined && found.options.onAsk !== call.options.onAsk) return { ambiguous: true };
      found = call;
    }
    return found === undefined ? {} : { call: found };
  };
  const heardAsk = async (id: string | number, method: string, params: Json): Promise<void> => {
    const whose = asker();
    const refuse = (why?: string): void => post({ id, error: refusedAsk(method, why) });
    if (asked.size >= mostAsked) return refuse(`${mostAsked} questions are open`);
    if (whose.ambiguous === true)
      return refuse('calls of several sessions run, so nobody can tell whom it asks');
    const { call } = whose;
    if (call === undefined) return refuse('no call runs that could be asked');
    if (call.asked >= mostAskedInCall) return refuse(`more than ${mostAskedInCall} questions of one call`);
    call.asked += 1;
    const withdrawn = new AbortController();
    asked.set(id, withdrawn);
    call.asking += 1;
    const signal = AbortSignal.any([withdrawn.signal, call.ended.signal]);
    const answer = await askedBy(call.options.onAsk, { method, params }, signal);
    asked.delete(id);
    call.asking -= 1;
    touch(call);
    if (withdrawn.signal.aborted || over !== undefined) return;
    if (answer === undefined) refuse();
    else post({ id, result: answer });
  };

  const heardAnswer = (id: number, message: Json): void => {
    const call = running.get(id);
    // One that was cancelled, or timed out: whoever made it knows already.
    if (call === undefined || (wire.modern && call.asking > 0)) return;
    const error = message['error'] as { code: number; message: string } | undefined;
    if (error !== undefined && error !== null) done(call, { error });
    else {
      const result = (message['result'] ?? {}) as Json;
      if (wire.modern && result['resultType'] === 'input_required') void askAndSendAgain(call, result);
      else done(call, { result });
    }
  };

  const heardOther = (method: string, params: Json): boolean => {
    if (method === 'notifications/progress') {
      const call = running.get(Number(params['progressToken']));
      if (call === undefined) return Number(params['progressToken']) > firstId;
      touch(call);
      const { progressToken: _ours, ...progress } = params;
      call.options.onProgress?.(progress);
      return true;
    }
    if (method === 'notifications/cancelled') {
      const withdrawn = asked.get(params['requestId'] as string | number);
      withdrawn?.abort();
      return withdrawn !== undefined;
    }
    heardNotification(method, params);
    return false;
  };

  return {
    request: (method, params, options = {}) =>
      new Promise((resolve) => {
        if (over !== undefined) return resolve({ problem: over });
        if (options.signal?.aborted === true) return resolve(fault('connections/cancelled'));
        if (running.size >= limits.inFlight && queue.size >= limits.waiting)
          return resolve(
            fault('connections/busy', `connected; ${running.size} calls run and ${queue.size} wait`),
          );
        const abort = (): void => cancel(call, fault('connections/cancelled'));
        const call: Call = {
          method,
          params,
          options,
          settle: (outcome) => {
            options.signal?.removeEventListener('abort', abort);
            resolve(outcome);
          },
          ended: new AbortController(),
          deadline: now() + limits.callMs,
          asking: 0,
          asked: 0,
          rounds: 0,
          id: 0,
        };
        options.signal?.addEventListener('abort', abort, { once: true });
        if (running.size >= limits.inFlight) queue.add(call);
        else send(call);
        watch();
      }),
    notify,
    heard: (message) => {
      const { id, method } = message;
      if (typeof method === 'string') {
        const params = (message['params'] ?? {}) as Json;
        if (id === undefined) return heardOther(method, params);
        if (!isAsk(method)) return false;
        void heardAsk(id as string | number, method, params);
        return true;
      }
      const number = Number(id);
      if (!(number > firstId)) return false;
      heardAnswer(number, message);
      return true;
    },
    broken: (id) => {
      const call = id === undefined ? undefined : running.get(id);
      if (call !== undefined) done(call, fault('connections/broken-frame'));
    },
    tooLarge: (id) => {
      const call = id === undefined ? undefined : running.get(id);
      if (call !== undefined)
        done(call, fault('connections/too-large', `more than ${limits.messageBytes} bytes`));
    },
    end: (why) => {
      over = why;
      const all = [...running.values(), ...queue];
      running.clear();
      queue.clear();
      unwatch();
      for (const call of all) {
        call.ended.abort();
        call.settle({ problem: why });
      }
      for (const withdrawn of asked.values()) withdrawn.abort();
    },
    running: () => running.size,
    waiting: () => queue.size,
    idle: () =>
      new Promise((resolve) => {
        idlers.push(resolve);
        unwatch();
      }),
  };
};

const isAsk = (method: string): boolean =>
  method === 'elicitation/create' || method === 'sampling/createMessage' || method === 'roots/list';
