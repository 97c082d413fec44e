/**
 * The station: opens the home, wires the rooms, answers the control socket, stops.
 */
export type { ControlMethods, Method, MethodEvent, MethodResult, Params } from './control.ts';
export { createHome, type Home, homeAt, installation } from './home.ts';
export { openStation, type RunningStation } from './run.ts';
