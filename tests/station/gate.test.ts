/** The gate's questions and answers over the bus: what is asked, who is believed, what ends a wait. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { Bus } from '../../host/bus/index.ts';
import { readPolicy } from '../../host/policy/index.ts';
import { ok, refuse } from '../../host/problems/index.ts';
import { openGate } from '../../host/station/gate.ts';
import { keeper } from '../../host/station/watch.ts';

/** A bus of two ends: commands are kept, events are sent by the test. */
const desk = (refused = false) => {
  const commands: { topic: string; payload: Record<string, unknown>; source: string; to?: string }[] = [];
  const heard = new Map<string, (event: unknown, source: string) => void>();
  const told: string[] = [];
  const forgotten: string[] = [];
  const bus = {
    command: async (topic: string, payload: unknown, options: { source: string; to?: string }) => {
      commands.push({ topic, payload: payload as Record<string, unknown>, ...options });
      return refused ? refuse('bus/no-handler') : ok({});
    },
    listen: (topic: string, listener: (event: unknown, source: string) => void) => {
      heard.set(topic, listener);
      return () => {};
    },
  } as unknown as Bus;
  const policy = readPolicy(Buffer.from('{"permissions": {"allow": ["mcp__probe"]}}'), 'p');
  const gate = openGate({
    bus,
    policy: () => policy,
    reach: {
      servers: () => [],
      forget: (session: string) => void forgotten.push(session),
    } as unknown as Parameters<typeof openGate>[0]['reach'],
    log: { add: async () => {}, of: () => ({ total: 0, calls: [] }), flush: () => {} },
    redact: (text) => text.replaceAll('hunter22', '[redacted]'),
    skills: async () => ({ tools: [], call: async () => ({}) }),
    run: 'r',
  });
  gate.attach({
    turn: (session, runs) => void told.push(`turn ${session} ${runs}`),
    dismiss: (session) => void told.push(`dismiss ${session}`),
  });
  const send = (topic: string, event: unknown, source = keeper) =>
    heard.get(`bearpunch.sessions.${topic}`)?.(event, source);
  const ask = (signal = new AbortController().signal, more: Record<string, unknown> = {}) =>
    gate.ports.ask(
      {
        session: 's-1',
        kind: 'call',
        title: 'write of probe',
        tool: 'mcp__probe__write',
        text: '{}',
        ...more,
      },
      signal,
    );
  return { gate, commands, told, forgotten, send, ask };
};
const settled = () => new Promise((resolve) => setImmediate(resolve));

test('a question goes to Sessions alone, without secrets, and its answer comes back by its ID', async () => {
  const { commands, ask, send } = desk();
  const answer = ask(undefined, { title: 'hunter22', text: 'hunter22' });
  await settled();
  const [asked] = commands;
  assert.deepEqual(
    [asked?.topic, asked?.source, asked?.to],
    ['bearpunch.sessions.ask', 'station:gateway', keeper],
  );
  assert.deepEqual(asked?.payload, {
    id: 's-1',
    request: 'g-r-1',
    kind: 'call',
    title: '[redacted]',
    tool: 'mcp__probe__write',
    text: '[redacted]',
  });
  send('answered', { request: 'g-r-9', allow: true, why: 'another' });
  send('answered', { request: 'g-r-1', allow: true, why: 'by a person' });
  assert.deepEqual(await answer, { allow: true, why: 'by a person' });
});

test('an answer, a state or an end that another component tells is not believed', async () => {
  const { ask, send, told, forgotten } = desk();
  const answer = ask();
  await settled();
  const evil = 'evil.bundle:thing';
  send('answered', { request: 'g-r-1', allow: true, why: 'forged' }, evil);
  send('changed', { id: 's-1', state: 'running' }, evil);
  send('changed', { id: 's-1', state: 'ended' }, evil);
  send('answered', { request: 'g-r-1', allow: false, why: 'by a person' });
  assert.deepEqual(await answer, { allow: false, why: 'by a person' });
  assert.deepEqual([told, forgotten], [[], []]);
});

test('who stops waiting is denied, and the question leaves the queue; so is whoever cannot be heard', async () => {
  const { ask, commands } = desk();
  const stop = new AbortController();
  const answer = ask(stop.signal);
  await settled();
  stop.abort();
  assert.equal((await answer).allow, false);
  assert.deepEqual(
    commands.map(({ topic, payload }) => [topic, payload['request']]),
    [
      ['bearpunch.sessions.ask', 'g-r-1'],
      ['bearpunch.sessions.withdraw', 'g-r-1'],
    ],
  );
  assert.equal((await ask(AbortSignal.abort())).allow, false);
  assert.equal(commands.length, 2);
  assert.equal((await desk(true).ask()).allow, false);
});

test('turns are told where they begin and end, and a session that is over is let go', () => {
  const { send, told, forgotten, gate } = desk();
  for (const state of ['opening', 'idle', 'running', 'running', 'idle'])
    send('changed', { id: 's-1', state });
  assert.deepEqual(told, ['turn s-1 true', 'turn s-1 false']);
  send('changed', { id: 's-1', state: 'running' });
  assert.equal(gate.ports.inTurn('s-1'), true);
  send('changed', { id: 's-1', state: 'closed' });
  assert.equal(gate.ports.inTurn('s-1'), false);
  assert.deepEqual(told.slice(2), ['turn s-1 true', 'turn s-1 false', 'dismiss s-1']);
  assert.deepEqual(forgotten, ['s-1']);
});

test('a form is shown with its fields, an answer is held to it with the defaults of what it left out, and goes on as it is', async () => {
  const { gate, ask, send, commands } = desk();
  const schema = {
    type: 'object',
    properties: {
      branch: { type: 'string', title: 'Branch' },
      depth: { type: 'integer', default: 3 },
      mode: { type: 'string', enum: ['a', 'b'], default: 'b' },
    },
    required: ['branch'],
  };
  const answer = ask(undefined, { kind: 'elicitation', title: 'probe asks', text: 'Which?', schema });
  await settled();
  assert.equal(commands[0]?.payload['title'], 'probe asks: Which?');
  assert.equal(
    commands[0]?.payload['text'],
    'Which?\nbranch: string, required: Branch\ndepth: integer, default 3\nmode: one of "a", "b", default "b"',
  );
  for (const [content, fits] of [
    [{}, false],
    [{ branch: 1 }, false],
    [{ branch: 'main', mode: 'c' }, false],
    [{ branch: 'main' }, true],
  ] as const) {
    const unfit = gate.unfit('g-r-1', content);
    assert.equal(unfit === undefined, fits, JSON.stringify(content));
    if (!fits) assert.equal(unfit?.code, 'mcp/form-unfit');
  }
  assert.equal(gate.unfit('g-r-2', {}), undefined);
  send('answered', { request: 'g-r-1', allow: true, why: 'by a person', content: { branch: 'main' } });
  assert.deepEqual((await answer).content, { branch: 'main' });
});
