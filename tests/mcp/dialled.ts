/** Connections of a test: real programs and addresses, a home of their own, and everything gone at the end. */
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import { type ConnectionsOptions, openConnections } from '../../host/mcp/connections/open.ts';
import type { Connection, Connections, ServerEntry } from '../../host/mcp/index.ts';
import { openProcesses, type Processes } from '../../host/processes/index.ts';

export const fixture = (name: string): string => join(import.meta.dirname, '..', 'fixtures', 'mcp', name);

export const program = (
  name: string,
  command: string,
  args: readonly string[],
  more: Partial<ServerEntry> & {
    env?: Record<string, string>;
    inherit?: readonly string[];
    cwd?: string;
  } = {},
): ServerEntry => {
  const { env = {}, inherit, cwd, ...rest } = more;
  const transport = {
    type: 'stdio' as const,
    command,
    args,
    env,
    ...(inherit === undefined ? {} : { inherit }),
    ...(cwd === undefined ? {} : { cwd }),
  };
  return { key: `policy/${name}`, name, place: `servers.${name}`, transport, ...rest };
};
export const raw = (
  name: string,
  does: Readonly<Record<string, unknown>> = {},
  more: Parameters<typeof program>[3] = {},
): ServerEntry => program(name, process.execPath, [fixture('raw.mjs'), JSON.stringify(does)], more);
export const script = (name: string, file: string, ...args: readonly string[]): ServerEntry =>
  program(name, process.execPath, [fixture(file), ...args]);
export const address = (
  name: string,
  url: string,
  headers: Readonly<Record<string, string>> = {},
  more: Partial<ServerEntry> = {},
): ServerEntry => ({
  key: `policy/${name}`,
  name,
  place: `mcpServers.${name}`,
  transport: { type: 'http', url, headers },
  ...more,
});

export interface Desk {
  readonly connections: Connections;
  readonly processes: Processes;
  readonly dir: string;
  readonly journal: string;
  readonly journalled: () => readonly string[];
  /** When the journal holds so many lines that begin like this. */
  readonly noted: (begin: string, count: number) => Promise<void>;
  readonly get: (name: string) => Connection;
  /** When the connection is as wanted. */
  readonly until: (name: string, wanted: (connection: Connection) => boolean) => Promise<Connection>;
  readonly connected: (name: string) => Promise<Connection>;
  /** States in the order they came, of every server. */
  readonly seen: readonly string[];
}

const quick = { backoffMs: 20, mostBackoffMs: 100, debounceMs: 20, mostDebounceMs: 100 };

export const openDialled = async (
  t: TestContext,
  entries: (desk: { dir: string; journal: string }) => readonly ServerEntry[],
  options: Partial<ConnectionsOptions> = {},
): Promise<Desk> => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-dialled-'));
  const processes = await openProcesses({ run: join(dir, 'run') });
  const journal = join(dir, 'journal');
  const connections = openConnections({
    processes,
    env: { PATH: process.env['PATH'], HOME: dir },
    redact: (text) => text,
    logs: join(dir, 'logs'),
    cwd: dir,
    client: { name: 'jupiter', version: '0' },
    ...options,
    limits: { ...quick, ...options.limits },
  });
  const seen: string[] = [];
  const waiting = new Set<() => void>();
  connections.onChange(({ entry, status }, what) => {
    seen.push(`${entry.name} ${what === 'tools' ? 'tools' : status().state}`);
    for (const look of waiting) look();
  });
  t.after(async () => {
    await connections.close();
    await processes.endAll(0);
    rmSync(dir, { recursive: true, force: true });
  });
  connections.reconcile(entries({ dir, journal }));
  const get = (name: string): Connection => {
    const found = connections.get(`policy/${name}`);
    if (found === undefined) throw new Error(`no ${name}`);
    return found;
  };
  const until: Desk['until'] = (name, wanted) =>
    new Promise((resolve) => {
      const look = (): void => {
        const connection = get(name);
        if (!wanted(connection)) return;
        waiting.delete(look);
        resolve(connection);
      };
      waiting.add(look);
      look();
    });
  const journalled = (): readonly string[] => {
    try {
      return readFileSync(journal, 'utf8').split('\n').slice(0, -1);
    } catch {
      return [];
    }
  };
  return {
    connections,
    processes,
    dir,
    journal,
    journalled,
    noted: (begin, count) =>
      new Promise((resolve) => {
        const look = setInterval(() => {
          if (journalled().filter((line) => line.startsWith(begin)).length < count) return;
          clearInterval(look);
          resolve();
        }, 5);
      }),
    get,
    until,
    connected: (name) => until(name, ({ status }) => status().state === 'connected'),
    seen,
  };
};
