import assert from 'node:assert/strict';
import { test } from 'node:test';
import { utf8Decode, utf8Encode } from '../../components/guest/text.ts';

const texts = [
  '',
  'plain',
  'é ß ẞ',
  '漢字',
  '😀 🇩🇪',
  '\u0000\u007f\u0080\u07ff\u0800\uffff',
  'a\ud800b',
  '\udc00',
];
const sequences: readonly (readonly number[])[] = [
  [0x80],
  [0xc0, 0xaf],
  [0xe2, 0x82],
  [0xe2, 0x82, 0x41],
  [0xed, 0xa0, 0x80],
  [0xf0, 0x9f, 0x98],
  [0xf0, 0x80, 0x80, 0x80],
  [0xf4, 0x90, 0x80, 0x80],
  [0xf5, 0x80],
  [0x41, 0xff, 0x42],
];

test('UTF-8 of a guest is UTF-8 of the platform, well-formed or not', () => {
  const decoder = new TextDecoder('utf-8', { ignoreBOM: true });
  for (const text of texts) {
    assert.deepEqual(utf8Encode(text), new TextEncoder().encode(text), JSON.stringify(text));
    assert.equal(utf8Decode(utf8Encode(text)), text.toWellFormed());
  }
  for (const bytes of sequences) {
    const given = Uint8Array.from(bytes);
    assert.equal(utf8Decode(given), decoder.decode(given), bytes.map((byte) => byte.toString(16)).join(' '));
  }
  const long = 'é😀x'.repeat(50_000);
  assert.equal(utf8Decode(new TextEncoder().encode(long)), long);
});
