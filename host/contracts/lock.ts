/**
 * The lock: every shape ever released, one entry a line, sorted by ID, the comma in front. Each entry's line is the
 * same wherever it stands, so that Git merges two additions and a removed line leaves JSON behind.
 *
 *   [{"lock":1}
 *   ,{"id":"a.b","kind":"event","digest":"<sha-256 of shape>","shape":{"event":{"type":"null"}}}
 *   ]
 *
 * Reading is forgiving, so that one fault does not hide another: what is wrong with the text is told, and what can
 * be understood of it is still compared.
 */
import { hash } from 'node:crypto';
import type { ProblemCode } from '../problems/index.ts';
import { canonicalJson, isObject, type Json } from './json.ts';

export type EntryKind = 'command' | 'event' | 'wit';

export interface Entry {
  readonly id: string;
  readonly kind: EntryKind;
  readonly digest: string;
  /** Canonical JSON. */
  readonly shape: string;
}

export interface LockedEntry extends Entry {
  /** Its line as it should stand, without the line feed. */
  readonly text: string;
  /** Counts from 1; 1 where the text is not laid out by lines. */
  readonly line: number;
}

/** What is wrong with the text of a lock, before any entry is compared. */
export interface LockFault {
  readonly code: ProblemCode;
  readonly line: number;
  readonly subject?: string;
  readonly evidence?: string;
}

export interface Lock {
  /** The first entry of each ID. */
  readonly entries: ReadonlyMap<string, LockedEntry>;
  /** Every entry, repetitions included. */
  readonly all: readonly LockedEntry[];
  readonly faults: readonly LockFault[];
}

/** Longest lock or manifest that is read, bytes. */
export const fileLimit = 64 * 1024 * 1024;

const head = '[{"lock":1}';
const foot = ']';
const entryLine =
  /^,\{"id":"([!#-[\]-~]{1,200})","kind":"(command|event|wit)","digest":"([0-9a-f]{64})","shape":(\{.*\})\}$/;
const marker = /^(<{7}|={7}|>{7}|\|{7})( |$)/;

export const idFault = (id: unknown): string | undefined =>
  typeof id === 'string' && /^[!#-[\]-~]{1,200}$/.test(id)
    ? undefined
    : 'must be 1 to 200 visible ASCII characters without quotes and backslashes';

const entryText = ({ id, kind, digest, shape }: Entry): string =>
  `,{"id":"${id}","kind":"${kind}","digest":"${digest}","shape":${shape}}`;

/** The entry in one line, or undefined for a line that holds none. */
export const entryOf = (text: string, line: number): LockedEntry | undefined => {
  const [, id, kind, digest, shape] = entryLine.exec(text) ?? [];
  if (id === undefined || digest === undefined || shape === undefined) return undefined;
  return { id, kind: kind as EntryKind, digest, shape, text, line };
};

const byId = (a: Entry, b: Entry): number => (a.id < b.id ? -1 : a.id > b.id ? 1 : 0);

/** The one text of these entries. */
export const lockText = (entries: Iterable<Entry>): string =>
  `${[head, ...[...entries].sort(byId).map(entryText), foot].join('\n')}\n`;

/** Entries of a lock that something wrote in another layout, or undefined where it is not JSON or not a lock. */
const reformatted = (text: string): LockedEntry[] | undefined => {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return undefined;
  }
  if (!Array.isArray(value) || !isObject(value[0]) || !Object.hasOwn(value[0], 'lock')) return undefined;
  const found: LockedEntry[] = [];
  for (const item of value.slice(1) as unknown[]) {
    if (!isObject(item) || !isObject(item.shape)) return undefined;
    const { id, kind, digest, shape } = item;
    const entry = entryOf(
      entryText({
        id: String(id),
        kind: kind as EntryKind,
        digest: String(digest),
        shape: canonicalJson(shape),
      }),
      1,
    );
    if (entry === undefined) return undefined;
    found.push(entry);
  }
  return found;
};

/** Reads a lock. `faults` is empty only for text that `lockText` writes; shapes are not looked into. */
export const readLock = (source: string): Lock => {
  const faults: LockFault[] = [];
  const fault = (code: ProblemCode, line: number, more: Partial<LockFault> = {}): void => {
    faults.push({ code, line, ...more });
  };
  const lock = (all: LockedEntry[]): Lock => {
    const entries = new Map<string, LockedEntry>();
    for (const entry of all) {
      const twin = entries.get(entry.id);
      if (twin === undefined) entries.set(entry.id, entry);
      else
        fault('contract/lock-duplicate', entry.line, {
          subject: entry.id,
          evidence: `lines ${twin.line} and ${entry.line}${twin.text === entry.text ? ', alike' : ', with two shapes'}`,
        });
    }
    return { entries, all, faults };
  };
  if (source.trim() === '') {
    fault('contract/lock-empty', 1);
    return lock([]);
  }
  let text = source;
  if (text.includes('\r')) {
    fault('contract/lock-line-endings', text.slice(0, text.indexOf('\r')).split('\n').length);
    text = text.replace(/\r\n?/g, '\n');
  }
  const lines = text.split('\n');
  const all: LockedEntry[] = [];
  const strange: number[] = [];
  let conflict: number | undefined;
  lines.forEach((line, index) => {
    const entry = entryOf(line, index + 1);
    if (entry !== undefined) all.push(entry);
    else if (marker.test(line)) conflict ??= index + 1;
    else if (line !== '' && !(index === 0 && line === head) && line !== foot) strange.push(index + 1);
  });
  if (conflict !== undefined) {
    fault('contract/lock-conflict', conflict);
    return lock(all);
  }
  const framed = lines[0] === head && text.endsWith(`\n${foot}\n`);
  if (strange.length === 0 && framed) {
    const place = all.findIndex((entry, i) => i > 0 && byId(all[i - 1] ?? entry, entry) > 0);
    // No line but the first, the last and the entries: it is the text that `lockText` writes.
    if (place < 0 && lines.length === all.length + 3) return lock(all);
    fault('contract/lock-layout', all[place]?.line ?? 1, place < 0 ? {} : { subject: all[place]?.id ?? '' });
    return lock(all);
  }
  const other = reformatted(text.replace(/^\ufeff/, ''));
  if (other !== undefined) {
    fault('contract/lock-layout', strange[0] ?? 1);
    return lock(other);
  }
  const line = strange[0] ?? lines.length;
  fault('contract/lock-malformed', line, { evidence: excerpt(lines[line - 1] ?? '') });
  return lock(all);
};

const excerpt = (line: string): string =>
  line === '' ? 'the text ends early' : JSON.stringify(line.length > 120 ? `${line.slice(0, 120)}…` : line);

/** Whether the digest is that of the shape. */
export const digestFits = (entry: Entry): boolean => hash('sha256', entry.shape) === entry.digest;

/** The shape as JSON, or undefined for text that is none. */
export const shapeValue = (entry: Entry): Json | undefined => {
  try {
    return JSON.parse(entry.shape) as Json;
  } catch {
    return undefined;
  }
};
