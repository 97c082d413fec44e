import assert from 'node:assert/strict';
import test from 'node:test';
import { type BusBench, openBusBench } from './fixture.ts';
import { watched } from './watched.ts';

const one = 'test.bundle:one';
const two = 'test.bundle:two';
const code = (result: { ok: boolean; problem?: { code: string } }): string =>
  result.ok ? 'ok' : (result.problem?.code ?? '?');
const until = async (condition: () => boolean): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < end, 'it does not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
/** A component in service that takes what it gets and never answers. */
const silent = async (bench: BusBench, name: string, subscribes: readonly string[] = []) => {
  const watch = watched(await bench.component(name, { callDeadlineMs: 50 }), {
    subscribes: new Set(subscribes),
    handles: new Set(),
    publishes: new Set(),
  });
  const prepared = await bench.bus.prepare(watch.component);
  assert.ok(prepared.ok);
  await prepared.value.serve();
  watch.mute = true;
  return watch;
};
const fill = (bench: BusBench, name: string, count: number) => {
  for (let index = 0; index < count; index += 1) bench.bus.tell(name, 'station.later', {}, 'any');
};

test('an event goes to every subscriber with its source stamped, and to who listens until it stops', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  await bench.attach(two);
  const heard: unknown[] = [];
  const stop = bench.bus.listen('test.happened', (event) => heard.push(event));
  assert.equal(code(await bench.ask({ act: 'say', text: 'hello' }, one)), 'ok');
  await until(() => bench.stored('heard/hello', one) !== undefined);
  await until(() => bench.stored('heard/hello', two) !== undefined);
  assert.equal(bench.stored('heard/hello', two), one);
  assert.equal(bench.stored('last-source', one), 'station:test');
  stop();
  await bench.ask({ act: 'say', text: 'again' }, one);
  assert.deepEqual(heard, [{ what: 'hello' }]);
});

test('a command a component sends goes where it is addressed; with a token its fate comes back', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  await bench.attach(two);
  const send = (ask: Record<string, string>) =>
    bench.ask({ act: 'send', text: 'x', ...ask }, one).then((sent) => assert.equal(code(sent), 'ok'));
  await send({ to: two, token: 't1' });
  await until(() => bench.stored('reply/t1', one) !== undefined);
  assert.equal(bench.stored('reply/t1', one), 'test.do {"value":"x"}');
  assert.equal(bench.stored('sent', two), 'x');
  assert.equal(bench.stored('sent', one), undefined);
  await send({ token: 't2' });
  await until(() => bench.stored('reply/t2', one) !== undefined);
  assert.equal(bench.stored('reply/t2', one), 'test.do "bus/ambiguous"');
  await send({ to: 'test.bundle:three' });
  await until(() => bench.events().length > 0);
  const [event] = bench.events();
  assert.deepEqual(
    [event?.kind, event?.subject, event?.problem?.code],
    ['fail', `${one} test.do`, 'bus/no-handler'],
  );
  await send({ to: two });
  await until(() => bench.stored('sent', two) === 'x');
  assert.equal(bench.events().length, 1, 'a command that worked is no event');
});

test('what the station tells comes from it; to nobody it is nothing', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  bench.bus.tell('test.bundle:nobody', 'station.woke', { token: 'x' });
  bench.bus.tell(one, 'station.woke', { token: 'x' });
  await until(() => bench.stored('woke/x', one) !== undefined);
  assert.equal(bench.stored('woke/x', one), 'station');
});

test('a message nobody waits for that fails is an event that names component, topic and reason', async (t) => {
  const bench = await openBusBench(t);
  const real = await bench.component(one);
  const prepared = await bench.bus.prepare({ ...real, subscribes: new Set(['test.undeclared']) });
  assert.ok(prepared.ok);
  await prepared.value.serve();
  bench.bus.tell(one, 'not.of.the.station', {});
  await until(() => bench.events().length > 0);
  const [event] = bench.events();
  assert.deepEqual(
    [event?.kind, event?.subject, event?.problem?.code],
    ['fail', `${one} not.of.the.station`, 'component/topic-unhandled'],
  );
});

