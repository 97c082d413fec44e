import assert from 'node:assert/strict';
import test from 'node:test';
import { openRest } from '../../host/station/rest.ts';

/** A rest whose time passes when the test says so; `shares` is what the thread worked in each look. */
const at = (shares: readonly number[]) => {
  let [given, looks, told]: [number, number, number] = [0, 0, 0];
  let waiting: (() => void) | undefined;
  const left = [...shares];
  const rest = openRest({
    giveBack: () => {
      given += 1;
    },
    // Asked once when a wait begins: that is no look.
    worked: () => (told++ === 0 ? 1 : (left.shift() ?? 0)),
    later: (then) => {
      waiting = then;
      return () => {
        waiting = undefined;
      };
    },
  });
  const pass = (): boolean => {
    const now = waiting;
    waiting = undefined;
    looks += now === undefined ? 0 : 1;
    now?.();
    return now !== undefined;
  };
  return { rest, pass, given: () => given, looks: () => looks };
};

test('memory is given back once after work, as soon as the thread was hardly used for a while', async () => {
  const rows: readonly (readonly [readonly number[], { given: number; looks: number }])[] = [
    [[0], { given: 1, looks: 1 }],
    [[0.09], { given: 1, looks: 1 }],
    [[0.5, 0.1, 0.02], { given: 1, looks: 3 }],
    [Array.from({ length: 500 }, () => 1), { given: 0, looks: 120 }],
  ];
  for (const [shares, expected] of rows) {
    const { rest, pass, given, looks } = at(shares);
    assert.equal(pass(), false, 'nothing is due at first');
    assert.equal(await rest.after(async () => 7), 7);
    while (pass());
    assert.deepEqual({ given: given(), looks: looks() }, expected);
  }
});

test('whatever begins meanwhile holds it off until it is done or has failed; nothing comes after the close', async () => {
  const { rest, pass, given } = at([]);
  await rest.after(async () => undefined);
  const { promise, reject } = Promise.withResolvers<never>();
  const second = rest.after(() => promise);
  assert.deepEqual([pass(), given()], [false, 0]);
  reject(new Error('no'));
  await assert.rejects(second, /^Error: no$/);
  assert.deepEqual([pass(), pass(), given()], [true, false, 1]);
  await rest.after(async () => undefined);
  rest.close();
  assert.equal(pass(), false);
  await rest.after(async () => undefined);
  assert.deepEqual([pass(), given()], [false, 1]);
});
