/**
 * Problems in a guest. Whatever a handler throws becomes a problem here, so that a throw never reaches the engine:
 * one that does poisons the instance.
 */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly subject?: string;
  readonly evidence?: string;
  readonly fix?: string;
}
export interface ProblemDetail {
  readonly subject?: string;
  readonly evidence?: string;
  readonly fix?: string;
}
export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

// As the topics allow them (`problemShape`), UTF-16 units.
const limits = { code: 100, message: 4_000, subject: 1_000, evidence: 4_000, fix: 1_000 } as const;
const fields = ['code', 'message', 'subject', 'evidence', 'fix'] as const;

/** Cut to a number of UTF-16 units and made well-formed: a lone surrogate traps the guest on its way out. */
export const bounded = (text: string, units: number): string =>
  (text.length > units ? `${text.slice(0, units - 1)}…` : text).toWellFormed();

/** The fields of a problem that are there, each within its bound. */
export const tidyProblem = (found: Problem): Problem => {
  const tidy: Record<string, string> = {};
  for (const field of fields) {
    const value: unknown = found[field];
    if (typeof value === 'string') tidy[field] = bounded(value, limits[field]);
  }
  return { ...tidy, code: tidy.code ?? 'component/failed', message: tidy.message ?? 'No message.' };
};

const mark = Symbol('failure');

/** Ends the handling of a message with this problem: its effects are dropped, a command's caller gets it. */
export const fail = (code: string, message: string, detail: ProblemDetail = {}): never => {
  throw { [mark]: { code, message, ...detail } };
};
/** As `fail`, with a problem somebody else reported. */
export const failWith = (problem: Problem): never => {
  throw { [mark]: problem };
};

const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Problem).code === 'string' &&
  typeof (value as Problem).message === 'string';

/** What an import of type `result` threw, as data; anything else thrown goes on. */
export const attempt = <T>(call: () => T): Result<T> => {
  try {
    return { ok: true, value: call() };
  } catch (thrown) {
    const payload: unknown = (thrown as { payload?: unknown } | null | undefined)?.payload;
    if (isProblem(payload)) return { ok: false, problem: tidyProblem(payload) };
    throw thrown;
  }
};

const described = (thrown: unknown): Problem => {
  const code = 'component/failed';
  if (thrown instanceof Error) {
    const message = `The component failed: ${thrown.name}: ${thrown.message}`;
    return { code, message, ...(typeof thrown.stack === 'string' ? { evidence: thrown.stack } : {}) };
  }
  if (typeof thrown === 'string') return { code, message: `The component failed: ${thrown}` };
  const shown =
    typeof thrown === 'object' && thrown !== null ? JSON.stringify(thrown) : String(thrown as unknown);
  return { code, message: `The component failed: it threw ${shown}` };
};

/** Anything that can be thrown, as a problem. Never throws, whatever the thing does when it is looked at. */
export const problemFrom = (thrown: unknown): Problem => {
  try {
    if (typeof thrown === 'object' && thrown !== null) {
      const known = (thrown as { [mark]?: unknown })[mark] ?? (thrown as { payload?: unknown }).payload;
      if (isProblem(known)) return tidyProblem(known);
    }
    return tidyProblem(described(thrown));
  } catch {
    return { code: 'component/failed', message: 'The component failed and what it threw cannot be shown.' };
  }
};
