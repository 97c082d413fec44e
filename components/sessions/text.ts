/** Sentences of the transcript. */
import { bounded, type Problem } from '../guest/index.ts';

/** Evidence a sentence of the transcript carries at most, UTF-16 units. */
const evidenceUnits = 1_000;

/** A problem as one line for a person: what happened, what was seen, what to do. */
export const problemText = ({ code, message, evidence, fix }: Problem): string =>
  [
    `${message} (${code})`,
    ...(evidence === undefined ? [] : [`Seen: ${bounded(evidence, evidenceUnits)}.`]),
    ...(fix === undefined ? [] : [fix]),
  ].join(' ');

/** A time as people say it: `30 minutes`, `90 seconds`. */
export const spanText = (ms: number): string => {
  const [count, unit] =
    ms % 60_000 === 0 ? [ms / 60_000, 'minute'] : ms >= 1_000 ? [ms / 1_000, 'second'] : [ms, 'ms'];
  return unit === 'ms' ? `${count} ms` : `${count} ${unit}${count === 1 ? '' : 's'}`;
};
