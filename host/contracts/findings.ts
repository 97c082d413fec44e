/** What a check found: a problem with a place, and for a shape the place inside it and both values. */
import { type Problem, type ProblemCode, problem } from '../problems/index.ts';
import { type Difference, differences } from './differences.ts';
import type { Release } from './history.ts';
import { type Entry, shapeValue } from './lock.ts';

export interface Finding extends Problem {
  /** From the folder that was checked, `/` between segments. */
  readonly file: string;
  /** Counts from 1. */
  readonly line: number;
  /** Where the shapes differ, the first one first; at most `differenceLimit`. */
  readonly differences: readonly Difference[];
  /** The commit that released the shape, then the one that released the other, where there is one. */
  readonly releases: readonly Release[];
}

export interface Place {
  readonly file: string;
  readonly line: number;
}

/** Most findings one check tells; what is beyond is counted. */
export const findingLimit = 1_000;

export const finding = (
  code: ProblemCode,
  place: Place,
  detail: {
    readonly subject?: string;
    readonly message?: string;
    readonly evidence?: string;
    readonly fix?: string;
    readonly differences?: readonly Difference[];
    readonly releases?: readonly Release[];
  } = {},
): Finding => ({
  ...problem(code, detail),
  file: place.file,
  line: place.line,
  differences: detail.differences ?? [],
  releases: detail.releases ?? [],
});

/** Where two entries differ: their kind, then their shapes. */
export const entryDifferences = (before: Entry, after: Entry): readonly Difference[] =>
  before.kind === after.kind
    ? differences(shapeValue(before), shapeValue(after))
    : [{ path: '/kind', before: JSON.stringify(before.kind), after: JSON.stringify(after.kind) }];

/** What a person calls the thing. */
export const noun = (entry: Entry): string => (entry.kind === 'wit' ? 'The interface' : 'The topic');

/** The legal way to what was tried: an ID no one has. */
export const wayOut = (entry: Entry, taken: (id: string) => boolean): string => {
  if (entry.kind === 'wit')
    return 'Restore the released folder; an addition or a change goes into a new version folder.';
  const [, stem = entry.id, number = '1'] = /^(.*)\.v(\d{1,6})$/.exec(entry.id) ?? [];
  let next = Number(number) + 1;
  while (taken(`${stem}.v${next}`)) next += 1;
  return `Give "${entry.id}" its released shape back, and declare the new shape under a new ID, such as "${stem}.v${next}".`;
};
