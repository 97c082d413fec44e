import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import type { BusComponent } from '../../host/bus/index.ts';
import { problem } from '../../host/problems/index.ts';
import type { ComponentLimits } from '../../host/sandbox/index.ts';
import { type BusBench, openBusBench } from './fixture.ts';
import { type Life, type Watched, watched } from './watched.ts';

const name = 'test.bundle:one';
const code = (result: { ok: boolean; problem?: { code: string } }): string =>
  result.ok ? 'ok' : (result.problem?.code ?? '?');
const value = (result: { ok: boolean; value?: unknown; problem?: { code: string } }): unknown =>
  result.ok ? (result.value as { value?: unknown }).value : code(result);

interface LaneBench extends BusBench {
  readonly watch: Watched;
  /** The instance that started `place`th. */
  readonly life: (place: number) => Life;
  readonly status: () => ReturnType<BusBench['bus']['status']>[number];
  readonly serve: (component: BusComponent) => Promise<void>;
  readonly says: (...texts: readonly string[]) => ReturnType<BusBench['ask']>[];
}
const openLaneBench = async (t: TestContext, limits: Partial<ComponentLimits> = {}): Promise<LaneBench> => {
  const bench = await openBusBench(t);
  const watch = watched(await bench.component(name, limits));
  const serve = async (component: BusComponent) => {
    const prepared = await bench.bus.prepare(component);
    assert.ok(prepared.ok, JSON.stringify(prepared));
    await prepared.value.serve();
  };
  await serve(watch.component);
  return {
    ...bench,
    watch,
    serve,
    life: (place) => {
      const life = watch.lives[place];
      assert.ok(life !== undefined, `there was no life ${place}`);
      return life;
    },
    status: () => {
      const [status] = bench.bus.status();
      assert.ok(status !== undefined);
      return status;
    },
    says: (...texts) => texts.map((text) => bench.ask({ act: 'say', text })),
  };
};
const sizes = (life: Life) => life.batches.map((batch) => batch.length);
/** Waits for what only the worker's threads know, at most 10 s. */
const until = async (condition: () => boolean): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < end, 'it does not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};

test('what comes in one turn is batched, at most the limit, with two batches ahead', async (t) => {
  const { ask, life } = await openLaneBench(t, { batch: 4 });
  await Promise.all(Array.from({ length: 10 }, () => ask({})));
  assert.deepEqual(sizes(life(0)), [4, 4, 2]);
  assert.equal(life(0).mostInFlight, 2);
});

test('a flood beside others: short batches, one at a time, and who waits for little goes by itself', async (t) => {
  const { bus, ask, life } = await openLaneBench(t, { batch: 64 });
  await ask({});
  let asked = [ask({}), ask({})];
  for (let each = 0; each < 200; each += 1) bus.tell(name, 'station.started', {}, 'flood');
  const heard = () =>
    life(0)
      .batches.flat()
      .filter(({ topic }) => topic === 'station.started').length;
  // Somebody waits until the flood is over, however slow the machine is.
  while (heard() < 200) {
    await Promise.all(asked);
    asked = [ask({})];
  }
  await Promise.all(asked);
  const [, first = [], ...rest] = life(0).batches;
  assert.equal(first.length, 2, 'the two others, and nothing of the flood with them');
  assert.ok(Math.max(...sizes(life(0))) <= 16, String(rest.map(({ length }) => length)));
  assert.equal(life(0).mostInFlight, 1);
});

test('W8: after a trap the messages of that batch run alone, one at a time, in their order', async (t) => {
  const { bus, says, ask, life } = await openLaneBench(t, { batch: 4, callDeadlineMs: 400 });
  const heard: unknown[] = [];
  bus.listen('test.happened', (event) => heard.push((event as { what: string }).what));
  const asked = [...says('a', 'b'), ask({ act: 'flood' }), ...says('c', 'd', 'e')];
  const results = (await Promise.all(asked)).map(code);
  assert.deepEqual(
    results.map((one) => (one === 'ok' ? one : 'failed')),
    ['ok', 'ok', 'failed', 'ok', 'ok', 'ok'],
  );
  assert.deepEqual(heard, ['a', 'b', 'c', 'd', 'e']);
  assert.deepEqual(sizes(life(0)), [4, 2]);
  assert.deepEqual(sizes(life(1)).slice(0, 3), [1, 1, 1]);
  assert.equal(life(1).mostInFlight, 1, 'nothing beside a message that runs alone');
});

test('nothing is posted beside the last message that runs alone', async (t) => {
  const { ask, life } = await openLaneBench(t, { batch: 3, callDeadlineMs: 300 });
  const asked = [ask({}), ask({}), ask({ act: 'loop' }), ask({}), ask({})];
  assert.deepEqual((await Promise.all(asked)).map(code), ['ok', 'ok', 'sandbox/deadline', 'ok', 'ok']);
  assert.deepEqual(sizes(life(1)), [1, 1, 1]);
  assert.equal(life(1).mostInFlight, 1);
});

