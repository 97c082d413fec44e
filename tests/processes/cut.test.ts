import assert from 'node:assert/strict';
import test from 'node:test';
import { cutLines, keptTail, mostTimes } from '../../host/processes/cut.ts';

const limit = 2_000;
const long = 'a'.repeat(limit + 700);
const cases: readonly (readonly [what: string, text: string, want: string])[] = [
  ['short lines', 'one\ntwo\r\n\nthree', 'one\ntwo\r\n\nthree'],
  ['exactly the limit', `${'b'.repeat(limit)}\nx\n`, `${'b'.repeat(limit)}\nx\n`],
  ['one over it', `${'b'.repeat(limit)}c\nx\n`, `${'b'.repeat(limit)}\0c\nx\n`],
  [
    'far over it, between short ones',
    `x\n${long}END\ny\n`,
    `x\n${'a'.repeat(limit)}\0${`${long}END`.slice(-keptTail)}\ny\n`,
  ],
  ['two after each other', `${long}\n${long}\n`, `${'a'.repeat(limit)}\0${'a'.repeat(keptTail)}\n`.repeat(2)],
];

test('lines over the limit lose their middle, however the bytes were cut', () => {
  for (const [what, text, want] of cases) {
    const bytes = Buffer.from(text);
    for (const size of [1, 7, 512, 1_999, 2_000, 2_001, bytes.length]) {
      const cutter = cutLines(limit);
      const out: Buffer[] = [];
      for (let at = 0; at < bytes.length; at += size) out.push(cutter.push(bytes.subarray(at, at + size)));
      assert.equal(Buffer.concat(out).toString(), want, `${what}, ${size} bytes a chunk`);
      assert.equal(cutter.over(), false);
    }
  }
});

test('C4: a line without an end is over at four times the limit, and holds no more than the limit', () => {
  const cutter = cutLines(limit);
  let held = 0;
  for (let sent = 0; sent < limit * mostTimes; sent += 500)
    held += cutter.push(Buffer.alloc(500, 'a')).length;
  assert.equal(held, limit);
  assert.equal(cutter.over(), false);
  cutter.push(Buffer.from('a'));
  assert.equal(cutter.over(), true);
});
