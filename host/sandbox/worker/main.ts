/**
 * The worker of one activation. In this order: what the imports need is taken, the worker is locked down, the guest is
 * instantiated, `ready` is posted, and from then on one result for each batch. Whatever fails ends the guest's use;
 * the host ends the worker.
 */
import { parentPort, receiveMessageOnPort, workerData } from 'node:worker_threads';
import {
  type AnswerPost,
  type BatchPost,
  type LogLevel,
  type SyncAnswer,
  type SyncCall,
  signal,
  type WorkerPost,
  type WorkerStart,
} from '../protocol.ts';
import { type Imports, releaseOf } from '../releases/index.ts';
import { HostFault } from './arguments.ts';
import { ledger } from './ledger.ts';
import { glueUrl, lockDown } from './lockdown.ts';
import { watchMemories } from './memories.ts';
import { faultOf, type Handle, runner } from './run.ts';
import { type ShimIo, wasiImports } from './wasi.ts';

const start: WorkerStart = workerData;
const port = parentPort;
if (port === null) throw new Error('this is the main module of a worker');
const post = (message: WorkerPost): void => port.postMessage(message);
const cells = new Int32Array(start.signal);

let firstFault: HostFault | undefined;
const effects = ledger(start.limits, (place) => Atomics.store(cells, signal.message, place + 1));

const ask = (call: SyncCall): SyncAnswer => {
  post({ kind: 'call', call, message: effects.current(call.call) });
  // The call before may have been answered between the look and the wait: its notice comes now, and is not for this one.
  while (Atomics.load(cells, signal.answered) === 0) Atomics.wait(cells, signal.answered, 0);
  Atomics.store(cells, signal.answered, 0);
  const received: { message: AnswerPost } | undefined = receiveMessageOnPort(start.answers);
  if (received === undefined) throw new HostFault('sandbox/call-failed', 'no answer came');
  return JSON.parse(received.message.answer);
};

/** Remembers the first fault of any host function, since a guest can catch the exception it is thrown as. */
const guarded =
  <A extends unknown[], R>(implementation: (...given: A) => R) =>
  (...given: A): R => {
    if (firstFault !== undefined) throw firstFault;
    try {
      return implementation(...given);
    } catch (error) {
      if (error instanceof HostFault) firstFault ??= error;
      throw error;
    }
  };
const isResource = (name: string): boolean => /^[A-Z]/.test(name);
const watched = (imports: Imports): Imports => {
  const watch = ([name, found]: [string, unknown]): [string, unknown] => [
    name,
    typeof found === 'function' && !isResource(name)
      ? guarded((...given: unknown[]): unknown => found(...given))
      : found,
  ];
  return Object.fromEntries(
    Object.entries(imports).map(([key, functions]) => [
      key,
      Object.fromEntries(Object.entries(functions).map(watch)),
    ]),
  );
};

/** V8's own collection, of which the last-resort one leaves nothing. */
type Collect = (options: Readonly<Record<string, string>>) => void;
/** Batches after which a component that has nothing to do for so long, ms, gives back what they left. */
const muchWork = 100;
const restMs = 1_000;

interface Glue {
  readonly instantiate: (
    module: (name: string) => unknown,
    imports: Imports,
    instantiateCore: (module: WebAssembly.Module, imports?: object) => WebAssembly.Instance,
  ) => { readonly component: { readonly handle: Handle } };
}

const logged = guarded((level: LogLevel, line: string): void =>
  effects.add({ kind: 'log', level, text: line }, line.length),
);

const begin = async (): Promise<void> => {
  const release = releaseOf(start.wit);
  if (release === undefined) throw new Error(`release ${start.wit} is not served`);
  const shim: ShimIo | undefined =
    start.wasi.length === 0 ? undefined : await import(new URL('io.js', start.shim).href);
  const imports = watched({
    ...release.serve(effects, ask),
    ...(shim === undefined ? {} : wasiImports(shim, logged)),
  });
  const modules = new Map(start.modules);
  const memories = watchMemories(start.limits.memoryBytes);
  // Taken before the lock-down: an idle component need not hold what its start, or much work, left behind.
  const { gc, setTimeout: later } = globalThis as typeof globalThis & { gc?: Collect };
  const collect = (): void => gc?.({ type: 'major', execution: 'sync', flavor: 'last-resort' });
  let batches = 0;
  const rest = later(() => {
    if (batches < muchWork) return;
    batches = 0;
    collect();
  }, restMs);
  await lockDown(start.glue);
  const glue: Glue = await import(glueUrl);
  const { component } = glue.instantiate((name) => modules.get(name), imports, memories.instantiate);
  if (firstFault !== undefined) throw firstFault;
  const run = runner(component.handle, effects, { first: () => firstFault }, memories.short);
  let usable = true;
  port.on('message', (batch: BatchPost) => {
    if (!usable) return;
    Atomics.store(cells, signal.batch, batch.batch);
    const result = run(batch);
    usable = result.ok;
    post({ kind: 'result', batch: batch.batch, result });
    batches += 1;
    rest.refresh();
  });
  collect();
  post({ kind: 'ready' });
};

begin().catch((error: unknown) => post({ kind: 'failed', fault: faultOf(error, 'sandbox/start-failed') }));
