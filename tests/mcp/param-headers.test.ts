/** SEP-2243: what of an argument is said again in a header, and how. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { decodedHeader, encodedHeader, headerText } from '../../host/mcp/param-headers.ts';

test('text, numbers and flags are headers; nothing else is, and no number that is not exact', () => {
  const table: readonly (readonly [unknown, string | undefined])[] = [
    ['eu', 'eu'],
    ['', ''],
    [true, 'true'],
    [3, '3'],
    [-1.5, '-1.5'],
    [2 ** 53, undefined],
    [Number.NaN, undefined],
    [null, undefined],
    [['eu'], undefined],
    [{ region: 'eu' }, undefined],
  ];
  for (const [value, text] of table) assert.equal(headerText(value), text, JSON.stringify(value));
});

test('what no header can hold stands in base64, and comes out as it went in', () => {
  const table: readonly (readonly [string, string])[] = [
    ['eu west', 'eu west'],
    [' eu', '=?base64?IGV1?='],
    ['Zürich', '=?base64?WsO8cmljaA==?='],
    ['a\r\nb', '=?base64?YQ0KYg==?='],
    ['', '=?base64??='],
    // Plain, but it would be taken for base64.
    ['=?base64?IGV1?=', '=?base64?PT9iYXNlNjQ/SUdWMT89?='],
  ];
  for (const [text, header] of table) {
    assert.equal(encodedHeader(text), header, JSON.stringify(text));
    assert.equal(decodedHeader(header), text, JSON.stringify(text));
  }
});

test('base64 that is not canonical, or is no UTF-8, has no text', () => {
  for (const header of ['=?base64?IGV?=', '=?base64?IG V1?=', '=?base64?/w==?=', '=?base64?='])
    assert.equal(decodedHeader(header), undefined, header);
});
