/**
 * The station: opens the home, wires the rooms, answers the control socket, stops. What a client needs is light; the
 * composition root is loaded when a station is opened.
 */
import type { openStation as open } from './run.ts';

export { controlAddress } from './address.ts';
export {
  type ControlMethods,
  controlLineBytes,
  type Method,
  type MethodEvent,
  type MethodResult,
  mostTopics,
  type Params,
  type StationStatus,
  type TranscriptEntry,
} from './control.ts';
export { createHome, type Home, homeAt, installation } from './home.ts';
export type { RunningStation } from './run.ts';
export { version } from './version.ts';
export type { OpenWeb } from './web.ts';

export const openStation: typeof open = async (options) => (await import('./run.ts')).openStation(options);
