import assert from 'node:assert/strict';
import test from 'node:test';
import { parseSkill } from '../../host/skills/index.ts';
import { got, refused, skillText } from './desk.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const read = (text: string, folder = 'deploy') => got(parseSkill(bytes(text), { folder }));
const front = (fields: string, body = 'Body line.\n') => read(`---\n${fields}\n---\n${body}`);
const rules = (fields: string) => front(fields).diagnostics.map(({ rule, line }) => `${rule}:${line}`);

test('S1: a byte order mark before the frontmatter is no part of it, and the raw bytes keep it', () => {
  const raw = Buffer.from(`\ufeff${skillText('deploy')}`);
  const skill = got(parseSkill(raw, { folder: 'deploy' }));
  assert.equal(skill.description, 'What deploy does.');
  assert.equal(skill.body, 'Do it.\n');
  assert.equal(skill.raw, raw);
});

test('S2: CRLF and CR are read like LF, the raw bytes stay', () => {
  const text = skillText('deploy', 'One.\n\nTwo.', 'arguments: [a, b]\nmetadata:\n  x: 1\n');
  const { raw: _, ...expected } = read(text);
  for (const end of ['\r\n', '\r']) {
    const { raw, ...skill } = read(text.replaceAll('\n', end));
    assert.deepEqual(skill, expected);
    assert.ok(Buffer.from(raw).includes(end));
  }
});

test('S3: an unquoted ": " is read as text with a diagnostic, and its neighbours are untouched', () => {
  const skill = front('name: deploy\ndescription: use it for X. Triggers: a, b\nmodel: opus');
  assert.equal(skill.description, 'use it for X. Triggers: a, b');
  assert.equal(skill.model, 'opus');
  assert.deepEqual(
    skill.diagnostics.map(({ rule, line }) => [rule, line]),
    [['read-as-text', 3]],
  );
});

const descriptions: readonly (readonly [string, string, readonly string[]])[] = [
  ['description: plain words, and "quotes"', 'plain words, and "quotes"', []],
  ["description: 'it''s: fine'", "it's: fine", []],
  ['description: "a\\tb: c # d"', 'a\tb: c # d', []],
  ['description: >\n  folded\n  words\n\n  end', 'folded words\nend', []],
  ['description: |-\n  one\n  two', 'one\ntwo', []],
  ['description: first\n  second', 'first second', []],
  ['description: first: x\n  second', 'first: x second', ['read-as-text:2']],
  ['description: >\n  a: b\n  c', 'a: b c', []],
  ['description: "open', '"open', ['read-as-text:2']],
  ['description: @team does it', '@team does it', ['read-as-text:2']],
  ['description: fixes issue#12', 'fixes issue#12', []],
  ['description: fixes # 12', 'fixes', ['cut-by-comment:2']],
  ['description: [a] and [b]', '[a] and [b]', ['read-as-text:2']],
  ['description: [a, b]', '[a, b]', ['not-a-string:2']],
  ['description: {a: b}', '{a: b}', ['not-a-string:2']],
  ['description: *alias', '*alias', ['not-a-string:2']],
  ['description: !made-up x', '!made-up x', ['read-as-text:2']],
  ['description: !!str 12', '12', []],
  ['description: 2024-01-01', '2024-01-01', ['not-a-string:2']],
  ['description: true', 'true', ['not-a-string:2']],
  ['description: 0x1F', '0x1F', ['not-a-string:2']],
  ['description:', 'Body line.', ['no-description:2']],
  ['description: ~', 'Body line.', ['no-description:2']],
  ['description: ""', 'Body line.', ['no-description:2']],
  ['description: one\ndescription: two', 'two', ['duplicate-key:3']],
  ['"description": quoted key', 'quoted key', []],
  ['no field here\ndescription: x', 'x', ['line-ignored:2']],
  ['  indented: x\ndescription: y', 'y', ['line-ignored:2']],
];
for (const [fields, description, expected] of descriptions) {
  test(`S3, S14: ${JSON.stringify(fields)}`, () => {
    assert.equal(front(fields).description, description);
    assert.deepEqual(rules(fields), expected);
  });
}

test("S4: without frontmatter a skill has its folder's name and its first line, and says so", () => {
  const skill = read('\n\n## Deploys things\n\nMore.\n');
  assert.equal(skill.name, 'deploy');
  assert.equal(skill.description, 'Deploys things');
  assert.equal(skill.frontmatter, undefined);
  assert.deepEqual(skill.authored, {});
  assert.deepEqual(
    skill.diagnostics.map(({ rule }) => rule),
    ['no-frontmatter'],
  );
  assert.equal(read('----\nname: x\n----\n').frontmatter, undefined);
  assert.equal(read('').description, '');
});

test('S5: Latin-1, NUL bytes and an unclosed frontmatter are refused by name', () => {
  const latin = Buffer.from('---\nname: x\n---\nf\xfcr\n', 'latin1');
  const cases = [
    [latin, 'skill/not-text'],
    [bytes('---\nname: x\n---\n\0'), 'skill/not-text'],
    [bytes('---\nname: x\n'), 'skill/frontmatter-unclosed'],
    [bytes('---'), 'skill/frontmatter-unclosed'],
  ] as const;
  for (const [raw, code] of cases) assert.equal(refused(parseSkill(raw, { folder: 'x' })).code, code);
  assert.equal(read('---\n---').body, '');
});

