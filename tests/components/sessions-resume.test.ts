/** Sessions as a real component: taking up a session, waiting requests, what an agent offers. The test plays provider. */
import assert from 'node:assert/strict';
import { after, before, test } from 'node:test';
import type { Asked } from './guest-host.ts';
import type { MiniStation } from './mini-station.ts';
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

const restart = (station: MiniStation): void => {
  station.guest(sessions).restart();
  const at = Date.now() + 5;
  station.inject(sessions, { topic: 'station.started', payload: '{}', source: 'station', at });
};
/** Says something past the station's delivery, to see what Sessions asks of the provider. */
const say = (station: MiniStation, id: string): Asked => {
  const payload = JSON.stringify({ id, text: 'second' });
  const at = Date.now() + 10;
  const [asked] = station
    .guest(sessions)
    .handle([{ topic: 'bearpunch.sessions.say', payload, source: 'station:test', at }]);
  if (asked === undefined) throw new Error('not handled');
  return asked;
};
const commands = (asked: Asked) =>
  asked.published
    .filter(({ topic }) => topic.startsWith('bearpunch.agents.'))
    .map(({ topic, payload }) => ({
      topic: topic.replace('bearpunch.agents.', ''),
      payload: JSON.parse(payload) as Record<string, unknown>,
    }));
const stopped = async (options: Parameters<typeof played>[0] = {}) => {
  const station = await played(options);
  const id = create(station, { requireServers: ['probe'] });
  opened(station, id, { resumable: true, agentSession: 'theirs' });
  restart(station);
  const { state, attached } = show(station, id);
  assert.deepEqual([state, attached], ['idle', false]);
  return { station, id };
};

test('the next prompt has the session taken up by its name, and is sent when the agent has opened', async () => {
  const { station, id } = await stopped();
  const asked = commands(say(station, id));
  assert.deepEqual(
    asked.map(({ topic, payload }) => [topic, payload.resume]),
    [['open.v2', { agentSession: 'theirs' }]],
  );
  assert.ok(Array.isArray(asked[0]?.payload.mcpServers));
  assert.equal(show(station, id).state, 'running');
  // What the agent says when it has opened sends the prompt: seen by asking the component itself.
  const [told] = station.guest(sessions).handle([
    {
      topic: 'bearpunch.agents.opened',
      payload: JSON.stringify({
        session: id,
        agentSession: 'theirs',
        capabilities: {},
        handedOver: ['probe'],
        skipped: [],
        resumable: true,
        approval: '',
      }),
      source: 'test:agent',
    },
  ]);
  assert.deepEqual(told === undefined ? [] : commands(told), [
    { topic: 'prompt', payload: { session: id, turn: 't1', text: 'second' } },
  ]);
});

test('a turn that waits for its agent is cancelled without it; the agent opens and is idle', async () => {
  const { station, id } = await stopped();
  say(station, id);
  station.ask('bearpunch.sessions.cancel', { id });
  assert.equal(show(station, id).state, 'opening');
  opened(station, id, { resumable: true });
  assert.deepEqual([show(station, id).state, show(station, id).attached], ['idle', true]);
  assert.ok(transcript(station, id).includes('station: the turn ended: cancelled'));
});

test('an agent that does not open again ends the session with its turn; one without a required server is not ready', async () => {
  const lost = await stopped();
  say(lost.station, lost.id);
  play(lost.station, 'failed', { session: lost.id, problem: { code: 'agent/refused', message: 'No.' } });
  assert.equal(show(lost.station, lost.id).state, 'ended');

  const lacking = await stopped();
  say(lacking.station, lacking.id);
  const skipped = [{ name: 'probe', reason: 'not today' }];
  opened(lacking.station, lacking.id, { resumable: true, handedOver: [], skipped });
  assert.equal(show(lacking.station, lacking.id).state, 'not-ready');
  assert.match(show(lacking.station, lacking.id).reason ?? '', /not today/);
  assert.ok(transcript(lacking.station, lacking.id).includes('station: the turn ended: not-ready'));
});

