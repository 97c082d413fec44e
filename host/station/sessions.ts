/** The session commands of the control socket, over the topics of Sessions. */
import type { output } from 'zod';
import { sessions } from '../../contracts/topics/index.ts';
import type { Bus } from '../bus/index.ts';
import { readMcpConfig } from '../mcp/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import type { GateLog } from '../state/index.ts';
import type { ControlMethods, MethodResult, Params, TranscriptEntry } from './control.ts';
import type { LiveSession } from './placements.ts';
import type { ExpandPrompt } from './skills.ts';
import { openTranscripts, type Transcripts } from './transcripts.ts';
import { isOver, keeper, type Watched, watchSession } from './watch.ts';

type Session = MethodResult<'session.create'>;

/** How long `session create` and `session close` wait for the agent, ms, where the caller does not say. */
const defaultWaitMs = 90_000;
/** Decisions of the gate that are told with a session. */
const shownCalls = 200;
/** Who the station is to the components, where a person at a client asks. */
const source = 'station:control';

export interface SessionHandlers {
  readonly create: (params: Params<'session.create'>, signal: AbortSignal) => Promise<Result<Session>>;
  readonly say: (
    params: Params<'session.say'>,
    emit: (entry: TranscriptEntry) => void,
    signal: AbortSignal,
  ) => Promise<Result<ControlMethods['session.say']['result']>>;
  readonly list: () => Promise<Result<MethodResult<'session.list'>>>;
  /** With what the gate decided. */
  readonly show: (id: string) => Promise<Result<MethodResult<'session.show'>>>;
  readonly transcript: Transcripts['whole'];
  readonly respond: (params: Params<'session.respond'>) => Promise<Result<Record<string, never>>>;
  readonly cancel: (id: string) => Promise<Result<Record<string, never>>>;
  readonly close: (params: Params<'session.close'>) => Promise<Result<Session>>;
}

export const sessionHandlers = (
  bus: Bus,
  redact: (text: string) => string,
  expand: ExpandPrompt,
  gate: Pick<GateLog, 'of'>,
): SessionHandlers => {
  const ask = async <T>(topic: { readonly id: string }, payload: unknown): Promise<Result<T>> =>
    (await bus.command(topic.id, payload, { source, to: keeper })) as Result<T>;
  const show = (id: string) => ask<Session>(sessions.get, { id });
  const transcripts = openTranscripts({ bus, ask, show, redact });

  /**
   * Waits until the session is where `settled` wants it, at most `waitMs`. It is looked at once it says so of itself: the
   * record of a session with many servers is long.
   */
  const until = async (
    id: string,
    watched: Watched,
    settled: (state: string) => boolean,
    waitMs: number,
    signal?: AbortSignal,
  ): Promise<Result<Session>> => {
    const end = performance.now() + waitMs;
    const over = (): boolean => performance.now() >= end || signal?.aborted === true;
    for (;;) {
      while (!over()) {
        const seen = await watched.next(end - performance.now());
        if (seen.some(({ state }) => settled(state))) break;
      }
      const session = await show(id);
      if (!session.ok || settled(session.value.state) || over()) return session;
    }
  };

  return {
    show: async (id) => {
      const session = await show(id);
      if (!session.ok) return session;
      const gated = gate.of(id, shownCalls);
      return gated.total === 0 ? session : ok({ ...session.value, gate: gated });
    },
    create: async ({ waitMs = defaultWaitMs, mcpConfig, ...request }, signal) => {
      // What is wrong with the file is told before there is a session.
      const config = mcpConfig === undefined ? ok(undefined) : readMcpConfig(mcpConfig);
      if (!config.ok) return config;
      const watched = watchSession(bus, undefined, signal);
      try {
        const created = await ask<output<typeof sessions.create.reply>>(
          mcpConfig === undefined ? sessions.create : sessions.createV2,
          mcpConfig === undefined ? request : { ...request, mcpConfig },
        );
        if (!created.ok) return created;
        const { id, state } = created.value;
        if (state !== 'opening') return show(id);
        watched.named(id);
        return await until(id, watched, (now) => now !== 'opening', waitMs, signal);
      } finally {
        watched.stop();
      }
    },
    say: async ({ wait = false, ...asked }, emit, signal) => {
      const text = await expandedText(asked.id, asked.text);
      if (!text.ok) return text;
      const request = { ...asked, text: text.value };
      if (!wait) return ask(sessions.say, request);
      const watched = watchSession(bus, request.id, signal);
      try {
        const said = await ask<output<typeof sessions.say.reply>>(sessions.say, request);
        if (!said.ok) return said;
        const { turn, seq } = said.value;
        const ended = await transcripts.follow(request.id, seq - 1, emit, signal, watched, (events) =>
          events.find((event) => event.settled?.turn === turn || isOver(event.state)),
        );
        if (!ended.ok) return ended;
        return ok({
          turn,
          seq,
          ...(ended.value?.settled === undefined ? {} : { stopReason: ended.value.settled.stopReason }),
          ...(ended.value === undefined ? {} : { state: ended.value.state }),
        });
      } finally {
        watched.stop();
      }
    },
    list: async () => {
      const all: output<typeof sessions.list.reply>['sessions'] = [];
      let after: string | undefined;
      do {
        const page: Result<output<typeof sessions.list.reply>> = await ask(
          sessions.list,
          after === undefined ? {} : { after },
        );
        if (!page.ok) return page;
        all.push(...page.value.sessions);
        after = page.value.next;
      } while (after !== undefined);
      return ok({ sessions: all });
    },
    transcript: transcripts.whole,
    respond: (params) => ask(params.content === undefined ? sessions.respond : sessions.respondV2, params),
    cancel: (id) => ask(sessions.cancel, { id }),
    close: async ({ id, waitMs = defaultWaitMs }) => {
      const watched = watchSession(bus, id);
      try {
        const asked = await ask(sessions.close, { id });
        if (!asked.ok) return failed(asked.problem);
        // One that was over before tells nothing any more.
        const found = await show(id);
        if (!found.ok || isOver(found.value.state)) return found;
        const closed = await until(id, watched, isOver, waitMs);
        if (closed.ok && !isOver(closed.value.state)) return refuse('station/timed-out', { subject: id });
        return closed;
      } finally {
        watched.stop();
      }
    },
  };

  /** A command that is one of our skills becomes its prompt; only such a text needs to know the session's folder. */
  async function expandedText(id: string, text: string): Promise<Result<string>> {
    if (!text.startsWith('/')) return ok(text);
    const session = await show(id);
    return session.ok ? expand(text, session.value.cwd) : session;
  }
};

/** Sessions that are not over, with the skills each was given. */
export const liveSessions = async (
  sessions: Pick<SessionHandlers, 'list' | 'show'>,
): Promise<Result<readonly LiveSession[]>> => {
  const listed = await sessions.list();
  if (!listed.ok) return listed;
  const live: LiveSession[] = [];
  for (const { id } of listed.value.sessions.filter(({ state }) => !isOver(state))) {
    const shown = await sessions.show(id);
    if (!shown.ok) return shown;
    const { cwd, provisioning } = shown.value;
    const skills = provisioning.skills.map(({ bundle, name, decision }) => ({
      bundle,
      name,
      placed: decision !== 'refused',
    }));
    live.push({ id, cwd, sink: provisioning.sink, skills });
  }
  return ok(live);
};
