/** Granting and revoking edit the operator's file: comments stay, lists change an entry at a time. */
import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { type Granted, grant, revoke } from '../../host/station/grants.ts';

const fileWith = (t: TestContext, text: string): string => {
  const folder = mkdtempSync(join(tmpdir(), 'jupiter-grants-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'policy.jsonc');
  writeFileSync(file, text);
  return file;
};

type Change = (file: string) => ReturnType<typeof grant>;
const table: readonly (readonly [string, string, Change, string, readonly string[]])[] = [
  [
    'a bundle that is not named gets an entry',
    '{\n  // mine\n  "grants": {\n  },\n}\n',
    (file) => grant(file, 'a.b', ['store:own', 'bus:publish']),
    '{\n  // mine\n  "grants": {\n    "a.b": ["store:own", "bus:publish"]\n  },\n}\n',
    ['bus:publish', 'store:own'],
  ],
  [
    'what is there is kept, comments and all, and nothing is granted twice',
    '{ "grants": { "a.b": [\n  "store:own", // its notes\n] } }\n',
    (file) => grant(file, 'a.b', ['store:own', 'bus:publish']),
    '{ "grants": { "a.b": [\n  "store:own", // its notes\n  "bus:publish",\n] } }\n',
    ['bus:publish'],
  ],
  [
    'what is granted already changes no byte',
    '{ "grants": { "a": ["store:own"] } }',
    (file) => grant(file, 'a', ['store:own']),
    '{ "grants": { "a": ["store:own"] } }',
    [],
  ],
  [
    'one of several is taken away',
    '{ "grants": { "a": [\n  "store:own", // one\n  "bus:publish", // two\n  "process:spawn", // three\n] } }',
    (file) => revoke(file, 'a', ['bus:publish', 'process:spawn']),
    '{ "grants": { "a": [\n  "store:own", // one\n  // two\n  // three\n] } }',
    ['bus:publish', 'process:spawn'],
  ],
  [
    'all of them, by name or without',
    '{ "grants": { "a": ["store:own"], "b": [] } }',
    (file) => revoke(file, 'a', undefined),
    '{ "grants": { "b": [] } }',
    ['store:own'],
  ],
  [
    'a list that names something twice is written anew',
    '{ "grants": { "a": ["store:own", "store:own", "bus:publish"] } }',
    (file) => revoke(file, 'a', ['store:own']),
    '{ "grants": { "a": ["bus:publish"] } }',
    ['store:own'],
  ],
  [
    'a list that names something twice gets another',
    '{ "grants": { "a": ["store:own", "store:own", "process:spawn"] } }',
    (file) => grant(file, 'a', ['bus:publish']),
    '{ "grants": { "a": ["store:own", "process:spawn", "bus:publish"] } }',
    ['bus:publish'],
  ],
  [
    'what it never had changes no byte',
    '{ "grants": {} }',
    (file) => revoke(file, 'a', ['store:own']),
    '{ "grants": {} }',
    [],
  ],
];
for (const [name, before, change, after, permissions] of table)
  test(`grants: ${name}`, (t) => {
    const file = fileWith(t, before);
    const done = change(file);
    assert.ok(done.ok, JSON.stringify(done));
    assert.deepEqual((done.value as Granted).permissions, permissions);
    if (after.includes('// two')) {
      const text = readFileSync(file, 'utf8');
      assert.deepEqual(JSON.parse(text.replaceAll(/\/\/.*$|,(?=\s*\/\/.*\n|\s*\n?\s*\])/gm, '')), {
        grants: { a: ['store:own'] },
      });
      for (const comment of ['// one', '// two', '// three']) assert.ok(text.includes(comment), text);
      return;
    }
    assert.equal(readFileSync(file, 'utf8'), after);
  });

test('grants: a policy that cannot be read is not written over, nor is one without the permission there is', (t) => {
  const cases: readonly (readonly [string, string])[] = [
    ['{ "grants": { "a": ["store:own"] }, "typo": 1 }', 'policy/unknown-key'],
    ['{ "grants": ', 'policy/syntax'],
  ];
  for (const [text, code] of cases) {
    const file = fileWith(t, text);
    for (const done of [grant(file, 'a', ['bus:publish']), revoke(file, 'a', undefined)])
      assert.equal(done.ok ? 'ok' : done.problem.code, code);
    assert.equal(readFileSync(file, 'utf8'), text);
  }
  const file = fileWith(t, '{}');
  const done = grant(file, 'a', ['root']);
  assert.equal(
    done.ok ? 'ok' : `${done.problem.code} ${done.problem.subject}`,
    'bundle/permission-unknown root',
  );
  const none = revoke(file, 'a', ['root']);
  assert.equal(none.ok ? 'ok' : none.problem.code, 'bundle/permission-unknown');
  const gone = grant(join(file, 'nowhere'), 'a', ['store:own']);
  assert.equal(gone.ok ? 'ok' : gone.problem.code, 'policy/unreadable');
});
