/**
 * The main job from an empty folder: a home, a policy with one agent and one server, a bundle with one skill, a
 * session, a prompt. Prints the provisioning record and the transcript. Whatever happens, Ctrl-C included, the
 * station is stopped and the folder removed.
 */
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { plainEntry } from '../../contracts/transcript.ts';
import { packBundle } from '../bundles/index.ts';
import { initialPolicy, readPolicy } from '../policy/index.ts';
import { failed, ok, type Result, refuse } from '../problems/index.ts';
import { processLives } from '../processes/index.ts';
import { createHome, type MethodResult, type TranscriptEntry } from '../station/index.ts';
import { connectStation, type StationClient } from './client.ts';
import type { Answer, Io } from './output.ts';
import { sessionText } from './session-text.ts';
import { interrupted, type Started, startDetached } from './start.ts';

const extension = import.meta.url.endsWith('.ts') ? 'ts' : 'js';
const part = (name: string): string =>
  fileURLToPath(new URL(`../../demo/${name}.${extension}`, import.meta.url));
/** How long a station may take to stop before it is killed, ms. */
const stopMs = 15_000;

/** First-party bundles as in every first policy; one agent, and one server that only it gets. */
const demoPolicy = (): string => {
  const { grants } = readPolicy(new TextEncoder().encode(initialPolicy), 'policy.jsonc');
  const trusted = (name: string) => ({
    command: process.execPath,
    args: [part(name)],
    inherit: ['PATH'],
    trust: 'full',
  });
  const policy = {
    grants: Object.fromEntries([...grants].map(([bundle, permissions]) => [bundle, [...permissions]])),
    agents: { demo: { program: 'claude-acp' } },
    programs: { 'claude-acp': trusted('agent'), probe: trusted('probe') },
    servers: {
      probe: {
        transport: { type: 'stdio', program: 'probe' },
        consumers: { sessions: ['demo'] },
        exposure: 'direct',
      },
    },
  };
  return `${JSON.stringify(policy, null, 2)}\n`;
};

const skill = `---
name: say-hello
description: How to greet people in this workspace. Use it when somebody arrives.
---
Say hello, and their name.
`;

const writeSkillBundle = async (folder: string): Promise<Result<unknown>> => {
  mkdirSync(join(folder, 'skills', 'say-hello'), { recursive: true });
  writeFileSync(join(folder, 'skills', 'say-hello', 'SKILL.md'), skill);
  writeFileSync(
    join(folder, 'bundle.json'),
    JSON.stringify({ manifest: 2, id: 'demo.skills', version: '1.0.0' }),
  );
  return packBundle(folder);
};

interface Shown {
  readonly session: MethodResult<'session.show'>;
  readonly entries: readonly TranscriptEntry[];
}

const inStation = async (station: StationClient, folder: string): Promise<Result<Shown>> => {
  const workspace = join(folder, 'workspace');
  mkdirSync(workspace);
  const bundle = join(folder, 'bundle');
  const packed = await writeSkillBundle(bundle);
  if (!packed.ok) return packed;
  const installed = await station.call('bundle.install', { source: bundle });
  if (!installed.ok) return installed;
  const created = await station.call('session.create', { agent: 'demo', cwd: workspace });
  if (!created.ok) return created;
  const { id } = created.value;
  const said = await station.call('session.say', { id, text: 'Use the probe.', wait: true });
  if (!said.ok) return said;
  const session = await station.call('session.show', { id });
  if (!session.ok) return session;
  const transcript = await station.call('session.transcript', { id });
  if (!transcript.ok) return transcript;
  const closed = await station.call('session.close', { id });
  return closed.ok ? ok({ session: session.value, entries: transcript.value.entries }) : closed;
};

/** Asks it to stop and waits until its process is gone; kills it when that takes too long. */
const stopStation = async ({ pid, home }: Started): Promise<void> => {
  const until = performance.now() + stopMs;
  const station = await connectStation(home);
  if (station.ok) {
    const late = new Promise<void>((resolve) => setTimeout(resolve, stopMs).unref());
    await Promise.race([station.value.call('down', {}), late]);
    station.value.close();
  }
  while (processLives(pid)) {
    if (performance.now() > until) process.kill(pid, 'SIGKILL');
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
};

const job = async (io: Io, folder: string, stop: AbortSignal): Promise<Result<Shown>> => {
  const home = join(folder, 'home');
  const made = createHome(home, demoPolicy());
  if (!made.ok) return made;
  const started = await startDetached({ home, compileCache: io.compileCache, signal: stop });
  if (!started.ok) return started;
  try {
    const station = await connectStation(home);
    if (!station.ok) return station;
    const gone = new Promise<Result<never>>((resolve) => {
      const leave = () => resolve(refuse('cli/interrupted'));
      if (stop.aborted) leave();
      else stop.addEventListener('abort', leave, { once: true });
    });
    const shown = await Promise.race([inStation(station.value, folder), gone]);
    station.value.close();
    return shown;
  } finally {
    await stopStation(started.value);
  }
};

export const demo = async (io: Io): Promise<Result<Answer>> => {
  const stop = new AbortController();
  void interrupted().then(() => stop.abort());
  io.progress('starting a station in a temporary home…');
  const folder = mkdtempSync(join(realpathSync(tmpdir()), 'jupiter-demo-'));
  let done: Result<Shown>;
  try {
    done = await job(io, folder, stop.signal);
  } finally {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5 });
  }
  if (!done.ok) return failed(done.problem);
  const { session, entries } = done.value;
  const called = entries.some(({ role, state }) => role === 'tool' && state === 'completed');
  const plain = `${sessionText(session)}\n\ntranscript\n${entries.map(plainEntry).join('\n')}`;
  if (called) return ok({ json: { session, transcript: entries }, plain });
  io.event({ session, transcript: entries }, plain);
  return refuse('cli/demo-failed');
};
