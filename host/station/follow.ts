/**
 * The rows of a transcript as a reader sees them while they come: an entry is told when it is whole. Pieces of text
 * are joined until something else follows; a tool call is told at each change of its state. What a turn used is told at
 * its end.
 */
import { foldTranscript, standsAside, type TranscriptRow } from '../../contracts/transcript.ts';
import type { TranscriptEntry } from './control.ts';

export interface Follower {
  readonly add: (rows: readonly TranscriptRow[]) => void;
  /** Tells what is still open: at the end of a turn. */
  readonly flush: () => void;
}

/** Tool calls whose rows are remembered. An update of an older one starts afresh. */
const rememberedTools = 200;

/** The rows an entry of usage is folded from: the first of the turn stands for its place, the last for what it says. */
const foldable = (rows: readonly TranscriptRow[], row: TranscriptRow): TranscriptRow[] =>
  rows[0] !== undefined && rows[0].turn === row.turn ? [rows[0], row] : [...rows, row];

export const followRows = (tell: (entry: TranscriptEntry) => void): Follower => {
  let open: TranscriptRow[] = [];
  let usage: TranscriptRow[] = [];
  const tools = new Map<string, { rows: TranscriptRow[]; state: string | undefined }>();
  const close = () => {
    for (const entry of foldTranscript(open)) tell(entry);
    open = [];
  };
  const addAside = (row: TranscriptRow) => {
    if (row.role === 'usage') usage = foldable(usage, row);
    else for (const entry of foldTranscript([row])) tell(entry);
  };
  const addTool = (row: TranscriptRow, id: string) => {
    const known = tools.get(id) ?? { rows: [], state: undefined };
    tools.delete(id);
    tools.set(id, known);
    known.rows.push(row);
    const [entry] = foldTranscript(known.rows);
    if (entry !== undefined && entry.state !== known.state) tell(entry);
    known.state = entry?.state;
    const [oldest] = tools.keys();
    if (tools.size > rememberedTools && oldest !== undefined) tools.delete(oldest);
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
        if (row.role === 'tool' && row.id !== undefined) addTool(row, row.id);
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
