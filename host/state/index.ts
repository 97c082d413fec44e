/**
 * State: the SQLite database of the home, its migrations, the components' key spaces, the event log, files of lines
 * with a bound, and the one place where text is redacted.
 */
export { type ComponentStore, openComponentStore, type StoreRow } from './component-store.ts';
export { type EventKind, type EventLog, eventKinds, openEventLog, type StationEvent } from './events.ts';
export { type GateCall, type GateEntry, type GateLog, openGateLog } from './gate-log.ts';
export { openLogFile } from './log-file.ts';
export type { Pieces } from './pieces.ts';
export { isPlainVariable, type Marked, openRedactor, type Redactor } from './redaction.ts';
export { openState, type State } from './state.ts';
