/**
 * The transcript a person reads, folded from the rows Sessions keeps. Pure; every reader folds the same way.
 *
 * Pieces of text that follow each other are one entry. Updates of one tool call, and the life of one permission
 * request, are one entry at the place of the first: the first title stays, a state only moves forward, the latest
 * text that is not empty stays, and so does the latest of each field of `data`. A turn has one plan and one usage,
 * the latest. What the agent counts and offers (usage, commands, mode, options) parts no text.
 */
import type { output } from 'zod';
import type { sessions } from './topics/index.ts';

export type TranscriptRow = output<typeof sessions.transcriptRow>;

export interface TranscriptEntry {
  /** Of the first row. */
  readonly seq: number;
  readonly at: number;
  readonly role: string;
  readonly id?: string;
  readonly state?: string;
  /** The MCP server a tool call went to, where the agent said so. */
  readonly server?: string;
  /** `title: text` where there is a title and a text. */
  readonly text: string;
  /** For programs; the topic `bearpunch.agents.update` says what it holds. */
  readonly data?: Readonly<Record<string, unknown>>;
}

interface Draft {
  readonly first: TranscriptRow;
  title: string | undefined;
  state: string | undefined;
  server: string | undefined;
  data: Readonly<Record<string, unknown>> | undefined;
  /** Pieces of text, joined at the end: a long answer comes in thousands. */
  text: string[];
}

/** How far a state is; what is not in the table counts as a beginning. The final ones cannot be left. */
const progress: Readonly<Record<string, number>> = {
  pending: 1,
  in_progress: 2,
  completed: 3,
  failed: 3,
  allowed: 3,
  denied: 3,
};

const later = (before: string | undefined, now: string | undefined): string | undefined =>
  now !== undefined && (before === undefined || (progress[now] ?? 0) > (progress[before] ?? 0))
    ? now
    : before;

/** Rows with one key are one entry, wherever they stand. */
const keyOf = (row: TranscriptRow): string | undefined => {
  if ((row.role === 'tool' || row.role === 'permission') && row.id !== undefined && row.id !== '')
    return `${row.role} ${row.id}`;
  return row.role === 'plan' || row.role === 'usage' ? `${row.role} ${row.turn ?? ''}` : undefined;
};

const continues = (last: TranscriptRow | undefined, row: TranscriptRow): boolean =>
  last !== undefined &&
  (row.role === 'agent' || row.role === 'thought') &&
  last.role === row.role &&
  last.id === row.id &&
  last.turn === row.turn &&
  last.data === undefined &&
  row.data === undefined;

const aside: ReadonlySet<string> = new Set(['usage', 'commands', 'mode', 'option']);
/** Whether a row of this role leaves the text around it in one piece. */
export const standsAside = (role: string): boolean => aside.has(role);

const begun = (row: TranscriptRow): Draft => ({
  first: row,
  title: row.title === '' ? undefined : row.title,
  state: row.state,
  server: row.server,
  data: row.data,
  text: [row.text],
});

const entryOf = ({ first, title, state, server, text, data }: Draft): TranscriptEntry => {
  const body = text.join('');
  const shown = title === undefined ? body : body === '' ? title : `${title}: ${body}`;
  return {
    seq: first.seq,
    at: first.at,
    role: first.role,
    ...(first.id === undefined ? {} : { id: first.id }),
    ...(state === undefined ? {} : { state }),
    ...(server === undefined ? {} : { server }),
    text: shown,
    ...(data === undefined ? {} : { data }),
  };
};

/** Rows oldest first. A row seen twice (the same `seq`) counts once. */
export const foldTranscript = (rows: Iterable<TranscriptRow>): TranscriptEntry[] => {
  const drafts: Draft[] = [];
  const byKey = new Map<string, Draft>();
  let seen = -1;
  let open: Draft | undefined;
  for (const row of rows) {
    if (row.seq <= seen) continue;
    seen = row.seq;
    const key = keyOf(row);
    const known = key === undefined ? undefined : byKey.get(key);
    if (known !== undefined) {
      if (known.title === undefined && row.title !== '') known.title = row.title;
      known.state = later(known.state, row.state);
      known.server ??= row.server;
      if (row.data !== undefined) known.data = { ...known.data, ...row.data };
      if (row.text !== '') known.text = [row.text];
    } else if (open !== undefined && continues(open.first, row)) {
      open.text.push(row.text);
    } else {
      const draft = begun(row);
      drafts.push(draft);
      if (!standsAside(row.role)) open = draft;
      if (key !== undefined) byKey.set(key, draft);
    }
  }
  return drafts.map(entryOf);
};

// Escape sequences and other control characters: a transcript line must not drive the reader's terminal.
const control = new RegExp(
  [
    String.raw`\u001b\][^\u0007\u001b]*(?:\u0007|\u001b\\)?`,
    String.raw`\u001b\[[0-?]*[ -/]*[@-~]`,
    String.raw`[\u0000-\u001f\u007f-\u009f]`,
    // What turns the direction of writing around.
    String.raw`[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]`,
  ].join('|'),
  'g',
);

/**
 * One line: `tool [completed]: probe.probe: probe answered`. What waits for an answer is named as it is answered:
 * `permission [pending r1]: probe.probe`.
 */
export const plainEntry = ({
  role,
  id,
  state,
  text,
}: Pick<TranscriptEntry, 'role' | 'id' | 'state' | 'text'>): string => {
  const inLine = (words: string): string =>
    words
      .replace(/\s*[\r\n\u2028\u2029]\s*/g, ' ')
      .replace(control, '')
      .trim();
  const line = inLine(text);
  const asked = role === 'permission' && state === 'pending' && id !== undefined ? ` ${inLine(id)}` : '';
  return `${role}${state === undefined ? '' : ` [${state}${asked}]`}: ${line}`;
};
