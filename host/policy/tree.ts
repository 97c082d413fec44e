/**
 * The text of a policy as a tree with places. Comments and trailing commas are read; a text that is no JSON
 * otherwise, has a key twice, is too long or too deep, is refused with the line and column where that shows.
 */
import {
  createScanner,
  type Node,
  type ParseError,
  type ParseErrorCode,
  parseTree,
  printParseErrorCode,
  type SyntaxKind,
} from 'jsonc-parser';

/** Longest policy, bytes. */
export const policyBytes = 1024 * 1024;
/** Deepest nesting read; the shape needs five. The parser recurses, so this is checked before it runs. */
const depthLimit = 32;
/** Faults named in one reading; whoever repairs twenty reads again. */
export const faultLimit = 20;

export interface Place {
  readonly line: number;
  readonly column: number;
}
export interface SyntaxFault {
  readonly kind: 'syntax' | 'duplicate';
  /** A dotted path where there is one. */
  readonly subject?: string;
  readonly offset: number;
  readonly expected: string;
  readonly found: string;
}

/** A path as people write it: `servers.probe.consumers.sessions[0]`. */
export const dotted = (path: readonly (string | number)[]): string =>
  path.reduce<string>(
    (text, part) => (typeof part === 'number' ? `${text}[${part}]` : text === '' ? part : `${text}.${part}`),
    '',
  );

// Both enums of the library are `const` and cannot be named with type stripping.
const open: readonly SyntaxKind[] = [1, 3];
const close: readonly SyntaxKind[] = [2, 4];
const end: SyntaxKind = 17;
/** What the parser missed, by its code; any other code says what it met. */
const missed: Readonly<Record<string, string>> = {
  ValueExpected: 'a value',
  PropertyNameExpected: 'a name in double quotes',
  ColonExpected: '":" after the name',
  CommaExpected: '"," before the next entry',
  CloseBraceExpected: '"}"',
  CloseBracketExpected: '"]"',
  EndOfFileExpected: 'the end of the file',
};
const punctuation = /[{}[\]:,]/;
const wordsFor = (
  code: ParseErrorCode,
  text: string,
  offset: number,
): Pick<SyntaxFault, 'expected' | 'found'> => {
  const name = printParseErrorCode(code);
  const expected = missed[name];
  if (expected === undefined)
    return { expected: 'JSON with comments', found: name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase() };
  const next = text.slice(offset).trimStart().slice(0, 1);
  if (next === '') return { expected, found: 'the end of the file' };
  // Only what is no value is repeated: someone may have pasted a token there.
  return { expected, found: punctuation.test(next) ? JSON.stringify(next) : 'something else' };
};

/** Where nesting passes the bound, or undefined. */
const tooDeep = (text: string): number | undefined => {
  const scanner = createScanner(text, true);
  let depth = 0;
  for (let kind = scanner.scan(); kind !== end; kind = scanner.scan()) {
    if (open.includes(kind)) depth += 1;
    if (close.includes(kind)) depth -= 1;
    if (depth > depthLimit) return scanner.getTokenOffset();
  }
  return undefined;
};

/** Line and column of an offset, both from 1, in UTF-16 units as editors count. */
export const placer = (text: string): ((offset: number) => Place) => {
  const starts = [0];
  for (let at = 0; at < text.length; at += 1) {
    const unit = text.charCodeAt(at);
    if (unit === 10 || (unit === 13 && text.charCodeAt(at + 1) !== 10)) starts.push(at + 1);
  }
  return (offset) => {
    let low = 0;
    let high = starts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if ((starts[middle] ?? 0) <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - (starts[low] ?? 0) + 1 };
  };
};

/** Every property and item of the tree in order, with its path; `place` is the key's, or the item's. */
export const walk = (
  node: Node,
  visit: (path: readonly (string | number)[], value: Node, place: Node) => void,
  path: readonly (string | number)[] = [],
): void => {
  for (const [index, child] of (node.children ?? []).entries()) {
    const [key, value] = node.type === 'object' ? (child.children ?? []) : [child, child];
    if (key === undefined || value === undefined) continue;
    const here = [...path, node.type === 'object' ? String(key.value) : index];
    visit(here, value, key);
    walk(value, visit, here);
  }
};

/** The tree's value with objects that inherit nothing, so that no key of the file means anything to the runtime. */
export const plainValue = (node: Node): unknown => {
  if (node.type === 'array') return (node.children ?? []).map(plainValue);
  if (node.type !== 'object') return node.value;
  const value: Record<string, unknown> = Object.create(null);
  for (const property of node.children ?? []) {
    const [key, child] = property.children ?? [];
    if (key !== undefined && child !== undefined) value[String(key.value)] = plainValue(child);
  }
  return value;
};

export interface Tree {
  readonly root?: Node;
  readonly faults: readonly SyntaxFault[];
}

export const readTree = (text: string): Tree => {
  const deep = tooDeep(text);
  if (deep !== undefined) {
    const expected = `at most ${depthLimit} levels`;
    return { faults: [{ kind: 'syntax', offset: deep, expected, found: 'a deeper one' }] };
  }
  const errors: ParseError[] = [];
  const root = parseTree(text, errors, { allowTrailingComma: true });
  // What the parser misses after the first fault of a place follows from it.
  const first = errors.filter(({ offset }, at) => errors[at - 1]?.offset !== offset);
  const faults: SyntaxFault[] = first
    .slice(0, faultLimit)
    .map(({ error, offset }) => ({ kind: 'syntax', offset, ...wordsFor(error, text, offset) }));
  if (root === undefined) {
    if (faults.length > 0) return { faults };
    return { faults: [{ kind: 'syntax', offset: 0, expected: 'an object', found: 'nothing' }] };
  }
  const seen = new Set<string>();
  walk(root, (path, _value, place) => {
    const key = JSON.stringify(path);
    if (seen.has(key) && faults.length < faultLimit) {
      const subject = dotted(path);
      faults.push({
        kind: 'duplicate',
        subject,
        offset: place.offset,
        expected: 'each key once',
        found: 'it again',
      });
    }
    seen.add(key);
  });
  return { root, faults };
};
