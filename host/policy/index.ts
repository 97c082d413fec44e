/**
 * Policy: what the operator allows, read from `policy.jsonc`. A wrong entry is a problem with line and column; a
 * policy that cannot be read grants nothing. Values of variables are never read here, only their names.
 */
export type {
  Agent,
  Channel,
  GatePolicy,
  GateRule,
  McpChannel,
  Origin,
  Policy,
  PolicySource,
  Program,
  ReadPolicy,
  ServerPolicy,
  SignaturePolicy,
} from './edge.ts';
export { editPolicy } from './edit.ts';
export { initialPolicy } from './initial.ts';
export { type LimitName, type Limits, limitNames, limitTable, usualLimits } from './limits.ts';
export {
  type McpEntry,
  mcpEntry,
  mcpEntryFaults,
  mcpEntryFrom,
  mcpServerName,
  references as variableReferences,
} from './mcp-entry.ts';
export { type Permission, permissionFor, permissions } from './permissions.ts';
export { defaultProvider, readPolicy } from './read.ts';
export { looseProblems } from './references.ts';
export { policySchema } from './schema.ts';
export { type NamedEntry, readServersFile, type ServersFile } from './servers-file.ts';
export { shownPolicy } from './shown.ts';
export { openPolicySource, policyText } from './source.ts';
export { serverOrigin, serverProgram, type Unusable } from './transports.ts';
export { changePolicyFile, type PolicyChange } from './write.ts';