test('a trap while detach waits ends its wait', async (t) => {
  const { bus, ask, life } = await openLaneBench(t, { callDeadlineMs: 2_000 });
  const asked = ask({ act: 'loop' });
  await until(() => life(0).batches.length === 1);
  const before = performance.now();
  await bus.detach(name);
  assert.ok(performance.now() - before < 3_500, 'at the deadline of what is under way, not at twice that');
  assert.equal(code(await asked), 'sandbox/deadline');
});

test('a message that was refused: the instance is fresh, what came after runs again on it, what it started ends', async (t) => {
  const { ask, life, done, stored, watch } = await openLaneBench(t, { batch: 4 });
  const replies = await Promise.all([
    ask({ act: 'count' }),
    ask({ act: 'count-and-fail' }),
    ...Array.from({ length: 6 }, () => ask({ act: 'count' })),
  ]);
  assert.deepEqual(replies.map(value), ['1', 'test/failed', '1', '2', '3', '4', '5', '6']);
  assert.equal(stored('counted'), undefined);
  assert.equal(life(0).stopped, true);
  assert.equal(watch.lives.length, 2);
  const ids = life(0)
    .batches.flat()
    .map(({ id }) => id);
  const settled = (id: string | undefined) => done.filter((line) => line.startsWith(`settle ${id} `));
  assert.deepEqual(settled(ids[0]), [`settle ${ids[0]} true`]);
  assert.deepEqual(settled(ids[1]), [`settle ${ids[1]} false`]);
  // The batch behind it was under way as well.
  assert.deepEqual(settled(ids[5]), [`settle ${ids[5]} false`, `settle ${ids[5]} true`]);
});

test('what the messages after a refused one of its batch started is ended too', async (t) => {
  const { ask, life, done } = await openLaneBench(t);
  await Promise.all([ask({ act: 'count-and-fail' }), ask({ act: 'count' })]);
  const id = life(0).batches[0]?.[1]?.id;
  assert.deepEqual(
    done.filter((line) => line.startsWith(`settle ${id} `)),
    [`settle ${id} false`, `settle ${id} true`],
  );
});

test('a trap ends what its batch and those behind it started', async (t) => {
  const { ask, life, done } = await openLaneBench(t, { batch: 2, callDeadlineMs: 300 });
  await Promise.all([ask({ act: 'loop' }), ask({}), ask({})]);
  const ids = life(0)
    .batches.flat()
    .map(({ id }) => id);
  assert.equal(ids.length, 3);
  for (const id of ids) assert.ok(done.includes(`settle ${id} false`), id);
});

test('failures in a row count: one message handled between them starts the count anew', async (t) => {
  const { ask, status } = await openLaneBench(t, { callDeadlineMs: 40 });
  for (let round = 0; round < 8; round += 1) {
    assert.equal(code(await ask({ act: 'loop' })), 'sandbox/deadline', `${round}`);
    assert.equal(code(await ask({})), 'ok', `${round}`);
  }
  assert.equal(status().state, 'running');
  assert.equal(status().restarts, 8);
});

test('six failures in a row park it, after waiting longer each time; it refuses by name until a retry works', async (t) => {
  const { bus, ask, status, life, watch, events } = await openLaneBench(t);
  watch.failStarts = 6;
  const waiting = ask({});
  life(0).callbacks.onGone(problem('sandbox/gone'));
  assert.equal(watch.starts.length, 2, 'the first time it is started again at once');
  assert.equal(life(0).stopped, true);
  assert.equal(status().state, 'waiting');
  const refused = await waiting;
  assert.equal(code(refused), 'bus/component-parked');
  assert.notEqual(refused.ok ? '' : refused.problem.evidence, undefined, 'it says why');
  assert.equal(status().state, 'parked');
  assert.equal(status().waiting, 0);
  assert.equal(code(await ask({})), 'bus/component-parked');
  // The first start, one at once, then four after 100, 200, 400 and 800 ms.
  const gaps = watch.starts.slice(2).map((at, index) => at - (watch.starts[index + 1] ?? 0));
  assert.equal(gaps.length, 4);
  for (const [index, least] of [100, 200, 400, 800].entries())
    assert.ok((gaps[index] ?? 0) >= least - 2, `${gaps}`);
  const kinds = events().map(({ kind }) => kind);
  assert.equal(kinds.filter((kind) => kind === 'fail').length, 6);
  assert.equal(kinds.filter((kind) => kind === 'park').length, 1);

  const failed = await bus.retry(name);
  assert.equal(code(failed), 'sandbox/start-failed');
  assert.equal(status().state, 'parked');
  assert.equal(status().problem?.code, 'sandbox/start-failed');
  assert.equal(code(await bus.retry(name)), 'ok');
  assert.equal(status().state, 'running');
  assert.equal(status().problem, undefined);
  assert.equal(code(await ask({})), 'ok');
  const started = watch.starts.length;
  assert.equal(code(await bus.retry(name)), 'ok', 'of one that runs: nothing to do');
  assert.equal(watch.starts.length, started);
  // The count began anew with the retry.
  assert.equal(code(await ask({ act: 'fail' })), 'test/failed');
  life(1).callbacks.onGone(problem('sandbox/gone'));
  assert.equal(code(await ask({})), 'ok');
});

