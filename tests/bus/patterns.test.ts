/** Patterns of strangers: which are matched as they are, and what becomes of one that takes for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { isPlainPattern, matcherOf } from '../../host/bus/patterns.ts';

for (const [pattern, plain] of [
  ['^[a-z0-9]+$', true],
  ['^\\d{1,3}$', true],
  ['^s-[a-z0-9]{20}$', true],
  ['^\\p{L}+$', true],
  ['^x[)*|+]y$', true],
  ['[a-z]+', false],
  ['^(a+)+$', false],
  ['^(a|a)*$', false],
  ['^a*a*b$', false],
  ['^(?:a|aa){30}$', false],
  ['^(a{1,9}){9}$', false],
  ['^a{1,}b{2,}$', false],
] as const)
  test(`${pattern} is ${plain ? 'matched as it is' : 'watched'}`, () =>
    assert.equal(isPlainPattern(pattern), plain));

test('both ways answer alike', () => {
  const texts = ['', 'a', 'aaa', 'ab', 'é', '𝒳', 'a\n', 'aab'];
  for (const pattern of ['^a+$', '^(a+)+$', 'a', '^(?:a|b)*$', '^.$', '^(a)(b)?$'])
    for (const text of texts)
      assert.equal(matcherOf(pattern)(text), new RegExp(pattern, 'u').test(text), `${pattern} ${text}`);
});

test('a text that takes for ever does not match, and the thread goes on', { timeout: 20_000 }, () => {
  const matches = matcherOf('^(a+)+$');
  assert.equal(matches(`${'a'.repeat(60)}!`), false);
  assert.equal(matches('a'.repeat(60)), true);
});
