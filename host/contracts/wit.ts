/**
 * Released WIT: each version folder `wit/<version>/` is one entry. Its identity is what its interfaces and worlds
 * say, item by item; comments, white space, the order of items and in which file they stand are not. The order
 * inside an item is: it decides how values are laid out.
 */
import { hash } from 'node:crypto';
import { type Finding, finding, type Place } from './findings.ts';
import { canonicalJson, type Json } from './json.ts';
import type { Entry } from './lock.ts';
import type { Declared } from './rules.ts';

export interface WitFile {
  readonly path: string;
  readonly text: string;
}

/** The version a path below the checked folder belongs to. */
export const witVersion = (path: string): string | undefined =>
  /^wit\/(\d+\.\d+\.\d+(?:-[0-9A-Za-z.-]+)?)\/.+\.wit$/.exec(path)?.[1];

// Line comments, block comments (which nest: see `blockEnd`), versions, names and numbers, and single signs.
const word = /\/\/[^\n]*|\/\*|\d+\.\d+\.\d+[\w.+-]*|%?[\p{L}\p{N}_][\p{L}\p{N}_-]*|->|[^\s]/gu;

interface Token {
  readonly text: string;
  readonly line: number;
}

const tokens = (text: string): { readonly list: readonly Token[]; readonly fault?: string } => {
  const list: Token[] = [];
  let line = 1;
  let counted = 0;
  word.lastIndex = 0;
  for (let match = word.exec(text); match !== null; match = word.exec(text)) {
    const [found] = match;
    for (; counted < match.index; counted += 1) if (text.charCodeAt(counted) === 10) line += 1;
    if (found === '/*') {
      const end = blockEnd(text, match.index);
      if (end === undefined) return { list, fault: `line ${line}: a comment does not end` };
      word.lastIndex = end;
    } else if (!found.startsWith('//')) list.push({ text: found, line });
  }
  return { list };
};

const blockEnd = (text: string, from: number): number | undefined => {
  let depth = 0;
  for (let i = from; i < text.length; i += 1) {
    const two = text.slice(i, i + 2);
    if (two === '/*') depth += 1;
    else if (two === '*/') depth -= 1;
    else continue;
    i += 1;
    if (depth === 0) return i + 1;
  }
  return undefined;
};

interface Item {
  readonly tokens: readonly Token[];
  /** The tokens between the braces of an interface, a world or a resource. */
  readonly body?: readonly Token[];
}

const closers: ReadonlyMap<string, string> = new Map([
  ['{', '}'],
  ['(', ')'],
  ['<', '>'],
]);

/** Cuts a run of tokens into items: each ends in `;`, or in `}` where no `;` follows. */
const items = (list: readonly Token[]): { readonly items: readonly Item[]; readonly fault?: string } => {
  const found: Item[] = [];
  const open: string[] = [];
  let start = 0;
  let brace = -1;
  for (let i = 0; i < list.length; i += 1) {
    const { text = '', line = 1 } = list[i] ?? {};
    const closer = closers.get(text);
    if (closer !== undefined) {
      if (text === '{' && open.length === 0) brace = i;
      open.push(closer);
      continue;
    }
    if (text === '}' || text === ')' || text === '>') {
      if (open.pop() !== text) return { items: found, fault: `line ${line}: "${text}" closes nothing` };
      if (text !== '}' || open.length > 0 || list[i + 1]?.text === ';') continue;
    } else if (text !== ';' || open.length > 0) continue;
    const whole = list.slice(start, i + 1);
    found.push(
      brace >= 0 && text === '}' ? { tokens: whole, body: list.slice(brace + 1, i) } : { tokens: whole },
    );
    start = i + 1;
    brace = -1;
  }
  if (start < list.length)
    return { items: found, fault: `line ${list[start]?.line ?? 1}: an item does not end` };
  return { items: found };
};

/** One item as text; a comma before a closing sign says nothing. */
const itemText = (list: readonly Token[]): string =>
  list
    .filter(({ text }, i) => !(text === ',' && ['}', ')', '>'].includes(list[i + 1]?.text ?? '')))
    .map(({ text }) => text)
    .join(' ');

