import assert from 'node:assert/strict';
import test from 'node:test';
import { openComponentStore } from '../../host/state/index.ts';
import { opened } from './fixture.ts';

// In the order of their UTF-8 bytes; in that of UTF-16 units U+1F600 and U+10000 would stand before U+E000 and U+FFFF.
const keys = ['a', 'a/', 'a/1', 'a/10', 'a/2', 'a0', 'b', 'é', '\ue000', '\uffff', '\u{10000}', '\u{1f600}x'];

const rows: readonly (readonly [
  name: string,
  prefix: string,
  after: string | null,
  limit: number,
  found: readonly string[],
])[] = [
  ['everything', '', null, 100, keys],
  ['a limit', '', null, 3, ['a', 'a/', 'a/1']],
  ['no limit left', '', null, 0, []],
  ['a prefix, itself included', 'a/', null, 100, ['a/', 'a/1', 'a/10', 'a/2']],
  ['a prefix and a limit', 'a/', null, 2, ['a/', 'a/1']],
  ['after a key of the prefix', 'a/', 'a/1', 100, ['a/10', 'a/2']],
  ['after a key that is not there', 'a/', 'a/11', 100, ['a/2']],
  ['after a key before the prefix', 'a/', 'a', 100, ['a/', 'a/1', 'a/10', 'a/2']],
  ['after a key beyond the prefix', 'a/', 'b', 100, []],
  ['after the last', '', '\u{1f600}x', 100, []],
  ['a prefix nothing has', 'c', null, 100, []],
  ['the last code unit of one plane', '\uffff', null, 100, ['\uffff']],
  ['an astral prefix', '\u{1f600}', null, 100, ['\u{1f600}x']],
  ['after a private-use key: astral ones follow', '', '\uffff', 100, ['\u{10000}', '\u{1f600}x']],
  ['after an astral key', '', '\u{10000}', 100, ['\u{1f600}x']],
  ['SQL wildcards are ordinary characters', '%', null, 100, []],
  ['_ too', '_', null, 100, []],
];
test('scan: keys that begin with the prefix and sort after a key by UTF-8 bytes, at most the limit', (t) => {
  const store = openComponentStore(opened(t).db);
  for (const key of keys.toReversed()) store.put('test:one', key, `value of ${key}`);
  store.put('test:two', 'a/0', 'another component');
  for (const [name, prefix, after, limit, found] of rows) {
    const scanned = store.scan('test:one', prefix, after, limit);
    assert.deepEqual(
      scanned.map(({ key }) => key),
      found,
      name,
    );
    for (const { key, value } of scanned) assert.equal(value, `value of ${key}`, name);
  }
});

test('pages of a scan are the whole, whatever their size', (t) => {
  const store = openComponentStore(opened(t).db);
  for (const key of keys) store.put('test:one', key, '');
  for (const size of [1, 2, 5]) {
    const seen: string[] = [];
    for (;;) {
      const page = store.scan('test:one', '', seen.at(-1) ?? null, size);
      if (page.length === 0) break;
      seen.push(...page.map(({ key }) => key));
    }
    assert.deepEqual(seen, keys, `pages of ${size}`);
  }
});

test('a component sees and changes its own keys only; a key written again has the last value', (t) => {
  const store = openComponentStore(opened(t).db);
  store.put('test:one', 'k', 'first');
  store.put('test:one', 'k', 'second');
  store.put('test:two', 'k', 'other');
  assert.equal(store.get('test:one', 'k'), 'second');
  store.remove('test:one', 'k');
  store.remove('test:one', 'not there');
  assert.equal(store.get('test:one', 'k'), undefined);
  assert.equal(store.get('test:two', 'k'), 'other');
});