test('S6: two flow sequences on a line stay the text of the hint', () => {
  for (const hint of ['[action] [args]', '[action]', '<file> [--force]', '[a|b] {c}']) {
    assert.equal(front(`argument-hint: ${hint}\ndescription: x`).argumentHint, hint);
  }
  assert.deepEqual(rules('argument-hint: [one]\ndescription: x'), []);
});

test('arguments and allowed-tools are lists however they are written', () => {
  for (const form of ['a b', 'a, b', '[a, b]', '\n  - a\n  - b', '\n- a\n- b', '"a b"']) {
    assert.deepEqual(front(`arguments: ${form}\ndescription: x`).arguments, ['a', 'b'], form);
  }
  const tools = front('allowed-tools: Bash(git add:*, git commit:*), Read\ndescription: x').allowedTools;
  assert.deepEqual(tools, ['Bash(git add:*, git commit:*)', 'Read']);
  assert.deepEqual(front('allowed-tools: Bash(open Read\ndescription: x').allowedTools, [
    'Bash(open',
    'Read',
  ]);
});

test('a name no argument can have keeps its place, so that the next one means the word it seems to', () => {
  const skill = front('arguments: pr-number target ARGUMENTS ziel größe\ndescription: x');
  assert.deepEqual(skill.arguments, ['', 'target', '', 'ziel', 'größe']);
  assert.deepEqual(
    skill.diagnostics.map(({ rule }) => rule),
    ['argument-name-ignored', 'argument-name-ignored'],
  );
});

test('S14: unknown keys are kept verbatim, whatever they hold', () => {
  const fields =
    'description: x\nmetadata:\n  a: {b: [1, 2]}\n  when: 2024-01-01\n__proto__: 1\nversion: 1.0 # c';
  assert.deepEqual(
    { ...front(fields).other },
    {
      metadata: '\n  a: {b: [1, 2]}\n  when: 2024-01-01',
      ['__proto__']: '1',
      version: '1.0 # c',
    },
  );
  assert.equal(front('name: 12\ndescription: x').name, '12');
  assert.equal(front('description: x\nname:').name, 'deploy');
});

test('S14: hostile frontmatter costs little and never throws', () => {
  const values = [
    '? '.repeat(9_000),
    '['.repeat(20_000),
    '{a,'.repeat(9_000),
    '- '.repeat(9_000),
    '&a '.repeat(9_000),
  ];
  const folded = ['"', '('.repeat(20_000), `\n  ${'? '.repeat(9_000)}`, `>\n${' x\n'.repeat(9_000)}`];
  const began = performance.now();
  for (const value of [...values, ...folded]) {
    for (const key of ['description', 'name', 'arguments', 'allowed-tools']) {
      parseSkill(bytes(`---\n${key}: ${value}\n---\n`), { folder: 'x' });
    }
  }
  parseSkill(bytes(`---\n${'a'.repeat(30)} ${' '.repeat(30_000)}\n---\n`), { folder: 'x' });
  const took = performance.now() - began;
  assert.ok(took < 600, `${took} ms`);
});

test('S14: 20,000 keys and 40,000 bytes are refused or ignored before yaml sees them', () => {
  const many = Array.from({ length: 20_000 }, (_, index) => `k${index}: v`).join('\n');
  const found = refused(parseSkill(bytes(`---\n${many}\n---\n`), { folder: 'x' }));
  assert.equal(found.code, 'skill/frontmatter-too-large');
  assert.match(found.evidence ?? '', /bytes; at most 32768/);
  const some = Array.from({ length: 400 }, (_, index) => `k${index}: v`).join('\n');
  assert.equal(Object.keys(front(some).other).length, 256);
  assert.equal(front(some).diagnostics.filter(({ rule }) => rule === 'line-ignored').length, 144);
});

test('S11: names keep their script; two names stay two', () => {
  assert.equal(front('name: 残量\ndescription: x').name, '残量');
  assert.equal(front('name: 補充\ndescription: x').name, '補充');
  assert.equal(front('name: cafe\u0301\ndescription: x').name, 'caf\u00e9');
  assert.equal(read('Text', 'cafe\u0301').name, 'caf\u00e9');
});

test('S16: a name that could become another path is refused, and no folder stands in for it', () => {
  for (const name of [
    '../../evil',
    'a/b',
    'CON',
    'con.txt',
    '..',
    '.git',
    'a\\b',
    'x.',
    '"a\\u0000b"',
    'a:b',
    '""..',
  ]) {
    const found = refused(parseSkill(bytes(`---\nname: ${name}\ndescription: x\n---\n`), { folder: 'ok' }));
    assert.equal(found.code, 'skill/name-invalid', name);
    assert.match(found.evidence ?? '', /^line 2/);
  }
  for (const folder of ['CON', 'two words', '.hidden']) {
    assert.equal(refused(parseSkill(bytes('Text'), { folder })).code, 'skill/name-invalid', folder);
  }
});

test("a name with a space could not be called: the folder's stands in, with a diagnostic", () => {
  const skill = front('name: Deploy App\ndescription: x');
  assert.equal(skill.name, 'deploy');
  assert.equal(skill.authored.name, 'Deploy App');
  assert.deepEqual(rules('name: Deploy App\ndescription: x'), ['name-has-space:2']);
});

test('the body begins where the frontmatter ends, and its line is known', () => {
  const skill = read('---\nname: deploy\ndescription: x\n---  \n\nFirst.\n---\nSecond.\n');
  assert.equal(skill.body, '\nFirst.\n---\nSecond.\n');
  assert.equal(skill.bodyLine, 5);
  assert.equal(read('---\n---\nx').bodyLine, 3);
  assert.deepEqual({ ...skill.keyLines }, { name: 2, description: 3 });
});
