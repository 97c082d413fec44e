/**
 * `workspace` and `terminals`: what an agent asks of the station. Given only as far as policy offers it to the agent
 * at that moment, for a process the component itself started, which must run the program policy names for the agent,
 * and inside the directory the process was started in. A component that names another agent gets nothing by it.
 */
import type { Policy } from '../policy/index.ts';
import { ok, type Result, refuse } from '../problems/index.ts';
import type { SyncAnswer, SyncCall } from '../sandbox/index.ts';
import type { Terminals } from './terminals.ts';

/** The workspace's files, as the context room serves them. */
export interface WorkspaceFiles {
  readonly read: (asked: {
    readonly cwd: string;
    readonly path: string;
    readonly line: number | null;
    readonly limit: number | null;
  }) => Result<string>;
  readonly write: (asked: {
    readonly cwd: string;
    readonly path: string;
    readonly content: string;
  }) => Result<undefined>;
  /** Where a command may run. */
  readonly folder: (cwd: string, path: string | undefined) => Result<string>;
}

export interface RunsFor {
  readonly program: string;
  readonly cwd: string;
}
export interface WorkspacePorts {
  readonly policy: () => Policy;
  readonly files: WorkspaceFiles;
  readonly terminals: Terminals;
  /** What a process of this component runs; undefined where it has none of that ID any more. */
  readonly runs: (component: string, process: string) => RunsFor | undefined;
}

export type WorkspaceCall = Extract<SyncCall, { call: `workspace.${string}` | `terminals.${string}` }>;
type Offer = 'read' | 'write' | 'terminals';

const answered = (result: Result<unknown>): SyncAnswer =>
  result.ok ? { ok: true, value: result.value ?? null } : result;

export const answerWorkspace =
  ({ policy, files, terminals, runs }: WorkspacePorts) =>
  async (component: string, call: WorkspaceCall, message: string): Promise<SyncAnswer> => {
    const runsFor = ({ process, agent }: { readonly process: string; readonly agent: string }) => {
      const found = runs(component, process);
      const known = policy().agents.get(agent);
      return found !== undefined && known?.program === found.program
        ? { ...found, host: known.host }
        : undefined;
    };
    const offered = (
      asked: { readonly process: string; readonly agent: string },
      what: Offer,
    ): Result<RunsFor> => {
      const found = runsFor(asked);
      return found?.host[what] === true ? ok(found) : refuse('process/not-offered', { subject: asked.agent });
    };
    switch (call.call) {
      case 'workspace.offered': {
        const found = runsFor(call);
        return { ok: true, value: found?.host ?? { read: false, write: false, terminals: false } };
      }
      case 'workspace.read': {
        const place = offered(call, 'read');
        return answered(place.ok ? files.read({ ...call, cwd: place.value.cwd }) : place);
      }
      case 'workspace.write': {
        const place = offered(call, 'write');
        return answered(place.ok ? files.write({ ...call, cwd: place.value.cwd }) : place);
      }
      case 'terminals.create': {
        const place = offered(call, 'terminals');
        if (!place.ok) return place;
        const folder = files.folder(place.value.cwd, call.command.cwd ?? undefined);
        if (!folder.ok) return folder;
        const owner = { component, message, process: call.process, program: place.value.program };
        return answered(await terminals.create(owner, call.command, folder.value));
      }
      case 'terminals.output':
        return answered(terminals.output(component, call.terminal));
    }
  };
