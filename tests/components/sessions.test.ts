/** Sessions as a real component, with Echo, with Adapter and the demo agent, and with a provider played by the test. */
import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { foldTranscript, plainEntry, type TranscriptRow } from '../../contracts/transcript.ts';
import { buildBundles } from '../../scripts/build-bundles.ts';
import { refusal, type Sent } from './guest-host.ts';
import { type MiniOptions, type MiniStation, startMini } from './mini-station.ts';

const bundles = resolve('dist/bundles');
const sessions = 'bearpunch.sessions:sessions';
const adapter = 'bearpunch.adapter:adapter';
const echo = 'bearpunch.echo:echo';

let cwd = '';
const open: MiniStation[] = [];
before(async () => {
  await buildBundles();
  cwd = await mkdtemp(join(tmpdir(), 'jupiter-ws-'));
});
after(async () => {
  for (const station of open) await station.stop();
  await rm(cwd, { recursive: true, force: true });
});

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

const start = async (options: Partial<MiniOptions> & { readonly provider: string }): Promise<MiniStation> => {
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

const create = (station: MiniStation, more: Readonly<Record<string, unknown>> = {}): string =>
  String(station.ask('bearpunch.sessions.create', { agent: 'demo', cwd, ...more }).id);
const show = (station: MiniStation, id: string) =>
  station.ask('bearpunch.sessions.get', { id }) as {
    state: string;
    reason?: string;
    usage: unknown;
    pending: { request: string }[];
    provisioning: { servers: { name: string; decision: string; stage?: string; reason?: string }[] };
  };
const transcript = (station: MiniStation, id: string): string[] => {
  const rows: TranscriptRow[] = [];
  for (let after: number | undefined = 0; after !== undefined; ) {
    const reply = station.ask('bearpunch.sessions.transcript', { id, after });
    rows.push(...(reply.rows as TranscriptRow[]));
    after = reply.next as number | undefined;
  }
  return foldTranscript(rows).map(plainEntry);
};
const code = (act: () => unknown): string => {
  try {
    act();
  } catch (error) {
    return (error as { code: string }).code;
  }
  return 'no problem';
};
/** Plays the provider `test:agent`. */
const play = (station: MiniStation, topic: string, payload: unknown, source = 'test:agent'): void =>
  station.inject(sessions, { topic: `bearpunch.agents.${topic}`, payload: JSON.stringify(payload), source });
const opened = (station: MiniStation, session: string, more: Readonly<Record<string, unknown>> = {}): void =>
  play(station, 'opened', { session, capabilities: {}, handedOver: ['probe'], skipped: [], ...more });
/** What Sessions asked of the provider the test plays: nobody handles it, so the station only noted it. */
const played = async (): Promise<MiniStation> => {
  const station = await start({ provider: 'test:agent' });
  const { faults } = station;
  Object.defineProperty(station, 'faults', {
    get: () => faults.filter((text) => !text.endsWith('has 0 handlers')),
  });
  return station;
};

test('the tool reply of a real MCP server reaches the transcript through Adapter and Sessions', async () => {
  const canary = 'canary-4711';
  const station = await start({
    provider: adapter,
    guests: ['sessions', 'adapter'],
    env: { PATH: process.env.PATH ?? '', CANARY: canary },
  });
  const id = create(station, { requireServers: ['probe'], requireSkills: ['greet'] });
  assert.equal(show(station, id).state, 'opening');
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id, text: 'too soon' })),
    'session/opening',
  );
  await station.until(({ payload }) => payload.state === 'idle');
  const { turn } = station.ask('bearpunch.sessions.say', { id, text: 'ask first {"has":"CANARY"}' });
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id, text: 'x' })),
    'session/busy',
  );
  await station.until(({ payload }) => payload.pending === 1);
  const [pending] = show(station, id).pending;
  station.ask('bearpunch.sessions.respond', { id, request: pending?.request, allow: true });
  const { payload } = await station.until((seen) => seen.payload.settled !== undefined);
  assert.deepEqual(payload.settled, { turn, stopReason: 'end_turn' });
  station.ask('bearpunch.sessions.close', { id });
  await station.until((seen) => seen.payload.state === 'closed');
  assert.deepEqual(transcript(station, id), [
    'station: server probe: offered (servers.probe.consumers)',
    'station: server secret: withheld: its program is not trusted (servers.secret.consumers)',
    `station: skill greet: placed, 2 files (acme.skills ${'a'.repeat(12)})`,
    `station: skill mine: refused: a file of the user is there (acme.skills ${'a'.repeat(12)})`,
    'station: opened by demo-agent 0.1.0',
    'station: server probe: handed over',
    'user: ask first {"has":"CANARY"}',
    'tool [completed]: probe.probe: probe answered: CANARY is set',
    'permission [allowed]: probe.probe: by a person',
    'agent: I was handed 1 server and called each.',
    'station: the turn ended: end_turn',
    'station: the session is closed',
  ]);
  const record = show(station, id);
  assert.equal(record.usage, null);
  assert.deepEqual(
    record.provisioning.servers.map(({ name, decision, stage }) => [name, decision, stage]),
    [
      ['probe', 'offered', 'handed-over'],
      ['secret', 'withheld', undefined],
    ],
  );
  for (const name of [sessions, adapter])
    for (const text of station.guest(name).store.values()) assert.ok(!text.includes(canary));
  assert.deepEqual(station.faults, []);
});

