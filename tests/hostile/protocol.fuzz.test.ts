/**
 * The call protocol from the other side. A worker that was taken over posts what it likes; a guest returns what it
 * likes. The host reads it, names it, ends that activation, and goes on.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { MessageChannel, Worker } from 'node:worker_threads';
import { type Problem, registry } from '../../host/problems/index.ts';
import { attend } from '../../host/sandbox/activation.ts';
import { type BatchResult, defaultLimits, type Handled } from '../../host/sandbox/index.ts';
import { readWorkerPost } from '../../host/sandbox/posts.ts';
import { signal } from '../../host/sandbox/protocol.ts';
import { admitted, message1, quickJs, running, temporaryFolder } from '../sandbox/guests.ts';
import { type Random, randomFrom, rounds, seed } from './random.ts';

const expected = { batch: 3, messages: [message1('a'), message1('b')] };
const limits = { ...defaultLimits, effectUnits: 10_000, effects: 50 };

const words = [
  'ready',
  'failed',
  'result',
  'call',
  'done',
  'replied',
  'log',
  'put',
  'publish',
  'kind',
  'toString',
];
const scalar = (random: Random): unknown =>
  random.one<() => unknown>([
    () => random.one(words),
    () => random.below(2 ** 32) - 5,
    () => Number.NaN,
    () => null,
    () => undefined,
    () => true,
    () => 10n,
    () => '\ud800',
    () => 'x'.repeat(random.below(20_000)),
    () => new Date(0),
    () => new Map([['kind', 'log']]),
    () => new Uint8Array(8),
    () => new Error('made up'),
    () => Array(random.below(4)),
    () => Object.create(null),
  ])();
const anything = (random: Random, depth: number): unknown => {
  if (depth === 0 || random.chance(0.4)) return scalar(random);
  if (random.chance(0.4)) return Array.from({ length: random.below(5) }, () => anything(random, depth - 1));
  return Object.fromEntries(
    Array.from({ length: random.below(5) }, () => [
      random.one([...words, '__proto__']),
      anything(random, depth - 1),
    ]),
  );
};

const effects: readonly unknown[] = [
  { kind: 'log', level: 'info', text: 'line' },
  { kind: 'wake', token: 't', afterMs: 5 },
  { kind: 'put', key: 'k', value: 'v' },
  { kind: 'remove', key: 'k' },
  { kind: 'publish', topic: 'a.b', payload: '{}', to: null, token: null },
  { kind: 'write', process: 'p', text: 'x' },
  { kind: 'kill', process: 'p' },
];
const goodPosts: readonly unknown[] = [
  { kind: 'ready' },
  { kind: 'failed', fault: { code: 'sandbox/trap', evidence: 'x' } },
  { kind: 'call', message: 'a', call: { call: 'store.get', key: 'k' } },
  { kind: 'call', message: 'b', call: { call: 'store.scan', prefix: '', after: null, limit: 5 } },
  { kind: 'call', message: 'b', call: { call: 'process.spawn', program: 'p', cwd: '/w' } },
  {
    kind: 'result',
    batch: 3,
    result: {
      ok: true,
      handled: [
        { outcome: { tag: 'done' }, effects },
        { outcome: { tag: 'failed', problem: { code: 'a/b', message: 'm', fix: 'f' } }, effects: [] },
      ],
    },
  },
  {
    kind: 'result',
    batch: 3,
    result: { ok: false, fault: { code: 'sandbox/trap', evidence: 'x' }, trapped: 'a' },
  },
];

/** A copy with some places replaced, removed or added to. */
const spoiled = (random: Random, value: unknown, often: number): unknown => {
  if (random.chance(often)) return anything(random, 2);
  if (Array.isArray(value)) {
    const list: unknown[] = value.map((one) => spoiled(random, one, often));
    if (random.chance(often)) list.length += 1;
    return list;
  }
  if (typeof value !== 'object' || value === null) return value;
  const entries = Object.entries(value).filter(() => !random.chance(often));
  const more = random.chance(often) ? [[random.one(words), scalar(random)] as const] : [];
  return Object.fromEntries([...entries.map(([key, one]) => [key, spoiled(random, one, often)]), ...more]);
};

/** What the bus does with each part of what was read: nothing in it may be missing or of another type. */
const use = (handled: readonly Handled[]): number => {
  let units = 0;
  assert.equal(handled.length, expected.messages.length);
  for (const { outcome, effects } of handled) {
    if (outcome.tag === 'replied') units += outcome.reply.length;
    if (outcome.tag === 'failed') units += `${outcome.problem.code}${outcome.problem.message}`.length;
    for (const effect of effects) {
      for (const [key, part] of Object.entries(effect)) {
        assert.ok(typeof part === 'string' || part === null || (key === 'afterMs' && Number.isInteger(part)));
        if (typeof part === 'string') units += Buffer.from(part).toString().length;
      }
    }
  }
  return units;
};

test('control: what our worker posts is read', () => {
  for (const post of goodPosts)
    assert.equal(readWorkerPost(post, expected, limits), post, JSON.stringify(post));
});

