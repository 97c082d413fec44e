import assert from 'node:assert/strict';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { after, before, test } from 'node:test';
import { problem } from '../../host/problems/index.ts';
import { type AdmittedComponent, type BatchResult, startActivation } from '../../host/sandbox/index.ts';
import { admitted, codeOf, limits, message1, quickJs, running, temporaryFolder, watGuest } from './guests.ts';

/** One guest for all tests; the topic of a message says what it does with it. */
const behaviours = `
  const deep = (n) => 1 + deep(n + 1);
  const one = (m) => {
    const reply = (value) => ({ tag: 'replied', val: JSON.stringify(value) });
    switch (m.topic) {
      case 'echo': return { tag: 'replied', val: m.payload };
      case 'at': return reply(String(m.at) + ' ' + typeof m.at);
      case 'fail': return { tag: 'failed', val: { code: 'test/no', message: 'no', subject: 's' } };
      case 'loop': for (;;) {}
      case 'throw-string': throw 'text';
      case 'throw-object': throw { a: 1 };
      case 'throw-error': throw new Error('broken');
      case 'throw-undefined': throw undefined;
      case 'recurse': return reply(deep(0));
      case 'grow': { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(7)); }
      case 'big-reply': return { tag: 'replied', val: 'x'.repeat(5000000) };
      case 'big-log': log.write('info', 'x'.repeat(5000000)); return { tag: 'done' };
      case 'many': for (let i = 0; i < Number(m.payload); i++) log.write('info', 'x'); return { tag: 'done' };
      case 'gets': for (let i = 0; i < Number(m.payload); i++) store.get('k' + i); return { tag: 'done' };
      case 'calls': for (let i = 0; i < Number(m.payload); i++) clock.now(); return { tag: 'done' };
      case 'swallow': try { log.write('info', 'x'.repeat(5000000)); } catch {} return { tag: 'done' };
      case 'time': return reply({ now: Number(clock.now()), bytes: random.bytes(8).length });
      case 'random': random.bytes(Number(m.payload)); return { tag: 'done' };
      case 'all': {
        log.write('warn', 'w'); clock.wake('t', 5); store.put('k', 'v'); store.remove('k');
        bus.publish('a.b', '{}', 'c:d', 'tok'); bus.publish('a.c', '{}', undefined, undefined);
        process.write('p', 'text'); process.kill('p');
        return { tag: 'done' };
      }
      case 'put': { const [k, v] = JSON.parse(m.payload); store.put(k, v); return { tag: 'done' }; }
      case 'remove': store.remove(m.payload); return { tag: 'done' };
      case 'get': { const found = store.get(m.payload); return reply(found === undefined ? null : found); }
      case 'scan': { const [p, a, l] = JSON.parse(m.payload); return reply(store.scan(p, a === null ? undefined : a, l)); }
      case 'empty-key': store.put('', 'v'); return { tag: 'done' };
      case 'servers': try { return reply(sessioncontext.servers('a')); } catch (e) { return reply(e.payload ?? String(e)); }
      case 'place': try { return reply(sessioncontext.placeSkills('/w', 's')); } catch (e) { return reply(e.payload ?? String(e)); }
      case 'spawn': try { return reply(process.spawn('p', '/w')); } catch (e) { return reply(e.payload ?? String(e)); }
    }
    return { tag: 'done' };
  };
  if (batch[0].topic === 'too-few') return [];
  if (batch[0].topic === 'too-many') return [{ tag: 'done' }, { tag: 'done' }];
  if (batch[0].topic === 'before-begin') { store.put('k', 'v'); }
  if (batch[0].topic === 'backwards') { bus.begin(batch[1].id); bus.begin(batch[0].id); }
  if (batch[0].topic === 'unknown-message') bus.begin('nobody');
  if (batch[0].topic === 'twice') { bus.begin(batch[0].id); bus.begin(batch[0].id); }
  return batch.map((m) => { if (batch.length > 1) bus.begin(m.id); return one(m); });`;

let guest: AdmittedComponent;
const ends: (() => unknown)[] = [];
before(async () => {
  const cache = temporaryFolder({ after: (end) => ends.push(end) });
  guest = await admitted(await quickJs(behaviours), cache);
});
after(() => ends.forEach((end) => void end()));

