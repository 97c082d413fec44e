/** `session-context`: what an agent may get, and the placing of skills. The context room answers. */
import type { Result } from '../problems/index.ts';
import type { SyncAnswer, SyncCall } from '../sandbox/index.ts';

/** Values are the JSON form of the WIT records (see the context room's edge). */
export interface SessionContext {
  readonly servers: (agent: string) => unknown;
  readonly placeSkills: (cwd: string, sink: string) => Promise<Result<unknown>>;
}

type ContextCall = Extract<SyncCall, { call: `session-context.${string}` }>;

export const answerContext = async (context: SessionContext, call: ContextCall): Promise<SyncAnswer> =>
  call.call === 'session-context.servers'
    ? { ok: true, value: context.servers(call.agent) }
    : context.placeSkills(call.cwd, call.sink);
