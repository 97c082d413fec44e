/** Patterns of strangers: which are matched as they are, and what becomes of one that takes for ever. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { format as formats } from '@cfworker/json-schema';
import { formatCheck, isPlainPattern, matcherOf } from '../../host/bus/patterns.ts';

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

test('no format of a shape takes for ever, and each answers as its library does', { timeout: 20_000 }, () => {
  const texts = ['2026-02-28', 'a@b.example', 'https://a.example/x', '::1', '/a/b', 'x'];
  const long = 3_000;
  const endless = ['a', 'a.', 'a-', 'a@a.', '%41', 'http://a@', '::', '1.', '/a~0', '{a,', '(a+)+', '.1'].map(
    (part) => `http://${part.repeat(long / part.length)}!`,
  );
  for (const [name, check] of Object.entries(formats)) {
    const made = formatCheck(name, (text) => check(text) === true);
    for (const text of texts) assert.equal(made(text), check(text) === true, `${name} ${text}`);
    for (const text of [...endless, ...endless.map((one) => one.slice('http://'.length))]) {
      const began = performance.now();
      made(text);
      assert.ok(performance.now() - began < 1_000, `${name} ${text.slice(0, 20)}`);
    }
  }
});
