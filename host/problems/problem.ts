import { type ProblemCode, registry } from './registry.ts';

/**
 * The one error shape of Jupiter Station. `code` is stable, `subject` names what it is about, `evidence` holds
 * what was observed, `fix` says what to do next. None of them may hold a secret's value.
 */
export interface Problem {
  readonly code: string;
  readonly message: string;
  readonly subject?: string;
  readonly evidence?: string;
  readonly fix?: string;
}

export type Result<T> =
  | { readonly ok: true; readonly value: T }
  | { readonly ok: false; readonly problem: Problem };

export interface ProblemDetail {
  /** What it is about: an ID, a path below the thing at hand, an alias. */
  readonly subject?: string;
  /** What happened, when the registered sentence is not enough. */
  readonly message?: string;
  /** What was observed: expected and found values, a place. At most 2,000 characters are kept. */
  readonly evidence?: string;
  readonly fix?: string;
}

const evidenceLimit = 2_000;

export const problem = (code: ProblemCode, detail: ProblemDetail = {}): Problem => {
  const known = registry[code];
  const fix = detail.fix ?? known.fix;
  return {
    code,
    message: detail.message ?? known.message,
    ...(detail.subject === undefined ? {} : { subject: detail.subject }),
    ...(detail.evidence === undefined ? {} : { evidence: detail.evidence.slice(0, evidenceLimit) }),
    ...(fix === undefined ? {} : { fix }),
  };
};

export const ok = <T>(value: T): Result<T> => ({ ok: true, value });
export const refuse = (code: ProblemCode, detail: ProblemDetail = {}): Result<never> => ({
  ok: false,
  problem: problem(code, detail),
});
export const failed = (found: Problem): Result<never> => ({ ok: false, problem: found });

/** For the edge only: carries a problem through code that can only throw. */
export class ProblemError extends Error {
  readonly problem: Problem;
  constructor(found: Problem) {
    super(`${found.code}: ${found.message}`);
    this.name = 'ProblemError';
    this.problem = found;
  }
}

export const isProblem = (value: unknown): value is Problem =>
  typeof value === 'object' &&
  value !== null &&
  typeof (value as Problem).code === 'string' &&
  typeof (value as Problem).message === 'string';
