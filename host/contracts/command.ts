/** What the command line and the tests use of this room: values in, reports out. Nothing is printed here. */
export { type CheckOptions, type CheckReport, checkContracts } from './check.ts';
export type { Difference } from './differences.ts';
export type { Finding } from './findings.ts';
export { type HookOptions, type InstalledHook, installHook } from './hook.ts';
export { asGithub, asJson, asSarif, asText, type Format, formats, rendered } from './report.ts';
export { type UpdateOptions, type UpdateReport, updateContracts } from './update.ts';
