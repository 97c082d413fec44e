/**
 * The SKILL.md that is served. One whose frontmatter carries its folder's name and a description is served as it
 * stands. One that does not gets both in front, and digest and size are those of what is served; without frontmatter,
 * or where even so not every reader would see the same, the skill is not published.
 */
import { hash } from 'node:crypto';
import { failed, ok, type Result, refuse } from '../../problems/index.ts';
import { type ParsedSkill, strictFrontmatter, withNameAndDescription } from '../../skills/index.ts';
import { type Frontmatter, frontmatterFault, isWhole, nameFault } from './entry.ts';

export interface ServedDocument {
  readonly frontmatter: Frontmatter;
  /** Hex. */
  readonly sha256: string;
  readonly size: number;
  /** It is not the file's own bytes. */
  readonly mended: boolean;
}

const opening = /^\ufeff?---[ \t]*(?:\r\n|\n|\r)/;

/** Everything before the closing `---`, as it stands. */
const headOf = (source: string): string => {
  const open = opening.exec(source)?.[0].length ?? 0;
  return source.slice(0, open + (/^---[ \t]*$/m.exec(source.slice(open))?.index ?? 0));
};
// Lines that end with a bare CR are one line to many readers, and spaces behind the first `---` are no frontmatter.
const isPlain = (head: string): boolean => /^\ufeff?---\r?\n/.test(head) && !/\r(?!\n)/.test(head);

const mend = (document: ParsedSkill, name: string): string => {
  const source = Buffer.from(document.raw).toString('utf8');
  return withNameAndDescription(source, { name, description: document.description });
};

/** The bytes of a mended document, made again from the file's own. */
export const mendedBytes = (document: ParsedSkill, name: string): Buffer => Buffer.from(mend(document, name));

const judged = (found: Frontmatter, subject: string): Result<Frontmatter> => {
  const fault = frontmatterFault(found, subject);
  return fault === undefined ? ok(found) : failed(fault);
};

/** `channel/…` or `skill/frontmatter-not-strict`: why the skill is not published. `name` is its folder's. */
export const servedDocument = (document: ParsedSkill, name: string): Result<ServedDocument> => {
  const subject = `${name}/SKILL.md`;
  const misnamed = nameFault(name, subject);
  if (misnamed !== undefined) return failed(misnamed);
  if (document.frontmatter === undefined) return refuse('channel/no-frontmatter', { subject });
  const source = Buffer.from(document.raw).toString('utf8');
  const authored = strictFrontmatter(document.frontmatter, subject);
  if (authored.ok && isWhole(authored.value, name) && isPlain(headOf(source))) {
    const whole = judged(authored.value, subject);
    if (!whole.ok) return whole;
    const sha256 = hash('sha256', document.raw, 'hex');
    return ok({ frontmatter: whole.value, sha256, size: document.raw.byteLength, mended: false });
  }
  if (document.description.trim() === '') return refuse('channel/no-description', { subject });
  const text = mend(document, name);
  const head = headOf(text);
  const mended = strictFrontmatter(head.replace(opening, '').replaceAll('\r\n', '\n'), subject);
  if (!mended.ok) return mended;
  if (!isWhole(mended.value, name) || !isPlain(head)) {
    return refuse('skill/frontmatter-not-strict', { subject, evidence: 'its line ends' });
  }
  const whole = judged(mended.value, subject);
  if (!whole.ok) return whole;
  const bytes = Buffer.from(text);
  return ok({
    frontmatter: whole.value,
    sha256: hash('sha256', bytes, 'hex'),
    size: bytes.length,
    mended: true,
  });
};
