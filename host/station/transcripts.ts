/** The transcript of a session: as a whole, and as it grows. */
import type { output } from 'zod';
import { sessions } from '../../contracts/topics/index.ts';
import { foldTranscript, type TranscriptRow } from '../../contracts/transcript.ts';
import type { Bus } from '../bus/index.ts';
import { ok, type Result } from '../problems/index.ts';
import type { MethodResult, Params, TranscriptEntry } from './control.ts';
import { followRows } from './follow.ts';
import { type Changed, isOver, type Watched, watchSession } from './watch.ts';

/** Rows asked for at a time. */
const pageRows = 500;
/** Of a session that is followed: a long page would hold up every other session meanwhile. */
const followedRows = 128;
/** Text of one entry that is told, UTF-16 units: what an agent says in one breath has no bound of its own. */
const entryUnits = 1024 * 1024;
/** Entries above this, as JSON, are told one by one: an answer is one line with a bound, bytes. */
const answerBytes = 8 * 1024 * 1024;

const cutText = (text: string): string =>
  text.length <= entryUnits
    ? text
    : `${text.slice(0, entryUnits).toWellFormed()}\n[cut: ${text.length - entryUnits} of ${text.length} characters]`;

export interface Transcripts {
  /** Entries as the answer, or as events where they are too many or the caller follows, until the session is over. */
  readonly whole: (
    params: Params<'session.transcript'>,
    emit: (entry: TranscriptEntry) => Promise<void>,
    signal: AbortSignal,
  ) => Promise<Result<MethodResult<'session.transcript'>>>;
  /** Tells entries after `after` as they become whole until `done` says so; resolves with the event that did. */
  readonly follow: (
    id: string,
    after: number,
    emit: (entry: TranscriptEntry) => void,
    signal: AbortSignal,
    watched: Watched,
    done: (events: readonly Changed[]) => Changed | undefined,
  ) => Promise<Result<Changed | undefined>>;
}

export interface TranscriptsOptions {
  readonly bus: Pick<Bus, 'listen'>;
  readonly ask: <T>(topic: { readonly id: string }, payload: unknown) => Promise<Result<T>>;
  readonly show: (id: string) => Promise<Result<{ readonly state: string }>>;
  readonly redact: (text: string) => string;
}

export const openTranscripts = ({ bus, ask, show, redact }: TranscriptsOptions): Transcripts => {
  // Rows were redacted when they came; this is for variables policy named since.
  const clean = ({ data, ...entry }: TranscriptEntry): TranscriptEntry => ({
    ...entry,
    text: cutText(redact(entry.text)),
    ...(data === undefined ? {} : { data: JSON.parse(redact(JSON.stringify(data))) }),
  });

  /** All rows after `after`, a page at a time. */
  const rowsAfter = async function* (
    id: string,
    after: number,
    limit = pageRows,
  ): AsyncGenerator<Result<readonly TranscriptRow[]>> {
    let from: number | undefined = after;
    while (from !== undefined) {
      const page: Result<output<typeof sessions.transcript.reply>> = await ask(sessions.transcript, {
        id,
        after: from,
        limit,
      });
      yield page.ok ? ok(page.value.rows) : page;
      from = page.ok ? page.value.next : undefined;
    }
  };

  const follow: Transcripts['follow'] = async (id, after, emit, signal, watched, done) => {
    const follower = followRows((entry) => emit(clean(entry)));
    let last = after;
    for (;;) {
      const events = await watched.next();
      const before = last;
      for await (const rows of rowsAfter(id, last, followedRows)) {
        if (!rows.ok) return rows;
        follower.add(rows.value);
        last = rows.value.at(-1)?.seq ?? last;
      }
      watched.came(last - before);
      const end = done(events);
      if (end !== undefined || signal.aborted) {
        follower.flush();
        return ok(end);
      }
      // A turn that ended is whole, whoever asked for it.
      if (events.some((event) => event.settled !== undefined)) follower.flush();
    }
  };

  return {
    follow,
    whole: async ({ id, follow: following = false }, emit, signal) => {
      const watched = watchSession(bus, id, signal);
      try {
        const rows: TranscriptRow[] = [];
        for await (const page of rowsAfter(id, 0)) {
          if (!page.ok) return page;
          rows.push(...page.value);
        }
        const entries = foldTranscript(rows).map(clean);
        const bytes = entries.reduce((sum, entry) => sum + Buffer.byteLength(JSON.stringify(entry)), 0);
        if (!following && bytes <= answerBytes) return ok({ entries });
        // As fast as the client reads: a long transcript is more than may lie unread.
        for (const entry of entries) {
          if (signal.aborted) break;
          await emit(entry);
        }
        if (!following) return ok({ entries: [] });
        const session = await show(id);
        if (!session.ok) return session;
        const last = rows.at(-1)?.seq ?? 0;
        if (isOver(session.value.state)) {
          // It may have ended after its rows were read: its last word is among those that came since.
          for await (const page of rowsAfter(id, last)) {
            if (!page.ok) return page;
            for (const entry of foldTranscript(page.value).map(clean)) emit(entry);
          }
          return ok({ entries: [] });
        }
        const ended = await follow(id, last, emit, signal, watched, (events) =>
          events.find((event) => isOver(event.state)),
        );
        return ended.ok ? ok({ entries: [] }) : ended;
      } finally {
        watched.stop();
      }
    },
  };
};
