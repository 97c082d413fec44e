/**
 * Changes one entry of a policy and leaves the rest of the text as people wrote it: comments, order, spacing. What
 * would make the policy worse than it was is refused and nothing is returned. Pure.
 */
import { createScanner, findNodeAtLocation, type Node, type SyntaxKind } from 'jsonc-parser';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import { readPolicy } from './read.ts';
import { entryKeys } from './schema.ts';
import { readTree } from './tree.ts';

type PolicyPath = readonly (string | number)[];

// The library's enum is `const` and cannot be named with type stripping.
const comma: SyntaxKind = 5;
/** Longest value that is written on one line. */
const lineLength = 88;

const wrongPath = (path: string): Result<never> =>
  refuse('policy/wrong-path', { subject: path.slice(0, 200) });

const splitIndexes = (part: string): PolicyPath => {
  const [, name = part, indexes = ''] = /^(.*?)((?:\[\d{1,6}\])*)$/.exec(part) ?? [];
  return [name, ...[...indexes.matchAll(/\d+/g)].map(Number)];
};

/** Sections that are lists: an entry is named by its index. */
const listSections = new Set(['signatures', 'disabledMcpServers', 'trustedProjects']);

/**
 * `servers.notes.exposure`, `grants.example.tools[0]`, `agents.model-4.1.approve` as segments. Names may hold dots:
 * an entry that is there under the whole name is meant first, then one whose last part is a known key.
 */
const policyPath = (text: string, root: Node): Result<PolicyPath> => {
  const [section = '', ...rest] = text.split('.');
  if (text === '$schema') return ok([text]);
  const [listed = '', ...indexes] = splitIndexes(section);
  if (listSections.has(String(listed)) && indexes.length > 0 && !rest.includes(''))
    return ok([listed, ...indexes, ...rest.flatMap(splitIndexes)]);
  const keys = entryKeys[section];
  if (keys === undefined || rest.includes('')) return wrongPath(text);
  if (rest.length === 0) return ok([section]);
  const whole = splitIndexes(rest.join('.'));
  if (section === 'grants' || findNodeAtLocation(root, [section, String(whole[0])]) !== undefined)
    return ok([section, ...whole]);
  if (section === 'servers' || section === 'channel') return ok([section, ...rest.flatMap(splitIndexes)]);
  // `agents.model-4.1.host.files`: a key below the known key `host`.
  if (section === 'agents' && rest.length > 2 && rest.at(-2) === 'host')
    return ok([section, rest.slice(0, -2).join('.'), 'host', ...splitIndexes(rest.at(-1) ?? '')]);
  const last = splitIndexes(rest.at(-1) ?? '');
  return rest.length > 1 && keys.includes(String(last[0]))
    ? ok([section, rest.slice(0, -1).join('.'), ...last])
    : ok([section, ...whole]);
};