test('Echo answers, skips every server, and a required one makes the session not ready', async () => {
  const station = await start({ provider: echo, guests: ['sessions', 'echo'] });
  const id = create(station);
  station.ask('bearpunch.sessions.say', { id, text: 'hello' });
  assert.ok(transcript(station, id).includes('agent: hello'));
  assert.deepEqual(show(station, id).provisioning.servers[0], {
    name: 'probe',
    decision: 'skipped',
    rule: 'servers.probe.consumers',
    reason: 'echo starts no servers',
  });
  const needy = create(station, {
    requireServers: ['probe', 'other'],
    requireSkills: ['greet', 'mine', 'absent'],
  });
  const { state, reason } = show(station, needy);
  assert.equal(state, 'not-ready');
  assert.equal(
    reason,
    'missing: server probe (skipped: echo starts no servers), server other (policy has none of that name for this agent), skill mine (refused: a file of the user is there), skill absent (not placed)',
  );
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id: needy, text: 'x' })),
    'session/not-ready',
  );
  station.ask('bearpunch.sessions.close', { id: needy });
  assert.equal(show(station, needy).state, 'closed');
  assert.deepEqual(station.faults, []);
});

test('a failure while provisioning is written down and the session goes on; without policy it ends', async () => {
  const problem = { code: 'context/workspace-missing', message: 'There is no such folder.' };
  const station = await start({
    provider: echo,
    guests: ['sessions', 'echo'],
    placeSkills: () => refusal(problem),
  });
  const id = create(station);
  assert.equal(show(station, id).state, 'idle');
  assert.ok(
    transcript(station, id).includes(
      'station: skills: none placed: There is no such folder. (context/workspace-missing)',
    ),
  );
  const needy = create(station, { requireSkills: ['greet'] });
  assert.equal(show(station, needy).state, 'not-ready');
  assert.equal(
    code(() => create(station, { agent: 'nobody' })),
    'session/agent-unknown',
  );

  const blind = await start({
    provider: echo,
    guests: ['sessions', 'echo'],
    servers: () => refusal({ code: 'policy/unreadable', message: 'The policy cannot be read.' }),
  });
  const ended = create(blind);
  assert.deepEqual(
    [show(blind, ended).state, show(blind, ended).reason],
    ['ended', 'The policy cannot be read. (policy/unreadable)'],
  );
  assert.equal(blind.guest(sessions).store.has(`l/${ended}`), false);
});

