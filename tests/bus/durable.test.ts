import assert from 'node:assert/strict';
import test from 'node:test';
import { openBusBench } from './fixture.ts';

test('what leaves the station waits for the disk; what components tell each other does not', async (t) => {
  const held: (() => void)[] = [];
  let holds = true;
  const bench = await openBusBench(t, {
    durable: (then) => (holds ? void held.push(then) : then()),
    owns: () => true,
  });
  t.after(() => {
    holds = false;
    for (const then of held.splice(0)) then();
  });
  await bench.attach('test.bundle:one');
  await bench.attach('test.bundle:two');
  const heard: unknown[] = [];
  bench.bus.listen('test.happened', (event) => heard.push(event));
  let answered = false;
  const asked = bench.ask({ put: { a: 'first' }, act: 'publish' }, 'test.bundle:one').then((answer) => {
    answered = true;
    return answer;
  });
  const killed = bench.ask({ act: 'kill', get: 'p' }, 'test.bundle:one');
  // The event was heard by both components; nobody outside knows of any of it.
  const until = async (condition: () => boolean): Promise<void> => {
    const end = performance.now() + 10_000;
    while (!condition()) {
      assert.ok(performance.now() < end, 'it does not come');
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  };
  await until(() => bench.stored('heard/something', 'test.bundle:two') !== undefined && held.length >= 4);
  assert.equal(bench.stored('a'), 'first', 'it is written');
  assert.deepEqual([answered, heard, bench.done.includes('kill')], [false, [], false]);
  assert.ok(bench.done.some((line) => line.startsWith('settle')));
  holds = false;
  for (const then of held.splice(0)) then();
  assert.equal((await asked).ok, true);
  assert.equal((await killed).ok, true);
  assert.equal(heard.length, 1);
  assert.equal(bench.done.includes('kill'), true);
});
