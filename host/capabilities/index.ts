/**
 * Capabilities: one file for each platform interface that does something on the host's side; the
 * permissions they need stand in host/policy/permissions.ts. What a guest asks for ends here.
 */
export { answerCalls, type CallPorts } from './calls.ts';
export { openWakes, type Wakes } from './clock.ts';
export { openProcessCapability, type ProcessCapability, type ProcessPorts } from './process.ts';
export type { SessionContext } from './session-context.ts';
export { answerStore } from './store.ts';
export type { WorkspaceFiles } from './workspace.ts';
