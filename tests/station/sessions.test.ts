import assert from 'node:assert/strict';
import test from 'node:test';
import { fixtureAgent, probePolicy } from '../e2e/harness.ts';
import { code, create, openStationBench } from './fixture.ts';

const withAgent = (...mode: readonly string[]) =>
  probePolicy({
    programs: {
      'claude-acp': {
        command: process.execPath,
        args: [fixtureAgent, ...mode],
        inherit: ['PATH', 'CANARY_TOKEN'],
        trust: 'full',
      },
    },
    servers: {},
  });

test('a transcript of more rows than a page is whole, and so is what a follower is told', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent('flood', '1300'));
  const { client } = await up();
  const id = await create(client, workspace, 'listed');
  const told: string[] = [];
  const said = await client.call('session.say', { id, text: 'go', wait: true }, (entry) =>
    told.push(`${entry.role} ${entry.text.length}`),
  );
  assert.ok(said.ok && said.value.stopReason === 'end_turn', JSON.stringify(said));
  const transcript = await client.call('session.transcript', { id });
  assert.ok(transcript.ok);
  const agent = transcript.value.entries.find(({ role }) => role === 'agent');
  const pieces = Array.from({ length: 1_300 }, (_, at) => `${at} ${'x'.repeat(330)}`);
  assert.ok(agent?.text === pieces.join(''), `${agent?.text.length}`);
  assert.ok(told.includes(`agent ${agent.text.length}`), told.join());
  assert.ok(told.includes('user 2'));
});

test('more sessions than a page are all listed', async (t) => {
  const { up, workspace } = openStationBench(t);
  const { client } = await up();
  const ids: string[] = [];
  for (let index = 0; index < 120; index += 1) {
    const created = await client.call('session.create', { agent: 'echo', cwd: workspace, waitMs: 0 });
    assert.ok(created.ok);
    ids.push(created.value.id);
  }
  const list = await client.call('session.list', {});
  assert.ok(list.ok);
  assert.deepEqual(list.value.sessions.map(({ id }) => id).sort(), ids.sort());
});

test('create waits for the agent, at most as long as it is told to', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent('silent'));
  const { client } = await up();
  const created = await client.call('session.create', { agent: 'listed', cwd: workspace, waitMs: 50 });
  assert.ok(created.ok && created.value.state === 'opening', JSON.stringify(created));
});

test('close waits until the agent is gone; where that takes longer than it is told to, it says so', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent('stubborn'));
  const { client } = await up();
  const id = await create(client, workspace, 'listed');
  assert.equal(code(await client.call('session.close', { id, waitMs: 0 })), 'station/timed-out');
  const closed = await client.call('session.close', { id });
  assert.ok(!closed.ok || closed.value.state === 'closed', JSON.stringify(closed));
  assert.equal(code(await client.call('session.close', { id: 's-nobody' })), 'session/unknown');
});

test('say answers with the end of its own turn, also of one that failed; a session that is over is refused', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent('killed'));
  const { client } = await up();
  const id = await create(client, workspace, 'listed');
  const said = await client.call('session.say', { id, text: 'go', wait: true });
  assert.ok(
    said.ok && (said.value.stopReason === 'failed' || said.value.state === 'ended'),
    JSON.stringify(said),
  );
  assert.equal(code(await client.call('session.transcript', { id, follow: true })), 'ok', 'until it is over');
  for (const wait of [true, false]) {
    assert.notEqual(code(await client.call('session.say', { id, text: 'again', wait })), 'ok');
    assert.equal(
      code(await client.call('session.say', { id: 's-nobody', text: 'x', wait })),
      'session/unknown',
    );
  }
});

test('two sessions at a time: a follower is told of its own only', async (t) => {
  const { up, workspace } = openStationBench(t);
  const { client } = await up();
  const [first, second] = [await create(client, workspace), await create(client, workspace)];
  const say = async (id: string, text: string) => {
    const told: string[] = [];
    const said = await client.call('session.say', { id, text, wait: true }, (entry) =>
      told.push(`${entry.role}: ${entry.text}`),
    );
    assert.ok(said.ok && said.value.stopReason === 'end_turn', JSON.stringify(said));
    return told.filter((line) => !line.startsWith('note'));
  };
  const told = await Promise.all([say(first, 'one'), say(second, 'two')]);
  assert.deepEqual(
    told.map((lines) => lines.slice(0, 2)),
    [
      ['user: one', 'agent: one'],
      ['user: two', 'agent: two'],
    ],
  );
  assert.deepEqual(
    (await say(first, 'three')).slice(0, 2),
    ['user: three', 'agent: three'],
    'only what is new',
  );
});

test('a follower is told what was and what comes, until the session is over; of one that is over, what was', async (t) => {
  const { up, workspace } = openStationBench(t);
  const { client } = await up();
  const id = await create(client, workspace);
  const say = (text: string) => client.call('session.say', { id, text, wait: true });
  await say('before');
  const told: string[] = [];
  let look: (() => void) | undefined;
  const heard = (line: string) =>
    new Promise<void>((resolve) => {
      look = () => told.includes(line) && resolve();
      look();
    });
  const following = client.call('session.transcript', { id, follow: true }, (entry) => {
    told.push(`${entry.role}: ${entry.text}`);
    look?.();
  });
  await heard('agent: before');
  await say('after');
  await heard('agent: after');
  assert.equal(code(await client.call('session.close', { id })), 'ok');
  assert.deepEqual(await following, { ok: true, value: { entries: [] } });
  assert.equal(told.filter((line) => line === 'agent: before').length, 1);
  const again: string[] = [];
  const over = await client.call('session.transcript', { id, follow: true }, (entry) =>
    again.push(`${entry.role}: ${entry.text}`),
  );
  assert.equal(code(over), 'ok');
  assert.deepEqual(again, told);
  const whole = await client.call('session.transcript', { id });
  assert.ok(whole.ok);
  assert.deepEqual(
    whole.value.entries.map(({ role, text }) => `${role}: ${text}`),
    told,
  );
  for (const follow of [true, false])
    assert.equal(
      code(await client.call('session.transcript', { id: 's-nobody', follow })),
      'session/unknown',
    );
});

test('a secret that came in pieces is redacted when they are joined for a reader', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent('pieces'));
  const canary = 'canary-in-pieces';
  const { client } = await up({ env: { CANARY_TOKEN: canary } });
  const id = await create(client, workspace, 'listed');
  const told: string[] = [];
  await client.call('session.say', { id, text: 'go', wait: true }, (entry) => told.push(entry.text));
  const transcript = await client.call('session.transcript', { id });
  assert.ok(transcript.ok);
  const texts = transcript.value.entries.map(({ text }) => text);
  assert.ok(texts.includes('[redacted CANARY_TOKEN]'), texts.join());
  assert.ok(told.includes('[redacted CANARY_TOKEN]'), told.join());
});