/** What an item is called: `interface log`, `record entry`, `import clock`, or a function's name. */
const itemName = (list: readonly Token[]): string => {
  // A gate such as `@since(version = 0.1.0)` stands before the name.
  let i = 0;
  while (list[i]?.text === '@') {
    i += 2;
    if (list[i]?.text === '(') while (i < list.length && list[i++]?.text !== ')');
  }
  const words = list.slice(i).map(({ text }) => text);
  const end = words.findIndex((text) => ['{', '(', '=', ';'].includes(text));
  const head = words.slice(0, end < 0 ? words.length : end);
  if (head[0] === 'use') return words.join(' ').replace(/ ?;$/, '');
  const colon = head.indexOf(':');
  if (colon > 0 && head[0] !== 'package' && !['import', 'export'].includes(head[0] ?? ''))
    return head.slice(0, colon).join(' ');
  if (['import', 'export'].includes(head[0] ?? '') && words[end] !== ';' && colon > 0)
    return head.slice(0, colon).join(' ');
  return head.join(' ');
};

const containers = new Set(['interface', 'world', 'resource', 'package']);

/** Items by name; what holds items is an object again. */
const outline = (list: readonly Token[], into: Map<string, Json>): string | undefined => {
  const cut = items(list);
  if (cut.fault !== undefined) return cut.fault;
  for (const item of cut.items) {
    const name = itemName(item.tokens);
    const [kind = ''] = name.split(' ');
    let value: Json = itemText(item.tokens);
    if (item.body !== undefined && containers.has(kind)) {
      const inner = new Map<string, Json>();
      const fault = outline(item.body, inner);
      if (fault !== undefined) return fault;
      value = Object.fromEntries(inner);
      if (item.tokens[0]?.text === '@')
        value = { gate: itemText(item.tokens).split(name)[0] ?? '', items: value };
    }
    if (into.has(name)) return `line ${item.tokens[0]?.line ?? 1}: "${name}" stands twice`;
    into.set(name, value);
  }
  return undefined;
};

/** What one version folder declares. Every file's items go into the package the file names. */
export const readWit = (
  version: string,
  files: readonly WitFile[],
): { declared?: Declared; findings: Finding[] } => {
  const packages = new Map<string, Map<string, Json>>();
  const findings: Finding[] = [];
  for (const file of files) {
    const read = tokens(file.text);
    const cut = read.fault === undefined ? items(read.list) : undefined;
    const named = cut?.items.find((item) => item.tokens[0]?.text === 'package' && item.body === undefined);
    const name = named === undefined ? '' : itemText(named.tokens.slice(1, -1)).replaceAll(' ', '');
    const into = packages.get(name) ?? new Map<string, Json>();
    packages.set(name, into);
    const rest = named === undefined ? read.list : read.list.filter((token) => !named.tokens.includes(token));
    const fault = read.fault ?? cut?.fault ?? outline(rest, into);
    if (fault !== undefined) {
      const line = Number(/^line (\d+)/.exec(fault)?.[1] ?? 1);
      findings.push(
        finding('contract/wit-invalid', { file: file.path, line }, { subject: version, evidence: fault }),
      );
    }
  }
  if (findings.length > 0) return { findings };
  // Files without a `package` line belong to the package that the others name.
  const [main] = [...packages.keys()].filter((name) => name !== '');
  const homeless = packages.get('');
  const home = main === undefined ? undefined : packages.get(main);
  if (homeless !== undefined && home !== undefined) {
    for (const [name, value] of homeless) home.set(name, value);
    packages.delete('');
  }
  const shape = canonicalJson(
    Object.fromEntries([...packages].map(([name, inner]) => [name, Object.fromEntries(inner)])),
  );
  const entry: Entry = { id: `wit/${version}`, kind: 'wit', digest: hash('sha256', shape), shape };
  return { declared: { entry, place: (path) => witPlace(files, path) }, findings };
};

/** Where the names on a path stand one after the other: `/bearpunch:station@0.1.0/interface log/write`. */
const witPlace = (files: readonly WitFile[], path = ''): Place => {
  const names = path
    .split('/')
    .slice(2)
    .map((segment) => segment.split(' ').at(-1) ?? '');
  const places = files.map((file) => {
    let from = 0;
    let found = 0;
    for (const name of names) {
      const at = file.text
        .slice(from)
        .search(new RegExp(`(?<![\\w-])${name.replace(/[^\w-]/g, '\\$&')}(?![\\w-])`));
      if (at < 0) break;
      from += at;
      found += 1;
    }
    return { file: file.path, line: file.text.slice(0, from).split('\n').length, found };
  });
  const [best = { file: '', line: 1 }] = places.sort((a, b) => b.found - a.found);
  return { file: best.file, line: best.line };
};
