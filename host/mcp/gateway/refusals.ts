/**
 * What a model is told of a call that was not made: a result of the tool, so that it reads it as it reads any other, and
 * never an error of the protocol, at which clients give up.
 */
import { type Problem, problem } from '../../problems/index.ts';
import type { Answered, Connection, ConnectionStatus } from '../connections/edge.ts';
import { failure, internalError } from './protocol.ts';

const sentence = ({ code, message, evidence, fix }: Problem): string =>
  [message, evidence, fix, `(${code})`].filter((part) => part !== undefined && part !== '').join('\n');

export const toldAsResult = (found: Problem): Extract<Answered, { readonly result: unknown }> => ({
  result: { content: [{ type: 'text', text: sentence(found) }], isError: true },
});

/** For requests that are no calls: an error with the code in its data. */
export const toldAsError = (found: Problem): Extract<Answered, { readonly error: unknown }> =>
  failure(internalError, sentence(found).replaceAll('\n', ' '), { code: found.code });

const stateIn = (status: ConnectionStatus): string => {
  if (status.state === 'disabled') return `disabled: ${status.reason}`;
  return status.state === 'failed' ? `failed: ${status.problem.message}` : status.state;
};

export const notConnected = (server: string, connection: Connection): Problem =>
  problem('gateway/not-connected', {
    subject: server,
    evidence: `${server}: ${stateIn(connection.status())}`,
  });
