/** The pure rules of the sandbox, as tables. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { coreName, isInterfaceName } from '../../host/sandbox/admission/names.ts';
import { leb128, reader } from '../../host/sandbox/admission/reader.ts';
import { answerText, answerUnits } from '../../host/sandbox/answers.ts';
import { defaultLimits } from '../../host/sandbox/index.ts';
import { readWorkerPost } from '../../host/sandbox/posts.ts';
import { HostFault, integer, level, name, optionalName, text } from '../../host/sandbox/worker/arguments.ts';
import { ledger } from '../../host/sandbox/worker/ledger.ts';
import { compareUtf8, overlaidScan } from '../../host/sandbox/worker/overlay.ts';
import { readOutcome, runner } from '../../host/sandbox/worker/run.ts';
import { message1 } from './guests.ts';

test('names that toolchains write are admitted', () => {
  for (const found of [
    '',
    '0',
    'memory',
    '$imports',
    'cabi_post_bearpunch:station/component@0.1.0#handle',
    'cm32p2|wasi:io/streams@0.2|[method]output-stream.blocking-write-and-flush_post',
    '[resource-drop]pollable',
    'wit-dylib.wasm:memory_base',
    '__wasm_call_ctors',
  ]) {
    assert.equal(coreName(found), found);
  }
  assert.ok(isInterfaceName('bearpunch:station/log@0.1.0'));
  for (const found of ['log', 'a:b', 'a:b/c@1', 'a:b/c@0.1.0"', 'A:b/c'])
    assert.ok(!isInterfaceName(found), found);
});

test('LEB128: what is written is read; too long and out of range are faults', () => {
  for (const value of [0, 1, 127, 128, 16_383, 16_384, 2 ** 31, 2 ** 32 - 1]) {
    assert.equal(reader(Uint8Array.from(leb128(value))).u32(), value);
  }
  for (const bytes of [[], [0x80], [0x80, 0x80, 0x80, 0x80, 0x10], [0x80, 0x80, 0x80, 0x80, 0x80, 0x00]]) {
    assert.throws(() => reader(Uint8Array.from(bytes)).u32(), /sandbox\/malformed/);
  }
  assert.equal(reader(Uint8Array.from([0x7f])).s33(), -1);
  assert.throws(() => reader(Uint8Array.from([5, 1])).name(256));
  assert.throws(() => reader(Uint8Array.from(leb128(200_000))).vector(() => 0));
});

test('UTF-8 order is that of code points', () => {
  const sorted = [
    '',
    'a',
    'a\u0000',
    'aa',
    'b',
    'é',
    '\u{d7ff}',
    '\u{e000}',
    '\u{ffff}',
    '\u{10000}',
    '\u{10ffff}',
  ];
  for (const [i, a] of sorted.entries()) {
    for (const [j, b] of sorted.entries()) {
      assert.equal(Math.sign(compareUtf8(a, b)), Math.sign(i - j), `${i} ${j}`);
      assert.equal(Math.sign(Buffer.compare(Buffer.from(a), Buffer.from(b))), Math.sign(i - j));
    }
  }
});

test('a scan over host pages and own writes is what one store would give', () => {
  const keys = Array.from({ length: 60 }, (_, n) => `k${String(n).padStart(2, '0')}`);
  const host = keys.filter((_, n) => n % 2 === 0).map((key) => ({ key, value: 'host' }));
  const writes = new Map<string, string | null>(
    keys.flatMap((key, n) => (n % 3 === 0 ? [[key, n % 2 === 0 ? null : 'mine'] as const] : [])),
  );
  const page = ({ prefix, after, limit }: { prefix: string; after: string | null; limit: number }) =>
    host.filter(({ key }) => key.startsWith(prefix) && (after === null || key > after)).slice(0, limit);
  const merged = new Map([...host.map(({ key, value }) => [key, value] as const), ...writes]);
  for (const prefix of ['', 'k', 'k1', 'x']) {
    for (const after of [null, 'k', 'k15', 'k59']) {
      for (const limit of [0, 1, 2, 7, 1_000, 5_000]) {
        const expected = [...merged]
          .flatMap(([key, value]) => (value === null ? [] : [{ key, value }]))
          .filter(({ key }) => key.startsWith(prefix) && (after === null || key > after))
          .sort((a, b) => compareUtf8(a.key, b.key))
          .slice(0, limit);
        assert.deepEqual(
          overlaidScan({ prefix, after, limit }, writes, page),
          expected,
          `${prefix} ${after} ${limit}`,
        );
      }
    }
  }
});

test('arguments of host functions: what is taken and what is refused', () => {
  const refused: readonly (() => unknown)[] = [
    () => text(1, 'p', 10),
    () => text(undefined, 'p', 10),
    () => text('x'.repeat(11), 'p', 10),
    () => text('\ud800', 'p', 10),
    () => name('', 'p', 10),
    () => optionalName('', 'p', 10),
    () => optionalName(0, 'p', 10),
    () => integer(-1, 'p', 10),
    () => integer(11, 'p', 10),
    () => integer(1.5, 'p', 10),
    () => integer(Number.NaN, 'p', 10),
    () => integer(1n, 'p', 10),
    () => integer('1', 'p', 10),
    () => level('fatal', 'p'),
    () => level(undefined, 'p'),
  ];
  for (const call of refused) assert.throws(call, { code: 'sandbox/host-argument' }, String(call));
  assert.equal(text('é', 'p', 1), 'é');
  assert.equal(optionalName(undefined, 'p', 1), null);
  assert.equal(integer(10, 'p', 10), 10);
  assert.equal(level('warn', 'p'), 'warn');
});

test('W7: the ledger counts effects and text a message, the outcome included', () => {
  const book = ledger({ ...defaultLimits, effects: 2, effectUnits: 10 }, () => undefined);
  book.open([message1('a'), message1('b')]);
  book.begin('a');
  book.add({ kind: 'remove', key: 'k' }, 5);
  book.begin('b');
  book.add({ kind: 'remove', key: 'k' }, 10);
  assert.throws(() => book.spend(1, 1), { code: 'sandbox/effects-limit' });
  book.open([message1('a')]);
  book.add({ kind: 'remove', key: 'k' }, 1);
  book.add({ kind: 'remove', key: 'k' }, 1);
  assert.throws(() => book.add({ kind: 'remove', key: 'k' }, 1), { code: 'sandbox/effects-limit' });
  book.close();
  assert.throws(() => book.add({ kind: 'remove', key: 'k' }, 1), { code: 'sandbox/effect-outside' });
});

test('W9: outcomes that are none', () => {
  for (const value of [
    undefined,
    null,
    'done',
    {},
    { tag: 'other' },
    { tag: 'replied' },
    { tag: 'replied', val: 1 },
    { tag: 'replied', val: '\udc00' },
    { tag: 'failed' },
    { tag: 'failed', val: {} },
    { tag: 'failed', val: { code: 'a', message: 1 } },
    { tag: 'failed', val: { code: 'a', message: 'b', fix: 1 } },
    { tag: 'failed', val: { code: 'c'.repeat(101), message: 'b' } },
  ]) {
    assert.throws(() => readOutcome(value), { code: 'sandbox/outcome-invalid' }, JSON.stringify(value));
  }
  assert.deepEqual(readOutcome({ tag: 'failed', val: { code: 'a/b', message: 'c', fix: undefined } }), {
    outcome: { tag: 'failed', problem: { code: 'a/b', message: 'c' } },
    units: 4,
  });
});

test('W7: a fault of a host function stands although the guest went on', () => {
  const book = ledger(defaultLimits, () => undefined);
  const fault = new HostFault('sandbox/effects-limit', 'too much');
  const batch = { batch: 1, messages: [message1('a')] };
  const run = (first: HostFault | undefined) =>
    runner(() => [{ tag: 'done' }], book, { first: () => first })(batch);
  assert.deepEqual(run(fault), {
    ok: false,
    fault: { code: 'sandbox/effects-limit', evidence: 'too much' },
    trapped: 'a',
  });
  assert.ok(run(undefined).ok);
});

test('what a worker posts outside the protocol is not read', () => {
  const expected = { batch: 3, messages: [message1('a')] };
  const result = (handled: unknown, batch = 3) => ({ kind: 'result', batch, result: { ok: true, handled } });
  const done = { outcome: { tag: 'done' }, effects: [] };
  const effect = (found: unknown) => result([{ outcome: { tag: 'done' }, effects: [found] }]);
  const bad: readonly unknown[] = [
    undefined,
    'ready',
    {},
    { kind: 'other' },
    { kind: 'failed' },
    result([done], 2),
    result([]),
    result([done, done]),
    result([{ outcome: { tag: 'done' } }]),
    result([{ outcome: { tag: 'toString' }, effects: [] }]),
    result([{ outcome: { tag: 'replied' }, effects: [] }]),
    result([{ outcome: { tag: 'done' }, effects: Array(2_001).fill({ kind: 'remove', key: 'k' }) }]),
    effect({ kind: 'put', key: 'k' }),
    effect({ kind: 'constructor' }),
    effect({ kind: 'log', level: 'fatal', text: '' }),
    effect({ kind: 'wake', token: 't', afterMs: -1 }),
    effect({ kind: 'publish', topic: 't', payload: '{}' }),
    { kind: 'result', batch: 3, result: { ok: false } },
    { kind: 'call', message: 'b', call: { call: 'store.get', key: 'k' } },
    { kind: 'call', message: 'a', call: { call: 'store.get' } },
    { kind: 'call', message: 'a', call: { call: 'process.list' } },
  ];
  for (const post of bad)
    assert.equal(readWorkerPost(post, expected, defaultLimits), undefined, JSON.stringify(post));
  for (const post of [
    { kind: 'ready' },
    result([done]),
    effect({ kind: 'publish', topic: 't', payload: '{}', to: null, token: null }),
    { kind: 'call', message: 'a', call: { call: 'store.get', key: 'k' } },
  ]) {
    assert.equal(readWorkerPost(post, expected, defaultLimits), post);
  }
});

test('an answer is JSON text of bounded length', () => {
  assert.equal(answerText({ ok: true, value: null }), '{"ok":true,"value":null}');
  assert.match(answerText({ ok: true, value: 'x'.repeat(answerUnits) }), /sandbox\/answer-too-large/);
  assert.match(answerText({ ok: true, value: 1n }), /sandbox\/call-failed/);
});
