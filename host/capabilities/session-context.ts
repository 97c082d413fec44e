/** `session-context`: what an agent may get, the placing of skills, and what lies inside a workspace. The context room answers. */
import type { Result } from '../problems/index.ts';
import type { SyncAnswer, SyncCall } from '../sandbox/index.ts';

/** Values are the JSON form of the WIT records (see the context room's edge). */
export interface SessionContext {
  readonly servers: (agent: string) => unknown;
  /** `component` is who asks: the only one that may ask for this session again. */
  readonly serversFor: (
    component: string,
    wanted: {
      readonly session: string;
      readonly agent: string;
      readonly cwd: string;
      readonly mcpConfig: string | null;
    },
  ) => Promise<Result<unknown>>;
  readonly placeSkills: (cwd: string, sink: string) => Promise<Result<unknown>>;
  readonly outside: (cwd: string, paths: readonly string[]) => Result<unknown>;
}

type ContextCall = Extract<SyncCall, { call: `session-context.${string}` }>;

export const answerContext = async (
  context: SessionContext,
  component: string,
  call: ContextCall,
): Promise<SyncAnswer> => {
  if (call.call === 'session-context.servers-for') return context.serversFor(component, call);
  if (call.call === 'session-context.servers') return { ok: true, value: context.servers(call.agent) };
  return call.call === 'session-context.outside'
    ? context.outside(call.cwd, call.paths)
    : context.placeSkills(call.cwd, call.sink);
};
