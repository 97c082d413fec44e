/**
 * The rows of a transcript as a reader sees them while they come: an entry is told when it is whole. Pieces of text
 * are joined until something else follows; a tool call is told at each change of its state.
 */
import { foldTranscript, type TranscriptRow } from '../../contracts/transcript.ts';
import type { TranscriptEntry } from './control.ts';

export interface Follower {
  readonly add: (rows: readonly TranscriptRow[]) => void;
  /** Tells what is still open: at the end of a turn. */
  readonly flush: () => void;
}

/** Tool calls whose rows are remembered. An update of an older one starts afresh. */
const rememberedTools = 200;

export const followRows = (tell: (entry: TranscriptEntry) => void): Follower => {
  let open: TranscriptRow[] = [];
  const tools = new Map<string, { rows: TranscriptRow[]; told?: { readonly state: string | undefined } }>();
  const flush = () => {
    for (const entry of foldTranscript(open)) tell(entry);
    open = [];
  };
  const addTool = (row: TranscriptRow, id: string) => {
    const known = tools.get(id) ?? { rows: [] };
    tools.delete(id);
    tools.set(id, known);
    known.rows.push(row);
    const [entry] = foldTranscript(known.rows);
    if (entry !== undefined && (known.told === undefined || known.told.state !== entry.state)) {
      known.told = { state: entry.state };
      tell(entry);
    }
    const [oldest] = tools.keys();
    if (tools.size > rememberedTools && oldest !== undefined) tools.delete(oldest);
  };
  return {
    add: (rows) => {
      for (const row of rows) {
        const before = open.at(-1);
        if (before !== undefined && (row.role !== before.role || row.id !== before.id)) flush();
        if (row.role === 'tool' && row.id !== undefined) addTool(row, row.id);
        else open.push(row);
      }
    },
    flush,
  };
};
