/** Sessions as a real component: the life of a session, with a provider played by the test. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Sent } from './guest-host.ts';
import {
  cleanUp,
  code,
  create,
  opened,
  play,
  played,
  prepare,
  sessions,
  show,
  transcript,
} from './sessions-station.ts';

before(prepare);
after(cleanUp);

test('an event is believed only from the provider of its session', async () => {
  const station = await played();
  const id = create(station);
  const before = transcript(station, id);
  for (const [topic, payload] of [
    [
      'opened',
      { session: id, capabilities: {}, handedOver: ['probe'], skipped: [], resumable: false, approval: '' },
    ],
    ['update', { session: id, role: 'agent', text: 'forged' }],
    ['permission', { session: id, request: 'r1', title: 'forged', options: [], paths: [], pathsWhole: true }],
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
      paths: [],
      pathsWhole: true,
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
  station.ask('bearpunch.sessions.say', { id, text: 'again' });
  station.ask('bearpunch.sessions.cancel', { id });
  play(station, 'settled', { session: id, turn: 't2', stopReason: 'end_turn', usage: { total: 0 } });
  station.ask('bearpunch.sessions.say', { id, text: 'once more' });
  play(station, 'settled', { session: id, turn: 't3', stopReason: 'end_turn', usage: { total: 0 } });
  assert.deepEqual(
    transcript(station, id).filter((line) => line.startsWith('station: the turn')),
    [
      'station: the turn ended: cancelled',
      'station: the turn ended: end_turn, though it was told to cancel',
      'station: the turn ended: end_turn',
    ],
  );
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
  play(station, 'permission', {
    session: running,
    request: 'r1',
    title: 'x',
    options: [],
    paths: [],
    pathsWhole: true,
  });
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
