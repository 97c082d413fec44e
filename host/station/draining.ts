/** Waiting for what is in flight, with a bound, and saying what it is. */
import type { Bus } from '../bus/index.ts';

/** Whether work ends within a time, ms. */
export const endsWithin = async (work: Promise<unknown>, ms: number): Promise<boolean> => {
  let late: NodeJS.Timeout | undefined;
  const bound = new Promise<false>((resolve) => {
    late = setTimeout(resolve, ms, false);
  });
  const ended = await Promise.race([work.then(() => true), bound]);
  clearTimeout(late);
  return ended;
};

/** `a:b: 2 in flight` of every component that is still at something. */
export const inFlightOf = (bus: Pick<Bus, 'status'>, prefix = ''): string =>
  bus
    .status()
    .filter(({ name, inFlight }) => name.startsWith(prefix) && inFlight > 0)
    .map(({ name, inFlight }) => `${name}: ${inFlight} in flight`)
    .join(', ');
