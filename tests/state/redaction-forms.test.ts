import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { openRedactor } from '../../host/state/index.ts';

const redactor = (value: string, name = 'TOKEN') => openRedactor(() => new Set([name]), { [name]: value });
const redactorFor = (value: string, name = 'TOKEN') => redactor(value, name).text;
const pem = '-----BEGIN KEY-----\nMIIEvQIBADANBgkqhkiG9w0BAQ\nEFAASCBKcwggSjAgEAAoIBAQC7\n-----END KEY-----';

describe('every form of a value is taken out', () => {
  const value = 'ca/nary"1+ü-tail0';
  const json = JSON.stringify(value).slice(1, -1);
  const rows: readonly (readonly [string, string])[] = [
    ['as it is', value],
    ['in JSON', json],
    ['in JSON in JSON', JSON.stringify(json).slice(1, -1)],
    ['in JSON with escaped slashes', json.replaceAll('/', '\\/')],
    ['in JSON of ASCII', json.replace('ü', '\\u00fc')],
    ['in a URL', encodeURIComponent(value)],
    ['in a URL, small letters', encodeURIComponent(value).replace(/%../g, (byte) => byte.toLowerCase())],
    ['in hex', Buffer.from(value).toString('hex')],
    ['in hex, capitals', Buffer.from(value).toString('hex').toUpperCase()],
  ];
  for (const [name, form] of rows)
    it(`${name}, and anywhere in a value`, () => {
      assert.equal(redactorFor(value)(`<${form}>`), '<[redacted TOKEN]>');
      assert.deepEqual(redactor(value).value({ [form]: [1, null, { deep: `<${form}>` }] }), {
        [form]: [1, null, { deep: '<[redacted TOKEN]>' }],
      });
    });
  it('a value without one is handed on as it is', () => {
    const clean = { list: ['<canary>'] };
    assert.equal(redactor(value).value(clean), clean);
    assert.equal(redactor(value).value(undefined), undefined);
  });

  it('in Base64, wherever in its group it begins and ends', () => {
    for (const before of ['', 'u', 'u:', 'us:', 'usr:'])
      for (const after of ['', ':', ':x', ':xy'])
        for (const encoding of ['base64', 'base64url'] as const) {
          const text = Buffer.from(`${before}${value}${after}`).toString(encoding);
          const left = redactorFor(value)(text);
          assert.match(left, /\[redacted TOKEN\]/, text);
          const rest = left.replace('[redacted TOKEN]', '').replaceAll('=', '');
          const spare = Buffer.byteLength(before + after) * 2 + 4;
          assert.ok(rest.length <= spare, `${text}: ${left}`);
        }
  });

  it('a line of a value of several lines', () => {
    const redact = redactorFor(pem);
    for (const line of pem.split('\n')) assert.equal(redact(`| ${line}`), '| [redacted TOKEN]');
    assert.equal(redact(JSON.stringify(pem)), '"[redacted TOKEN]"');
    assert.equal(redactorFor('ok\nMIIEvQIBADANBgkqhkiG9w0BAQ')('ok then'), 'ok then');
  });
});

describe('what a value holds is taken out where it is told alone', () => {
  const encoded = (pair: string, as: 'base64' | 'base64url' = 'base64') => Buffer.from(pair).toString(as);
  const rows: readonly (readonly [what: string, value: string, held: string])[] = [
    ['the token behind its scheme', 'Bearer abc-12345', 'abc-12345'],
    ['the password of Basic', encoded('me:open-sesame'), 'open-sesame'],
    ['the password of Basic behind its scheme', `basic ${encoded('me:ö"pen:sesame')}`, 'ö"pen:sesame'],
    ['a password alone', encoded(':open-sesame'), 'open-sesame'],
    ['the password of Basic for URLs', encoded('me:ÿÿÿ~~~???', 'base64url'), 'ÿÿÿ~~~???'],
    ['the password in an address', 'postgres://me:open-sesame@db/x', 'open-sesame'],
    ['what a password in an address means', 'postgres://me:open%2Fsesame@db/x', 'open/sesame'],
  ];
  for (const [what, value, held] of rows)
    it(what, () => {
      const { text, pieces } = redactor(value);
      assert.equal(text(`<${held}>`), '<[redacted TOKEN]>');
      assert.equal(text(`<${value}>`), '<[redacted TOKEN]>');
      const stream = pieces();
      const line = (part: string) => JSON.stringify({ text: part });
      const lines = [
        ...stream.push(line(held.slice(0, 5))),
        ...stream.push(line(held.slice(5))),
        ...stream.rest(),
      ];
      assert.equal(lines.join(''), `${line('[redacted TOKEN]')}${line('')}`);
    });
  it('but no word of six letters that only looks like one', () => {
    for (const value of [
      encoded('me:short'),
      encoded('a sentence without'),
      encoded('a:b\u0000cdefghi'),
      'scheme of-two',
    ])
      assert.equal(redactorFor(value)('short sentence cdefghi of-two'), 'short sentence cdefghi of-two');
  });
});

describe('what is no secret stays', () => {
  it('the path of something that exists', () => {
    const folder = mkdtempSync(join(tmpdir(), 'redaction-'));
    assert.equal(redactorFor(folder)(`${folder}/repo`), `${folder}/repo`);
    rmSync(folder, { recursive: true });
    assert.equal(redactorFor(folder)(`${folder}/repo`), '[redacted TOKEN]/repo');
  });
  it('short values, and variables everybody has', () => {
    assert.equal(redactorFor('short')('short'), 'short');
    assert.equal(redactorFor('/usr/bin:/bin', 'PATH')('/usr/bin:/bin'), '/usr/bin:/bin');
  });
});
