/** A station with one real agent, a model and an HTTP server on loopback, and the questions its tests ask. */
import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { TestContext } from 'node:test';
import type { TranscriptEntry } from '../../contracts/transcript.ts';
import {
  type Bench,
  demoProbe,
  firstPartyGrants,
  openBench,
  skillBundle,
  skillText,
} from '../e2e/harness.ts';
import { type HttpServer, startMcpHttp } from '../fixtures/mcp-http.ts';
import { type ModelEndpoint, startModel } from '../fixtures/model-endpoint.ts';
import type { AgentCase } from './cases.ts';
import { installed } from './install.ts';

export type Entry = TranscriptEntry;
export interface Shown {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
  readonly attached: boolean;
  readonly approval?: string;
  readonly usage: unknown;
  readonly pending: readonly { readonly request: string; readonly title: string }[];
  readonly commands?: readonly { readonly name: string }[];
  readonly mode?: { readonly id: string };
  readonly gate?: {
    readonly calls: readonly { readonly tool: string; readonly decision: string; readonly rule: string }[];
  };
  readonly provisioning: {
    readonly sink: string | null;
    readonly servers: readonly {
      readonly name: string;
      readonly decision: string;
      readonly stage?: string;
    }[];
    readonly skills: readonly { readonly name: string; readonly decision: string }[];
  };
}
export interface Said {
  readonly stopReason?: string;
  readonly state?: string;
  readonly entries: readonly Entry[];
}

export interface Room {
  readonly bench: Bench;
  readonly model: ModelEndpoint;
  readonly http: HttpServer;
  readonly create: (approve: 'manual' | 'auto' | 'workspace') => Promise<Shown>;
  readonly say: (id: string, text: string) => Promise<Said>;
  readonly show: (id: string) => Promise<Shown>;
  readonly transcript: (id: string) => Promise<readonly Entry[]>;
  /** Resolves with the record once `condition` holds. */
  readonly when: (id: string, condition: (shown: Shown) => boolean, what: string) => Promise<Shown>;
  /** Waits until the station has reached the server. */
  readonly connected: (server: string) => Promise<void>;
  /** The environments of those processes. */
  readonly environments: () => readonly string[];
  /** Processes that run with the agent's home: the agent, and what it started (Linux). */
  readonly running: () => readonly string[];
}

const waitMs = 60_000;
export const skillName = 'jupiter-deploy';

const lay = (folder: string, files: Readonly<Record<string, string>>): void => {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), text);
  }
};

/** The station has the agent's home too. */
const stationEntry = 'host/cli/detached.ts';

interface Running {
  readonly command: string;
  readonly environment: string;
}
const runningWith = (home: string): readonly Running[] =>
  readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid)
    .flatMap((name): Running[] => {
      try {
        const environment = readFileSync(`/proc/${name}/environ`, 'utf8');
        const command = readFileSync(`/proc/${name}/cmdline`, 'utf8').replaceAll('\0', ' ');
        const ours = environment.split('\0').includes(`HOME=${home}`) && !command.includes(stationEntry);
        return ours ? [{ command: `${name} ${command}`, environment }] : [];
      } catch {
        return [];
      }
    });

/** What the HTTP server wants where it stands behind the gateway, in the station's variable of that name. */
export const bearer = { name: 'PROBE_BEARER', value: 'probe-bearer-9d41c7' };

const policyFor = (
  found: AgentCase,
  file: string,
  env: Readonly<Record<string, string>>,
  http: string,
  gateway: boolean,
) => ({
  grants: firstPartyGrants,
  agents: { tested: { program: found.program } },
  programs: {
    [found.program]: {
      command: found.native === true ? file : process.execPath,
      args: [...(found.native === true ? [] : [file]), ...found.args],
      inherit: ['PATH', 'HOME', ...Object.keys(env)],
      trust: 'full',
    },
    probe: { command: process.execPath, args: [demoProbe], trust: 'full' },
  },
  origins: { probehttp: { url: http, ...(gateway ? { bearer: bearer.name } : {}) } },
  permissions: { allow: ['mcp__probehttp__probe'] },
  servers: {
    probe: {
      transport: { type: 'stdio', program: 'probe' },
      consumers: { sessions: ['tested'] },
      exposure: 'direct',
    },
    probehttp: {
      transport: { type: 'http', origin: 'probehttp' },
      consumers: { sessions: ['tested'] },
      exposure: gateway ? 'gateway' : 'direct',
    },
  },
});

/** `gateway`: the HTTP server wants a bearer, and the agent reaches it through the station. */
export const openRoom = async (
  t: TestContext,
  found: AgentCase,
  { gateway = false }: { readonly gateway?: boolean } = {},
): Promise<Room> => {
  const file = await installed(found.agent);
  const [model, http] = [await startModel(), await startMcpHttp(gateway ? bearer.value : undefined)];
  t.after(() => Promise.all([model.close(), http.close()]));
  const env = found.env(model.url);
  const policy = policyFor(found, file, env, http.url, gateway);
  const secret = gateway ? { [bearer.name]: bearer.value } : {};
  const bench = openBench(t, { policy, env: { ...env, ...secret }, ownHome: true });
  lay(bench.userHome, found.files?.(model.url, bench.workspace) ?? {});
  await bench.ask('up');
  await bench.ask(
    'bundle',
    'install',
    await skillBundle(bench.userHome, 'test.skills', { [skillName]: { 'SKILL.md': skillText(skillName) } }),
  );
  const show = (id: string) => bench.ask<Shown>('session', 'show', id);
  return {
    bench,
    model,
    http,
    show,
    create: (approve) =>
      bench.document(
        'session',
        'create',
        '--agent',
        'tested',
        '--cwd',
        bench.workspace,
        '--approve',
        approve,
      ),
    say: (id, text) => bench.document<Said>('session', 'say', id, text, '--wait'),
    transcript: async (id) => (await bench.ask<{ entries: Entry[] }>('session', 'transcript', id)).entries,
    when: async (id, condition, what) => {
      const end = performance.now() + waitMs;
      for (;;) {
        const shown = await show(id);
        if (condition(shown)) return shown;
        assert.ok(performance.now() < end, `${what}: ${JSON.stringify(shown)}`);
      }
    },
    connected: async (server) => {
      const end = performance.now() + waitMs;
      for (;;) {
        const { servers } = await bench.ask<{ servers: { name: string; status: string }[] }>('mcp', 'list');
        if (servers.some(({ name, status }) => name === server && status === 'connected')) return;
        assert.ok(performance.now() < end, JSON.stringify(servers));
      }
    },
    environments: () => runningWith(bench.userHome).map(({ environment }) => environment),
    running: () => runningWith(bench.userHome).map(({ command }) => command),
  };
};
