/**
 * The platform interfaces of WIT 0.3.0 as a QuickJS guest sees them: an absent option is null or undefined, u64 is
 * a number, and an operation that returns `result` throws an Error that carries the problem as its `payload`.
 */
declare module 'bearpunch:station/log@0.3.0' {
  export const write: (level: 'debug' | 'info' | 'warn' | 'error', text: string) => void;
}
declare module 'bearpunch:station/clock@0.3.0' {
  export const now: () => number;
  export const wake: (token: string, afterMs: number) => void;
}
declare module 'bearpunch:station/random@0.3.0' {
  export const bytes: (count: number) => Uint8Array;
}
declare module 'bearpunch:station/store@0.3.0' {
  export const get: (key: string) => string | null | undefined;
  export const scan: (
    prefix: string,
    after: string | undefined,
    limit: number,
  ) => { readonly key: string; readonly value: string }[];
  export const put: (key: string, value: string) => void;
  export const remove: (key: string) => void;
}
declare module 'bearpunch:station/bus@0.3.0' {
  export const begin: (messageId: string) => void;
  export const publish: (
    topic: string,
    payload: string,
    to: string | undefined,
    token: string | undefined,
  ) => void;
}
declare module 'bearpunch:station/process@0.3.0' {
  export const spawn: (program: string, cwd: string) => string;
  export const write: (process: string, text: string) => void;
  export const kill: (process: string) => void;
}
declare module 'bearpunch:station/workspace@0.3.0' {
  export const offered: (
    process: string,
    agent: string,
  ) => { readonly read: boolean; readonly write: boolean; readonly terminals: boolean };
  export const readTextFile: (
    process: string,
    agent: string,
    path: string,
    line: number | undefined,
    limit: number | undefined,
  ) => string;
  export const writeTextFile: (process: string, agent: string, path: string, content: string) => void;
}
declare module 'bearpunch:station/terminals@0.3.0' {
  export const create: (
    process: string,
    agent: string,
    command: {
      readonly command: string;
      readonly args: string[];
      readonly env: { readonly name: string; readonly value: string }[];
      readonly cwd: string | undefined;
      readonly outputBytes: number | undefined;
    },
  ) => string;
  export const output: (terminal: string) => {
    readonly text: string;
    readonly truncated: boolean;
    readonly exit?: { readonly code?: number | null; readonly signal?: string | null } | null;
  };
  export const kill: (terminal: string) => void;
  export const release: (terminal: string) => void;
}
declare module 'bearpunch:station/session-context@0.3.0' {
  type Transport =
    | { readonly tag: 'stdio'; readonly val: { readonly command: string; readonly args: string[] } }
    | { readonly tag: 'http'; readonly val: { readonly url: string } }
    | {
        readonly tag: 'gateway';
        readonly val: { readonly url: string; readonly command: string; readonly args: string[] };
      };
  interface Provision {
    readonly policyRevision: string;
    readonly program?: string | null;
    readonly provider?: string | null;
    readonly approve: 'manual' | 'auto' | 'workspace';
    readonly sink?: string | null;
    readonly offered: { readonly name: string; readonly rule: string; readonly transport: Transport }[];
    readonly withheld: { readonly name: string; readonly rule: string; readonly reason: string }[];
  }
  export const servers: (agent: string) => Provision;
  export const serversFor: (
    session: string,
    agent: string,
    cwd: string,
    mcpConfig: string | undefined,
  ) => Provision;
  export const placeSkills: (
    cwd: string,
    sink: string,
  ) => {
    readonly bundle: string;
    readonly revision: string;
    readonly name: string;
    readonly decision: 'placed' | 'unchanged' | 'refused';
    readonly reason?: string | null;
    readonly files: number;
  }[];
  export const outside: (cwd: string, paths: string[]) => string[];
}