test('an instance that is lost while it handles: what was under way and what waits is handled by the next', async (t) => {
  const { ask, life, watch, done, status } = await openLaneBench(t, { batch: 1 });
  watch.mute = true;
  const asked = Array.from({ length: 4 }, () => ask({ act: 'count' }));
  await until(() => life(0).batches.length === 2);
  watch.mute = false;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  assert.deepEqual((await Promise.all(asked)).map(value), ['1', '2', '3', '4']);
  const [first] = life(0).batches.flat();
  assert.ok(done.includes(`settle ${first?.id} false`));
  assert.equal(status().restarts, 1);
});

test('what an instance that was given up still says is not heard', async (t) => {
  const { ask, life, status, watch } = await openLaneBench(t);
  life(0).callbacks.onGone(problem('sandbox/gone'));
  life(0).callbacks.onGone(problem('sandbox/gone'));
  life(0).callbacks.onResult(1, { ok: true, handled: [] });
  assert.equal(code(await ask({})), 'ok');
  assert.equal(status().restarts, 1);
  assert.equal(watch.starts.length, 2);
});

test('detach: what is under way is finished, nothing more is begun, what waits is refused by name', async (t) => {
  const { bus, ask, life } = await openLaneBench(t, { batch: 1 });
  const asked = Array.from({ length: 8 }, () => ask({}));
  await until(() => life(0).batches.length >= 2);
  const begun = life(0).batches.length;
  const before = performance.now();
  await bus.detach(name);
  assert.ok(performance.now() - before < 5_000, 'at once when the last is answered, not at its deadline');
  const codes = (await Promise.all(asked)).map(code);
  assert.equal(codes.filter((one) => one === 'ok').length, begun);
  assert.deepEqual(codes.slice(begun), Array(8 - begun).fill('bus/component-stopped'));
  assert.equal(life(0).stopped, true);
  assert.deepEqual(bus.status(), []);
  await bus.detach(name);
});

test('detach ends the wait before a restart', async (t) => {
  const { bus, ask, life, watch } = await openLaneBench(t);
  watch.failStarts = 1;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  const waiting = ask({});
  await until(() => watch.starts.length === 2 && watch.failStarts === 0);
  await bus.detach(name);
  assert.equal(code(await waiting), 'bus/component-stopped');
  const started = watch.starts.length;
  await new Promise((resolve) => setTimeout(resolve, 150));
  assert.equal(watch.starts.length, started, 'the restart it waited for does not come');
});

test('detach while it is being started again: the new instance is ended', async (t) => {
  const { bus, life, watch } = await openLaneBench(t);
  const gate = Promise.withResolvers<void>();
  watch.gate = gate.promise;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => watch.starts.length === 2);
  await bus.detach(name);
  gate.resolve();
  await until(() => watch.lives.length === 2);
  await until(() => life(1).stopped);
});

test('an instance that never answers does not keep detach for longer than its deadlines; what it had is refused', async (t) => {
  const { bus, ask, done, life, watch } = await openLaneBench(t, { callDeadlineMs: 50 });
  watch.mute = true;
  const asked = ask({});
  await until(() => life(0).batches.length === 1);
  await bus.detach(name);
  assert.equal(life(0).stopped, true);
  assert.ok(done.includes(`settle ${life(0).batches[0]?.[0]?.id} false`));
  void asked;
});

test('who waits for an answer that detach cuts off is told', async (t) => {
  const { bus, ask, life, watch } = await openLaneBench(t, { callDeadlineMs: 50 });
  watch.mute = true;
  const asked = ask({});
  await until(() => life(0).batches.length === 1);
  await bus.detach(name);
  const told = await Promise.race([asked, new Promise((resolve) => setTimeout(resolve, 200, 'nothing'))]);
  assert.notEqual(told, 'nothing');
});