test('an event is believed only from the provider of its session', async () => {
  const station = await played();
  const id = create(station);
  const before = transcript(station, id);
  for (const [topic, payload] of [
    ['opened', { session: id, capabilities: {}, handedOver: ['probe'], skipped: [] }],
    ['update', { session: id, role: 'agent', text: 'forged' }],
    ['permission', { session: id, request: 'r1', title: 'forged', options: [] }],
    ['failed', { session: id, problem: { code: 'x/y', message: 'forged' } }],
    ['closed', { session: id }],
  ] as const)
    play(station, topic, payload, 'evil.bundle:thing');
  play(station, 'update', { session: 's-unknown', role: 'agent', text: 'x' });
  assert.equal(show(station, id).state, 'opening');
  assert.deepEqual(transcript(station, id), before);
  assert.ok(station.logs.some((line) => line.includes('not its provider')));
  opened(station, id);
  assert.equal(show(station, id).state, 'idle');
});

test('C7: a request is queued once, denied after the turn, refused when unknown, answered by policy when auto', async () => {
  const station = await played();
  const ask = (session: string, request: string, turn?: string) =>
    play(station, 'permission', {
      session,
      request,
      title: `call ${request}`,
      options: [],
      ...(turn ? { turn } : {}),
    });
  const id = create(station);
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  ask(id, 'r1', 't1');
  ask(id, 'r1', 't1');
  ask(id, 'r2', 't1');
  assert.deepEqual(
    show(station, id).pending.map(({ request }) => request),
    ['r1', 'r2'],
  );
  assert.equal(
    code(() => station.ask('bearpunch.sessions.respond', { id, request: 'r9', allow: true })),
    'session/request-unknown',
  );
  station.ask('bearpunch.sessions.respond', { id, request: 'r1', allow: false });
  assert.equal(
    code(() => station.ask('bearpunch.sessions.respond', { id, request: 'r1', allow: true })),
    'session/request-unknown',
  );
  station.ask('bearpunch.sessions.cancel', { id });
  play(station, 'settled', { session: id, turn: 't1', stopReason: 'cancelled', usage: { total: 0 } });
  ask(id, 'r3');
  assert.deepEqual(show(station, id).pending, []);
  assert.deepEqual(show(station, id).usage, { total: 0 });
  assert.deepEqual(
    transcript(station, id).filter((line) => line.startsWith('permission')),
    [
      'permission [denied]: call r1: by a person',
      'permission [denied]: call r2: the turn was cancelled',
      'permission [denied]: call r3: no turn was running when the agent asked',
    ],
  );

  const auto = create(station, { approve: 'auto' });
  opened(station, auto);
  station.ask('bearpunch.sessions.say', { id: auto, text: 'go' });
  ask(auto, 'r1', 't1');
  assert.deepEqual(show(station, auto).pending, []);
  assert.ok(
    transcript(station, auto).includes('permission [allowed]: call r1: by the approval setting auto'),
  );
});

test('C5, C14: a failed turn ends it, a lost agent ends the session, no usage is null and not the last', async () => {
  const station = await played();
  const id = create(station);
  opened(station, id);
  const problem = { code: 'agent/refused', message: 'Could not.' };
  station.ask('bearpunch.sessions.say', { id, text: 'one' });
  play(station, 'settled', { session: id, turn: 't1', stopReason: 'end_turn', usage: { total: 5 } });
  station.ask('bearpunch.sessions.say', { id, text: 'two' });
  play(station, 'settled', { session: id, turn: 't1', stopReason: 'end_turn' });
  assert.equal(show(station, id).state, 'running');
  play(station, 'settled', { session: id, turn: 't2', stopReason: 'end_turn' });
  assert.equal(show(station, id).usage, null);
  station.ask('bearpunch.sessions.say', { id, text: 'three' });
  play(station, 'failed', { session: id, turn: 't3', problem });
  assert.equal(show(station, id).state, 'idle');
  station.ask('bearpunch.sessions.say', { id, text: 'four' });
  play(station, 'failed', { session: id, problem });
  const { state, reason } = show(station, id);
  assert.deepEqual([state, reason], ['ended', 'Could not. (agent/refused)']);
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id, text: 'x' })),
    'session/over',
  );
  const settled = station.seen.flatMap(({ payload }) =>
    payload.settled === undefined ? [] : [payload.settled],
  );
  assert.deepEqual(settled, [
    { turn: 't1', stopReason: 'end_turn' },
    { turn: 't2', stopReason: 'end_turn' },
    { turn: 't3', stopReason: 'failed' },
    { turn: 't4', stopReason: 'ended' },
  ]);
});

