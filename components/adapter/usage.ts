/**
 * A turn's usage as the agent reported it: in the result, else in the last `usage_update` of the turn, else in the
 * result's `_meta.quota`. Undefined is "not reported", which is not zero; nor is a report without a figure one.
 */
import { isRecord } from './frames.ts';

type Figures = Readonly<Record<string, unknown>>;

/** Whether anything is said: `{}` and figures that are null say nothing. */
export const reports = (value: unknown): value is Figures =>
  isRecord(value) && Object.values(value).some((figure) => figure !== null && figure !== undefined);

export const reportedUsage = (
  result: unknown,
  lastUpdate: Figures | undefined,
): Record<string, unknown> | undefined => {
  if (!isRecord(result)) return lastUpdate;
  if (reports(result.usage)) return result.usage;
  if (lastUpdate !== undefined) return lastUpdate;
  const quota = isRecord(result._meta) ? result._meta.quota : undefined;
  return reports(quota) ? quota : undefined;
};
