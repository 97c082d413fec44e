/** Limits that hold over many messages: each reached by a real component, named, shown, told, and rolled back. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { openBusBench } from './fixture.ts';

const code = (result: { ok: boolean; problem?: { code: string } }): string =>
  result.ok ? 'ok' : (result.problem?.code ?? '?');
const one = 'test.bundle:one';

test('W7: the store has a quota in bytes: growth beyond it is refused and rolled back, shrinking is not', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one, { storeBytes: 1_024 });
  const half = 'x'.repeat(450);
  assert.equal(code(await bench.ask({ put: { a: half } })), 'ok');
  assert.equal(code(await bench.ask({ put: { b: half } })), 'ok');
  const over = await bench.ask({ put: { a: 'small', c: 'y'.repeat(600) } });
  assert.equal(code(over), 'bus/store-quota');
  assert.match(over.ok ? '' : (over.problem.evidence ?? ''), /1024 are allowed \(storeBytes\)/);
  assert.equal(bench.stored('a'), half, 'the whole message is undone');
  assert.equal(bench.stored('c'), undefined);
  assert.equal(bench.bus.status()[0]?.problem?.code, 'bus/store-quota');
  assert.ok(
    bench.events().some(({ kind, problem }) => kind === 'fail' && problem?.code === 'bus/store-quota'),
  );
  for (let index = 0; index < 20; index += 1)
    assert.equal(
      code(await bench.ask({ put: { a: `${half}${index}` } })),
      'ok',
      'an entry written again is counted once',
    );
  assert.equal(code(await bench.ask({ get: 'b', act: 'remove' })), 'ok');
  assert.equal(code(await bench.ask({ put: { c: half } })), 'ok', 'what was removed is free again');

  await bench.attach(one, { storeBytes: 100 });
  assert.equal(code(await bench.ask({ put: { a: 'z' } })), 'ok', 'above a lowered quota it may shrink');
  assert.equal(code(await bench.ask({ put: { d: 'new' } })), 'bus/store-quota');
});

test('W7: the quota holds within one batch, over all of its messages', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one, { storeBytes: 1_024 });
  const results = await Promise.all(
    Array.from({ length: 12 }, (_, index) => bench.ask({ put: { [`k${index}`]: 'x'.repeat(190) } })),
  );
  assert.deepEqual(results.map(code), [...Array(5).fill('ok'), ...Array(7).fill('bus/store-quota')]);
});

test('W7: lines to the log have a rate: a message beyond it is refused, and time fills the allowance again', async (t) => {
  let now = 1_000_000;
  const bench = await openBusBench(t, { now: () => now });
  await bench.attach(one, { logLinesPerMinute: 60 });
  assert.equal(code(await bench.ask({ act: 'log', times: 60 })), 'ok');
  const over = await bench.ask({ put: { a: 'x' }, act: 'log' });
  assert.equal(code(over), 'bus/log-rate');
  assert.equal(bench.stored('a'), undefined);
  assert.equal(bench.bus.status()[0]?.problem?.code, 'bus/log-rate');
  now += 1_000;
  assert.equal(code(await bench.ask({ act: 'log' })), 'ok', 'one line a second');
  assert.equal(code(await bench.ask({ act: 'log' })), 'bus/log-rate');
  assert.equal(bench.logged(), 61);
});

test('W7: an inbox has the bound policy gives it; being full is shown and told once a minute', async (t) => {
  let now = 1_000_000;
  const bench = await openBusBench(t, { now: () => now });
  await bench.attach(one, { inbox: 10 });
  const flood = () => Promise.all(Array.from({ length: 100 }, () => bench.ask({})));
  const results = await flood();
  assert.equal(results.filter(({ ok }) => ok).length, 10);
  assert.equal(code(results.at(-1) ?? { ok: true }), 'bus/inbox-full');
  assert.equal(bench.bus.status()[0]?.problem?.code, 'bus/inbox-full');
  const told = () => bench.events().filter(({ kind }) => kind === 'limit').length;
  assert.equal(told(), 1);
  await flood();
  assert.equal(told(), 1);
  now += 60_000;
  await flood();
  assert.equal(told(), 2);
});

test('W7: one batch cannot publish more than its subscribers have room for', async (t) => {
  const bench = await openBusBench(t, { subscribes: (name) => (name === one ? [] : ['test.happened']) });
  await bench.attach(one);
  await bench.attach('test.bundle:two', { inbox: 50 });
  assert.equal(code(await bench.ask({ act: 'publish', times: 50 }, one)), 'ok');
  const refused = await bench.ask({ put: { a: 'x' }, act: 'publish', times: 51 }, one);
  assert.equal(code(refused), 'bus/inbox-full');
  assert.equal(refused.ok ? '' : refused.problem.subject, 'test.bundle:two');
  assert.equal(bench.stored('a'), undefined);
});

test('W7: an outcome of megabytes is bounded, named, rolled back', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one, { effectUnits: 100_000 });
  assert.equal(
    code(await bench.ask({ put: { a: 'x' }, act: 'big-reply', times: 100_000 })),
    'sandbox/effects-limit',
  );
  assert.equal(bench.stored('a'), undefined);
  assert.equal(bench.bus.status()[0]?.problem?.code, 'sandbox/effects-limit');
  assert.equal(code(await bench.ask({ act: 'big-reply', times: 1_000 })), 'ok');
});

test('restarts an hour: one that fails between messages it handles is parked too, and an hour gives them back', async (t) => {
  let now = 1_000_000;
  const bench = await openBusBench(t, { now: () => now });
  await bench.attach(one, { restartsPerHour: 3 });
  for (let index = 0; index < 3; index += 1) {
    assert.equal(code(await bench.ask({ act: 'publish-undeclared' })), 'bus/not-declared');
    assert.equal(code(await bench.ask({})), 'ok');
  }
  now += 3_600_000;
  assert.equal(code(await bench.ask({ act: 'publish-undeclared' })), 'bus/not-declared');
  assert.equal(code(await bench.ask({})), 'ok', 'the earlier ones are more than an hour ago');
  for (let index = 0; index < 3; index += 1) await bench.ask({ act: 'publish-undeclared' });
  assert.equal(code(await bench.ask({})), 'bus/component-parked');
  const [status] = bench.bus.status();
  assert.equal(status?.state, 'parked');
  assert.equal(status?.problem?.code, 'bus/restart-limit');
  assert.match(status?.problem?.evidence ?? '', /3 are allowed \(restartsPerHour\)/);
  assert.ok(
    bench.events().some(({ kind, problem }) => kind === 'park' && problem?.code === 'bus/restart-limit'),
  );
  assert.ok((await bench.bus.retry(one)).ok);
  assert.equal(code(await bench.ask({})), 'ok');
});