const m = (topic: string, payload = '{}', id = `m-${topic}`) => message1(id, payload, topic);
const replyOf = (result: BatchResult, at = 0): unknown => {
  assert.ok(result.ok, JSON.stringify(result));
  const outcome = result.handled[at]?.outcome;
  assert.ok(outcome?.tag === 'replied', JSON.stringify(outcome));
  return JSON.parse(outcome.reply);
};

test('a batch comes back in order, each message with its own outcome and effects', async (t) => {
  const { send } = await running(guest, t);
  const result = await send([m('echo', '{"a":1}'), m('all'), m('fail'), m('at')]);
  assert.ok(result.ok, JSON.stringify(result));
  assert.deepEqual(
    result.handled.map(({ outcome }) => outcome),
    [
      { tag: 'replied', reply: '{"a":1}' },
      { tag: 'done' },
      { tag: 'failed', problem: { code: 'test/no', message: 'no', subject: 's' } },
      { tag: 'replied', reply: JSON.stringify('1700000000000 number') },
    ],
  );
  assert.deepEqual(
    result.handled.map(({ effects }) => effects),
    [
      [],
      [
        { kind: 'log', level: 'warn', text: 'w' },
        { kind: 'wake', token: 't', afterMs: 5 },
        { kind: 'put', key: 'k', value: 'v' },
        { kind: 'remove', key: 'k' },
        { kind: 'publish', topic: 'a.b', payload: '{}', to: 'c:d', token: 'tok' },
        { kind: 'publish', topic: 'a.c', payload: '{}', to: null, token: null },
        { kind: 'write', process: 'p', text: 'text' },
        { kind: 'kill', process: 'p' },
      ],
      [],
      [],
    ],
  );
  const { now, bytes } = replyOf(await send([m('time')])) as { now: number; bytes: number };
  assert.ok(Math.abs(now - Date.now()) < 60_000);
  assert.equal(bytes, 8);
});

test('W5: an endless loop ends at the deadline, every batch in flight fails in order, the host stays responsive', async (t) => {
  const { send, activation, gone, events } = await running(guest, t, { callDeadlineMs: 300 });
  const delay = monitorEventLoopDelay({ resolution: 5 });
  delay.enable();
  const results = await Promise.all([
    send([m('echo')]),
    send([m('echo', '{}', 'a'), m('loop', '{}', 'b'), m('echo', '{}', 'c')]),
    send([m('echo')]),
  ]);
  const reason = await gone;
  delay.disable();
  assert.deepEqual(results.map(codeOf), ['ok', 'sandbox/deadline', 'sandbox/deadline']);
  assert.equal(results[1]?.ok === false && results[1].trapped, 'b');
  assert.equal(results[2]?.ok === false && results[2].trapped, undefined);
  assert.equal(reason.code, 'sandbox/deadline');
  assert.deepEqual(events, [
    'result 1 ok',
    'result 2 sandbox/deadline',
    'result 3 sandbox/deadline',
    'gone sandbox/deadline',
  ]);
  assert.ok(delay.max / 1e6 < 250, `the loop was held up for ${delay.max / 1e6} ms`);
  activation.handle([m('echo')]);
  await new Promise(setImmediate);
  assert.equal(events.at(-1), 'result 4 sandbox/gone');
});

test('W5: a call the host does not answer ends at the deadline too', async (t) => {
  const never = new Promise<never>(() => undefined);
  const { send, gone } = await running(guest, t, { callDeadlineMs: 200 }, () => never);
  const result = await send([m('get', 'k', 'the-one')]);
  assert.equal(codeOf(result), 'sandbox/deadline');
  assert.equal(!result.ok && result.trapped, 'the-one');
  await gone;
});

test('W5: a start function that never returns, and one that asks for effects', async (t) => {
  const cache = temporaryFolder(t);
  const endless = await admitted(await watGuest({ core: '(func $s (loop (br 0))) (start $s)' }), cache);
  const options = {
    limits: limits({ startDeadlineMs: 400 }),
    name: 'a:b',
    onCall: () => ({ ok: true, value: null }) as const,
    onResult: () => assert.fail('a result'),
    onGone: () => assert.fail('gone'),
  };
  assert.equal(codeOf(await startActivation(endless, options)), 'sandbox/start-deadline');
  const trapping = await admitted(await watGuest({ core: '(func $s unreachable) (start $s)' }), cache);
  assert.equal(
    codeOf(await startActivation(trapping, { ...options, limits: limits() })),
    'sandbox/start-failed',
  );
});

