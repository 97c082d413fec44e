/**
 * Requests over one live connection: numbered, bounded, timed, cancelled, answered as the server answers. Ordinary
 * requests go to the wire and back without the SDK between: nothing a server sends is checked against a schema, so
 * nothing of it is lost, and a call costs one parse and one serialisation.
 */
import { type Problem, type ProblemCode, problem } from '../../problems/index.ts';
import { isRecord } from '../json.ts';
import { askedBy, inputRequests, refusedAsk } from './asks.ts';
import type { Answered, Json, RequestOptions } from './edge.ts';
import type { ConnectionLimits } from './limits.ts';
import { openQuestions } from './questions.ts';
import { leavingParams, type Outcome, type Wire, withMeta } from './wire.ts';

const internalError = -32_603;
/** Of an error that is none, UTF-16 units that are told. */
const shownUnits = 200;

/** The number a message of the server names; of anything else none. */
const numberIn = (id: unknown): number =>
  typeof id === 'number' || typeof id === 'string' ? Number(id) : Number.NaN;

/** As it came, where it is an error of the protocol. */
const errorIn = (error: unknown): Extract<Answered, { readonly error: unknown }> => {
  if (isRecord(error) && typeof error['message'] === 'string' && Number.isSafeInteger(error['code']))
    return { error: error as unknown as { code: number; message: string } };
  const told = JSON.stringify(error).slice(0, shownUnits);
  return {
    error: { code: internalError, message: `The server answered with an error that is none: ${told}` },
  };
};

/** Our numbers begin here; those of the SDK stay far below. */
const firstId = 1_000_000_000;
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

export const openCalls = (
  wire: Wire,
  limits: ConnectionLimits,
  now: () => number,
  heardNotification: (method: string, params: Json) => void,
): Calls => {
  const running = new Map<number, Call>();
  const queue = new Set<Call>();
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
    const params = leavingParams(wire, id, call, extra);
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
  const questions = openQuestions(post, () => running.values(), touch);

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

  const heardAnswer = (id: number, message: Json): void => {
    const call = running.get(id);
    // One that was cancelled, or timed out: whoever made it knows already.
    if (call === undefined || (wire.modern && call.asking > 0)) return;
    const { error } = message;
    const result = message['result'] ?? {};
    if (error !== undefined && error !== null) done(call, errorIn(error));
    else if (!isRecord(result)) done(call, fault('connections/broken-frame', 'its result is no object'));
    else {
      if (wire.modern && result['resultType'] === 'input_required') void askAndSendAgain(call, result);
      else done(call, { result });
    }
  };

  const heardOther = (method: string, params: Json): boolean => {
    if (method === 'notifications/progress') {
      const number = numberIn(params['progressToken']);
      const call = running.get(number);
      if (call === undefined) return number > firstId;
      touch(call);
      const { progressToken: _ours, ...progress } = params;
      call.options.onProgress?.(progress);
      return true;
    }
    if (method === 'notifications/cancelled')
      return questions.withdrawn(params['requestId'] as string | number);
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
        return questions.heard(id as string | number, method, params);
      }
      const number = numberIn(id);
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
      questions.end();
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
