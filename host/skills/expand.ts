/**
 * A skill and the words behind its name become a prompt. One pass over the body from left to right; what is put in
 * is never looked at again. The rules are in docs/skills.md.
 */
import type { ParsedSkill } from './edge.ts';

/** What there is to expand: a parsed skill and the folder its files lie in. */
export interface Renderable {
  readonly document: Pick<ParsedSkill, 'body' | 'arguments'>;
  /** Absolute. */
  readonly dir: string;
}

const quoted = /(["'])(.*?)\1(?=\s|$)/suy;

/**
 * The words of an argument text: parted by white space; a word that begins with a quotation mark runs to the next
 * such mark that ends a word, and loses both. A mark without its partner is a character like any other.
 */
const argumentWords = (text: string): readonly string[] => {
  const words: string[] = [];
  // Without a partner for the first mark of a kind there is none for a later one: looked for once.
  const unpaired = new Set<string>();
  let at = 0;
  while (at < text.length) {
    const char = text.charAt(at);
    if (/\s/.test(char)) {
      at += 1;
      continue;
    }
    if ((char === '"' || char === "'") && !unpaired.has(char)) {
      quoted.lastIndex = at;
      const found = quoted.exec(text);
      if (found !== null) {
        words.push(found[2] ?? '');
        at += found[0].length;
        continue;
      }
      unpaired.add(char);
    }
    const end = text.slice(at).search(/\s/);
    words.push(end === -1 ? text.slice(at) : text.slice(at, at + end));
    at = end === -1 ? text.length : at + end;
  }
  return words;
};

/**
 * Where `$` begins something. A name runs as far as it can, so that `$10`, `$1st`, `$name_longer`, `$ARGUMENTS[0]`
 * and `${1}` are none of ours and stay whole.
 */
export const placeholder =
  /\$(?:(ARGUMENTS)(?![\p{L}\p{M}\p{N}_[])|([1-9])(?![\p{L}\p{M}\p{N}_])|(\{JUPITER_SKILL_DIR\})|([\p{L}_][\p{L}\p{M}\p{N}_]*))/gu;

export const renderSkill = (skill: Renderable, args = ''): string => {
  const text = args.trim();
  const words = argumentWords(text);
  const names = new Map<string, number>();
  for (const [index, name] of skill.document.arguments.entries()) {
    if (name !== '' && !names.has(name)) names.set(name, index);
  }
  const asked = new Set<number>();
  let askedAll = false;
  const expanded = skill.document.body.replace(
    placeholder,
    (whole, all?: string, digit?: string, folder?: string, name?: string) => {
      if (all !== undefined) {
        askedAll = true;
        return text;
      }
      if (folder !== undefined) return skill.dir;
      const index = digit !== undefined ? Number(digit) - 1 : names.get(name?.normalize('NFC') ?? '');
      if (index === undefined) return whole;
      const word = words[index];
      // A number without its word stays: it may be a price or a shell's own. A name was declared, so it is ours.
      if (word === undefined) return digit === undefined ? '' : whole;
      asked.add(index);
      return word;
    },
  );
  const left = askedAll ? [] : words.filter((_, index) => !asked.has(index));
  if (left.length === 0) return expanded;
  // Nobody asked for anything: as it was typed, quotation marks and line ends included.
  const shown = asked.size === 0 ? text : left.join(' ');
  return `${expanded.replace(/\n+$/, '')}\n\nARGUMENTS: ${shown}`;
};
