import assert from 'node:assert/strict';
import test from 'node:test';
import { openRedactor } from '../../host/state/index.ts';

const over = (env: Readonly<Record<string, string>>, names: readonly string[] = Object.keys(env)) => {
  const known = new Set(names);
  return openRedactor(() => known, env).text;
};

const secret = 'p\u00e4ss "w\\rd"/+?&\u{1f600}';
const bytes = Buffer.from(secret);
const forms: readonly (readonly [name: string, form: string])[] = [
  ['as it is', secret],
  ['in JSON', JSON.stringify(secret).slice(1, -1)],
  ['in JSON in JSON', JSON.stringify(JSON.stringify(secret)).slice(3, -3)],
  ['in a URL', encodeURIComponent(secret)],
  ['as base64', bytes.toString('base64')],
  ['as base64 without padding', bytes.toString('base64').replace(/=+$/, '')],
  ['as base64url', bytes.toString('base64url')],
  ['as hex', bytes.toString('hex')],
];
test('a secret is replaced in every form it may come in, wherever and however often it stands', () => {
  assert.equal(new Set(forms.map(([, form]) => form)).size, forms.length, 'the forms differ');
  const text = over({ TOKEN: secret });
  for (const [name, form] of forms) {
    const found = text(`before ${form} between ${form}${form} after`);
    assert.ok(!found.includes(form), name);
    assert.match(
      found,
      // The last character of base64 may share its bits with what comes next, and stays.
      /^before \[redacted TOKEN\].?=* between \[redacted TOKEN\].?=*\[redacted TOKEN\].?=* after$/,
      name,
    );
  }
  assert.equal(text('nothing of it here'), 'nothing of it here');
});

test('a secret of several lines is replaced line by line too: output comes in lines', () => {
  const key = '-----BEGIN KEY-----\nMIIEvQ"IBADANBgkqhkiG\r\nBg\n-----END KEY-----\n';
  const text = over({ KEY: key });
  assert.equal(text(key), '[redacted KEY]');
  assert.equal(text('read MIIEvQ"IBADANBgkqhkiG'), 'read [redacted KEY]');
  assert.equal(text(JSON.stringify('MIIEvQ"IBADANBgkqhkiG')), '"[redacted KEY]"');
  assert.equal(text('Bg'), 'Bg', 'a line that is short may be an ordinary word');
});

test('values shorter than six characters are left', () => {
  const text = over({ SHORT: 'abcde', LONG: 'uvwxyz' });
  assert.equal(text('abcde uvwxyz'), 'abcde [redacted LONG]');
});

test('variables that are no secret are left, by their whole name', () => {
  const plain = [
    ...['PATH', 'HOME', 'USER', 'LOGNAME', 'SHELL', 'LANG', 'LC_ALL', 'LC_TIME', 'TERM', 'COLORTERM'],
    ...['NO_COLOR', 'TMPDIR', 'TEMP', 'TMP', 'TZ', 'PWD', 'HOSTNAME', 'DISPLAY', 'EDITOR', 'NODE_ENV'],
    ...['XDG_RUNTIME_DIR', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA', 'USERPROFILE'],
  ];
  for (const name of plain) assert.equal(over({ [name]: 'ordinary' })('ordinary'), 'ordinary', name);
  for (const name of ['MY_PATH', 'PATH_TOKEN', 'home', 'USER_TOKEN', 'MY_LC_ALL', 'TMPX'])
    assert.equal(over({ [name]: 'hidden-value' })('hidden-value'), `[redacted ${name}]`, name);
});

test('of two secrets the longer goes first: no rest of it stays', () => {
  const env = { A: 'secret-one', B: 'secret-one-and-more', C: 'x-secret-one' };
  for (const names of [Object.keys(env), Object.keys(env).reverse()]) {
    const text = over(env, names);
    assert.equal(text('secret-one-and-more'), '[redacted B]');
    assert.equal(text('x-secret-one'), '[redacted C]');
  }
});

test('only variables that are named count, and a change of the names is seen at the next call', () => {
  const env = { ONE: 'value-of-one', TWO: 'value-of-two' };
  let names: ReadonlySet<string> = new Set(['ONE', 'NOT_SET']);
  const { text } = openRedactor(() => names, env);
  assert.equal(text('value-of-one value-of-two'), '[redacted ONE] value-of-two');
  names = new Set(['TWO']);
  assert.equal(text('value-of-one value-of-two'), 'value-of-one [redacted TWO]');
});

test('a value that is no well-formed Unicode does not stop the others from being replaced', () => {
  const text = over({ ODD: 'half \ud83d pair', TOKEN: 'hunter2-hunter2' });
  assert.equal(text('half \ud83d pair, hunter2-hunter2'), '[redacted ODD], [redacted TOKEN]');
});
