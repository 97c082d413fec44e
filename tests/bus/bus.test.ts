import assert from 'node:assert/strict';
import test from 'node:test';
import { openBusBench } from './fixture.ts';

const code = (result: { ok: boolean; problem?: { code: string } }): string =>
  result.ok ? 'ok' : (result.problem?.code ?? '?');

test('a command is answered after what it wrote is committed', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  assert.equal(code(await bench.ask({ put: { a: 'first' } })), 'ok');
  assert.equal(bench.stored('a'), 'first');
  const got = await bench.ask({ get: 'a' });
  assert.deepEqual(got.ok && got.value, { value: 'first' });
});

test('T14: a message that does not fit its shape is refused before delivery, naming the path', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  const refused = await bench.ask({ put: { a: 1 } });
  assert.equal(code(refused), 'bus/payload-invalid');
  assert.match(refused.ok ? '' : (refused.problem.evidence ?? ''), /put\/a/);
  assert.equal(code(await bench.ask({ unknown: true })), 'bus/payload-invalid');
  assert.equal(bench.stored('a'), undefined);
});

test('what a guest may not send is refused, and everything that message did is undone', async (t) => {
  const rows = [
    ['publish-bad', 'bus/payload-invalid'],
    ['publish-undeclared', 'bus/not-declared'],
    ['bad-reply', 'bus/payload-invalid'],
    ['fail', 'test/failed'],
    ['throw', 'component/failed'],
  ] as const;
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  for (const [then, expected] of rows) {
    assert.equal(code(await bench.ask({ put: { [then]: 'kept?' }, act: then })), expected, then);
    assert.equal(bench.stored(then), undefined, `${then}: its write is undone`);
    assert.equal(code(await bench.ask({ put: { after: then } })), 'ok', `${then}: the component goes on`);
    assert.equal(bench.stored('after'), then);
  }
});

test('W8: a trap in the middle of a batch of 50: the 49 others are handled once each, the one is told as failed', async (t) => {
  const bench = await openBusBench(t);
  let happened = 0;
  bench.bus.listen('test.happened', () => {
    happened += 1;
  });
  await bench.attach('test.bundle:one');
  const results = await Promise.all(
    Array.from({ length: 50 }, (_, index) =>
      bench.ask(
        index === 23
          ? { put: { [`k${index}`]: 'x' }, act: 'flood' }
          : { put: { [`k${index}`]: 'x' }, act: 'publish' },
      ),
    ),
  );
  assert.deepEqual(
    results.map((result, index) => (result.ok ? 'ok' : index)).filter((one) => one !== 'ok'),
    [23],
  );
  assert.equal(happened, 49, 'each event once');
  for (let index = 0; index < 50; index += 1) {
    assert.equal(bench.stored(`k${index}`), index === 23 ? undefined : 'x', `k${index}`);
  }
});

test('W5: an endless loop is stopped at the deadline, the host stays responsive, the component comes back', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one', { callDeadlineMs: 300 });
  let ticks = 0;
  const ticking = setInterval(() => {
    ticks += 1;
  }, 10);
  const looped = await bench.ask({ put: { loop: 'x' }, act: 'loop' });
  clearInterval(ticking);
  assert.equal(code(looped), 'sandbox/deadline');
  assert.ok(ticks >= 10, `the host ran meanwhile: ${ticks} ticks`);
  assert.equal(bench.stored('loop'), undefined);
  assert.equal(code(await bench.ask({ put: { after: 'x' } })), 'ok');
  // Ended by the station, not by itself.
  assert.ok(
    bench.events().some(({ kind, problem }) => kind === 'kill' && problem?.code === 'sandbox/deadline'),
  );
  assert.ok(bench.events().some(({ kind, subject }) => kind === 'start' && subject === 'test.bundle:one'));
});

test('W12: a permission revoked while it runs: the next effect is refused and recorded; granted again, it works', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  assert.equal(code(await bench.ask({ put: { a: 'one' } })), 'ok');
  bench.grant(['bus:publish']);
  const refused = await bench.ask({ put: { a: 'two' } });
  assert.equal(code(refused), 'bus/not-granted');
  assert.equal(refused.ok ? '' : refused.problem.evidence, 'store:own');
  assert.equal(bench.stored('a'), 'one');
  bench.grant(['bus:publish', 'store:own']);
  assert.equal(code(await bench.ask({ put: { a: 'three' } })), 'ok');
  assert.equal(bench.stored('a'), 'three');
});

test('a command goes to the only handler, or to the one addressed; two and no address are ambiguous', async (t) => {
  const bench = await openBusBench(t);
  assert.equal(code(await bench.ask({})), 'bus/no-handler');
  await bench.attach('test.bundle:one');
  await bench.attach('test.bundle:two');
  const ambiguous = await bench.ask({});
  assert.equal(code(ambiguous), 'bus/ambiguous');
  assert.equal(ambiguous.ok ? '' : ambiguous.problem.evidence, 'test.bundle:one, test.bundle:two');
  assert.equal(code(await bench.ask({ put: { a: 'x' } }, 'test.bundle:two')), 'ok');
  assert.equal(bench.stored('a', 'test.bundle:two'), 'x');
  assert.equal(bench.stored('a', 'test.bundle:one'), undefined, 'its store is its own');
  assert.equal(code(await bench.ask({}, 'test.bundle:three')), 'bus/no-handler');
  await bench.bus.detach('test.bundle:two');
  assert.equal(code(await bench.ask({})), 'ok');
  const unknown = await bench.bus.command('test.nobody', {}, { source: 'station:test' });
  assert.equal(code(unknown), 'bus/topic-unknown');
  const kind = await bench.bus.command('test.happened', {}, { source: 'station:test' });
  assert.equal(code(kind), 'bus/topic-kind');
});

test('an inbox is bounded: beyond it a command is refused by name, and what waited is handled', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  const results = await Promise.all(Array.from({ length: 5_000 }, () => bench.ask({})));
  const codes = new Set(results.map(code));
  assert.deepEqual([...codes].sort(), ['bus/inbox-full', 'ok']);
  assert.ok(results.filter((result) => result.ok).length >= 4_096);
});

test('a new revision takes over with what waits and the store it found', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one');
  assert.equal(code(await bench.ask({ put: { a: 'kept' } })), 'ok');
  const asked = Array.from({ length: 200 }, () => bench.ask({ get: 'a' }));
  await bench.attach('test.bundle:one');
  for (const result of await Promise.all(asked))
    assert.deepEqual(result.ok && result.value, { value: 'kept' });
});

test('a component that keeps failing is parked with its reason, and comes back by retry', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach('test.bundle:one', { callDeadlineMs: 30 });
  const seen: string[] = [];
  for (let attempt = 0; attempt < 12; attempt += 1) seen.push(code(await bench.ask({ act: 'loop' })));
  assert.ok(seen.includes('bus/component-parked'), seen.join(' '));
  assert.equal(bench.bus.status()[0]?.state, 'parked');
  assert.equal(bench.bus.status()[0]?.problem?.code, 'sandbox/deadline');
  const back = await bench.bus.retry('test.bundle:one');
  assert.ok(back.ok);
  assert.equal(code(await bench.ask({ put: { a: 'x' } })), 'ok');
});
