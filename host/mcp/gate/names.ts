/**
 * Names of servers and tools as agents see them: `mcp__<server>__<tool>`, in whole 1 to 64 of `[A-Za-z0-9_-]`, which is
 * what every model provider takes. A part that fits is kept as written; any other is mapped to what can be kept of it
 * and a hash of the whole. A mapped name depends on the written one alone, so it is the same in every run, in every
 * order and beside any neighbours.
 */
import { hash } from 'node:crypto';
import type { ToolName } from './edge.ts';

/** Of the whole name, characters. */
const wholeCharacters = 64;
/** Of the server's part; what it leaves is the tool's. */
const aliasCharacters = 24;
/** Of a hash: 50 bits, so that names that differ do not meet by chance. */
const hashCharacters = 10;

const kept = /^[A-Za-z0-9_-]+$/;
const letters = 'abcdefghijklmnopqrstuvwxyz234567';

const shortHash = (text: string): string => {
  let out = '';
  for (const byte of hash('sha256', text, 'buffer').subarray(0, hashCharacters)) out += letters[byte & 31];
  return out;
};

/** Readable first, then distinct. `_` stands only once where something was left out. */
const mapped = (name: string, room: number): string => {
  const readable = name
    .normalize('NFKD')
    .replace(/[^A-Za-z0-9-]+/g, '_')
    .replace(/^_+/, '')
    .slice(0, room - hashCharacters - 1)
    .replace(/_+$/, '');
  return readable === '' ? shortHash(name) : `${readable}_${shortHash(name)}`;
};

/**
 * Whether the part of a server can stand before `__` as written: one that holds `__`, or ends with `_`, could be read
 * as another server's with another tool.
 */
const isPlainServer = (name: string): boolean => !name.includes('__') && !name.endsWith('_');

/** What the agent calls the server. */
export const serverAlias = (name: string): string =>
  name.length <= aliasCharacters && kept.test(name) && isPlainServer(name)
    ? name
    : mapped(name, aliasCharacters);

const roomBeside = (alias: string): number => wholeCharacters - 'mcp__'.length - alias.length - '__'.length;

/** What one tool is called, by itself. */
export const toolAlias = (alias: string, name: string): string => {
  const room = roomBeside(alias);
  return name.length <= room && kept.test(name) ? name : mapped(name, room);
};

/**
 * The tools of one server, each name once, in their order. Where a mapped name meets one that stands as written, the
 * written one has it and the other is not there: a server that arranges this hides a tool of its own.
 */
export const toolNames = (alias: string, names: readonly string[]): readonly ToolName[] => {
  const written = new Set(names);
  const taken = new Set<string>();
  const found: ToolName[] = [];
  for (const original of written) {
    const exposed = toolAlias(alias, original);
    if (exposed !== original && written.has(exposed) && toolAlias(alias, exposed) === exposed) continue;
    if (taken.has(exposed)) continue;
    taken.add(exposed);
    found.push({ original, exposed });
  }
  return found;
};