test('C9: what an agent repeats of the user is not written again', async () => {
  const station = await played();
  const id = create(station);
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  play(station, 'update', { session: id, turn: 't1', role: 'user', text: 'go' });
  assert.deepEqual(
    transcript(station, id).filter((line) => line.startsWith('user')),
    ['user: go'],
  );
});

test('a refused command to the provider is a true state of the session', async () => {
  const station = await played();
  const refuse = (to: string, topic: string): void =>
    station.inject(sessions, {
      topic: 'station.reply',
      payload: JSON.stringify({
        to,
        topic,
        problem: { code: 'bus/no-handler', message: 'Nobody handles it.' },
      }),
      source: 'station',
    });
  const lost = create(station);
  refuse(`open:${lost}`, 'bearpunch.agents.open.v2');
  assert.deepEqual(
    [show(station, lost).state, show(station, lost).reason],
    ['ended', 'Nobody handles it. (bus/no-handler)'],
  );
  const id = create(station);
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  refuse(`prompt:${id}:t1`, 'bearpunch.agents.prompt');
  assert.equal(show(station, id).state, 'idle');
  station.ask('bearpunch.sessions.close', { id });
  refuse(`close:${id}`, 'bearpunch.agents.close');
  assert.equal(show(station, id).state, 'closed');
});

test('after a start every session that was not over has ended, with its queue empty and the reason said', async () => {
  const station = await played();
  const running = create(station);
  opened(station, running);
  station.ask('bearpunch.sessions.say', { id: running, text: 'go' });
  play(station, 'permission', { session: running, request: 'r1', title: 'x', options: [] });
  const opening = create(station);
  const over = create(station);
  opened(station, over);
  station.ask('bearpunch.sessions.close', { id: over });
  play(station, 'closed', { session: over });
  station.guest(sessions).restart();
  station.inject(sessions, {
    topic: 'station.started',
    payload: '{}',
    source: 'station',
    at: Date.now() + 5,
  });
  assert.deepEqual(
    [running, opening, over].map((id) => show(station, id).state),
    ['ended', 'ended', 'closed'],
  );
  assert.match(show(station, running).reason ?? '', /stopped while the session was running/);
  assert.deepEqual(show(station, running).pending, []);
  const first = station.ask('bearpunch.sessions.list', { limit: 2 });
  const rest = station.ask('bearpunch.sessions.list', { limit: 2, after: first.next });
  assert.deepEqual(
    [first, rest].flatMap(({ sessions: page }) => (page as { id: string }[]).map(({ id }) => id)),
    [running, opening, over].sort(),
  );
  assert.equal(rest.next, undefined);
  assert.deepEqual(
    [...station.guest(sessions).store.keys()].filter((key) => key.startsWith('l/')),
    [],
  );
});

test('an update is one put, and a batch of them one changed event', async () => {
  const station = await played();
  const id = create(station);
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  const guest = station.guest(sessions);
  const piece = (text: string): Sent => ({
    topic: 'bearpunch.agents.update',
    payload: JSON.stringify({ session: id, turn: 't1', role: 'agent', text }),
    source: 'test:agent',
  });
  const count = 1_000;
  let puts = 0;
  let told = 0;
  for (let at = 0; at < count; at += 20) {
    for (const asked of guest.handle(Array.from({ length: 20 }, (_, index) => piece(`${at + index} `)))) {
      puts += asked.puts;
      told += asked.published.length;
    }
    // The instance may be lost at any batch: the log goes on where it was.
    if (at % 400 === 0) guest.restart();
  }
  assert.equal(told, count / 20);
  assert.ok(puts <= count + count / 256 + 1, String(puts));
  const line = transcript(station, id).find((text) => text.startsWith('agent: '));
  assert.equal(line, `agent: ${Array.from({ length: count }, (_, index) => index).join(' ')}`);
});