test('whatever is posted is read as the protocol has it, or not at all', () => {
  const random = randomFrom(seed + 3);
  let read = 0;
  for (let round = 0; round < rounds(30_000); round += 1) {
    const value = random.chance(0.2)
      ? anything(random, 4)
      : spoiled(random, random.one(goodPosts), random.one([0.01, 0.05, 0.2]));
    const post = readWorkerPost(structuredClone(value), expected, limits);
    if (post === undefined) continue;
    read += 1;
    if (post.kind === 'result' && post.result.ok)
      assert.ok(use(post.result.handled) < limits.effectUnits * 3, `seed ${seed + 3} round ${round}`);
  }
  assert.ok(read > 1_000, `${read} were read: the spoiling is not too strong`);
});

test('bounds of our worker hold for one that was taken over', () => {
  const result = (handled: unknown[]) => ({ kind: 'result', batch: 3, result: { ok: true, handled } });
  const both = (one: unknown) => result([one, { outcome: { tag: 'done' }, effects: [] }]);
  const effect = (found: unknown) => both({ outcome: { tag: 'done' }, effects: [found] });
  const holes: unknown[] = [];
  holes.length = 2;
  const deep: unknown[] = [];
  for (let depth = 0, inner = deep; depth < 2_000; depth += 1) inner = inner[0] = [];
  const table: Readonly<Record<string, unknown>> = {
    'a list of holes as effects': both({ outcome: { tag: 'done' }, effects: holes }),
    'a list of holes as outcomes': result(holes),
    'a list as a level': effect({ kind: 'log', level: ['info'], text: '' }),
    'a deep list as a kind': effect({ kind: deep }),
    'a long key': effect({ kind: 'put', key: 'k'.repeat(1_025), value: '' }),
    'an empty key': effect({ kind: 'put', key: '', value: '' }),
    'half a character': effect({ kind: 'put', key: 'k', value: '\ud800' }),
    'too much text': effect({ kind: 'put', key: 'k', value: 'x'.repeat(12_000) }),
    'too long a reply': both({ outcome: { tag: 'replied', reply: 'x'.repeat(12_000) }, effects: [] }),
    'a wait of for ever': effect({ kind: 'wake', token: 't', afterMs: Number.MAX_SAFE_INTEGER }),
    'more fields': effect({ kind: 'remove', key: 'k', value: 'v' }),
    'a problem with more': both({
      outcome: { tag: 'failed', problem: { code: 'a', message: 'b', stack: 'c' } },
      effects: [],
    }),
    'a problem of other types': both({
      outcome: { tag: 'failed', problem: { code: 'a', message: 'b', fix: { run: 'this' } } },
      effects: [],
    }),
    'long evidence': { kind: 'failed', fault: { code: 'sandbox/trap', evidence: 'x'.repeat(100_000) } },
    'a long program': {
      kind: 'call',
      message: 'a',
      call: { call: 'process.spawn', program: 'p'.repeat(300), cwd: '/' },
    },
    'a scan of for ever': {
      kind: 'call',
      message: 'a',
      call: { call: 'store.scan', prefix: '', after: null, limit: Number.MAX_SAFE_INTEGER },
    },
  };
  for (const [what, post] of Object.entries(table))
    assert.equal(readWorkerPost(structuredClone(post), expected, limits), undefined, what);
});

/** A worker that runs `source` in the place of our program; what becomes of its activation. */
const takenOver = async (
  source: string,
): Promise<{ results: BatchResult[]; gone: Problem; calls: number }> => {
  const worker = new Worker(
    `const { parentPort: port, workerData } = require('node:worker_threads');\n${source}`,
    {
      eval: true,
      stdout: true,
      stderr: true,
      workerData: { posts: goodPosts, batch: 3 },
    },
  );
  const { port1 } = new MessageChannel();
  const cells = new Int32Array(new SharedArrayBuffer(signal.cells * 4));
  const results: BatchResult[] = [];
  const gone = Promise.withResolvers<Problem>();
  let calls = 0;
  const { started, activation } = attend(
    worker,
    {
      limits: { ...limits, callDeadlineMs: 2_000, startDeadlineMs: 5_000 },
      name: 'a:b',
      onCall: async () => {
        calls += 1;
        await new Promise((resolve) => setTimeout(resolve, 50));
        return { ok: true, value: null };
      },
      onResult: (_batch, result) => results.push(result),
      onGone: gone.resolve,
    },
    port1,
    cells,
  );
  assert.ok((await started).ok);
  activation.handle([message1('x')]);
  activation.handle([message1('y')]);
  activation.handle([...expected.messages]);
  const why = await gone.promise;
  await worker.terminate();
  return { results, gone: why, calls };
};

