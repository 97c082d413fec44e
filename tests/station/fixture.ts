/** A station in this process, over a real home, with what a test needs around it. */
import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { connectStation, type StationClient } from '../../host/cli/client.ts';
import { openStation } from '../../host/station/index.ts';
import { firstPartyGrants, repository } from '../e2e/harness.ts';

export const dist = join(repository, 'dist', 'bundles');
// The first station of a test process transpiles; the others begin with its cache.
const transpiled = mkdtempSync(join(tmpdir(), 'jupiter-station-cache-'));
process.on('exit', () => rmSync(transpiled, { recursive: true, force: true }));

export interface Up {
  readonly client: StationClient;
  readonly down: () => Promise<void>;
}
export interface StationBench {
  readonly dir: string;
  readonly home: string;
  readonly workspace: string;
  readonly policy: (value: unknown) => void;
  readonly up: (options?: { shipped?: string; env?: Record<string, string> }) => Promise<Up>;
  /** Of the database, while no station is up: `kind subject`, oldest first. */
  readonly events: () => readonly string[];
}

export const echoPolicy = (more: Record<string, unknown> = {}) => ({
  grants: firstPartyGrants,
  agents: { echo: { program: 'echo', provider: 'bearpunch.echo:echo' } },
  ...more,
});

export const openStationBench = (t: TestContext, value: unknown = echoPolicy()): StationBench => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-station-'));
  const home = join(dir, 'home');
  const workspace = join(dir, 'workspace');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(workspace);
  const policy = (now: unknown) => writeFileSync(join(home, 'policy.jsonc'), JSON.stringify(now));
  policy(value);
  cpSync(transpiled, join(home, 'cache'), { recursive: true });
  const open = new Set<() => Promise<void>>();
  t.after(async () => {
    for (const down of open) await down();
    if (existsSync(join(home, 'cache'))) cpSync(join(home, 'cache'), transpiled, { recursive: true });
    rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
  });
  return {
    dir,
    home,
    workspace,
    policy,
    up: async ({ shipped = dist, env = {} } = {}) => {
      const station = await openStation({ home, shipped, env: { PATH: process.env['PATH'], ...env } });
      assert.ok(station.ok, JSON.stringify(station));
      const client = await connectStation(home);
      assert.ok(client.ok, JSON.stringify(client));
      const down = async () => {
        open.delete(down);
        client.value.close();
        await station.value.stop();
      };
      open.add(down);
      return { client: client.value, down };
    },
    events: () => {
      const db = new Database(join(home, 'station.db'));
      try {
        return db.prepare<[], string>(`SELECT kind || ' ' || subject FROM events ORDER BY seq`).pluck().all();
      } finally {
        db.close();
      }
    },
  };
};

export const code = (result: { ok: boolean; problem?: { code: string } }): string =>
  result.ok ? 'ok' : (result.problem?.code ?? '?');

/** A session with an agent, settled; its ID. */
export const create = async (client: StationClient, cwd: string, agent = 'echo'): Promise<string> => {
  const created = await client.call('session.create', { agent, cwd });
  assert.ok(created.ok && created.value.state === 'idle', JSON.stringify(created));
  return created.value.id;
};
