/** Sessions as a real component: creating a session, with Echo, and with Adapter and the demo agent. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import { refusal } from './guest-host.ts';
import {
  adapter,
  cleanUp,
  code,
  create,
  echo,
  prepare,
  sessions,
  show,
  start,
  transcript,
} from './sessions-station.ts';

before(prepare);
after(cleanUp);

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
    'station: approval manual: the agent offers no modes and decides by itself what it asks',
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
      ['probe', 'offered', 'used'],
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
  // What the agent itself did not take it will not take the next time.
  const skipped = create(station, { requireServers: ['probe'] });
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id: skipped, text: 'x' })),
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
