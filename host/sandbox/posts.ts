/**
 * Reads what a worker posts. The worker runs generated code beside ours, so its posts are looked at like a stranger's
 * who may have taken it over: anything but the protocol's own shapes, within the bounds our own worker keeps, is
 * undefined, and the activation ends with `sandbox/protocol`.
 */
import type { ComponentLimits } from './limits.ts';
import type { Effect, Handled, Message, SyncCall, WorkerPost } from './protocol.ts';
import { longest, mostArguments, mostPaths } from './worker/arguments.ts';
import { outcomeUnits } from './worker/run.ts';

type Fields = Readonly<Record<string, unknown>>;
type Check = (value: unknown) => boolean;

const isFields = (value: unknown): value is Fields => typeof value === 'object' && value !== null;
/** A structured clone keeps the holes of a list, and the methods of lists pass over them. */
const isList = (value: unknown, most: number, item: Check): boolean =>
  Array.isArray(value) && value.length <= most && Array.from<unknown>(value).every(item);
const isText = (value: unknown): value is string => typeof value === 'string' && value.isWellFormed();
const text =
  (most: number): Check =>
  (value) =>
    isText(value) && value.length <= most;
const name =
  (most: number): Check =>
  (value) =>
    value !== '' && text(most)(value);
const orNull =
  (check: Check): Check =>
  (value) =>
    value === null || check(value);
const optional =
  (check: Check): Check =>
  (value) =>
    value === undefined || check(value);
const isU32: Check = (value) =>
  typeof value === 'number' && Number.isInteger(value) && value >= 0 && value < 2 ** 32;
const isOne =
  (...known: readonly unknown[]): Check =>
  (value) =>
    known.includes(value);

/** Exactly these fields, each as its check wants it. */
const shaped = (fields: Readonly<Record<string, Check>>): Check => {
  const checks = Object.entries(fields);
  return (value) =>
    isFields(value) &&
    Object.keys(value).every((key) => Object.hasOwn(fields, key)) &&
    checks.every(([key, check]) => check(value[key]));
};
/** One of several shapes, told apart by the field `by`. */
const tagged = (by: string, shapes: Readonly<Record<string, Readonly<Record<string, Check>>>>): Check => {
  const known = new Map(
    Object.entries(shapes).map(([tag, fields]) => [tag, shaped({ [by]: isOne(tag), ...fields })] as const),
  );
  return (value) => {
    const tag = isFields(value) ? value[by] : undefined;
    return typeof tag === 'string' && known.get(tag)?.(value) === true;
  };
};

const isEffect = tagged('kind', {
  log: { level: isOne('debug', 'info', 'warn', 'error'), text: isText },
  wake: { token: name(longest.id), afterMs: isU32 },
  put: { key: name(longest.key), value: isText },
  remove: { key: name(longest.key) },
  publish: {
    topic: name(longest.topic),
    payload: isText,
    to: orNull(name(longest.id)),
    token: orNull(text(longest.id)),
  },
  write: { process: name(longest.id), text: isText },
  kill: { process: name(longest.id) },
  release: { process: name(longest.id) },
} satisfies Readonly<Record<Effect['kind'], Readonly<Record<string, Check>>>>);

const owner = { process: name(longest.id), agent: name(longest.agent) };
const isCommand = shaped({
  command: text(longest.path),
  args: (list) => isList(list, mostArguments, text(longest.argument)),
  env: (list) =>
    isList(list, mostArguments, shaped({ name: text(longest.id), value: text(longest.argument) })),
  cwd: orNull(text(longest.path)),
  outputBytes: orNull(isU32),
});

const isCall = tagged('call', {
  'store.get': { key: name(longest.key) },
  'store.scan': { prefix: text(longest.key), after: orNull(text(longest.key)), limit: isU32 },
  'process.spawn': { program: name(longest.program), cwd: name(longest.path) },
  'workspace.offered': owner,
  'workspace.read': { ...owner, path: text(longest.path), line: orNull(isU32), limit: orNull(isU32) },
  'workspace.write': { ...owner, path: text(longest.path), content: text(longest.content) },
  'terminals.create': { ...owner, command: isCommand },
  'terminals.output': { terminal: name(longest.id) },
  'session-context.servers': { agent: name(longest.agent) },
  'session-context.servers-for': {
    session: name(longest.id),
    agent: name(longest.agent),
    cwd: name(longest.path),
    mcpConfig: orNull(text(longest.path)),
  },
  'session-context.place-skills': { cwd: name(longest.path), sink: text(longest.path) },
  'session-context.outside': {
    cwd: name(longest.path),
    paths: (list) => isList(list, mostPaths, text(longest.path)),
  },
} satisfies Readonly<Record<SyncCall['call'], Readonly<Record<string, Check>>>>);

const isFault = shaped({ code: text(outcomeUnits.code), evidence: text(outcomeUnits.evidence) });
const isProblem = shaped({
  code: text(outcomeUnits.code),
  message: text(outcomeUnits.message),
  subject: optional(text(outcomeUnits.subject)),
  evidence: optional(text(outcomeUnits.evidence)),
  fix: optional(text(outcomeUnits.fix)),
});
const isOutcome = tagged('tag', { done: {}, replied: { reply: isText }, failed: { problem: isProblem } });

/** Text of an effect or outcome, UTF-16 units, as the worker's ledger counts it or more. */
const unitsOf = (value: unknown): number => {
  if (typeof value === 'string') return value.length;
  return isFields(value) ? Object.values(value).reduce<number>((sum, part) => sum + unitsOf(part), 0) : 0;
};
/** The names of kinds, tags, levels and addresses are not counted by the ledger; this much of each effect is for them. */
const slackUnits = longest.id * 2 + 32;

const isHandled = (value: unknown, limits: ComponentLimits): boolean => {
  if (!shaped({ outcome: isOutcome, effects: (list) => isList(list, limits.effects, isEffect) })(value)) {
    return false;
  }
  const { outcome, effects } = value as Handled;
  const most = limits.effectUnits + slackUnits * (effects.length + 1);
  return unitsOf(outcome) + unitsOf(effects) <= most;
};

/** What the worker is at: the oldest batch it has not answered. */
export interface Expected {
  readonly batch: number;
  readonly messages: readonly Message[];
}

const isResult = (expected: Expected | undefined, limits: ComponentLimits): Check => {
  if (expected === undefined) return () => false;
  const known = (id: unknown) => expected.messages.some((message) => message.id === id);
  const failed = shaped({ ok: isOne(false), fault: isFault, trapped: optional(known) });
  const count = expected.messages.length;
  const done = shaped({
    ok: isOne(true),
    handled: (list) =>
      Array.isArray(list) && list.length === count && isList(list, count, (one) => isHandled(one, limits)),
  });
  return shaped({
    kind: isOne('result'),
    batch: isOne(expected.batch),
    result: (value) => failed(value) || done(value),
  });
};

const isReady = shaped({ kind: isOne('ready') });
const isFailed = shaped({ kind: isOne('failed'), fault: isFault });

export const readWorkerPost = (
  value: unknown,
  expected: Expected | undefined,
  limits: ComponentLimits,
): WorkerPost | undefined => {
  if (!isFields(value)) return undefined;
  const isOwnCall = shaped({
    kind: isOne('call'),
    call: isCall,
    message: (id) => expected?.messages.some((message) => message.id === id) === true,
  });
  const fits = isResult(expected, limits)(value) || isOwnCall(value) || isReady(value) || isFailed(value);
  return fits ? (value as unknown as WorkerPost) : undefined;
};
