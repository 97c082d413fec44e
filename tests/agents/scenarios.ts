/** What the station promises of every agent people use, each tried with a real one. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { AgentCase } from './cases.ts';
import { openRoom, skillName } from './room.ts';

const plain = (entries: readonly { readonly role: string; readonly text: string }[]): string =>
  entries.map(({ role, text }) => `${role}: ${text}`).join('\n');

const provisions = (found: AgentCase): void => {
  test('it starts the servers it is handed, calls their tools, and sees the placed skill', async (t) => {
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
  test('a permission is allowed and denied by its ID; a turn is cancelled, also with one pending', async (t) => {
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
    assert.equal((await slow).stopReason, 'cancelled');
    const waiting = room.say(id, `Once more. ${use}`);
    await pending();
    await room.bench.ask('session', 'cancel', id);
    assert.equal((await waiting).stopReason, 'cancelled');
    const after = await room.show(id);
    assert.deepEqual([after.state, after.pending], ['idle', []]);
  });
};

export const everyPromise = (found: AgentCase): void => {
  provisions(found);
  asks(found);
};
