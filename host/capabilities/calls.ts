/**
 * The calls a guest blocks on, each answered only while policy grants what it needs: a permission that was revoked
 * bites at the next call.
 */
import { type Policy, permissionFor } from '../policy/index.ts';
import { problem } from '../problems/index.ts';
import type { SyncAnswer, SyncCall } from '../sandbox/index.ts';
import type { ComponentStore } from '../state/index.ts';
import type { ProcessCapability } from './process.ts';
import { answerContext, type SessionContext } from './session-context.ts';
import { answerStore } from './store.ts';
import { answerWorkspace, type WorkspaceCall, type WorkspaceFiles } from './workspace.ts';

export interface CallPorts {
  readonly policy: () => Policy;
  readonly store: ComponentStore;
  readonly process: Pick<ProcessCapability, 'spawn' | 'runs' | 'terminals'>;
  readonly context: SessionContext;
  readonly files: WorkspaceFiles;
}

const needs: Readonly<Record<SyncCall['call'], string>> = {
  'store.get': permissionFor.store,
  'store.scan': permissionFor.store,
  'process.spawn': permissionFor.process,
  'workspace.offered': permissionFor.workspace,
  'workspace.read': permissionFor.workspace,
  'workspace.write': permissionFor.workspace,
  'terminals.create': permissionFor.terminals,
  'terminals.output': permissionFor.terminals,
  'session-context.servers': permissionFor['session-context'],
  'session-context.servers-for': permissionFor['session-context'],
  'session-context.place-skills': permissionFor['session-context'],
  'session-context.outside': permissionFor['session-context'],
};

const isOfWorkspace = (call: SyncCall): call is WorkspaceCall =>
  call.call.startsWith('workspace.') || call.call.startsWith('terminals.');

export const answerCalls = ({ policy, store, process, context, files }: CallPorts) => {
  const workspace = answerWorkspace({ policy, files, terminals: process.terminals, runs: process.runs });
  return (component: string, call: SyncCall, message: string): SyncAnswer | Promise<SyncAnswer> => {
    const [bundle = ''] = component.split(':');
    const permission = needs[call.call];
    if (policy().grants.get(bundle)?.has(permission) !== true) {
      return { ok: false, problem: problem('bus/not-granted', { subject: component, evidence: permission }) };
    }
    if (call.call === 'store.get' || call.call === 'store.scan') return answerStore(store, component, call);
    if (call.call === 'process.spawn') return process.spawn(component, message, call.program, call.cwd);
    return isOfWorkspace(call)
      ? workspace(component, call, message)
      : answerContext(context, component, call);
  };
};
