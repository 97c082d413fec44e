import assert from 'node:assert/strict';
import test from 'node:test';
import { openRest } from '../../host/station/rest.ts';

const heapWatchMs = 10_000;
/** What is in use, and so not given back. */
const keptMib = 20;

/** A rest whose time passes when the test says so; `shares` is what the thread worked in each look. */
const at = (shares: readonly number[]) => {
  let [given, looks, begun, held]: [number, number, boolean, number] = [0, 0, false, 0];
  const waiting = new Map<'look' | 'watch', () => void>();
  const left = [...shares];
  const rest = openRest({
    giveBack: () => {
      given += 1;
      held = keptMib * 2 ** 20;
    },
    // Asked once when a wait begins: that is no look.
    worked: () => {
      if (begun) return left.shift() ?? 0;
      begun = true;
      return 1;
    },
    held: () => held,
    later: (then, ms) => {
      const kind = ms === heapWatchMs ? 'watch' : 'look';
      waiting.set(kind, then);
      return () => waiting.delete(kind);
    },
  });
  const due = (kind: 'look' | 'watch'): boolean => {
    const now = waiting.get(kind);
    waiting.delete(kind);
    now?.();
    return now !== undefined;
  };
  const pass = (): boolean => {
    const was = due('look');
    looks += was ? 1 : 0;
    return was;
  };
  /** Lets the heap grow to so much, and what looks at it look. */
  const grow = (mib: number): boolean => {
    held = mib * 2 ** 20;
    return due('watch');
  };
  return { rest, pass, grow, given: () => given, looks: () => looks };
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

test('a heap that traffic has made 32 MiB larger is given back too, and not again before it has grown anew', async () => {
  const { rest, pass, grow, given } = at([]);
  assert.deepEqual([grow(32), pass(), given()], [true, false, 0], 'no more than it may');
  assert.deepEqual([grow(33), pass(), given()], [true, true, 1]);
  assert.deepEqual([grow(keptMib + 32), pass(), given()], [true, false, 1]);
  const { promise, resolve } = Promise.withResolvers<void>();
  const change = rest.after(() => promise);
  assert.deepEqual([grow(80), pass()], [true, false], 'not while bundles change');
  resolve();
  await change;
  assert.deepEqual([pass(), given()], [true, 2]);
  rest.close();
  assert.equal(grow(80), false);
});
