/**
 * The sandbox: decides whether a component's bytes may run (admission), turns them into files once (cache), and
 * runs one instance in a worker that can do nothing but answer batches. It knows no topic and no policy.
 */
export { startActivation } from './activation.ts';
export { admitComponent, verifyAdmitted, verifyCached } from './admit.ts';
export type {
  Activation,
  ActivationOptions,
  AdmissionOptions,
  AdmitComponent,
  AdmittedComponent,
  StartActivation,
} from './edge.ts';
export { type ComponentLimits, defaultLimits, transpileLimits } from './limits.ts';
export { giveBackMemory, prepareProcess } from './process.ts';
export type {
  BatchResult,
  Effect,
  Handled,
  LogLevel,
  Message,
  Outcome,
  StoreEntry,
  SyncAnswer,
  SyncCall,
  TerminalCommand,
} from './protocol.ts';
export { expectTranspile } from './transpile/transpile.ts';