test('a new revision takes over what was never answered and what waits, and begins without the failures of the old one', async (t) => {
  const { component, ask, done, life, watch, status, serve } = await openLaneBench(t, {
    callDeadlineMs: 200,
  });
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => watch.lives.length === 2 && status().state === 'running');
  assert.equal(status().problem?.code, 'sandbox/gone');
  watch.mute = true;
  const asked = [ask({ act: 'count' })];
  await until(() => life(1).batches.length === 1);
  asked.push(ask({ act: 'count' }), ask({ act: 'count' }));
  await serve({ ...(await component(name)), revision: 'r2' });
  assert.deepEqual((await Promise.all(asked)).map(value), ['1', '2', '3']);
  assert.ok(done.includes(`settle ${life(1).batches[0]?.[0]?.id} false`));
  assert.equal(life(1).stopped, true);
  assert.deepEqual([status().revision, status().state, status().problem], ['r2', 'running', undefined]);
});

test('a new revision waits for what is under way, and nothing more is begun on the old one meanwhile', async (t) => {
  const { component, ask, life, watch, serve } = await openLaneBench(t, { batch: 1 });
  const asked = Array.from({ length: 12 }, () => ask({ act: 'count' }));
  await until(() => life(0).batches.length >= 2);
  const begun = life(0).batches.length;
  const next = watched(await component(name, { batch: 1 }), { revision: 'r2' });
  await serve(next.component);
  const before = life(0).batches.length;
  const counted = (await Promise.all(asked)).map(value);
  const expected = (count: number) => Array.from({ length: count }, (_, index) => `${index + 1}`);
  assert.ok(begun <= before);
  assert.deepEqual(counted, [...expected(before), ...expected(12 - before)]);
  assert.equal(life(0).batches.length, before);
  assert.equal(watch.lives.length, 1);
});

test('a revision that is prepared and discarded changes nothing', async (t) => {
  const { bus, component, ask, status } = await openLaneBench(t);
  const next = watched(await component(name), { revision: 'r2' });
  const prepared = await bus.prepare(next.component);
  assert.ok(prepared.ok);
  await prepared.value.discard();
  assert.equal(next.lives[0]?.stopped, true);
  assert.equal(status().revision, 'r1');
  assert.equal(code(await ask({})), 'ok');
  const failing = watched(await component(name), { revision: 'r3' });
  failing.failStarts = 1;
  assert.equal(code(await bus.prepare(failing.component)), 'sandbox/start-failed');
  assert.equal(status().revision, 'r1');
  assert.equal(code(await ask({})), 'ok');
});

test('a new revision serves in place of a parked one', async (t) => {
  const { component, ask, life, watch, status, serve } = await openLaneBench(t);
  watch.failStarts = 5;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => status().state === 'parked');
  await serve({ ...(await component(name)), revision: 'r2' });
  assert.equal(status().state, 'running');
  assert.equal(code(await ask({})), 'ok');
});

test('a new revision while the old one is being started again: the old instance is ended', async (t) => {
  const { component, ask, life, watch, status, serve } = await openLaneBench(t);
  const gate = Promise.withResolvers<void>();
  watch.gate = gate.promise;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => watch.starts.length === 2);
  await serve({ ...(await component(name)), revision: 'r2' });
  gate.resolve();
  await until(() => watch.lives.length === 2);
  await until(() => life(1).stopped);
  assert.equal(status().revision, 'r2');
  assert.equal(code(await ask({})), 'ok');
});

test('a new revision during the wait before a restart: that restart does not come', async (t) => {
  const { bus, component, life, watch, status } = await openLaneBench(t);
  const next = watched(await component(name), { revision: 'r2' });
  t.after(() => Promise.all(next.lives.map((one) => one.end())));
  const prepared = await bus.prepare(next.component);
  assert.ok(prepared.ok);
  watch.failStarts = 1;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => watch.failStarts === 0 && status().state === 'waiting');
  await prepared.value.serve();
  const restarts = status().restarts;
  await new Promise((resolve) => setTimeout(resolve, 250));
  assert.equal(next.starts.length, 1);
  assert.equal(status().restarts, restarts);
});

test('when a component is parked, who was paused for it looks again', async (t) => {
  const { bus, life, watch, status } = await openLaneBench(t, { callDeadlineMs: 200 });
  watch.mute = true;
  for (let index = 0; index < 600; index += 1) bus.tell(name, 'station.woke', { token: 'x' }, 'any');
  assert.equal(bus.hasRoom(name, 'any'), false);
  let eased = false;
  bus.onEased(() => {
    eased ||= bus.hasRoom(name, 'any');
  });
  watch.failStarts = 5;
  life(0).callbacks.onGone(problem('sandbox/gone'));
  await until(() => status().state === 'parked');
  assert.equal(bus.hasRoom(name, 'any'), true);
  assert.equal(eased, true);
});
