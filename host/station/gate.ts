/**
 * The gate as the station has it: what policy decides about a call, the question it puts into a session's queue and the
 * answer that comes back, and what of it is kept. Only Sessions is believed about answers, states and turns.
 */
import type { output } from 'zod';
import { sessions } from '../../contracts/topics/index.ts';
import type { Bus } from '../bus/index.ts';
import { decide, type GateAnswer, type Gateway, type GatewayPorts, type Json } from '../mcp/index.ts';
import type { Policy } from '../policy/index.ts';
import type { Problem } from '../problems/index.ts';
import type { GateLog } from '../state/index.ts';
import { fieldLines, formFault } from './forms.ts';
import type { Reach } from './reach.ts';
import { isOver, keeper } from './watch.ts';

const source = 'station:gateway';

/** Arguments shown to whoever is asked, UTF-16 units. */
const textUnits = 20_000;
const titleUnits = 2_000;

export interface GateOptions {
  readonly bus: Bus;
  readonly policy: () => Policy;
  readonly reach: Reach;
  readonly log: GateLog;
  readonly redact: (text: string) => string;
  readonly skills: GatewayPorts['skills'];
  /** Distinguishes the requests of this run from those of an earlier one. */
  readonly run: string;
}
export interface Gate {
  readonly ports: GatewayPorts;
  /** Told of every turn and every end; the gateway is given once it is open. */
  readonly attach: (gateway: Pick<Gateway, 'turn' | 'dismiss'>) => void;
  /** Why this cannot be the answer to a form that waits, or undefined. */
  readonly unfit: (request: string, content: Json) => Problem | undefined;
}

type Answered = output<typeof sessions.answered.event>;
type Changed = output<typeof sessions.changed.event>;

const cut = (text: string, most: number): string =>
  text.length <= most ? text : `${text.slice(0, most).toWellFormed()}… (${text.length} characters)`;

export const openGate = (options: GateOptions): Gate => {
  const { bus, policy, reach, log, redact, skills, run } = options;
  const waiting = new Map<string, { answer: (answer: GateAnswer) => void; schema: Json | undefined }>();
  const running = new Set<string>();
  let asked = 0;
  let attached: Pick<Gateway, 'turn' | 'dismiss'> | undefined;

  const tell = (topic: { readonly id: string }, payload: unknown) =>
    bus.command(topic.id, payload, { source, to: keeper });

  bus.listen(sessions.answered.id, (event, from) => {
    if (from !== keeper) return;
    const { request, allow, why, content } = event as Answered;
    waiting.get(request)?.answer({ allow, why, ...(content === undefined ? {} : { content }) });
  });
  bus.listen(sessions.changed.id, (event, from) => {
    if (from !== keeper) return;
    const { id, state } = event as Changed;
    const runs = state === 'running';
    if (runs !== running.has(id)) {
      if (runs) running.add(id);
      else running.delete(id);
      attached?.turn(id, runs);
    }
    if (!isOver(state)) return;
    attached?.dismiss(id);
    reach.forget(id);
  });

  const ask: GatewayPorts['ask'] = async ({ session, kind, title, tool, text, schema }, signal) => {
    asked += 1;
    const request = `g-${run}-${asked}`;
    const answer = Promise.withResolvers<GateAnswer>();
    waiting.set(request, { answer: answer.resolve, schema });
    const withdraw = (): void => {
      const why = 'whoever asked has stopped waiting';
      answer.resolve({ allow: false, why });
      void tell(sessions.withdraw, { id: session, request, why });
    };
    if (signal.aborted) return { allow: false, why: 'whoever asked has stopped waiting' };
    signal.addEventListener('abort', withdraw, { once: true });
    try {
      const queued = await tell(sessions.ask, {
        id: session,
        request,
        kind,
        // A list of what waits shows the title alone.
        title: cut(redact(kind === 'call' ? title : `${title}: ${text}`), titleUnits),
        tool,
        text: cut(redact([text, ...fieldLines(schema ?? {})].join('\n')), textUnits),
        ...(schema === undefined ? {} : { schema }),
      });
      if (!queued.ok) return { allow: false, why: `nobody could be asked: ${queued.problem.message}` };
      return await answer.promise;
    } finally {
      signal.removeEventListener('abort', withdraw);
      waiting.delete(request);
    }
  };

  return {
    unfit: (request, content) => {
      const schema = waiting.get(request)?.schema;
      return schema === undefined ? undefined : formFault(request, schema, content);
    },
    attach: (gateway) => {
      attached = gateway;
    },
    ports: {
      decide: (_session, wanted) => decide(policy().permissions, wanted),
      servers: reach.servers,
      ask,
      record: log.add,
      observed: (id, server, stage) => void tell(sessions.observed, { id, server, stage }),
      inTurn: (id) => running.has(id),
      skills,
    },
  };
};