test('W6: memory without end, deep recursion: stopped, named, another component unaffected', async (t) => {
  const other = await running(guest, t);
  const few = { memoryBytes: 24 * 1024 * 1024 };
  const small = await admitted(await quickJs(behaviours), temporaryFolder(t), few);
  for (const topic of ['grow', 'recurse']) {
    const { send, gone } = await running(small, t, few);
    const result = await send([m(topic)]);
    assert.equal(codeOf(result), 'sandbox/trap', topic);
    assert.equal(!result.ok && result.trapped, `m-${topic}`);
    await gone;
    assert.equal(codeOf(await other.send([m('echo')])), 'ok');
  }
});

test('W6: core memories stop growing at their share, however many there are', async (t) => {
  // Each handle call grows both memories until they refuse; the pages reached trap through the outcome list.
  const guestText = await watGuest({
    memory: '2',
    with: '(with "side" (instance $side))',
    imports: '(core module $m2 (memory (export "m") 1)) (core instance $side (instantiate $m2))',
    core: '',
    handle: '(loop (br_if 0 (i32.ne (memory.grow (i32.const 1)) (i32.const -1)))) unreachable',
  });
  const few = { memoryBytes: 4 * 1024 * 1024 };
  const { send } = await running(await admitted(guestText, temporaryFolder(t), few), t, few);
  assert.equal(codeOf(await send([m('echo')])), 'sandbox/memory');
});

test('W7: floods are bounded and named', async (t) => {
  for (const [topic, payload, some] of [
    ['big-log', '{}', {}],
    ['big-reply', '{}', {}],
    ['many', '2001', {}],
    ['many', '11', { effects: 10 }],
    ['swallow', '{}', {}],
  ] as const) {
    const { send, gone } = await running(guest, t, some);
    const result = await send([m(topic, payload)]);
    assert.equal(codeOf(result), 'sandbox/effects-limit', topic);
    await gone;
  }
  const { send } = await running(guest, t);
  assert.equal(codeOf(await send([m('many', '2000')])), 'ok', 'control: just below');
});

test('W8: a trap in the middle of a batch names its message; nothing of the batch is used', async (t) => {
  const { send } = await running(guest, t);
  const batch = Array.from({ length: 31 }, (_, n) => m(n === 17 ? 'throw-error' : 'echo', '{}', `id-${n}`));
  const result = await send(batch);
  assert.equal(codeOf(result), 'sandbox/trap');
  assert.equal(!result.ok && result.trapped, 'id-17');
});

test('W9: whatever is thrown, and a wrong number of outcomes: a named failure, and the instance is gone', async (t) => {
  for (const [topic, code] of [
    ['throw-string', 'sandbox/trap'],
    ['throw-object', 'sandbox/trap'],
    ['throw-error', 'sandbox/trap'],
    ['throw-undefined', 'sandbox/trap'],
    ['too-few', 'sandbox/outcome-count'],
    ['too-many', 'sandbox/outcome-count'],
  ] as const) {
    const { send, gone } = await running(guest, t);
    const [first, second] = await Promise.all([send([m(topic)]), send([m('echo')])]);
    assert.equal(codeOf(first), code, topic);
    assert.equal(codeOf(second), code, 'what waited behind it is not handled by a poisoned instance');
    assert.equal((await gone).code, code);
  }
});

test('effects belong to a message: before begin, backwards, twice, of nobody', async (t) => {
  for (const [topic, code] of [
    ['before-begin', 'sandbox/effect-outside'],
    ['backwards', 'sandbox/host-argument'],
    ['unknown-message', 'sandbox/host-argument'],
    ['twice', 'sandbox/host-argument'],
  ] as const) {
    const { send } = await running(guest, t);
    assert.equal(codeOf(await send([m(topic), m('echo')])), code, topic);
  }
  const { send } = await running(guest, t);
  assert.equal(codeOf(await send([m('before-begin')])), 'ok', 'a batch of one needs no begin');
});

