/**
 * One activation: a worker, its deadlines and its calls. The host's thread never waits for a guest; whatever a guest
 * does ends in a result for each batch or in the worker's end, after which nothing of it is used.
 */
import { MessageChannel, type MessagePort, Worker } from 'node:worker_threads';
import {
  failed,
  ok,
  type Problem,
  type ProblemCode,
  problem,
  type Result,
  refuse,
  registry,
} from '../problems/index.ts';
import { answerText } from './answers.ts';
import type { Activation, ActivationOptions, AdmittedComponent, StartActivation } from './edge.ts';
import { loadComponent } from './load.ts';
import { readWorkerPost } from './posts.ts';
import { workerProgram } from './program.ts';
import {
  type BatchPost,
  type BatchResult,
  type Fault,
  type Message,
  type SyncAnswer,
  type SyncCall,
  signal,
  type WorkerStart,
} from './protocol.ts';

/** JavaScript heap and stack of one worker, MiB; the guest's own memory is bounded in its modules. */
const workerHeap = {
  maxOldGenerationSizeMb: 192,
  // Larger ones hold garbage that looks like a leak, and no message was seen to be faster for it.
  maxYoungGenerationSizeMb: 8,
  codeRangeSizeMb: 64,
  stackSizeMb: 4,
};

const problemOf = ({ code, evidence }: Fault): Problem =>
  Object.hasOwn(registry, code)
    ? problem(code as ProblemCode, { evidence })
    : problem('sandbox/call-failed', { evidence: `${code}: ${evidence}` });

interface InFlight {
  readonly batch: number;
  readonly messages: readonly Message[];
}

