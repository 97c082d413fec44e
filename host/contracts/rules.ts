/**
 * The rules, over data: what is declared against the lock, the lock against itself, the lock against what was ever
 * released. No file is read and no process started here.
 */
import { entryDifferences, type Finding, finding, noun, type Place, wayOut } from './findings.ts';
import type { Released } from './history.ts';
import { canonicalJson } from './json.ts';
import { digestFits, type Entry, type Lock, type LockedEntry, shapeValue } from './lock.ts';
import { canonicalShape } from './shape.ts';

/** One thing that a manifest or a WIT folder declares. */
export interface Declared {
  readonly entry: Entry;
  /** Where a place inside its shape stands, or the declaration. */
  readonly place: (path?: string) => Place;
}

export interface LockAt {
  readonly lock: Lock;
  readonly file: string;
}

/** One thing in two spellings: an entry that is not in canonical form is judged by what it means. */
const sameIdentity = (a: Entry, b: Entry): boolean =>
  a.kind === b.kind && (a.shape === b.shape || meaning(a) === meaning(b));

/** The canonical text of what an entry holds, or undefined where that is no shape of its kind. */
const canonicalText = (entry: Entry): string | undefined => {
  const shape = shapeValue(entry);
  if (shape === undefined) return undefined;
  if (entry.kind === 'wit') return canonicalJson(shape);
  const { id, kind } = entry;
  const found = canonicalShape({ id, kind, shape: shape as Record<string, unknown> });
  return found.ok ? found.value.shape : undefined;
};
const meaning = (entry: Entry): string => canonicalText(entry) ?? entry.shape;

/** Nothing declared twice with two shapes, nothing missing from the lock, nothing different from it. */
export const declaredFindings = (
  declared: readonly Declared[],
  { lock }: LockAt,
  partial: boolean,
  released: Released,
): readonly Finding[] => {
  const findings: Finding[] = [];
  const first = new Map<string, Declared>();
  const taken = (id: string): boolean => lock.entries.has(id) || first.has(id);
  for (const item of declared) {
    const { entry } = item;
    const twin = first.get(entry.id);
    if (twin === undefined) first.set(entry.id, item);
    else if (twin.place().file === item.place().file || !sameIdentity(twin.entry, entry))
      findings.push(
        finding('contract/manifest-twice', item.place(), {
          subject: entry.id,
          evidence: `also at ${twin.place().file}:${twin.place().line}${sameIdentity(twin.entry, entry) ? '' : ', with another shape'}`,
          differences: entryDifferences(twin.entry, entry),
        }),
      );
    if (twin !== undefined && !sameIdentity(twin.entry, entry)) continue;
    const locked = lock.entries.get(entry.id);
    if (locked === undefined) {
      if (!partial && twin === undefined)
        findings.push(
          finding('contract/unlocked', item.place(), {
            subject: entry.id,
            message: `${noun(entry)} "${entry.id}" is declared but not in the lock.`,
          }),
        );
      // An entry edited by hand is told as one: the declaration is not to blame for it.
    } else if (digestFits(locked) && !sameIdentity(locked, entry)) {
      const changed = entryDifferences(locked, entry);
      const kind = locked.kind !== entry.kind;
      const release = released.get(locked.text)?.release;
      findings.push(
        finding(kind ? 'contract/kind-changed' : 'contract/shape-changed', item.place(changed[0]?.path), {
          subject: entry.id,
          message: `${noun(entry)} "${entry.id}" is declared with another ${kind ? 'kind' : 'shape'} than its ID stands for.`,
          differences: changed,
          releases: release === undefined ? [] : [release],
          fix: wayOut(entry, taken),
        }),
      );
    }
  }
  return findings;
};

/** Each entry is what `update` would have written: digest and shape belong together, the shape is canonical. */
export const lockFindings = ({ lock, file }: LockAt, declared: readonly Declared[]): readonly Finding[] => {
  // What a declaration makes again letter by letter needs no second look.
  const known = new Map(declared.map(({ entry }) => [entry.id, entry]));
  const remade = ({ id, kind, digest, shape }: Entry): boolean => {
    const entry = known.get(id);
    return entry?.shape === shape && entry.digest === digest && entry.kind === kind;
  };
  const faults = lock.faults.map(({ code, line, ...detail }) => finding(code, { file, line }, detail));
  const edited = lock.all
    .filter((entry) => !remade(entry) && !(digestFits(entry) && isCanonical(entry)))
    .map((entry) =>
      finding(
        'contract/lock-edited',
        { file, line: entry.line },
        {
          subject: entry.id,
          message: `The entry of "${entry.id}" was edited by hand: ${digestFits(entry) ? 'its shape is not in canonical form' : 'its digest is not that of its shape'}.`,
        },
      ),
    );
  return [...faults, ...edited];
};

const isCanonical = (entry: Entry): boolean => canonicalText(entry) === entry.shape;

/** Everything ever released is in the lock as it was released. */
export const releasedFindings = (
  released: Released,
  { lock, file }: LockAt,
  partial: boolean,
): readonly Finding[] => {
  const findings: Finding[] = [];
  const current = new Set(lock.all.map((entry) => entry.text));
  const told = new Set<string>();
  const taken = (id: string): boolean => lock.entries.has(id);
  for (const [text, { entry, release }] of released) {
    if (current.has(text)) continue;
    const now = lock.entries.get(entry.id);
    if (now === undefined) {
      if (partial || told.has(entry.id)) continue;
      told.add(entry.id);
      findings.push(
        finding(
          'contract/released-removed',
          { file, line: gapOf(lock, entry.id) },
          {
            subject: entry.id,
            message: `${noun(entry)} "${entry.id}" was released and is no longer in the lock.`,
            evidence: excerptOf(entry),
            releases: [release],
          },
        ),
      );
      continue;
    }
    if (sameIdentity(now, entry)) continue;
    const other = released.get(now.text)?.release;
    findings.push(
      finding(
        'contract/released-changed',
        { file, line: now.line },
        {
          subject: entry.id,
          message: `${noun(entry)} "${entry.id}" was released with another ${now.kind === entry.kind ? 'shape' : 'kind'}.`,
          differences: entryDifferences(entry, now),
          releases: other === undefined ? [release] : [release, other],
          fix: wayOut(entry, taken),
        },
      ),
    );
  }
  return findings;
};

const excerptOf = (entry: Entry): string =>
  `${entry.kind} ${entry.shape.length > 300 ? `${entry.shape.slice(0, 300)}…` : entry.shape}`;

/** The line an entry would stand in. */
const gapOf = (lock: Lock, id: string): number => {
  const after = lock.all.find((entry: LockedEntry) => entry.id > id);
  return after?.line ?? (lock.all.at(-1)?.line ?? 0) + 1;
};
