/** What a benchmark reports: our figure beside a reference measured in the same run. */
export interface Measured {
  readonly what: string;
  readonly ours: number;
  readonly reference: number;
  readonly unit: string;
  readonly referenceIs: string;
  /** `ours / reference` must be at most, or at least, this. */
  readonly goal: { readonly atMost: number } | { readonly atLeast: number };
  readonly note?: string;
}

export const ratioOf = ({ ours, reference }: Measured): number => ours / reference;

export const reached = (measured: Measured): boolean =>
  'atMost' in measured.goal
    ? ratioOf(measured) <= measured.goal.atMost
    : ratioOf(measured) >= measured.goal.atLeast;

export const median = (values: readonly number[]): number => percentile(values, 0.5);

export const percentile = (values: readonly number[], part: number): number => {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;
};

const figure = (value: number): string =>
  value >= 100 ? Math.round(value).toLocaleString('en') : value.toPrecision(3);

export const row = (measured: Measured): string => {
  const goal = 'atMost' in measured.goal ? `≤ ${measured.goal.atMost}` : `≥ ${measured.goal.atLeast}`;
  return `| ${measured.what} | ${figure(measured.ours)} ${measured.unit} | ${figure(measured.reference)} ${measured.unit} (${measured.referenceIs}) | ${ratioOf(measured).toFixed(2)} | ${goal} | ${reached(measured) ? 'yes' : '**no**'} |`;
};