test('what comes from outside passes redaction before a component or a shape sees it', async (t) => {
  const bench = await openBusBench(t, { redact: (line) => line.replaceAll('secret', '***') });
  await bench.attach(one);
  assert.equal(code(await bench.ask({ put: { a: 'a secret' } })), 'ok');
  assert.equal(bench.stored('a'), 'a ***');
});

test('a log is written in the name of the component; a failed message keeps it', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  assert.equal(code(await bench.ask({ act: 'log-and-fail', text: 'why' })), 'test/failed');
  assert.ok(bench.done.includes('log warn why'));
  assert.equal(bench.bus.status()[0]?.restarts, 0, 'a failure told before any change is an answer');
});

test('an event for which one subscriber has no room is refused with its message, by that name', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  await silent(bench, two, ['test.happened']);
  fill(bench, two, 4_096 + 100);
  const refused = await bench.ask({ act: 'say', text: 'x', put: { a: 'x' } });
  assert.equal(code(refused), 'bus/inbox-full');
  assert.equal(refused.ok ? '' : refused.problem.subject, two);
  assert.match(refused.ok ? '' : (refused.problem.evidence ?? ''), /^\d+ waiting; 4096 are allowed/);
  assert.equal(bench.stored('a'), undefined);
});

test('a source may go on while its component, and whoever hears what it publishes, has not too much waiting', async (t) => {
  const bench = await openBusBench(t);
  const { bus } = bench;
  await bench.attach(one);
  await silent(bench, two, ['test.happened']);
  await silent(bench, 'test.bundle:three', ['test.undeclared']);
  // Two batches of 32 are under way and wait no more.
  const busy = 512 + 64;
  assert.equal(bus.hasRoom('test.bundle:nobody', 'any'), true);
  fill(bench, 'test.bundle:three', busy);
  await until(() => bus.status()[2]?.waiting === 512);
  assert.equal(bus.hasRoom('test.bundle:three', 'any'), false, 'its own inbox');
  assert.equal(bus.hasRoom(one, 'any'), true, 'three does not hear what one publishes');
  fill(bench, two, busy - 1);
  await until(() => bus.status()[1]?.waiting === 511);
  assert.equal(bus.hasRoom(one, 'any'), true);
  fill(bench, two, 1);
  assert.equal(bus.hasRoom(one, 'any'), false, 'two hears what one publishes');
  let eased = 0;
  bus.onEased(() => {
    eased += 1;
  });
  bus.onEased(() => {
    eased += 100;
  });
  await bench.ask({}, one);
  assert.ok(eased >= 101, 'whoever asked is told when something was handled');
});

test('every message has an ID of its own, also after a restart of the station', async (t) => {
  const bench = await openBusBench(t);
  await bench.attach(one);
  await Promise.all(Array.from({ length: 40 }, () => bench.ask({})));
  const ids = bench.done.filter((line) => line.startsWith('settle ')).map((line) => line.split(' ')[1]);
  assert.equal(ids.length, 40);
  assert.equal(new Set(ids).size, 40);
  const again = await openBusBench(t);
  await again.attach(one);
  await again.ask({});
  const [id] = again.done.filter((line) => line.startsWith('settle ')).map((line) => line.split(' ')[1]);
  assert.ok(id !== undefined && !ids.includes(id));
});

test('retry of what is not in service, and close, which ends every component', async (t) => {
  const bench = await openBusBench(t);
  const watch = await silent(bench, one);
  assert.equal(code(await bench.bus.retry(two)), 'bus/no-handler');
  await bench.bus.close();
  assert.equal(watch.lives[0]?.stopped, true);
  assert.deepEqual(bench.bus.status(), []);
});
