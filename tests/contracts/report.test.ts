/** Reports: what a person, a script, a code scanner and GitHub get, and what they may not be made to print. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { differences } from '../../host/contracts/differences.ts';
import { finding } from '../../host/contracts/findings.ts';
import { asGithub, asJson, asSarif, asText, type CheckReport } from '../../host/contracts/index.ts';

const report = (more: Partial<CheckReport> = {}): CheckReport => ({
  findings: [
    finding(
      'contract/released-changed',
      { file: 'a b/100%.json', line: 7 },
      {
        subject: 'a.b',
        message: 'The topic "a.b" was released with another shape.',
        differences: [
          { path: '/event/maxLength', before: '1', after: '2' },
          { path: '/event/minLength', after: '3' },
        ],
        releases: [{ commit: 'f'.repeat(40), at: 1_767_225_600, path: 'x.lock' }],
      },
    ),
  ],
  more: 0,
  notes: [],
  seen: { manifests: 1, topics: 2, interfaces: 0, versions: 3, commits: 4 },
  ...more,
});

test('text reads like a compiler', () => {
  assert.equal(
    asText(report()),
    [
      'a b/100%.json:7: contract/released-changed: The topic "a.b" was released with another shape.',
      '    at /event/maxLength: was 1, is 2',
      '    at /event/minLength: was nothing, is 3',
      '    released by commit ffffffffffff of 2026-01-01 (x.lock)',
      '    fix: Give the ID its released shape back and declare the new shape under a new ID, such as the old one with `.v2`.',
      '1 finding: 2 topics in 1 manifest, compared with 3 versions of the locks in 4 commits',
      '',
    ].join('\n'),
  );
});

test('JSON, SARIF and GitHub hold the same', () => {
  const json = JSON.parse(asJson(report()));
  assert.deepEqual(
    [json.ok, json.findings[0].line, json.findings[0].code],
    [false, 7, 'contract/released-changed'],
  );
  const sarif = JSON.parse(asSarif(report()));
  assert.equal(sarif.version, '2.1.0');
  const [result] = sarif.runs[0].results;
  assert.deepEqual(result.locations[0].physicalLocation, {
    artifactLocation: { uri: 'a%20b/100%25.json', uriBaseId: '%SRCROOT%' },
    region: { startLine: 7 },
  });
  assert.equal(sarif.runs[0].tool.driver.rules[result.ruleIndex].id, result.ruleId);
  assert.match(
    asGithub(report(), 'sub/'),
    /^::error file=sub\/a b\/100%25\.json,line=7,title=contract\/released-changed::The topic "a\.b" was released with another shape\.%0Aat \/event\/maxLength: was 1, is 2%0A/,
  );
});

test('a name in a manifest or a repository writes no line and no command of its own', () => {
  const nasty = 'x\n::error::no\r\u001b[31m\u202e';
  const hostile = report({
    findings: [
      finding(
        'contract/unlocked',
        { file: nasty, line: 1 },
        { subject: nasty, message: nasty, evidence: nasty },
      ),
    ],
    notes: [{ code: 'contract/git-failed', message: 'm', evidence: nasty }],
  });
  for (const output of [asText(hostile), asGithub(hostile)]) {
    assert.doesNotMatch(output, /^::error::no/m);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    assert.doesNotMatch(output, /[\u0000-\u0009\u000b-\u001f\u202e]/);
  }
});

test('differences: places and both values, lists without order matched by value', () => {
  const cases: [string, Parameters<typeof differences>[0], Parameters<typeof differences>[1], string[]][] = [
    ['a value', { a: 1 }, { a: 2 }, ['/a 1 2']],
    ['added and removed', { a: 1 }, { b: 1 }, ['/a 1 -', '/b - 1']],
    ['names with slashes', { 'a/b~': 1 }, { 'a/b~': 2 }, ['/a~1b~0 1 2']],
    [
      'one member of a union',
      { anyOf: [{ maximum: 1 }, { type: 'null' }] },
      { anyOf: [{ type: 'null' }, { maximum: 2 }] },
      ['/anyOf/0/maximum 1 2'],
    ],
    ['a member more', { enum: ['a'] }, { enum: ['a', 'b'] }, ['/enum ["a"] ["a","b"]']],
    [
      'a member repeated',
      { oneOf: [{}, {}, true] },
      { oneOf: [{}, true, true] },
      ['/oneOf [{},{},true] [{},true,true]'],
    ],
    [
      'an ordered list',
      { prefixItems: [true, false] },
      { prefixItems: [false, true] },
      ['/prefixItems/0 true false', '/prefixItems/1 false true'],
    ],
    ['another kind of value', { a: {} }, { a: [] }, ['/a {} []']],
    ['a key that objects inherit', { a: 1 }, { a: 1, toString: 1 }, ['/toString - 1']],
    ['nothing', { a: [1, { b: 2 }] }, { a: [1, { b: 2 }] }, []],
  ];
  for (const [what, before, after, expected] of cases)
    assert.deepEqual(
      differences(before, after).map((found) => `${found.path} ${found.before ?? '-'} ${found.after ?? '-'}`),
      expected,
      what,
    );
  const many = Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`k${i}`, 'x'.repeat(1_000)]));
  const told = differences(many, {});
  assert.equal(told.length, 20);
  assert.ok(told.every((found) => (found.before?.length ?? 0) <= 201));
});
