import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  collision,
  collisionKey,
  collisions,
  relativeSegments,
  segmentFault,
  shownPath,
} from '../../host/paths/index.ts';

const good = [
  'a',
  'a.b',
  '.a',
  'a b',
  ' a',
  'ä',
  'straße',
  '日本',
  'a~b',
  'aux-notes.md',
  'console',
  'com',
  'com10',
  'lpt',
  'nulls.txt',
  'x'.repeat(255),
  '-rf',
  '$HOME',
  "it's",
  '100%',
  'a~1.markdown',
  'longer-name~1',
  '😀.md',
  '...a',
  'abcdef~123',
];
for (const segment of good)
  test(`segment ${JSON.stringify(segment.slice(0, 20))} can be a name`, () =>
    assert.equal(segmentFault(segment), undefined));

const bad: readonly (readonly [string, RegExp])[] = [
  ['', /empty/],
  ['.', /segment "\."/],
  ['..', /segment "\.\."/],
  ['a.', /dot or a space/],
  ['a ', /dot or a space/],
  ['...', /dot or a space/],
  ['cafe\u0301', /NFC/],
  ['\ud800', /well-formed/],
  ['a\0b', /invisible/],
  ['a\nb', /invisible/],
  ['a\u001bb', /invisible/],
  ['a\u0085b', /invisible/],
  ['a\u202eb', /invisible/],
  ['a\u200bb', /invisible/],
  ['.bearpunch\u200c-placed.json', /invisible/],
  ['\ufeffa', /invisible/],
  ['a\u2028b', /invisible/],
  ['a\u2029b', /invisible/],
  ['a\uf03ab', /invisible/],
  ...[...'<>:"|?*\\\ufffd'].map((char) => [`a${char}b`, /not allowed/] as const),
  ...[
    'con',
    'CON',
    'aux.md',
    'Nul',
    'prn.',
    'com1',
    'COM¹.txt',
    'lpt9.a.b',
    'conin$',
    'CLOCK$',
    'nul .txt',
    'com0',
  ].map((name) => [name, /device name|dot or a space/] as const),
  ['README~1.MD', /short name/],
  ['GIT~1', /short name/],
  ['a~12.txt', /short name/],
  ['x'.repeat(256), /255 bytes/],
  ['ä'.repeat(128), /255 bytes/],
];
for (const [segment, said] of bad)
  test(`segment ${JSON.stringify(shownPath(segment.slice(0, 20)))} cannot`, () =>
    assert.match(segmentFault(segment) ?? '', said));

test('a relative path comes as its segments; another is paths/unsafe', () => {
  assert.deepEqual(relativeSegments('a/b.c/d'), { ok: true, value: ['a', 'b.c', 'd'] });
  for (const path of [
    '',
    '/',
    '/a',
    'a/',
    'a//b',
    '../a',
    'a/../b',
    'a/./b',
    'C:\\x',
    'C:/x',
    '\\\\server\\x',
    'a\\b',
    '~/'.repeat(600),
  ]) {
    const result = relativeSegments(path);
    assert.equal(result.ok ? 'ok' : result.problem.code, 'paths/unsafe', path);
  }
  assert.equal(relativeSegments(Array.from({ length: 512 }, () => 'a').join('/')).ok, true);
  assert.equal(relativeSegments(`${'a/'.repeat(512)}a`).ok, false);
});

test('a path says what is wrong with it as a whole', () => {
  for (const [path, said] of [
    ['', /is empty/],
    ['/a', /is absolute/],
    ['a/'.repeat(600), /longer than 1024 bytes/],
  ] as const) {
    const result = relativeSegments(path);
    assert.match(result.ok ? '' : result.problem.message, said, path);
  }
});

test('a key is in lower case: rules look for names in it', () =>
  assert.equal(collisionKey('Skills/ÀB/.Placed.JSON'), 'skills/àb/.placed.json'));

test('P10: two paths with one key are one file somewhere', () => {
  const same: readonly (readonly [string, string])[] = [
    ['Readme.md', 'README.md'],
    ['straße', 'STRASSE'],
    ['straße', 'STRAẞE'],
    ['caf\u00e9', 'cafe\u0301'],
    ['ς', 'σ'],
    ['ΑΣ', 'ας'],
    ['a.', 'a'],
    ['a ', 'a'],
    ['a. .', 'a'],
    ['a./b', 'a/b'],
    ['\u212a', 'k'],
    ['ﬁ', 'fi'],
    ['İ', 'i\u0307'],
    ['ſ', 's'],
    ['a\u200db', 'ab'],
    ['❤\ufe0f', '❤'],
    ['\u1e9e', 'ss'],
    ['Ꭰ', 'ꭰ'],
    ['ᾳ', 'ΑΙ'],
    // ZFS may normalise to KC.
    ['\uff21', 'a'],
    ['\u00cc', '\u0131\u0300'],
  ];
  for (const [one, other] of same) assert.equal(collisionKey(one), collisionKey(other), `${one} ${other}`);
  for (const [one, other] of [
    ['a', 'b'],
    ['a/b', 'ab'],
    ['.a', 'a'],
    ['a b', 'ab'],
    ['é', 'e'],
  ] as const)
    assert.notEqual(collisionKey(one), collisionKey(other), `${one} ${other}`);
});

const lists: readonly (readonly [string, readonly string[], readonly (readonly [string, string])[]])[] = [
  ['nothing', [], []],
  ['different names', ['a', 'b', 'c/a', 'd/a'], []],
  ['one folder used twice', ['a/b', 'a/c', 'a/d/e'], []],
  ['the same twice', ['a', 'a'], [['a', 'a']]],
  ['case', ['x/A', 'x/a'], [['x/A', 'x/a']]],
  ['twin folders, named once', ['Docs/a', 'docs/b', 'docs/c'], [['Docs', 'docs']]],
  ['twin folders deep', ['x/Docs/a', 'x/docs/b'], [['x/Docs', 'x/docs']]],
  ['a file, then a folder', ['a', 'a/b'], [['a', 'a/b']]],
  ['a folder, then a file', ['a/b', 'a'], [['a/b', 'a']]],
  ['a file that is a folder in capitals', ['A', 'a/b'], [['A', 'a/b']]],
  [
    'several at once',
    ['a', 'A', 'b', 'B'],
    [
      ['a', 'A'],
      ['b', 'B'],
    ],
  ],
];
for (const [name, paths, pairs] of lists)
  test(`P10: collisions of ${name}`, () => {
    assert.deepEqual(collisions(paths), pairs);
    assert.deepEqual(collision(paths), pairs[0]);
  });

test('a path is shown so that a terminal obeys nothing', () => {
  assert.equal(shownPath('a\u001b[2Jé\u202e\n\ud800'), 'a\\u{1b}[2Jé\\u{202e}\\u{a}\\u{d800}');
});

test('of a long path its beginning is shown', () => {
  assert.equal(shownPath('x'.repeat(5_000)), 'x'.repeat(300));
});
