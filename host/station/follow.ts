/**
 * The rows of a transcript as a reader sees them while they come: an entry is told when it is whole. Pieces of text
 * are joined until something else follows; a tool call and a request for permission are told at each change of state.
 * What a turn used is told at its end.
 */
import { foldTranscript, standsAside, type TranscriptRow } from '../../contracts/transcript.ts';
import type { TranscriptEntry } from './control.ts';

export interface Follower {
  readonly add: (rows: readonly TranscriptRow[]) => void;
  /** Tells what is still open: at the end of a turn. */
  readonly flush: () => void;
}

/** Tool calls and requests whose rows are remembered. An update of an older one starts afresh. */
const remembered = 200;

/** The rows an entry of usage is folded from: the first of the turn stands for its place, the last for what it says. */
const foldable = (rows: readonly TranscriptRow[], row: TranscriptRow): TranscriptRow[] =>
  rows[0] !== undefined && rows[0].turn === row.turn ? [rows[0], row] : [...rows, row];

export const followRows = (tell: (entry: TranscriptEntry) => void): Follower => {
  let open: TranscriptRow[] = [];
  let usage: TranscriptRow[] = [];
  const keyed = new Map<string, { rows: TranscriptRow[]; told?: { readonly state: string | undefined } }>();
  const close = () => {
    for (const entry of foldTranscript(open)) tell(entry);
    open = [];
  };
  const addAside = (row: TranscriptRow) => {
    if (row.role === 'usage') usage = foldable(usage, row);
    else for (const entry of foldTranscript([row])) tell(entry);
  };
  /** A tool call, or a request for permission: told at each change of its state. */
  const addKeyed = (row: TranscriptRow, id: string) => {
    const key = `${row.role} ${id}`;
    const known = keyed.get(key) ?? { rows: [] };
    keyed.delete(key);
    keyed.set(key, known);
    known.rows.push(row);
    const [entry] = foldTranscript(known.rows);
    if (entry !== undefined && (known.told === undefined || known.told.state !== entry.state)) {
      known.told = { state: entry.state };
      tell(entry);
    }
    const [oldest] = keyed.keys();
    if (keyed.size > remembered && oldest !== undefined) keyed.delete(oldest);
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        if (standsAside(row.role)) {
          addAside(row);
          continue;
        }
        const before = open.at(-1);
        if (before !== undefined && (row.role !== before.role || row.id !== before.id)) close();
        if ((row.role === 'tool' || row.role === 'permission') && row.id !== undefined) addKeyed(row, row.id);
        else open.push(row);
      }
    },
    flush: () => {
      close();
      for (const entry of foldTranscript(usage)) tell(entry);
      usage = [];
    },
  };
};
