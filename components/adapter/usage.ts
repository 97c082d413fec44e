/**
 * A turn's usage as the agent reported it: in the result, else in the last `usage_update` of the turn, else in the
 * result's `_meta.quota`. Undefined is "not reported", which is not zero.
 */
import { isRecord } from './frames.ts';

export const reportedUsage = (
  result: unknown,
  lastUpdate: Readonly<Record<string, unknown>> | undefined,
): Record<string, unknown> | undefined => {
  if (!isRecord(result)) return lastUpdate;
  if (isRecord(result.usage)) return result.usage;
  if (lastUpdate !== undefined) return lastUpdate;
  const quota = isRecord(result._meta) ? result._meta.quota : undefined;
  return isRecord(quota) ? quota : undefined;
};