test('host functions check what they are given', async (t) => {
  for (const [topic, payload] of [
    ['empty-key', '{}'],
    ['random', '4097'],
    ['remove', 'k'.repeat(2_000)],
  ] as const) {
    const { send } = await running(guest, t);
    assert.equal(codeOf(await send([m(topic, payload)])), 'sandbox/host-argument', topic);
  }
});

test('store reads see the batch’s own writes, sorted by UTF-8 bytes', async (t) => {
  const stored = [
    { key: 'a', value: 'host' },
    { key: 'b', value: 'host' },
    { key: '\u{ffff}', value: 'host' },
  ];
  const { send, events } = await running(guest, t, {}, (call) => {
    if (call.call === 'store.get') {
      return { ok: true, value: stored.find(({ key }) => key === call.key)?.value ?? null };
    }
    assert.ok(call.call === 'store.scan');
    const after = call.after;
    const found = stored.filter(({ key }) => key.startsWith(call.prefix) && (after === null || key > after));
    return { ok: true, value: found.slice(0, call.limit) };
  });
  const result = await send([
    m('get', 'a'),
    m('put', JSON.stringify(['a', 'mine'])),
    m('put', JSON.stringify(['\u{10000}', 'mine'])),
    m('remove', 'b'),
    m('get', 'a', 'again'),
    m('get', 'b', 'removed'),
    m('scan', JSON.stringify(['', null, 10])),
    m('scan', JSON.stringify(['', 'a', 1]), 'one'),
  ]);
  assert.equal(replyOf(result, 0), 'host');
  assert.equal(replyOf(result, 4), 'mine');
  assert.equal(replyOf(result, 5), null);
  assert.deepEqual(replyOf(result, 6), [
    { key: 'a', value: 'mine' },
    { key: '\u{ffff}', value: 'host' },
    { key: '\u{10000}', value: 'mine' },
  ]);
  assert.deepEqual(replyOf(result, 7), [{ key: '\u{ffff}', value: 'host' }]);
  assert.equal(events.filter((event) => event.startsWith('call store.get')).length, 1);
  assert.equal(codeOf(await send([m('get', 'b')])), 'ok', 'the writes of a batch end with it');
  assert.equal(replyOf(await send([m('get', 'b')])), 'host');
});

test('answers become the values of the WIT types; a problem is the error case', async (t) => {
  const refusal = problem('sandbox/gone', { subject: 'x' });
  const answers: Record<string, unknown> = {
    'session-context.servers': {
      policyRevision: 'r1',
      program: 'claude',
      provider: null,
      approve: 'auto',
      sink: null,
      offered: [
        { name: 'one', rule: 'servers.one', transport: { type: 'stdio', command: 'c', args: ['a', 'b'] } },
        { name: 'two', rule: 'servers.two', transport: { type: 'http', url: 'http://x' } },
      ],
      withheld: [{ name: 'three', rule: 'servers.three', reason: 'no' }],
    },
    'session-context.place-skills': [
      { bundle: 'b', revision: 'r', name: 'n', decision: 'placed', reason: null, files: 3 },
    ],
    'process.spawn': 'p-1',
  };
  const { send } = await running(guest, t, {}, async ({ call }) => ({ ok: true, value: answers[call] }));
  assert.deepEqual(replyOf(await send([m('servers')])), {
    policyRevision: 'r1',
    program: 'claude',
    provider: null,
    approve: 'auto',
    sink: null,
    offered: [
      {
        name: 'one',
        rule: 'servers.one',
        transport: { tag: 'stdio', val: { command: 'c', args: ['a', 'b'] } },
      },
      { name: 'two', rule: 'servers.two', transport: { tag: 'http', val: { url: 'http://x' } } },
    ],
    withheld: [{ name: 'three', rule: 'servers.three', reason: 'no' }],
  });
  assert.deepEqual(replyOf(await send([m('place')])), [
    { bundle: 'b', revision: 'r', name: 'n', decision: 'placed', reason: null, files: 3 },
  ]);
  assert.equal(replyOf(await send([m('spawn')])), 'p-1');

  const refusing = await running(guest, t, {}, () => ({ ok: false, problem: refusal }));
  for (const topic of ['servers', 'place', 'spawn']) {
    const found = replyOf(await refusing.send([m(topic)])) as { code: string; subject: string };
    assert.deepEqual([found.code, found.subject], ['sandbox/gone', 'x'], topic);
  }
  assert.equal(codeOf(await refusing.send([m('get', 'k')])), 'sandbox/gone', 'a read has no error case');
});