test('a session that is not ready is opened anew by the prompt that finds nothing missing, and its end is told', async () => {
  let names: string[] = [];
  const skill = (name: string) => ({ bundle: 'b', revision: 'r', name, decision: 'placed', files: 1 });
  const station = await played({ placeSkills: () => names.map(skill) });
  const more = { resumable: true, agentSession: 'theirs' };
  const lacking = () => {
    names = [];
    const id = create(station, { requireSkills: ['late'] });
    opened(station, id, more);
    assert.equal(show(station, id).state, 'not-ready');
    assert.equal(
      code(() => station.ask('bearpunch.sessions.say', { id, text: 'x' })),
      'session/not-ready',
    );
    names = ['late'];
    assert.deepEqual(
      commands(say(station, id)).map(({ topic }) => topic),
      ['close'],
    );
    assert.deepEqual([show(station, id).state, show(station, id).reason], ['running', undefined]);
    return id;
  };
  const closed = (id: string): Asked['published'] => {
    const payload = JSON.stringify({ session: id });
    const message = { topic: 'bearpunch.agents.closed', payload, source: 'test:agent' };
    return station.guest(sessions).handle([message])[0]?.published ?? [];
  };
  const id = lacking();
  const [open] = closed(id).filter(({ topic }) => topic === 'bearpunch.agents.open.v2');
  // Never prompted: it has nothing to take up.
  assert.equal((JSON.parse(open?.payload ?? '{}') as { resume?: unknown }).resume, undefined);
  opened(station, id, more);
  assert.deepEqual([show(station, id).state, show(station, id).attached], ['running', true]);
  assert.ok(transcript(station, id).some((line) => line.startsWith('station: skill late: placed')));

  const left = lacking();
  station.ask('bearpunch.sessions.close', { id: left });
  closed(left);
  assert.equal(show(station, left).state, 'closed');
});

test('a policy that no longer knows the agent refuses the prompt and changes nothing', async () => {
  let known = true;
  const provision = {
    policyRevision: 'rev',
    program: 'demo',
    provider: 'test:agent',
    approve: 'manual',
    offered: [{ name: 'probe', rule: 'r', transport: { tag: 'http', val: { url: 'http://127.0.0.1:9' } } }],
    withheld: [],
  };
  const { station, id } = await stopped({
    servers: () =>
      known ? provision : { policyRevision: 'other', approve: 'manual', offered: [], withheld: [] },
  });
  const rows = transcript(station, id);
  known = false;
  assert.equal(
    code(() => station.ask('bearpunch.sessions.say', { id, text: 'x' })),
    'session/agent-unknown',
  );
  assert.equal(show(station, id).state, 'idle');
  assert.deepEqual(transcript(station, id), rows);
});

test('C7: a request is denied when its time is over, once', async () => {
  const station = await played();
  const id = create(station, { answerWithinMs: 5_000 });
  opened(station, id);
  station.ask('bearpunch.sessions.say', { id, text: 'go' });
  const request = {
    session: id,
    turn: 't1',
    request: 'r1',
    title: 'x',
    options: [],
    paths: [],
    pathsWhole: true,
  };
  play(station, 'permission', request);
  const token = `permission:${id}:r1`;
  assert.ok(station.wakes.some((wake) => wake.token === token && wake.afterMs === 5_000));
  const woke = () =>
    station.inject(sessions, {
      topic: 'station.woke',
      payload: JSON.stringify({ token }),
      source: 'station',
    });
  woke();
  woke();
  assert.deepEqual(show(station, id).pending, []);
  assert.deepEqual(
    transcript(station, id).filter((line) => line.startsWith('permission')),
    ['permission [denied]: x: nobody answered within 5 seconds'],
  );
});

test('what an agent offers is in the record, and in the transcript where it changed', async () => {
  const station = await played();
  const id = create(station);
  opened(station, id);
  const announce = (more: Record<string, unknown>) => play(station, 'announced', { session: id, ...more });
  const list = [{ name: 'deploy', description: 'Deploys' }];
  const model = (value: string) => [{ id: 'model', name: 'Model', value, values: ['a', 'b'] }];
  announce({ commands: list, mode: { id: 'default', name: 'Manual' }, options: model('a') });
  announce({ commands: list, mode: { id: 'default', name: 'Manual' }, options: model('a') });
  announce({ options: model('b') });
  announce({ commands: [] });
  assert.deepEqual(
    transcript(station, id).filter((line) => /^(commands|mode|option)/.test(line)),
    ['commands: /deploy', 'mode: default (Manual)', 'option: Model: b', 'commands: none'],
  );
  assert.deepEqual(show(station, id).commands, []);
});
