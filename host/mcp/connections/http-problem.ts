/**
 * What an error of the SDK's transport or of `fetch` means. Both wrap what happened in errors of their own, so the
 * whole chain of causes is looked at.
 */
import { type Problem, ProblemError, problem } from '../../problems/index.ts';
import type { ServerEntry } from './edge.ts';

/** Causes of causes that are looked at. */
const deepest = 6;
/** Of a server's own words, UTF-16 units. */
const shownUnits = 300;

/** Whatever was thrown, and what it was thrown for. */
export const causesOf = (error: unknown): readonly unknown[] => {
  const found: unknown[] = [];
  for (let at = error; at !== undefined && at !== null && found.length < deepest; ) {
    found.push(at);
    const { cause, data } = at as { cause?: unknown; data?: { cause?: unknown } };
    at = cause ?? data?.cause;
  }
  return found;
};

interface Refusal {
  readonly status: number;
  readonly text: string;
}
/** Status and text of an answer that was none, among these causes. */
export const refusalIn = (all: readonly unknown[]): Refusal | undefined => {
  for (const one of all) {
    const data = (one as { data?: { status?: unknown; text?: unknown } }).data;
    if (typeof data?.status === 'number') return { status: data.status, text: String(data.text ?? '') };
  }
  return undefined;
};

/** The error of the protocol a refusal holds. */
export const jsonRpcError = (text: string): { code: number; message: string; data?: unknown } | undefined => {
  try {
    const { error } = JSON.parse(text) as { error?: { code?: unknown; message?: unknown } };
    return typeof error?.code === 'number' && typeof error.message === 'string'
      ? (error as { code: number; message: string })
      : undefined;
  } catch {
    return undefined;
  }
};

/** A refusal in words: its status, and what the error it holds says, or else its text. */
export const refusalText = ({ status, text }: Refusal): string =>
  `HTTP ${status}: ${jsonRpcError(text)?.message ?? text}`.replace(/: $/, '');

/** What an error of the SDK or of `fetch` means. `unreachable` where nothing answered. */
export const httpProblem = (
  entry: ServerEntry,
  error: unknown,
  redact: (text: string) => string,
): Problem => {
  const all = causesOf(error);
  const known = all.find((one): one is ProblemError => one instanceof ProblemError);
  if (known !== undefined) return known.problem;
  const subject = entry.name;
  const refusal = refusalIn(all);
  if (refusal !== undefined)
    return problem('connections/http', {
      subject,
      evidence: redact(refusalText(refusal)).slice(0, shownUnits),
    });
  const last = all.at(-1) as { code?: unknown; message?: unknown };
  const fetched = all.some(
    (one) =>
      one instanceof TypeError ||
      (typeof (one as { code?: unknown }).code === 'string' &&
        /^(E[A-Z]+|UND_ERR_.*)$/.test(String((one as { code?: unknown }).code))),
  );
  return problem(fetched ? 'connections/unreachable' : 'connections/handshake', {
    subject,
    evidence: redact(String(last?.code ?? last?.message ?? error)).slice(0, shownUnits),
  });
};
