/**
 * Capabilities: one file for each platform interface that does something on the host's side; each names the
 * permission it needs. What a guest asks for ends here.
 */
export { openWakes, type Wakes } from './clock.ts';
export { type Permission, type PlatformInterface, permissionFor, permissions } from './permissions.ts';
export { openProcessCapability, type ProcessCapability, type ProcessPorts } from './process.ts';
export { answerContext, type SessionContext } from './session-context.ts';
export { answerStore } from './store.ts';
