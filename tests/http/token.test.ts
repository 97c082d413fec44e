import assert from 'node:assert/strict';
import { test } from 'node:test';
import { bearerOf, newToken, tokenMark } from '../../host/http/index.ts';

const { forms } = tokenMark;
const without = (text: string): string => text.replace(forms, '#');

test('a token is new each time and fits into a header and a URL as it is', () => {
  const token = newToken();
  assert.notEqual(newToken(), token);
  assert.equal(bearerOf(`Bearer ${token}`), token);
  assert.equal(encodeURIComponent(token), token);
});

test('a token is known in every form, wherever it stands', () => {
  for (let each = 0; each < 50; each += 1) {
    const token = newToken();
    const hex = Buffer.from(token).toString('hex');
    for (const form of [token, hex, hex.toUpperCase()]) assert.equal(without(`<${form}>${form}`), '<#>#');
    for (const before of ['', 'u', 'u:', 'us:'])
      for (const after of ['', ':', ':x', ':xy'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const left = without(Buffer.from(`${before}${token}${after}`).toString(encoding)).replaceAll(
            '=',
            '',
          );
          assert.ok(left.includes('#') && left.length <= 10, `${before}${after}: ${left}`);
        }
  }
});

test('what only begins like one stays', () => {
  for (const text of ['jst_', 'jst_short', 'just_a_word', newToken().slice(0, -1), newToken().slice(1)])
    assert.equal(without(text), text);
});