test('an answer of 4 MB crosses; one that is too large, or a host that throws, is a named failure', async (t) => {
  const large = 'y'.repeat(4_000_000);
  const { send } = await running(guest, t, {}, () => ({ ok: true, value: large }));
  assert.equal(replyOf(await send([m('get', 'k')])), large);
  const huge = await running(guest, t, {}, () => ({ ok: true, value: 'z'.repeat(17 * 1024 * 1024) }));
  assert.equal(codeOf(await huge.send([m('get', 'k')])), 'sandbox/answer-too-large');
  const broken = await running(guest, t, {}, () => {
    throw new Error('broken');
  });
  assert.equal(codeOf(await broken.send([m('get', 'k')])), 'sandbox/call-failed');
});

test('a call comes after the results of the batches before it', async (t) => {
  const { send, events } = await running(guest, t);
  await Promise.all([send([m('echo')]), send([m('get', 'k')]), send([m('echo')])]);
  assert.deepEqual(events, ['result 1 ok', 'call store.get m-get', 'result 2 ok', 'result 3 ok']);
});

test('stop ends a guest in a loop and calls nothing back', async (t) => {
  const { activation, events } = await running(guest, t);
  activation.handle([m('loop')]);
  activation.handle([m('echo')]);
  await activation.stop();
  activation.handle([m('echo')]);
  await new Promise(setImmediate);
  assert.deepEqual(events, []);
});

test('whom a failed batch blames: the message of the fault, nobody where that is not known', async (t) => {
  for (const [topics, code, trapped] of [
    [['too-few', 'echo'], 'sandbox/outcome-count', undefined],
    [['too-few'], 'sandbox/outcome-count', 'm-too-few'],
    [['echo', 'big-reply', 'echo'], 'sandbox/effects-limit', 'm-big-reply'],
    [['echo', 'big-log', 'echo'], 'sandbox/effects-limit', 'm-big-log'],
    [['before-begin', 'echo'], 'sandbox/effect-outside', undefined],
  ] as const) {
    const { send } = await running(guest, t);
    const result = await send(
      topics.map((topic, place) => m(topic, '{}', topic === 'echo' ? `${place}` : `m-${topic}`)),
    );
    assert.equal(codeOf(result), code, topics.join());
    assert.equal(!result.ok && result.trapped, trapped, topics.join());
  }
});

test('a callback that stops the activation hears nothing more', async () => {
  const heard: string[] = [];
  const { promise: first, resolve } = Promise.withResolvers<void>();
  const started = await startActivation(guest, {
    limits: limits(),
    name: 'a:b',
    onCall: () => ({ ok: true, value: null }),
    onResult: (batch) => {
      heard.push(`result ${batch}`);
      if (started.ok) void started.value.stop().then(resolve);
    },
    onGone: () => heard.push('gone'),
  });
  assert.ok(started.ok);
  started.value.handle([m('throw-error')]);
  started.value.handle([m('echo')]);
  await first;
  assert.deepEqual(heard, ['result 1']);
});

test('W10: ten thousand host calls in one message', async (t) => {
  const { send } = await running(guest, t);
  assert.equal(codeOf(await send([m('calls', '10000')])), 'ok');
});

test('W10: ten thousand calls that block in one message: each is answered, in order, and nothing of them stays', async (t) => {
  const asked: string[] = [];
  const { send } = await running(guest, t, { callDeadlineMs: 120_000 }, (call) => {
    if (call.call === 'store.get') asked.push(call.key);
    return { ok: true, value: null };
  });
  assert.equal(codeOf(await send([m('gets', '10000')])), 'ok');
  assert.deepEqual(
    asked,
    Array.from({ length: 10_000 }, (_, index) => `k${index}`),
  );
  assert.equal(codeOf(await send([m('echo')])), 'ok', 'the next message finds it as it was');
});
