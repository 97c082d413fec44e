/**
 * Which lines and stretches of a Markdown body are code: fenced blocks and inline spans (CommonMark 4.5, 6.1). Only
 * as exact as the lint needs: indented code is not looked for, a span ends with its paragraph.
 */

export interface Stretch {
  /** Offsets into the body. */
  readonly from: number;
  readonly to: number;
  readonly kind: 'block' | 'span';
}

const fence = /^(`{3,}(?=[^`]*$)|~{3,})/;
/** A line without its indentation, quotation and list marks: fences stand in lists and quotations, too. */
const bare = (line: string): string =>
  line.replace(/^(?:[ \t]*(?:>|[-+*][ \t]|\d{1,9}[.)][ \t]))*[ \t]*/, '');

const spansIn = (text: string, offset: number): Stretch[] => {
  const marks = [...text.matchAll(/`+/g)];
  // Where a run of each length stands last, so that a run without a partner costs nothing.
  const last = new Map<number, number>();
  for (const [index, mark] of marks.entries()) last.set(mark[0].length, index);
  const found: Stretch[] = [];
  for (let index = 0; index < marks.length; index += 1) {
    const open = marks[index];
    // `last` says that there is a partner, so the search for it ends.
    if (open === undefined || (last.get(open[0].length) ?? 0) <= index) continue;
    let close = index + 1;
    while (marks[close]?.[0].length !== open[0].length) close += 1;
    const end = marks[close];
    if (end === undefined) continue;
    found.push({ from: offset + open.index, to: offset + end.index + end[0].length, kind: 'span' });
    index = close;
  }
  return found;
};

/** In the order of the body. */
export const codeIn = (body: string): readonly Stretch[] => {
  const found: Stretch[] = [];
  let open: { readonly mark: string; readonly from: number } | undefined;
  let paragraph = { from: 0, text: '' };
  const flush = (): void => {
    if (paragraph.text.includes('`')) found.push(...spansIn(paragraph.text, paragraph.from));
    paragraph = { from: 0, text: '' };
  };
  let at = 0;
  for (const line of body.split('\n')) {
    const mark = fence.exec(bare(line))?.[1];
    if (open !== undefined) {
      if (
        mark !== undefined &&
        mark[0] === open.mark[0] &&
        mark.length >= open.mark.length &&
        bare(line).trim() === mark
      ) {
        found.push({ from: open.from, to: at + line.length, kind: 'block' });
        open = undefined;
      }
    } else if (mark !== undefined) {
      flush();
      open = { mark, from: at };
    } else if (line.trim() === '') flush();
    else if (paragraph.text === '') paragraph = { from: at, text: line };
    else paragraph = { from: paragraph.from, text: `${paragraph.text}\n${line}` };
    at += line.length + 1;
  }
  if (open !== undefined) found.push({ from: open.from, to: body.length, kind: 'block' });
  flush();
  return found;
};
