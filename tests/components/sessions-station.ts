/** What the tests of Sessions share: a station whose policy and placements are the test's, and ways to look at it. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { foldTranscript, plainEntry, type TranscriptRow } from '../../contracts/transcript.ts';
import { buildBundles } from '../../scripts/build-bundles.ts';
import { type MiniOptions, type MiniStation, startMini } from './mini-station.ts';

const bundles = resolve('dist/bundles');
export const sessions = 'bearpunch.sessions:sessions';
export const adapter = 'bearpunch.adapter:adapter';
export const echo = 'bearpunch.echo:echo';

let cwd = '';
const open: MiniStation[] = [];
/** For `before`: builds the bundles and makes a workspace. */
export const prepare = async (): Promise<void> => {
  await buildBundles();
  cwd = await mkdtemp(join(tmpdir(), 'jupiter-ws-'));
};
/** For `after`. */
export const cleanUp = async (): Promise<void> => {
  for (const station of open) await station.stop();
  await rm(cwd, { recursive: true, force: true });
};

const probe = {
  name: 'probe',
  rule: 'servers.probe.consumers',
  transport: { tag: 'stdio', val: { command: process.execPath, args: [resolve('demo/probe.ts')] } },
};
const provision = (provider: string) => (agent: string) =>
  agent === 'nobody'
    ? { policyRevision: 'rev', approve: 'manual', offered: [], withheld: [] }
    : {
        policyRevision: 'rev',
        program: 'demo',
        provider,
        approve: 'manual',
        sink: '.demo/skills',
        offered: [probe],
        withheld: [
          { name: 'secret', rule: 'servers.secret.consumers', reason: 'its program is not trusted' },
        ],
      };
const placed = [
  { bundle: 'acme.skills', revision: 'a'.repeat(64), name: 'greet', decision: 'placed', files: 2 },
  {
    bundle: 'acme.skills',
    revision: 'a'.repeat(64),
    name: 'mine',
    decision: 'refused',
    reason: 'a file of the user is there',
    files: 0,
  },
];

export const start = async (
  options: Partial<MiniOptions> & { readonly provider: string },
): Promise<MiniStation> => {
  const { provider, ...rest } = options;
  const station = await startMini({
    bundles,
    guests: ['sessions'],
    programs: { demo: [process.execPath, resolve('demo/agent.ts')] },
    env: { PATH: process.env.PATH ?? '' },
    servers: provision(provider),
    placeSkills: () => placed,
    ...rest,
  });
  open.push(station);
  return station;
};

export const create = (station: MiniStation, more: Readonly<Record<string, unknown>> = {}): string =>
  String(station.ask('bearpunch.sessions.create', { agent: 'demo', cwd, ...more }).id);
export const show = (station: MiniStation, id: string) =>
  station.ask('bearpunch.sessions.get', { id }) as {
    state: string;
    reason?: string;
    usage: unknown;
    attached: boolean;
    pending: { request: string }[];
    commands: { name: string }[];
    provisioning: { servers: { name: string; decision: string; stage?: string; reason?: string }[] };
  };
export const transcript = (station: MiniStation, id: string): string[] => {
  const rows: TranscriptRow[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const reply = station.ask('bearpunch.sessions.transcript', { id, after });
    rows.push(...(reply.rows as TranscriptRow[]));
    after = reply.next as number | undefined;
  }
  return foldTranscript(rows).map(plainEntry);
};
export const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'no problem';
};
/** Plays the provider `test:agent`. */
export const play = (station: MiniStation, topic: string, payload: unknown, source = 'test:agent'): void =>
  station.inject(sessions, { topic: `bearpunch.agents.${topic}`, payload: JSON.stringify(payload), source });
export const opened = (
  station: MiniStation,
  session: string,
  more: Readonly<Record<string, unknown>> = {},
): void =>
  play(station, 'opened', {
    session,
    capabilities: {},
    handedOver: ['probe'],
    skipped: [],
    resumable: false,
    approval: 'approval: as played',
    ...more,
  });
/** What Sessions asked of the provider the test plays: nobody handles it, so the station only noted it. */
export const played = async (options: Partial<MiniOptions> = {}): Promise<MiniStation> => {
  const station = await start({ provider: 'test:agent', ...options });
  const { faults } = station;
  Object.defineProperty(station, 'faults', {
    get: () => faults.filter((text) => !text.endsWith('has 0 handlers')),
  });
  return station;
};
