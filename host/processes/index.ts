/**
 * Processes: the one place where a child is started, in its own group, its output framed into lines, and the whole
 * group ended with the session, with the station, and by a watchdog when the station itself is killed.
 */
export type {
  OpenProcesses,
  ProcessExit,
  Processes,
  ProcessesOptions,
  ProcessRequest,
  RunningProcess,
} from './edge.ts';
export { processLives } from './group.ts';
export { frameLines, type LineFramer } from './lines.ts';
export { openProcesses } from './open.ts';
export { resolveCommand, searchHere } from './resolve.ts';
