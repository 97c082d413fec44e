/**
 * How the station knows itself, so that it never passes calls on to itself in a circle. An address is looked at before
 * anything is sent. What reaches the station by another way (a program, a forwarded port, a name nobody knew) is known by
 * what it says of itself: the gateway marks every greeting with the number of this run.
 */
import { randomUUID } from 'node:crypto';
import { isRecord, type Json } from './json.ts';

/** In `_meta` of what the gateway says of itself: who stands between. */
export const gatewayKey = 'bearpunch.station/gateway';
/** Of this process. */
export const ownRun = randomUUID();

/** Whether a server's greeting is that of this station's own gateway. */
export const isOwnGreeting = ({ _meta: meta }: Json): boolean => {
  const mark = isRecord(meta) ? meta[gatewayKey] : undefined;
  return isRecord(mark) && mark['run'] === ownRun;
};

/** Names of this machine itself. */
const here =
  /^(?:(?:[a-z0-9-]+\.)*localhost\.?|127(?:\.\d{1,3}){3}|0\.0\.0\.0|\[::1?\]|\[::ffff:7f[0-9a-f]{2}:[0-9a-f]{1,4}\])$/;

/** `ports`: those this station listens on. Pure. */
export const isOwnAddress = ({ hostname, port, protocol }: URL, ports: readonly number[]): boolean =>
  here.test(hostname) && ports.includes(port === '' ? (protocol === 'https:' ? 443 : 80) : Number(port));