/** Follows a worker, whatever program it runs: nothing it posts is believed before it was read. */
export const attend = (
  worker: Worker,
  options: ActivationOptions,
  answers: MessagePort,
  cells: Int32Array,
) => {
  const { promise: started, resolve: settleStart } = Promise.withResolvers<Result<undefined>>();
  const inFlight: InFlight[] = [];
  let state: 'starting' | 'running' | 'ended' = 'starting';
  let stopped = false;
  let last = 0;
  /** A worker of ours is blocked until a call is answered: whatever comes meanwhile is not from it. */
  let calling = false;

  /** The message the worker was at in its current batch, as it noted it in the shared cells. */
  const currentMessage = ({ batch, messages }: InFlight): string | undefined => {
    const place = Atomics.load(cells, signal.batch) === batch ? Atomics.load(cells, signal.message) : 0;
    return messages[place - 1]?.id;
  };
  // A callback may stop the activation; after that nothing is called back, not even what was on its way.
  const tell = (batch: number, result: BatchResult): void => {
    if (!stopped) options.onResult(batch, result);
  };
  /** Ends the activation; `trapped` is the message of the oldest batch that is to blame, where that is known. */
  const fail = (reason: Problem, trapped: string | undefined): void => {
    if (state === 'ended') return;
    const before = state;
    state = 'ended';
    clearTimeout(timer);
    answers.close();
    void worker.terminate();
    settleStart(failed(reason));
    if (before === 'starting') return;
    const [head, ...waiting] = inFlight.splice(0);
    if (head !== undefined) {
      tell(head.batch, { ok: false, problem: reason, ...(trapped === undefined ? {} : { trapped }) });
    }
    for (const { batch } of waiting) tell(batch, { ok: false, problem: reason });
    if (!stopped) options.onGone(reason);
  };
  /** The same where the worker cannot say itself whom to blame. */
  const end = (reason: Problem): void => fail(reason, inFlight[0] && currentMessage(inFlight[0]));
  const onDeadline = (): void => {
    if (state === 'starting') {
      end(
        problem('sandbox/start-deadline', {
          evidence: `more than ${options.limits.startDeadlineMs} ms (startDeadlineMs)`,
        }),
      );
    } else if (inFlight.length > 0) {
      end(
        problem('sandbox/deadline', {
          evidence: `more than ${options.limits.callDeadlineMs} ms (callDeadlineMs)`,
        }),
      );
    }
  };
  let timer = setTimeout(onDeadline, options.limits.startDeadlineMs);
  const restartTimer = (): void => {
    clearTimeout(timer);
    if (inFlight.length > 0) timer = setTimeout(onDeadline, options.limits.callDeadlineMs);
  };

  const onCall = async (call: SyncCall, message: string): Promise<void> => {
    let answer: SyncAnswer;
    try {
      answer = await options.onCall(call, message);
    } catch (error) {
      answer = { ok: false, problem: problem('sandbox/call-failed', { evidence: String(error) }) };
    }
    if (state === 'ended') return;
    calling = false;
    answers.postMessage({ answer: answerText(answer) });
    Atomics.store(cells, signal.answered, 1);
    Atomics.notify(cells, signal.answered);
  };

  worker.on('message', (received: unknown) => {
    if (state === 'ended') return;
    const post = readWorkerPost(received, inFlight[0], options.limits);
    if (post === undefined || calling) return end(problem('sandbox/protocol'));
    if (post.kind === 'failed') return end(problemOf(post.fault));
    if (post.kind === 'call') {
      calling = true;
      return void onCall(post.call, post.message);
    }
    if (post.kind === 'ready') {
      if (state !== 'starting') return end(problem('sandbox/protocol'));
      state = 'running';
      clearTimeout(timer);
      return settleStart(ok(undefined));
    }
    if (!post.result.ok) return fail(problemOf(post.result.fault), post.result.trapped);
    inFlight.shift();
    restartTimer();
    tell(post.batch, post.result);
  });
  worker.on('messageerror', () => end(problem('sandbox/protocol')));
  worker.on('error', (error: Error & { code?: string }) =>
    end(
      error.code === 'ERR_WORKER_OUT_OF_MEMORY'
        ? problem('sandbox/memory', { evidence: error.message })
        : problem('sandbox/gone', { evidence: error.message }),
    ),
  );
  worker.on('exit', (code) => end(problem('sandbox/gone', { evidence: `the worker ended with ${code}` })));

  const handle = (messages: readonly Message[]): number => {
    if (messages.length === 0 || messages.length > options.limits.batch) {
      throw new RangeError(`a batch has 1 to ${options.limits.batch} messages`);
    }
    last += 1;
    const batch = last;
    if (state === 'ended') {
      const result: BatchResult = { ok: false, problem: problem('sandbox/gone') };
      queueMicrotask(() => tell(batch, result));
      return batch;
    }
    inFlight.push({ batch, messages });
    worker.postMessage({ batch, messages } satisfies BatchPost);
    if (inFlight.length === 1) restartTimer();
    return batch;
  };
  const stop = async (): Promise<void> => {
    stopped = true;
    state = 'ended';
    clearTimeout(timer);
    inFlight.length = 0;
    answers.close();
    await worker.terminate();
  };
  return { started, activation: { handle, stop } satisfies Activation };
};

/** Starts a verified component (`sandbox/start-failed`, `sandbox/start-deadline`, `sandbox/cache-changed`). */
export const startActivation: StartActivation = async (
  component: AdmittedComponent,
  options: ActivationOptions,
): Promise<Result<Activation>> => {
  const loaded = await loadComponent(component);
  if (!loaded.ok) return loaded;
  const { glue, modules, wasi, shim, readable } = loaded.value;
  const { port1, port2 } = new MessageChannel();
  const shared = new SharedArrayBuffer(signal.cells * Int32Array.BYTES_PER_ELEMENT);
  const start: WorkerStart = {
    glue,
    modules,
    wit: component.wit,
    wasi,
    shim,
    limits: options.limits,
    signal: shared,
    answers: port2,
  };
  let worker: Worker;
  try {
    worker = new Worker(workerProgram().file, {
      name: options.name,
      workerData: start,
      transferList: [port2],
      env: {},
      argv: [],
      stdin: false,
      stdout: true,
      stderr: true,
      execArgv: ['--permission', ...readable.map((path) => `--allow-fs-read=${path}`)],
      resourceLimits: workerHeap,
    });
  } catch (error) {
    return refuse('sandbox/start-failed', { subject: options.name, evidence: String(error) });
  }
  worker.stdout.resume();
  worker.stderr.resume();
  const { started, activation } = attend(worker, options, port1, new Int32Array(shared));
  const ready = await started;
  if (!ready.ok) {
    await worker.terminate();
    return failed({ ...ready.problem, subject: options.name });
  }
  return ok(activation);
};
