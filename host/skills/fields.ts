/**
 * Frontmatter into fields. A field is a key at the start of a line and everything up to the next one. Real files
 * are often not YAML (`description: use it for X. Triggers: a, b`, `argument-hint: [a] [b]`), so each field stands
 * alone: what `yaml` can read is YAML, the rest is the text as it stands, with a diagnostic, and its neighbours are
 * untouched. The rules are in docs/skills.md.
 */
import { isScalar, isSeq, parseDocument, type Scalar } from 'yaml';
import type { Diagnostic } from './edge.ts';
import { fieldMarks, frontmatterKeys } from './limits.ts';

export interface Field {
  readonly key: string;
  /** 1-based, in the file. */
  readonly line: number;
  /** Behind the colon, trimmed. */
  readonly first: string;
  /** The lines that continue it. */
  readonly rest: readonly string[];
}

const keyLine = /^(?:"([^"\\]+)"|'([^']+)'|([^\s"'#&*!|>%@`,[\]{}?:-][^:#]*|-[^\s:][^:#]*)):(?:[ \t]+(.*))?$/;
// A sequence may stand below its key without being indented, and a bracket may close at the start of a line.
const continues = /^(?:[ \t]|- |-$|[\]}]|#|$)/;

/** Splits a frontmatter whose first line is line `from` of the file. The last of two equal keys counts. */
export const fieldsOf = (
  frontmatter: string,
  from: number,
  note: (found: Diagnostic) => void,
): ReadonlyMap<string, Field> => {
  const fields = new Map<string, Field>();
  let current: { key: string; line: number; first: string; rest: string[] } | undefined;
  for (const [index, line] of frontmatter.split('\n').entries()) {
    if (continues.test(line)) {
      current?.rest.push(line);
      if (current === undefined && /\S/.test(line) && !line.startsWith('#')) {
        note({ rule: 'line-ignored', line: from + index, message: 'This line belongs to no field.' });
      }
      continue;
    }
    const found = keyLine.exec(line);
    const key = found?.[1] ?? found?.[2] ?? found?.[3]?.trimEnd();
    if (found === null || key === undefined || fields.size >= frontmatterKeys) {
      const message =
        key === undefined ? 'This line is no field.' : `Only ${frontmatterKeys} fields are read.`;
      note({ rule: 'line-ignored', line: from + index, message });
      current = undefined;
      continue;
    }
    if (fields.has(key)) {
      note({
        rule: 'duplicate-key',
        line: from + index,
        message: `"${key}" is there twice; this one counts.`,
      });
    }
    current = { key, line: from + index, first: (found[4] ?? '').trim(), rest: [] };
    fields.set(key, current);
  }
  return fields;
};

/** As it stands in the file, without the key. */
export const sourceOf = (field: Field): string => [field.first, ...field.rest].join('\n').trimEnd();

const asWritten = (field: Field): string =>
  [field.first.replace(/^[|>][-+0-9]*$/, ''), ...field.rest]
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'))
    .join(' ');

const fewMarks = (text: string): boolean => {
  let marks = 0;
  for (const _ of text.matchAll(/[[\]{},&*!]|[:?-](?=\s|$)/gm)) {
    marks += 1;
    if (marks > fieldMarks) return false;
  }
  return true;
};

/** The node of a field's value when it is YAML without a fault. */
const nodeOf = (field: Field): unknown => {
  const source = `x: ${[field.first, ...field.rest].join('\n')}\n`;
  if (!fewMarks(source)) return undefined;
  try {
    const found = parseDocument(source, { schema: 'core', uniqueKeys: false, prettyErrors: false });
    if (found.errors.length > 0 || found.warnings.length > 0) return undefined;
    return found.get('x', true) ?? undefined;
  } catch {
    return undefined;
  }
};

const scalarText = (node: Scalar): string =>
  typeof node.value === 'string' ? node.value : (node.source ?? String(node.value));

// What the core schema takes for null, a boolean or a number.
const nothing = /^(?:~|null|Null|NULL)?$/;
const notString =
  /^(?:true|True|TRUE|false|False|FALSE|[-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?|[-+]?\.(?:inf|Inf|INF)|\.(?:nan|NaN|NAN))$/;
const date = /^\d{4}-\d\d?-\d\d?(?:[Tt ].*)?$/;
const indicator = /^[[\]{}&*!|>'"%@`,]|^[?:-](?:\s|$)/;

/** A field that holds text. Undefined where it is empty. */
export const textIn = (field: Field, note: (found: Diagnostic) => void): string | undefined => {
  const say = (rule: Diagnostic['rule'], message: string) => note({ rule, line: field.line, message });
  const single = field.rest.every((line) => line.trim() === '' || line.trimStart().startsWith('#'));
  if (single && !indicator.test(field.first)) {
    const cut = /(?:^|[ \t])#/.exec(field.first);
    const value = cut === null ? field.first : field.first.slice(0, cut.index).trim();
    if (cut !== null) {
      say('cut-by-comment', `"${field.key}" ends at " #", which begins a comment; put the value in quotes.`);
    }
    if (nothing.test(value)) return undefined;
    if (/:(?:[ \t]|$)/.test(value)) {
      say(
        'read-as-text',
        `"${field.key}" is no YAML, since it holds ": "; it was read as text. Put it in quotes.`,
      );
    } else if (notString.test(value) || date.test(value)) {
      say('not-a-string', `"${field.key}" is not a string in YAML; it was read as the text "${value}".`);
    }
    return value;
  }
  const node = nodeOf(field);
  if (isScalar(node)) {
    const value = node.value === null ? '' : scalarText(node);
    return value.trim() === '' ? undefined : value;
  }
  const text = asWritten(field);
  if (text === '') return undefined;
  if (node === undefined) {
    say('read-as-text', `"${field.key}" is no YAML; it was read as text. Put it in quotes.`);
  } else if (field.key !== 'argument-hint') {
    say('not-a-string', `"${field.key}" is not a string in YAML; it was read as text.`);
  }
  return text;
};

/** Words between spaces and commas, but not those in parentheses: `Bash(git add:*), Read` are two. */
const words = (text: string): readonly string[] => {
  const found: string[] = [];
  let depth = 0;
  let word = '';
  for (const char of text) {
    if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    if (depth < 1 && /[\s,]/.test(char)) {
      if (word !== '') found.push(word);
      word = '';
    } else word += char;
  }
  if (depth > 0) return text.split(/[\s,]+/).filter((part) => part !== '');
  return word === '' ? found : [...found, word];
};

/** A field that holds words: `a b`, `a, b`, `[a, b]` or a sequence of lines. */
export const wordsIn = (field: Field, note: (found: Diagnostic) => void): readonly string[] => {
  if (field.first.startsWith('[') || field.first === '') {
    const node = nodeOf(field);
    if (isSeq(node)) {
      return node.items
        .filter(isScalar)
        .map((item) => scalarText(item).trim())
        .filter((item) => item !== '');
    }
  }
  return words(textIn(field, note) ?? '');
};
