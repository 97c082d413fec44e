/** What the station promises of every agent people use, each tried with a real one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { everyFile } from '../e2e/harness.ts';
import type { AgentCase } from './cases.ts';
import { bearer, openRoom, skillName } from './room.ts';

const plain = (entries: readonly { readonly role: string; readonly text: string }[]): string =>
  entries.map(({ role, text }) => `${role}: ${text}`).join('\n');

const provisions = (found: AgentCase): void => {
  test(`${found.program}: it starts the servers it is handed, calls their tools, and sees the placed skill`, async (t) => {
    const room = await openRoom(t, found);
    const session = await room.create('auto');
    assert.equal(session.state, 'idle', session.reason ?? '');
    assert.equal(session.provisioning.sink, found.sink);
    assert.deepEqual(
      session.provisioning.servers.map(({ name, decision, stage }) => [name, decision, stage]),
      [
        ['probe', 'offered', 'handed-over'],
        ['probehttp', 'offered', 'handed-over'],
      ],
    );
    const said = await room.say(session.id, `Go. «use ${found.tools.stdio}» «use ${found.tools.http}»`);
    assert.equal(said.stopReason, 'end_turn', plain(said.entries));
    const tools = (await room.transcript(session.id)).filter(({ role }) => role === 'tool');
    assert.deepEqual(
      tools.map(({ state }) => state),
      ['completed', 'completed'],
      plain(said.entries),
    );
    assert.match(tools[0]?.text ?? '', /probe answered$/);
    assert.match(tools[1]?.text ?? '', /probe answered over http$/);
    assert.ok(room.http.asked.includes('tools/call'));
    const { servers } = (await room.show(session.id)).provisioning;
    assert.deepEqual(
      servers.map(({ stage }) => stage),
      ['used', 'used'],
    );

    const { commands = [] } = await room.show(session.id);
    assert.ok(
      room.model.heard.some(({ text }) => text.includes(skillName)) ||
        commands.some(({ name }) => name.includes(skillName)),
      'the placed skill reached the agent',
    );
    assert.notDeepEqual(room.running(), []);
    await room.bench.ask('session', 'close', session.id);
    assert.deepEqual(room.running(), [], 'no process is left');
  });
};

const asks = (found: AgentCase): void => {
  test(`${found.program}: a permission is allowed and denied by its ID; a turn is cancelled, also with one pending`, async (t) => {
    const room = await openRoom(t, found);
    const { id } = await room.create('manual');
    const use = `«use ${found.tools.stdio}»`;
    const pending = () => room.when(id, (shown) => shown.pending.length > 0, 'a request waits');
    const answered = async (answer: '--allow' | '--deny') => {
      const turn = room.say(id, `Please. ${use}`);
      const [request] = (await pending()).pending;
      await room.bench.ask('session', 'respond', id, request?.request ?? '', answer);
      const said = await turn;
      return { said, asked: said.entries.filter(({ role }) => role === 'permission') };
    };
    const allowed = await answered('--allow');
    assert.equal(allowed.said.stopReason, 'end_turn');
    assert.match(plain(allowed.said.entries), /probe answered/);
    assert.equal(allowed.asked.at(-1)?.state, 'allowed');
    const denied = await answered('--deny');
    assert.doesNotMatch(plain(denied.said.entries.filter(({ role }) => role === 'tool')), /probe answered/);
    assert.equal(denied.asked.at(-1)?.state, 'denied');

    const slow = room.say(id, 'Slowly. «slow 100»');
    await room.when(id, ({ state }) => state === 'running', 'the turn runs');
    await room.bench.ask('session', 'cancel', id);
    const cancelled = await slow;
    // It stopped, whatever it calls that (docs/decisions/0011).
    if (cancelled.stopReason !== 'cancelled')
      assert.match(plain(cancelled.entries), /the turn ended: end_turn, though it was told to cancel/);
    assert.doesNotMatch(plain(cancelled.entries), /piece 99/);
    const waiting = room.say(id, `Once more. ${use}`);
    await pending();
    await room.bench.ask('session', 'cancel', id);
    assert.equal((await waiting).stopReason, 'cancelled');
    const after = await room.show(id);
    assert.deepEqual([after.state, after.pending], ['idle', []]);
  });
};

const outlives = (found: AgentCase): void => {
  test(`${found.program}: after a restart of the station the session is taken up, with its servers handed over again`, async (t) => {
    const room = await openRoom(t, found);
    const use = `«use ${found.tools.stdio}»`;
    const { id } = await room.create('auto');
    await room.say(id, `First. ${use}`);
    const before = await room.transcript(id);
    await room.bench.ask('down');
    assert.deepEqual(room.running(), [], 'no agent outlives its station');
    await room.bench.ask('up');
    const between = await room.show(id);
    if (!found.loads) {
      assert.equal(between.state, 'ended');
      assert.match(between.reason ?? '', /cannot take it up again/);
      return;
    }
    assert.deepEqual([between.state, between.attached], ['idle', false]);
    assert.deepEqual(room.running(), [], 'nothing runs for a session nobody talks to');
    const said = await room.say(id, `Second. ${use}`);
    assert.equal(said.stopReason, 'end_turn', plain(said.entries));
    assert.match(plain(said.entries), /tool: .*probe answered/);
    const entries = await room.transcript(id);
    assert.deepEqual(entries.slice(0, before.length), before, 'nothing replayed is counted twice');
    for (const role of ['user', 'tool'])
      assert.equal(entries.filter((entry) => entry.role === role).length, 2, plain(entries));
    const after = await room.show(id);
    assert.equal(after.provisioning.servers[0]?.stage, 'used');
    // The agent remembers: what it was told before the restart is part of what it sends now.
    assert.ok(room.model.heard.some(({ text }) => text.includes('First.') && text.includes('Second.')));
  });
};

const reaches = (found: AgentCase): void => {
  test(`${found.program}: it uses a server that wants a bearer through the station, and never holds the bearer`, async (t) => {
    const room = await openRoom(t, found, { gateway: true });
    await room.connected('probehttp');
    const session = await room.create('auto');
    const said = await room.say(session.id, `Go. «use ${found.tools.http}»`);
    assert.equal(said.stopReason, 'end_turn', plain(said.entries));
    assert.match(plain(said.entries), /probe answered over http/);
    const shown = await room.show(session.id);
    assert.equal(shown.provisioning.servers.find(({ name }) => name === 'probehttp')?.stage, 'used');
    assert.deepEqual(
      shown.gate?.calls.map(({ tool, decision, rule }) => [tool, decision, rule]),
      [['probe', 'allowed', 'permissions.allow[0] (mcp__probehttp__probe)']],
    );
    for (const { text } of room.model.heard) assert.ok(!text.includes(bearer.value));
    for (const [path, bytes] of [...everyFile(room.bench.userHome), ...everyFile(room.bench.workspace)])
      assert.ok(!bytes.includes(bearer.value), path);
    for (const text of room.environments()) assert.ok(!text.includes(bearer.value));
  });
};

export const everyPromise = (found: AgentCase): void => {
  provisions(found);
  asks(found);
  outlives(found);
  reaches(found);
};
