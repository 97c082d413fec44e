/**
 * Frontmatter as strict readers of others read it: YAML 1.2, core schema, one mapping of strings to JSON values. The
 * parser of this room forgives more; whoever hands a SKILL.md on to others must know what they will see, and can have
 * a document whose name and description every reader finds.
 */
import { parseDocument } from 'yaml';
import { ok, type Result, refuse } from '../problems/index.ts';
import { fieldsOf } from './fields.ts';
import { strictMarks } from './limits.ts';

export type JsonValue =
  | string
  | number
  | boolean
  | null
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };

const structure = /[[\]{},&*!]|[:?-](?=\s|$)/gm;
const deepest = 32;

/** What of a value JSON cannot say, or undefined. */
const jsonFault = (value: unknown, depth = 0): string | undefined => {
  if (depth > deepest) return `more than ${deepest} levels`;
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : String(value);
  if (typeof value !== 'object' || value === null) {
    return value === undefined || typeof value === 'bigint' ? 'a value that is none in JSON' : undefined;
  }
  if (Object.hasOwn(value, '__proto__')) return 'the key "__proto__"';
  for (const item of Object.values(value)) {
    const fault = jsonFault(item, depth + 1);
    if (fault !== undefined) return fault;
  }
  return undefined;
};

/** `skill/frontmatter-not-strict`: what stands between the two `---` lines is not what every reader sees. */
export const strictFrontmatter = (
  frontmatter: string,
  subject: string,
): Result<Readonly<Record<string, JsonValue>>> => {
  const no = (evidence: string) => refuse('skill/frontmatter-not-strict', { subject, evidence });
  const marks = frontmatter.match(structure)?.length ?? 0;
  if (marks > strictMarks) return no(`${marks} marks of structure; at most ${strictMarks}`);
  try {
    const found = parseDocument(frontmatter, {
      schema: 'core',
      stringKeys: true,
      // A tag such as !!binary makes of a text what JSON has not, and only for some readers.
      resolveKnownTags: false,
      prettyErrors: false,
    });
    const [fault] = [...found.errors, ...found.warnings];
    if (fault !== undefined) return no(fault.message);
    // An alias is refused: it lets 1 KiB say a gigabyte.
    const value: unknown = found.toJS({ maxAliasCount: 0 });
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return no('it is no mapping');
    const beyond = jsonFault(value);
    return beyond === undefined ? ok(value as Record<string, JsonValue>) : no(beyond);
  } catch (error) {
    return no(error instanceof Error ? error.message : String(error));
  }
};

/** A string as JSON, which is YAML too once what YAML calls unprintable is escaped. */
const quotedText = (text: string): string =>
  JSON.stringify(text).replace(
    /[\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/g,
    (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

const opening = /^\ufeff?---[ \t]*(\r\n|\n|\r)/;

/**
 * The same document with `name` and `description` in front, in JSON form, instead of whatever fields of these names it
 * has. Every other byte stays. `source` is the file's text with its byte order mark and line ends, and has frontmatter.
 */
export const withNameAndDescription = (
  source: string,
  { name, description }: { readonly name: string; readonly description: string },
): string => {
  const [open = '', eol = '\n'] = opening.exec(source) ?? [];
  const rest = source.slice(open.length);
  const end = /^---[ \t]*$/m.exec(rest)?.index ?? 0;
  const lines = rest.slice(0, end).split(/(?<=\r\n|\n|\r(?!\n))/);
  const plain = lines.map((line) => line.replace(/[\r\n]+$/, '')).join('\n');
  const taken = new Set<number>();
  const fields = fieldsOf(plain, 0, () => {});
  for (const key of ['name', 'description']) {
    const field = fields.get(key);
    if (field === undefined) continue;
    taken.add(field.line);
    // Comments and empty lines behind a field are not its own.
    const own = field.rest.findLastIndex((line) => line.trim() !== '' && !line.startsWith('#'));
    for (let at = 0; at <= own; at += 1) taken.add(field.line + 1 + at);
  }
  const kept = lines.filter((_, index) => !taken.has(index)).join('');
  const front = `name: ${quotedText(name)}${eol}description: ${quotedText(description)}${eol}`;
  return `${open.replace(/[ \t]+/, '')}${front}${kept}${rest.slice(end)}`;
};
