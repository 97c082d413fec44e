/** What the station's gate has a session answer, with Sessions as a real component and the provider played by the test. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { MiniStation } from './mini-station.ts';
import {
  cleanUp,
  code,
  create,
  opened,
  played,
  prepare,
  sessions,
  show,
  transcript,
} from './sessions-station.ts';

before(prepare);
after(cleanUp);

const gateway = 'station:gateway';
const asking = (id: string, request: string, more: Record<string, unknown> = {}) => ({
  id,
  request,
  kind: 'call',
  title: 'Call probe write?',
  tool: 'mcp__probe__write',
  text: '{"path": "a"}',
  ...more,
});
const put = (station: MiniStation, id: string, request: string, more?: Record<string, unknown>) =>
  station.ask('bearpunch.sessions.ask', asking(id, request, more), gateway);
const answers = (station: MiniStation) =>
  station.seen.filter(({ topic }) => topic === 'bearpunch.sessions.answered').map(({ payload }) => payload);
const running = async (more: Record<string, unknown> = {}) => {
  const station = await played();
  const id = create(station, more);
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  return { station, id };
};

test('a request of the gate waits in the queue and is answered by a person, to the gate and not to the provider', async () => {
  const { station, id } = await running();
  put(station, id, 'g-1');
  put(station, id, 'g-2');
  assert.deepEqual(
    show(station, id).pending.map(({ request }) => request),
    ['g-1', 'g-2'],
  );
  station.ask('bearpunch.sessions.respond', { id, request: 'g-1', allow: true });
  station.ask('bearpunch.sessions.respond.v2', {
    id,
    request: 'g-2',
    allow: true,
    content: { branch: 'main' },
  });
  assert.deepEqual(answers(station), [
    { id, request: 'g-1', allow: true, why: 'by a person' },
    { id, request: 'g-2', allow: true, why: 'by a person', content: { branch: 'main' } },
  ]);
  assert.deepEqual(show(station, id).pending, []);
  const lines = transcript(station, id);
  assert.ok(
    lines.some((line) => line.startsWith('permission [allowed]: Call probe write?')),
    lines.join('\n'),
  );
  assert.ok(!station.faults.some((text) => text.includes('bearpunch.agents.respond')));
  assert.equal(
    code(() => station.ask('bearpunch.sessions.respond', { id, request: 'g-1', allow: true })),
    'session/request-unknown',
  );
});

test('only the station itself puts something into the queue, takes it off, or says how far a server got', async () => {
  const { station, id } = await running();
  put(station, id, 'g-1');
  for (const [topic, payload] of [
    ['ask', asking(id, 'g-9')],
    ['withdraw', { id, request: 'g-1', why: 'so' }],
    ['observed', { id, server: 'probe', stage: 'used' }],
  ] as const)
    for (const source of ['test:agent', 'station:control', 'evil.bundle:thing:station:gateway'])
      if (source.startsWith('station:'))
        assert.equal(
          code(() => station.ask(`bearpunch.sessions.${topic}`, payload, source)),
          'session/not-the-station',
        );
      else
        station.inject(sessions, {
          topic: `bearpunch.sessions.${topic}`,
          payload: JSON.stringify(payload),
          source,
        });
  const record = show(station, id);
  assert.deepEqual(
    record.pending.map(({ request }) => request),
    ['g-1'],
  );
  assert.equal(record.provisioning.servers[0]?.stage, 'handed-over');
});

test('nobody there to answer is a denial: after the time it may wait, at the end of the turn, and without a turn', async () => {
  const { station, id } = await running({ answerWithinMs: 5_000 });
  put(station, id, 'g-1');
  assert.deepEqual(station.wakes.at(-1), {
    component: sessions,
    token: `permission:${id}:g-1`,
    afterMs: 5_000,
  });
  station.inject(sessions, {
    topic: 'station.woke',
    payload: JSON.stringify({ token: `permission:${id}:g-1` }),
    source: 'station',
  });
  put(station, id, 'g-2');
  station.ask('bearpunch.sessions.cancel', { id });
  const idle = await played();
  const other = create(idle);
  opened(idle, other);
  put(idle, other, 'g-3');
  const why = [...answers(station), ...answers(idle)].map(({ request, allow, why: text }) => [
    request,
    allow,
    text,
  ]);
  assert.deepEqual(why, [
    ['g-1', false, 'nobody answered within 5 seconds'],
    ['g-2', false, 'the turn was cancelled'],
    ['g-3', false, 'no turn was running when the agent asked'],
  ]);
});

test('the setting auto answers a call and says so; a form waits for a person', async () => {
  const { station, id } = await running({ approve: 'auto' });
  put(station, id, 'g-1');
  put(station, id, 'g-2', { kind: 'elicitation', schema: { type: 'object' } });
  assert.deepEqual(answers(station), [
    { id, request: 'g-1', allow: true, why: 'by the approval setting auto' },
  ]);
  assert.deepEqual(
    show(station, id).pending.map(({ request }) => request),
    ['g-2'],
  );
});

test('what is withdrawn leaves the queue as denied, and its late answer is refused', async () => {
  const { station, id } = await running();
  put(station, id, 'g-1');
  const withdraw = () =>
    station.ask('bearpunch.sessions.withdraw', { id, request: 'g-1', why: 'the agent left' }, gateway);
  withdraw();
  withdraw();
  assert.deepEqual(show(station, id).pending, []);
  assert.deepEqual(answers(station), [{ id, request: 'g-1', allow: false, why: 'the agent left' }]);
  assert.equal(
    code(() => station.ask('bearpunch.sessions.respond', { id, request: 'g-1', allow: true })),
    'session/request-unknown',
  );
});

test('a stage is reached and never left, and only of a server that was offered', async () => {
  const { station, id } = await running();
  const seen = (server: string, stage: string) =>
    station.ask('bearpunch.sessions.observed', { id, server, stage }, gateway);
  seen('probe', 'used');
  seen('probe', 'connected');
  seen('secret', 'used');
  seen('nowhere', 'used');
  assert.deepEqual(
    show(station, id).provisioning.servers.map(({ name, stage }) => [name, stage]),
    [
      ['probe', 'used'],
      ['secret', undefined],
    ],
  );
});

const behind = {
  name: 'desk',
  rule: 'servers.desk.consumers',
  transport: {
    tag: 'gateway',
    val: { url: 'http://127.0.0.1:1/v1/gateway/desk', command: 'node', args: ['shim'] },
  },
};
const direct = {
  name: 'probe',
  rule: 'servers.probe.consumers',
  transport: { tag: 'http', val: { url: 'http://127.0.0.1:1/mcp' } },
};
const offering =
  (...offered: readonly unknown[]) =>
  () => ({
    policyRevision: 'rev',
    program: 'demo',
    provider: 'test:agent',
    approve: 'manual',
    offered,
    withheld: [],
  });

test('a session with a server behind the gateway is opened by open.v3, any other as ever', async () => {
  for (const [offered, topic] of [
    [[behind, direct], 'bearpunch.agents.open.v3'],
    [[direct], 'bearpunch.agents.open.v2'],
  ] as const) {
    const station = await played({ servers: offering(...offered) });
    create(station);
    // The provider is played: its station only notes what nobody handles.
    assert.ok(
      station.unhandled.some((text) => text.startsWith(topic)),
      station.unhandled.join('\n'),
    );
  }
});

test('the provisioning is asked for by session, with its folder and its file of servers, also when it is taken up', async () => {
  const asked: unknown[][] = [];
  const station = await played({
    serversFor: (...args) => {
      asked.push(args);
      return offering(direct)();
    },
  });
  const id = String(
    station.ask('bearpunch.sessions.create.v2', { agent: 'demo', cwd: '/w', mcpConfig: '/w/mcp.json' }).id,
  );
  opened(station, id, { resumable: true, agentSession: 'a1' });
  station.inject(sessions, {
    topic: 'station.started',
    payload: '{}',
    source: 'station',
    at: Date.now() + 1_000,
  });
  station.ask('bearpunch.sessions.say', { id, text: 'again' });
  assert.deepEqual(asked, [
    [id, 'demo', '/w', '/w/mcp.json'],
    [id, 'demo', '/w', '/w/mcp.json'],
  ]);
});

test('a provider that knows no gateway gets the other servers, and the record says what it was spared', async () => {
  const station = await played({ servers: offering(behind, direct) });
  const id = create(station);
  station.inject(sessions, {
    topic: 'station.reply',
    payload: JSON.stringify({
      to: `open:${id}`,
      topic: 'bearpunch.agents.open.v3',
      problem: { code: 'bus/no-handler', message: 'none' },
    }),
    source: 'station',
  });
  assert.deepEqual(
    show(station, id).provisioning.servers.map(({ name, decision, reason }) => [name, decision, reason]),
    [
      ['desk', 'skipped', 'its provider test:agent takes no servers behind the gateway'],
      ['probe', 'offered', undefined],
    ],
  );
  assert.ok(station.unhandled.some((text) => text.startsWith('bearpunch.agents.open.v2')));
  assert.equal(show(station, id).state, 'opening');
});

test('of more requests than may wait the next one is denied, with the number', async () => {
  const { station, id } = await running();
  for (let n = 0; n < 50; n += 1) put(station, id, `g-${n}`);
  assert.deepEqual(answers(station), []);
  put(station, id, 'g-50');
  assert.deepEqual(answers(station), [
    { id, request: 'g-50', allow: false, why: '50 requests were waiting already' },
  ]);
  assert.equal(show(station, id).pending.length, 50);
});
