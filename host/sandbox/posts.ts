/**
 * Reads what a worker posts. The worker runs generated code beside ours, so its posts are looked at like a stranger's:
 * anything but the protocol's own shapes is undefined, and the activation ends with `sandbox/protocol`.
 */
import type { ComponentLimits } from './limits.ts';
import type { Effect, Fault, Handled, Message, SyncCall, WorkerPost } from './protocol.ts';

type Fields = Readonly<Record<string, unknown>>;
const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
const isText = (value: unknown): value is string => typeof value === 'string';
const isTexts = (value: unknown): boolean => Array.isArray(value) && value.every(isText);
const isTextOrNull = (value: unknown): boolean => value === null || isText(value);
const isCount = (value: unknown): boolean =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0;

type Check = (value: unknown) => boolean;
const shaped = (fields: Readonly<Record<string, Check>>): ((value: Fields) => boolean) => {
  const checks = Object.entries(fields);
  return (value) => checks.every(([key, check]) => check(value[key]));
};

const effects: Readonly<Record<Effect['kind'], (value: Fields) => boolean>> = {
  log: shaped({ level: (level) => ['debug', 'info', 'warn', 'error'].includes(String(level)), text: isText }),
  wake: shaped({ token: isText, afterMs: isCount }),
  put: shaped({ key: isText, value: isText }),
  remove: shaped({ key: isText }),
  publish: shaped({ topic: isText, payload: isText, to: isTextOrNull, token: isTextOrNull }),
  write: shaped({ process: isText, text: isText }),
  kill: shaped({ process: isText }),
};
const calls: Readonly<Record<SyncCall['call'], (value: Fields) => boolean>> = {
  'store.get': shaped({ key: isText }),
  'store.scan': shaped({ prefix: isText, after: isTextOrNull, limit: isCount }),
  'process.spawn': shaped({ program: isText, cwd: isText }),
  'session-context.servers': shaped({ agent: isText }),
  'session-context.place-skills': shaped({ cwd: isText, sink: isText }),
  'session-context.outside': shaped({ cwd: isText, paths: isTexts }),
};
const known = (
  table: Readonly<Record<string, (value: Fields) => boolean>>,
  tag: unknown,
  value: Fields,
): boolean => isText(tag) && Object.hasOwn(table, tag) && table[tag]?.(value) === true;

const isFault = (value: unknown): value is Fault =>
  isFields(value) && isText(value.code) && isText(value.evidence);
const outcomes: Readonly<Record<string, (value: Fields) => boolean>> = {
  done: () => true,
  replied: shaped({ reply: isText }),
  failed: ({ problem }) => isFields(problem) && isText(problem.code) && isText(problem.message),
};
const isHandled = (value: unknown, limits: ComponentLimits): value is Handled =>
  isFields(value) &&
  isFields(value.outcome) &&
  known(outcomes, value.outcome.tag, value.outcome) &&
  Array.isArray(value.effects) &&
  value.effects.length <= limits.effects &&
  value.effects.every((effect: unknown) => isFields(effect) && known(effects, effect.kind, effect));

/** What the worker is at: the oldest batch it has not answered. */
export interface Expected {
  readonly batch: number;
  readonly messages: readonly Message[];
}

const isResult = (value: Fields, expected: Expected | undefined, limits: ComponentLimits): boolean => {
  const { result } = value;
  if (expected === undefined || value.batch !== expected.batch || !isFields(result)) return false;
  if (result.ok === false) {
    const { trapped } = result;
    const known = trapped === undefined || expected.messages.some(({ id }) => id === trapped);
    return isFault(result.fault) && known;
  }
  const { handled } = result;
  return (
    result.ok === true &&
    Array.isArray(handled) &&
    handled.length === expected.messages.length &&
    handled.every((one: unknown) => isHandled(one, limits))
  );
};

export const readWorkerPost = (
  value: unknown,
  expected: Expected | undefined,
  limits: ComponentLimits,
): WorkerPost | undefined => {
  if (!isFields(value)) return undefined;
  const fits =
    value.kind === 'ready' ||
    (value.kind === 'failed' && isFault(value.fault)) ||
    (value.kind === 'result' && isResult(value, expected, limits)) ||
    (value.kind === 'call' &&
      isText(value.message) &&
      expected?.messages.some(({ id }) => id === value.message) === true &&
      isFields(value.call) &&
      known(calls, value.call.call, value.call));
  return fits ? (value as unknown as WorkerPost) : undefined;
};
