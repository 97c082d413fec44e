/**
 * Takes away from a worker everything but the language: after `lockDown` no module can be imported but the glue, and
 * no global of Node is left. The permission flags of the worker stand behind this; this stands before them, since
 * they leave `process.kill`, V8 flags and SQLite files open.
 */
import { registerHooks } from 'node:module';

export const glueUrl = 'jupiter:glue';
/** An empty module. Importing it makes Node load what it needs for an import, while it still can. */
const emptyUrl = 'jupiter:empty';

/** What generated code uses beside the language itself. */
const keptGlobals: ReadonlySet<string> = new Set([
  'globalThis',
  'TextDecoder',
  'TextEncoder',
  'WebAssembly',
  ...(
    'Infinity NaN undefined eval isFinite isNaN parseFloat parseInt decodeURI decodeURIComponent encodeURI ' +
    'encodeURIComponent escape unescape Object Function Array Number Boolean String Symbol BigInt Date Promise ' +
    'RegExp Error AggregateError EvalError RangeError ReferenceError SyntaxError TypeError URIError SuppressedError ' +
    'ArrayBuffer SharedArrayBuffer Atomics DataView Uint8Array Int8Array Uint8ClampedArray Uint16Array Int16Array ' +
    'Uint32Array Int32Array Float16Array Float32Array Float64Array BigUint64Array BigInt64Array Map Set WeakMap ' +
    'WeakSet WeakRef FinalizationRegistry Proxy Reflect JSON Math Intl Iterator AsyncDisposableStack ' +
    'DisposableStack Temporal'
  ).split(' '),
]);
/**
 * What Node’s own code still reads from `process` while a worker runs. Nothing of it acts on the outside, `exit` ends
 * the worker alone, and no name leads to `process` any more.
 */
const keptOfProcess: ReadonlySet<string> = new Set([
  'version',
  'versions',
  'arch',
  'platform',
  'release',
  'nextTick',
  '_tickCallback',
  '_fatalException',
  'exit',
  'reallyExit',
  'emitWarning',
  '_exiting',
  'exitCode',
  'domain',
  '_events',
  '_eventsCount',
  '_maxListeners',
  'env',
  'stdin',
  'stdout',
  'stderr',
]);

const undefinedForGood = { value: undefined, writable: false, configurable: false, enumerable: false };
/** Without looking at what is there: a lazy global would load its module to be looked at. */
const gone = (from: object, key: PropertyKey): void => {
  if (!Reflect.deleteProperty(from, key) || !Reflect.defineProperty(from, key, undefinedForGood)) {
    Reflect.defineProperty(from, key, { value: undefined, writable: false });
  }
};

const quiet = (): undefined => undefined;

/** The only module that can be imported from now on is `glueUrl`, and it is `source`. */
export const closeImports = (source: string): void => {
  registerHooks({
    resolve: (specifier) => {
      if (specifier !== glueUrl && specifier !== emptyUrl) throw new Error('nothing can be imported here');
      return { url: specifier, format: 'module', shortCircuit: true };
    },
    load: (url) => {
      if (url !== glueUrl && url !== emptyUrl) throw new Error('nothing can be loaded here');
      return { format: 'module', source: url === glueUrl ? source : '', shortCircuit: true };
    },
  });
};

export const closeGlobals = (): void => {
  const { process } = globalThis;
  Object.defineProperty(process, 'env', { value: Object.freeze({}), writable: false, configurable: false });
  for (const key of Reflect.ownKeys(process)) {
    if (typeof key !== 'string' || !keptOfProcess.has(key)) gone(process, key);
  }
  for (const key of Reflect.ownKeys(globalThis)) {
    if (typeof key === 'string' && key !== 'console' && !keptGlobals.has(key)) gone(globalThis, key);
  }
  // Generated code reports faults of its own to the console before it throws them.
  Object.defineProperty(globalThis, 'console', {
    value: Object.freeze({ error: quiet, warn: quiet, log: quiet, info: quiet, debug: quiet, trace: quiet }),
    writable: false,
    configurable: false,
  });
};

export const lockDown = async (source: string): Promise<void> => {
  closeImports(source);
  await import(emptyUrl);
  closeGlobals();
};
