/**
 * The one error shape, and the registry of every code. Whoever reads a problem learns what happened, to what,
 * and what to do next. Each room adds its codes to the registry; the reference page is generated from it.
 */

export type { KnownProblem } from './codes/codes.ts';
export {
  failed,
  isProblem,
  ok,
  type Problem,
  type ProblemDetail,
  ProblemError,
  problem,
  type Result,
  refuse,
} from './problem.ts';
export { type ProblemCode, registry } from './registry.ts';
