import assert from 'node:assert/strict';
import { test } from 'node:test';
import { frameLines } from '../../host/processes/lines.ts';

const cutInto = (bytes: Buffer, size: number): readonly Buffer[] => {
  const count = Math.ceil(bytes.length / size);
  return Array.from({ length: count }, (_, index) => bytes.subarray(index * size, (index + 1) * size));
};
const framed = (chunks: readonly Buffer[], limit = 1 << 20): { lines: string[]; tooLong: boolean } => {
  const framer = frameLines(limit);
  const lines: string[] = [];
  for (const chunk of chunks) lines.push(...framer.push(chunk));
  return { lines: [...lines, ...framer.rest()], tooLong: framer.tooLong() };
};

const cases: readonly (readonly [name: string, bytes: Buffer, lines: readonly string[]])[] = [
  ['nothing', Buffer.from(''), []],
  ['one line', Buffer.from('a\n'), ['a']],
  ['no newline at the end', Buffer.from('a\nb'), ['a', 'b']],
  ['empty lines are lines', Buffer.from('\n\na\n'), ['', '', 'a']],
  ['CRLF, and a CR that is no line end', Buffer.from('a\r\nb\rc\r\n\r\nd\r'), ['a', 'b\rc', '', 'd']],
  ['two, three and four bytes a character', Buffer.from('ä€😀\n😀€ä'), ['ä€😀', '😀€ä']],
  [
    'invalid UTF-8 is replaced, its neighbours stay',
    Buffer.from([0x61, 0xff, 0x62, 0x0a, 0xe2, 0x82, 0x0a, 0x63]),
    ['a\ufffdb', '\ufffd', 'c'],
  ],
  ['a byte order mark stays', Buffer.from('\ufeff{}\n'), ['\ufeff{}']],
  ['line separators of Unicode are no line ends', Buffer.from('a\u2028b\u0085c\n'), ['a\u2028b\u0085c']],
];

for (const [name, bytes, lines] of cases) {
  test(`lines: ${name}, however the bytes are cut`, () => {
    for (let size = 1; size <= bytes.length + 1; size += 1) {
      assert.deepEqual(framed(cutInto(bytes, size)), { lines, tooLong: false }, `chunks of ${size}`);
    }
  });
}

test('C3: a 5 MB frame whole, and cut at every power of two, is the same line', () => {
  const text = JSON.stringify({ text: 'ä€😀x'.repeat(500_000) });
  const bytes = Buffer.from(`before\r\n${text}\nafter\n`);
  assert.ok(bytes.length > 5_000_000);
  for (let size = bytes.length; size >= 1; size >>= 1) {
    assert.deepEqual(
      framed(cutInto(bytes, size), 8 << 20).lines,
      ['before', text, 'after'],
      `cut at ${size}`,
    );
  }
});

test('C4: a line over the limit stops it, at the same place however it is cut', () => {
  const limit = 10;
  const table: readonly (readonly [text: string, lines: readonly string[], tooLong: boolean])[] = [
    [`${'x'.repeat(10)}\nb\n`, ['x'.repeat(10), 'b'], false],
    [`a\n${'x'.repeat(11)}\nb\n`, ['a'], true],
    [`a\n\n${'x'.repeat(11)}`, ['a', ''], true],
    ['x'.repeat(100), [], true],
    [`${'ä'.repeat(5)}\n${'ä'.repeat(6)}\n`, ['ä'.repeat(5)], true],
  ];
  for (const [text, lines, tooLong] of table) {
    const bytes = Buffer.from(text);
    for (let size = 1; size <= bytes.length; size += 1) {
      assert.deepEqual(framed(cutInto(bytes, size), limit), { lines, tooLong }, `${text} cut at ${size}`);
    }
  }
});

test('a byte a chunk costs no more memory than one chunk', () => {
  const framer = frameLines(4 << 20);
  const chunk = Buffer.from('xxxxxxxx');
  const before = process.memoryUsage().arrayBuffers;
  for (let count = 0; count < (4 << 20) / 8; count += 1) framer.push(chunk);
  const held = process.memoryUsage().arrayBuffers - before;
  framer.push(Buffer.from('x'));
  assert.equal(framer.tooLong(), true);
  assert.ok(held < 40 << 20, `${held} bytes held`);
});
