/**
 * Bytes of a SKILL.md into text: UTF-8 or nothing, a byte order mark dropped, line ends made one; then the two halves.
 */
import { ok, type Result, refuse } from '../problems/index.ts';
import { frontmatterBytes } from './limits.ts';

const decoder = new TextDecoder('utf-8', { fatal: true });

/** The text, or undefined where the bytes are not UTF-8 or hold a NUL. */
export const textOf = (bytes: Uint8Array): string | undefined => {
  try {
    const text = decoder.decode(bytes);
    if (text.includes('\0')) return undefined;
    return text.includes('\r') ? text.replace(/\r\n?/g, '\n') : text;
  } catch {
    return undefined;
  }
};

export interface Halves {
  readonly frontmatter: string | undefined;
  readonly body: string;
  /** 1-based line the body begins on. */
  readonly bodyLine: number;
}

const opening = /^---[ \t]*(?:\n|$)/;
const closing = /^---[ \t]*$/m;

export const linesIn = (text: string): number => {
  let count = 0;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) count += 1;
  return count;
};

/** Frontmatter is there when the very first line is `---`; it ends at the next such line. */
export const halvesOf = (text: string, subject: string): Result<Halves> => {
  const open = opening.exec(text)?.[0];
  if (open === undefined) return ok({ frontmatter: undefined, body: text, bodyLine: 1 });
  const rest = text.slice(open.length);
  const close = closing.exec(rest);
  if (close === null) return refuse('skill/frontmatter-unclosed', { subject, evidence: 'opened in line 1' });
  const frontmatter = rest.slice(0, close.index);
  const size = Buffer.byteLength(frontmatter);
  if (size > frontmatterBytes) {
    return refuse('skill/frontmatter-too-large', {
      subject,
      evidence: `${size} bytes; at most ${frontmatterBytes}`,
    });
  }
  const behind = close.index + close[0].length;
  return ok({
    frontmatter,
    body: rest.slice(behind + 1),
    bodyLine: 1 + linesIn(text.slice(0, open.length + behind)) + 1,
  });
};
