/**
 * What Sessions keeps: one record a session, written when its state changes, and an append-only log of transcript
 * rows, one put a row. Everything is in the store; the maps only spare reading it again and are dropped after any
 * failed message.
 *
 *   s/<session>         the record          l/<session>   it is not over
 *   t/<session>/<seq>   a transcript row    q/<session>   a sequence number the log has reached
 *   c/<session>         its slash commands
 */
import { type FirstParty, fail, type Station } from '../guest/index.ts';

export type Host = Station<FirstParty>;
type View = FirstParty['bearpunch.sessions.get']['reply'];
export type SessionRecord = Omit<View, 'commands'>;
export type Commands = View['commands'];
export type Row = FirstParty['bearpunch.sessions.transcript']['reply']['rows'][number];
export type Settled = NonNullable<FirstParty['bearpunch.sessions.changed']['event']['settled']>;

export interface Session {
  readonly record: SessionRecord;
  readonly requireServers: readonly string[];
  readonly requireSkills: readonly string[];
  /** Turns begun so far: the next one's name. */
  turns: number;
  turn?: string | undefined;
  /** Requests in the queue that the station's gate put there. */
  asked?: readonly string[];
  /** The file of servers given for this session. */
  readonly mcpConfig?: string;
  /** The title is the agent's, not a person's. */
  agentTitled?: boolean;
  /** The agent was told to cancel the turn that runs. */
  cancels?: boolean | undefined;
  /** What the agent calls its session: by this it takes it up again. */
  agentSession?: string;
  /** A prompt reached the agent: before that there is nothing it could take up. */
  prompted?: boolean;
  /** Its agent is being closed so that it is opened anew with what was missing. */
  reopens?: boolean | undefined;
  /** The turn whose prompt, the row `seq`, is sent once the agent has taken up its session. */
  waiting?: { readonly turn: string; readonly seq: number } | undefined;
}

/** Rows between two notes of how far the log is: what has to be read again to go on after a restart. */
const noteEvery = 256;
const seqDigits = 10;

const known = new Map<string, Session>();
const lastSeq = new Map<string, number>();
/** Sessions with rows nobody was told of yet. */
const unannounced = new Set<string>();

export const forget = (): void => {
  known.clear();
  lastSeq.clear();
};

export const rowKey = (session: string, seq: number): string =>
  `t/${session}/${String(seq).padStart(seqDigits, '0')}`;
export const rowSeq = (key: string): number => Number(key.slice(-seqDigits));

/** Twenty lower-case letters and digits that sort by time of creation: nine of it, eleven at random. */
export const newId = (station: Host, at: number): string =>
  `s-${at.toString(36).padStart(9, '0')}${station.random.id(11)}`;

export const find = (station: Host, id: string): Session | undefined => {
  const cached = known.get(id);
  if (cached !== undefined) return cached;
  const stored = station.store.get<Session>(`s/${id}`);
  if (stored !== undefined) known.set(id, stored);
  return stored;
};

/** `session/unknown` */
export const mustFind = (station: Host, id: string): Session =>
  find(station, id) ??
  fail('session/unknown', 'There is no such session.', {
    subject: id,
    fix: 'List the sessions with `jupiter session list`.',
  });

export const isOver = ({ record }: Session): boolean => record.state === 'closed' || record.state === 'ended';

/** Writes the record; the session leaves the list of live ones when it is over. */
export const save = (station: Host, session: Session): void => {
  const { id } = session.record;
  known.set(id, session);
  station.store.put(`s/${id}`, session);
  if (isOver(session)) station.store.remove(`l/${id}`);
};
export const enter = (station: Host, session: Session): void => {
  station.store.put(`l/${session.record.id}`, session.record.createdAt);
  lastSeq.set(session.record.id, 0);
  save(station, session);
};

const readSeq = (station: Host, id: string): number => {
  const noted = station.store.get<number>(`q/${id}`) ?? 0;
  const rows = station.store.scanText(`t/${id}/`, { after: rowKey(id, noted), limit: noteEvery + 1 });
  const newest = rows.at(-1);
  return newest === undefined ? noted : rowSeq(newest.key);
};

const seqOf = (station: Host, id: string): number => {
  const cached = lastSeq.get(id) ?? readSeq(station, id);
  lastSeq.set(id, cached);
  return cached;
};

/** The new row's sequence number. */
export const append = (station: Host, id: string, row: Omit<Row, 'seq'>): number => {
  const seq = seqOf(station, id) + 1;
  lastSeq.set(id, seq);
  station.store.put(rowKey(id, seq), { seq, ...row });
  if (seq % noteEvery === 0) station.store.put(`q/${id}`, seq);
  return seq;
};

/** A line of the station's own. */
export const note = (station: Host, id: string, at: number, text: string, turn?: string): void => {
  append(station, id, { at, role: 'station', ...(turn === undefined ? {} : { turn }), text });
};

/** Lines that are a row each; more of them are one row, so that a hundred servers cost no hundred writes. */
const linesApart = 12;

export const noteAll = (station: Host, id: string, at: number, lines: readonly string[]): void => {
  if (lines.length > linesApart) note(station, id, at, lines.join('; '));
  else for (const line of lines) note(station, id, at, line);
};

/** Tells that the session's state, queue or transcript changed. */
export const announce = (station: Host, session: Session, settled?: Settled): void => {
  const { id, state, pending } = session.record;
  unannounced.delete(id);
  station.bus.event('bearpunch.sessions.changed', {
    id,
    state,
    seq: seqOf(station, id),
    pending: pending.length,
    ...(settled === undefined ? {} : { settled }),
  });
};

/** Rows come by the thousand: they are announced once a batch. */
export const announceLater = (id: string): void => {
  unannounced.add(id);
};
export const announceRows = (station: Host): void => {
  for (const id of [...unannounced]) {
    const session = find(station, id);
    if (session === undefined) unannounced.delete(id);
    else announce(station, session);
  }
};