const inline = (value: unknown): string => {
  if (Array.isArray(value)) return `[${value.map(inline).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const members = Object.entries(value).map(([key, member]) => `${JSON.stringify(key)}: ${inline(member)}`);
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
};

interface Layout {
  readonly text: string;
  readonly eol: string;
}
const indentAt = ({ text }: Layout, offset: number): string =>
  /^[ \t]*/.exec(text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset))?.[0] ?? '';

/** A value as people write it: on one line where it fits, else each member on its own. */
const written = (layout: Layout, value: unknown, indent: string): string => {
  const line = inline(value);
  if (line.length <= lineLength || typeof value !== 'object' || value === null) return line;
  const inner = `${indent}  `;
  const members = Array.isArray(value)
    ? value.map((item) => written(layout, item, inner))
    : Object.entries(value).map(([key, item]) => `${JSON.stringify(key)}: ${written(layout, item, inner)}`);
  const [open, close] = Array.isArray(value) ? ['[', ']'] : ['{', '}'];
  return `${open}${layout.eol}${inner}${members.join(`,${layout.eol}${inner}`)}${layout.eol}${indent}${close}`;
};

const endOf = (node: Node): number => node.offset + node.length;

/** Where the comma after an offset stands, comments passed over; undefined where another token comes first. */
const commaAfter = (text: string, offset: number): number | undefined => {
  const scanner = createScanner(text, true);
  scanner.setPosition(offset);
  return scanner.scan() === comma ? scanner.getTokenOffset() : undefined;
};

/** Puts a member at the end of an object or list, behind the comments that stand there. */
const insert = (layout: Layout, container: Node, key: string | undefined, value: unknown): string => {
  const { text, eol } = layout;
  const close = endOf(container) - 1;
  const inside = text.slice(container.offset + 1, close);
  const at = container.offset + 1 + inside.trimEnd().length;
  const last = container.children?.at(-1);
  const lines = inside.includes('\n') || (last === undefined && container.type === 'object');
  const outer = indentAt(layout, container.offset + 1);
  const first = container.children?.[0];
  const firstOnLine =
    first !== undefined &&
    /^[ \t]*$/.test(text.slice(text.lastIndexOf('\n', first.offset - 1) + 1, first.offset));
  const indent = first !== undefined && firstOnLine ? indentAt(layout, first.offset) : `${outer}  `;
  const member = `${key === undefined ? '' : `${JSON.stringify(key)}: `}${written(layout, value, indent)}`;
  const trailing = last === undefined ? undefined : commaAfter(text, endOf(last));
  const added = `${lines ? `${eol}${indent}` : last === undefined ? '' : ' '}${member}${trailing === undefined ? '' : ','}`;
  const separator = last === undefined || trailing !== undefined ? '' : ',';
  const after = last === undefined ? at : endOf(last);
  // A brace that closes on the line of its content moves to its own line only where there was no content.
  const tail = lines && !text.slice(at, close).includes('\n') ? `${eol}${outer}` : text.slice(at, close);
  return text.slice(0, after) + separator + text.slice(after, at) + added + tail + text.slice(close);
};

/** Takes a range out, and the line it stood on where nothing else is there. */
const cut = (text: string, from: number, to: number): string => {
  const line = text.lastIndexOf('\n', from - 1) + 1;
  const next = text.indexOf('\n', to);
  const alone = next !== -1 && text.slice(line, from).trim() === '' && text.slice(to, next).trim() === '';
  return alone
    ? text.slice(0, line) + text.slice(next + 1)
    : text.slice(0, from) + text.slice(to).replace(/^ /, '');
};

const removed = (text: string, node: Node): string => {
  const member = node.parent?.type === 'property' ? node.parent : node;
  const siblings = member.parent?.children ?? [];
  const before = siblings[siblings.indexOf(member) - 1];
  const following = commaAfter(text, endOf(member));
  const last = siblings.at(-1) === member;
  const to = following === undefined ? endOf(member) : following + 1;
  // Comments between a member and its comma stay.
  const between = following === undefined ? '' : text.slice(endOf(member), following);
  const rest =
    between.trim() === ''
      ? cut(text, member.offset, to)
      : text.slice(0, member.offset) + between.trim() + text.slice(to);
  const stray =
    last && following === undefined && before !== undefined ? commaAfter(text, endOf(before)) : undefined;
  return stray === undefined ? rest : rest.slice(0, stray) + rest.slice(stray + 1);
};

/** Wraps a value in what is missing on the way to it; only the first item of a list can be new. */
const wrap = (path: PolicyPath, value: unknown): Result<unknown> => {
  if (path.some((part) => typeof part === 'number' && part !== 0)) return refuse('policy/no-such-entry');
  return ok(
    path.reduceRight<unknown>(
      (inner, part) => (typeof part === 'number' ? [inner] : { [part]: inner }),
      value,
    ),
  );
};

const edited = (text: string, root: Node, path: PolicyPath, value: unknown): Result<string> => {
  const layout: Layout = { text, eol: text.includes('\r\n') ? '\r\n' : '\n' };
  const target = findNodeAtLocation(root, [...path]);
  if (value === undefined)
    return target === undefined ? refuse('policy/no-such-entry') : ok(removed(text, target));
  if (target !== undefined) {
    const indent = indentAt(layout, target.offset);
    return ok(text.slice(0, target.offset) + written(layout, value, indent) + text.slice(endOf(target)));
  }
  let depth = path.length - 1;
  while (depth > 0 && findNodeAtLocation(root, path.slice(0, depth)) === undefined) depth -= 1;
  const container = findNodeAtLocation(root, path.slice(0, depth)) ?? root;
  const key = path[depth];
  const fits =
    container.type === 'object'
      ? typeof key === 'string'
      : container.type === 'array' && key === (container.children?.length ?? 0);
  if (!fits) return refuse('policy/no-such-entry');
  const wrapped = wrap(path.slice(depth + 1), value);
  return wrapped.ok
    ? ok(insert(layout, container, typeof key === 'string' ? key : undefined, wrapped.value))
    : wrapped;
};

/**
 * The text with one entry set, or removed where `value` is undefined. Refused: a text that cannot be read as it is
 * (`policy/syntax`, `policy/duplicate-key`), a path that can be none (`policy/wrong-path`, `policy/no-such-entry`),
 * and a change that brings a problem the policy did not have; that problem is the answer.
 */
export const editPolicy = (
  text: string,
  path: string,
  value: unknown,
  file = 'policy.jsonc',
): Result<string> => {
  const bytes = new TextEncoder();
  const before = readPolicy(bytes.encode(text), file).problems;
  const { root, faults } = readTree(text);
  const broken = before.find(({ code }) => code === 'policy/syntax' || code === 'policy/duplicate-key');
  if (broken !== undefined) return failed(broken);
  if (root === undefined || faults.length > 0) return refuse('policy/syntax', { subject: file });
  const segments = policyPath(path, root);
  if (!segments.ok) return segments;
  const after = edited(text, root, segments.value, value);
  if (!after.ok) return failed({ ...after.problem, subject: path });
  const known = new Set(before.map(({ code, subject }) => `${code} ${subject}`));
  const worse = readPolicy(bytes.encode(after.value), file).problems.find(
    ({ code, subject }) => !known.has(`${code} ${subject}`),
  );
  return worse === undefined
    ? after
    : failed({
        ...worse,
        message: worse.message.replace(', so nothing is allowed.', '; nothing was changed.'),
      });
};
