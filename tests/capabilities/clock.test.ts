import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { openWakes } from '../../host/capabilities/index.ts';

const bench = (t: TestContext) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const heard: string[] = [];
  const wakes = openWakes(
    (component, token) => heard.push(`${component} ${token}`),
    (component, token) => heard.push(`refused ${component} ${token}`),
  );
  return { wakes, heard, tick: (ms: number) => t.mock.timers.tick(ms) };
};

test('one wake-up a token, not sooner than asked for', (t) => {
  const { wakes, heard, tick } = bench(t);
  wakes.wake('a:b', 'one', 100);
  wakes.wake('a:b', 'two', 50);
  wakes.wake('a:c', 'one', 200);
  tick(49);
  assert.deepEqual(heard, []);
  tick(1);
  assert.deepEqual(heard, ['a:b two']);
  tick(150);
  assert.deepEqual(heard, ['a:b two', 'a:b one', 'a:c one']);
  tick(10_000);
  assert.equal(heard.length, 3);
});

test('a token asked for again moves, in both directions', (t) => {
  const { wakes, heard, tick } = bench(t);
  wakes.wake('a:b', 'later', 100);
  wakes.wake('a:b', 'later', 300);
  wakes.wake('a:b', 'sooner', 300);
  wakes.wake('a:b', 'sooner', 100);
  tick(100);
  assert.deepEqual(heard, ['a:b sooner']);
  tick(1_000);
  assert.deepEqual(heard, ['a:b sooner', 'a:b later']);
});

test('the longest wait a guest can ask for is kept: 49 days do not end at once', (t) => {
  const { wakes, heard, tick } = bench(t);
  wakes.wake('a:b', 'far', 2 ** 32 - 1);
  wakes.wake('a:b', 'moved', 2 ** 32 - 1);
  tick(2 ** 31 - 1);
  wakes.wake('a:b', 'moved', 5);
  tick(2 ** 31 - 1);
  assert.deepEqual(heard, ['a:b moved']);
  tick(1);
  assert.deepEqual(heard, ['a:b moved', 'a:b far']);
});

test('a component has at most 1000 pending: a new one is refused by its token, one of them may move', (t) => {
  const { wakes, heard, tick } = bench(t);
  for (let index = 0; index < 1_000; index += 1) wakes.wake('a:b', `t${index}`, 100);
  assert.deepEqual(heard, []);
  wakes.wake('a:b', 'more', 10);
  wakes.wake('a:c', 'another component', 10);
  wakes.wake('a:b', 't0', 10);
  tick(10);
  assert.deepEqual(heard.splice(0), ['refused a:b more', 'a:c another component', 'a:b t0']);
  wakes.wake('a:b', 'more', 10);
  tick(10);
  assert.deepEqual(heard, ['a:b more'], 'one that has come makes room');
  wakes.forget('a:b');
  for (let index = 0; index < 1_000; index += 1) wakes.wake('a:b', `n${index}`, 100);
  assert.deepEqual(heard, ['a:b more'], 'those forgotten do not count');
});

test('a component that leaves is not woken, nor anybody once the station stops', (t) => {
  const { wakes, heard, tick } = bench(t);
  wakes.wake('a:b', 'one', 10);
  wakes.wake('a:c', 'two', 10);
  wakes.wake('a:d', 'three', 20);
  wakes.forget('a:b');
  wakes.forget('a:nobody');
  tick(10);
  assert.deepEqual(heard, ['a:c two']);
  wakes.close();
  tick(100);
  assert.deepEqual(heard, ['a:c two']);
  wakes.wake('a:b', 'again', 5);
  tick(5);
  assert.deepEqual(heard, ['a:c two', 'a:b again']);
});

/** Runs a script with `openWakes` in a process of its own, on its real clock. */
const ownProcess = (script: string) => {
  const module = join(import.meta.dirname, '..', '..', 'host', 'capabilities', 'clock.ts');
  const text = `const { openWakes } = await import(${JSON.stringify(module)}); ${script}`;
  return spawnSync(process.execPath, ['--input-type=module', '-e', text], { timeout: 20_000 });
};

test('a pending wake-up keeps no process alive', () => {
  const ran = ownProcess(`openWakes(() => {}, () => {}).wake('a:b', 't', 600000);`);
  assert.equal(ran.status, 0, String(ran.stderr));
});

test('a wait longer than a timer of Node can be does not end at once', () => {
  const ran = ownProcess(`openWakes(() => process.exit(9), () => {}).wake('a:b', 't', 2 ** 32 - 1);
    await new Promise((resolve) => setTimeout(resolve, 50));`);
  assert.equal(ran.status, 0, String(ran.stderr));
});