test('a worker that was taken over: each way ends its activation by name, and every batch has its result', async (t) => {
  const table: Readonly<Record<string, readonly [source: string, code: string]>> = {
    'ready twice': [`port.postMessage({ kind: 'ready' });`, 'sandbox/protocol'],
    'answers what it was not asked': [
      `port.postMessage({ kind: 'result', batch: 2, result: { ok: true, handled: [] } });`,
      'sandbox/protocol',
    ],
    'a flood of calls without waiting': [
      `for (let i = 0; i < 1000; i += 1) port.postMessage({ kind: 'call', message: 'x', call: { call: 'store.get', key: 'k' } });`,
      'sandbox/protocol',
    ],
    'an answer while a call is open': [
      `port.postMessage({ kind: 'call', message: 'x', call: { call: 'store.get', key: 'k' } });
       port.postMessage({ kind: 'result', batch: 1, result: { ok: true, handled: [{ outcome: { tag: 'done' }, effects: [] }] } });`,
      'sandbox/protocol',
    ],
    'calls for a message of another batch': [
      `port.postMessage({ kind: 'call', message: 'y', call: { call: 'store.get', key: 'k' } });`,
      'sandbox/protocol',
    ],
    holes: [
      `const holes = []; holes.length = 1;
       port.postMessage({ kind: 'result', batch: 1, result: { ok: true, handled: holes } });`,
      'sandbox/protocol',
    ],
    'a made-up code': [
      `port.postMessage({ kind: 'failed', fault: { code: '__proto__', evidence: 'x' } });`,
      'sandbox/call-failed',
    ],
    'ends by itself': [`process.exit(7);`, 'sandbox/gone'],
    'an error nobody takes': [`throw { not: 'an error' };`, 'sandbox/gone'],
  };
  for (const [what, [source, code]] of Object.entries(table)) {
    await t.test(what, async () => {
      const found = await takenOver(
        `port.postMessage({ kind: 'ready' }); port.once('message', () => { ${source} });`,
      );
      assert.equal(found.gone.code, code);
      assert.deepEqual(
        found.results.map((result) => result.ok),
        [false, false, false],
      );
      assert.ok(found.calls <= 1, 'one call at a time');
    });
  }
});

test('a worker that posts what it likes, again and again: the host goes on', async () => {
  const source = (from: number) => `
    let state = ${from};
    const below = (most) => { state = (Math.imul(state, 1664525) + 1013904223) >>> 0; return state % most; };
    const values = [null, 1, 'ready', [], {}, new Map(), -1, 'x'.repeat(5000), undefined, 5n, Array(3)];
    const spoil = (value) => {
      if (below(12) === 0) return values[below(values.length)];
      if (Array.isArray(value)) return value.map(spoil);
      if (typeof value !== 'object' || value === null) return value;
      return Object.fromEntries(Object.entries(value).filter(() => below(20) > 0).map(([k, v]) => [k, spoil(v)]));
    };
    port.postMessage({ kind: 'ready' });
    port.on('message', ({ batch }) => {
      for (let i = 0; i < 20; i += 1) {
        const post = spoil(workerData.posts[below(workerData.posts.length)]);
        if (post && typeof post === 'object' && 'batch' in post) post.batch = batch;
        port.postMessage(post);
      }
    });`;
  for (let round = 0; round < rounds(30); round += 1) {
    const { gone, results } = await takenOver(source(seed + round));
    assert.ok(Object.hasOwn(registry, gone.code), gone.code);
    assert.equal(results.length, 3, `seed ${seed + round}`);
  }
});

test('a guest that returns anything: an outcome, or a named failure', async (t) => {
  const guest = await admitted(
    await quickJs(`
      const { outcomes, count } = JSON.parse(batch[0].payload);
      if (count !== null) return Array.from({ length: count }, () => outcomes[0]);
      return outcomes;`),
    temporaryFolder(t),
  );
  const random = randomFrom(seed + 4);
  const json = (depth: number): unknown =>
    JSON.parse(JSON.stringify(anything(random, depth), plain) ?? 'null');
  const plain = (_key: string, value: unknown) => (typeof value === 'bigint' ? String(value) : value);
  const good = [
    { tag: 'done' },
    { tag: 'replied', val: '{}' },
    { tag: 'failed', val: { code: 'a/b', message: 'm' } },
  ];
  let bench = await running(guest, t);
  const seen = new Set<string>();
  for (let round = 0; round < rounds(60); round += 1) {
    const outcome = random.chance(0.3) ? json(3) : spoiled(random, random.one(good), 0.1);
    const payload = JSON.stringify(
      {
        outcomes: random.chance(0.2) ? json(2) : [outcome],
        count: random.chance(0.1) ? random.below(3_000) : null,
      },
      plain,
    );
    const result = await bench.send([message1('m', payload)]);
    seen.add(result.ok ? 'ok' : result.problem.code);
    if (result.ok) continue;
    assert.ok(
      ['sandbox/trap', 'sandbox/outcome-invalid', 'sandbox/outcome-count'].includes(result.problem.code),
    );
    await bench.gone;
    bench = await running(guest, t);
  }
  assert.ok(seen.has('ok') && seen.size > 1, [...seen].join());
});
