/**
 * How the station knows itself, so that it never passes calls on to itself in a circle. An address is looked at before
 * anything is sent. What reaches the station by another way (a program, a forwarded port, a name nobody knew, another
 * station) is known by its mark: every greeting of a gateway says the number of its run and those of the stations behind
 * it, and so does every request that goes on to another station's gateway. Other servers are sent no mark.
 */
import { randomUUID } from 'node:crypto';
import { isRecord, type Json, textOf } from './json.ts';

/** In `_meta` of a greeting, and of a request between two stations: who stands between. */
export const gatewayKey = 'bearpunch.station/gateway';
/** Of this process. */
export const ownRun = randomUUID();

/** Stations in a row; whoever names more of them is not followed further. */
const mostStations = 16;

/** The runs of the stations that a greeting or a request names, the nearest first; none where no station does. */
export const stationsOf = ({ _meta: meta }: Json): readonly string[] => {
  const mark = isRecord(meta) ? meta[gatewayKey] : undefined;
  if (!isRecord(mark)) return [];
  const through: unknown[] = Array.isArray(mark['through']) ? mark['through'] : [];
  return [mark['run'], ...through].slice(0, mostStations + 1).map(textOf);
};

/** What this station says: itself, and the others it knows of. */
export const markThrough = (others: readonly string[]): Json => {
  const through = others.slice(0, mostStations - 1);
  return { run: ownRun, ...(through.length === 0 ? {} : { through }) };
};

/** Whether what came by these stations is back where it was, or goes on for ever. */
export const leadsBack = (stations: readonly string[]): boolean =>
  stations.includes(ownRun) || stations.length > mostStations;

/** Names of this machine itself. */
const here =
  /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/;

/** `ports`: those this station listens on. Pure. */
export const isOwnAddress = ({ hostname, port, protocol }: URL, ports: readonly number[]): boolean =>
  here.test(hostname) && ports.includes(port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));
