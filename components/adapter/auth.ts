/** An agent that wants to be signed in to first: at any step, and which ways it offers. */
import { bounded, type Problem } from '../guest/index.ts';
import type { Agent } from './agents.ts';
import { isRecord, type ResponseFrame } from './frames.ts';

/** ACP's code for "authentication required". */
const authCode = -32_000;

export const methodNames = (value: unknown): string[] =>
  Array.isArray(value)
    ? value
        .filter(isRecord)
        .map(({ id, name }) => bounded(String(name ?? id ?? 'unnamed'), 200))
        .slice(0, 20)
    : [];

/** The problem an answer is where the agent wants authentication; `then` is what to do after it. */
export const authRequired = (
  agent: Agent,
  error: NonNullable<ResponseFrame['error']>,
  then: string,
): Problem | undefined => {
  if (error.code !== authCode && !/\bauth(entication|orization)? (is )?required/i.test(error.message))
    return undefined;
  const data = isRecord(error.data) ? error.data : {};
  const methods = [...new Set([...agent.authMethods, ...methodNames(data.authMethods)])];
  return {
    code: 'agent/auth-required',
    message: `The agent needs authentication first. It offers: ${methods.length === 0 ? 'no method' : methods.join(', ')}.`,
    subject: agent.program,
    evidence: bounded(error.message, 1_000),
    fix: `Sign in with the agent itself, or give its program the variables it needs, and ${then}.`,
  };
};
