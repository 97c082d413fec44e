import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { firstPartyTopics } from '../../contracts/topics/index.ts';
import { patternFault, schemaFaults } from '../../host/bundles/shape.ts';

const faultsOf = (schema: unknown): string =>
  schemaFaults(schema, 'event')
    .map((f) => `${f.path}: ${f.message}`)
    .join('\n');

test('the shapes of the first-party topics are accepted as zod writes them', () => {
  for (const topic of firstPartyTopics)
    for (const part of topic.kind === 'command' ? [topic.request, topic.reply] : [topic.event])
      assert.equal(faultsOf(z.toJSONSchema(part, { io: 'input' })), '', topic.id);
});

const nested = (depth: number): object => (depth === 0 ? {} : { not: nested(depth - 1) });
const doubling = Object.fromEntries(
  Array.from({ length: 20 }, (_, i) => [
    `d${i}`,
    i === 19 ? {} : { anyOf: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
  ]),
);

const accepted: readonly (readonly [string, unknown])[] = [
  ['anything', {}],
  ['a local reference', { $defs: { a: { type: 'string' } }, properties: { x: { $ref: '#/$defs/a' } } }],
  [
    'names of properties that look like keywords',
    { properties: { $ref: { type: 'string' }, pattern: true, constructor: {} } },
  ],
  [
    'values that look like schemas',
    { const: { $ref: 'https://example.com' }, default: { $id: 'x' }, enum: [{ pattern: '(a+)+' }] },
  ],
  ['unique items with a bound', { type: 'array', items: true, uniqueItems: true, maxItems: 10 }],
  ['nesting at the bound', nested(24)],
];
for (const [name, schema] of accepted)
  test(`a shape may have ${name}`, () => assert.equal(faultsOf(schema), ''));

const refused: readonly (readonly [string, unknown, RegExp])[] = [
  ['no schema', 'string', /^event: is not a schema/],
  ['a bare true', true, /is not a schema/],
  ['a remote reference', { $ref: 'https://example.com/a.json' }, /event\.\$ref/],
  [
    'a reference to a file',
    { properties: { a: { $ref: 'file:///etc/hosts' } } },
    /event\.properties\.a\.\$ref/,
  ],
  ['a reference to the root', { properties: { a: { $ref: '#' } } }, /\$ref/],
  ['a pointer elsewhere', { properties: { a: { $ref: '#/properties/b' }, b: {} } }, /\$ref/],
  ['a reference to nothing', { $ref: '#/$defs/a' }, /does not have/],
  ['a reference through the prototype', { $defs: {}, $ref: '#/$defs/constructor' }, /does not have/],
  ['a reference to itself', { $defs: { a: { $ref: '#/$defs/a' } } }, /recursive/],
  [
    'recursion through a property',
    { $defs: { a: { items: { $ref: '#/$defs/b' } }, b: { not: { $ref: '#/$defs/a' } } }, $ref: '#/$defs/a' },
    /recursive/,
  ],
  ['doubling references', { $defs: doubling, $ref: '#/$defs/d0' }, /the limit is 10000/],
  ['$id', { $id: 'https://example.com' }, /\$id: is not a keyword/],
  ['$anchor', { $defs: { a: { $anchor: 'x' } } }, /\$anchor/],
  ['$dynamicRef', { $dynamicRef: '#x' }, /\$dynamicRef/],
  ['inner $defs', { properties: { a: { $defs: {} } } }, /top of a shape/],
  ['patternProperties', { patternProperties: { a: {} } }, /patternProperties/],
  ['a keyword of nobody', { kind: 'x' }, /event\.kind/],
  ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, /\$schema/],
  ['a type that is none', { type: 'text' }, /type/],
  ['required that is no list', { required: 'a' }, /required/],
  ['properties that are a list', { properties: [] }, /properties/],
  ['a minimum that is no number', { minimum: '1' }, /minimum/],
  ['an infinite number', JSON.parse('{"maximum": 1e999}'), /maximum/],
  ['an enum that is empty', { enum: [] }, /enum/],
  ['anyOf that is empty', { anyOf: [] }, /anyOf/],
  ['items that are a list', { items: [{}] }, /items: is not a schema/],
  ['a format we do not check', { format: 'regex' }, /format/],
  ['unique items without a bound', { uniqueItems: true }, /maxItems/],
  ['deep nesting', nested(25), /nested deeper than 24/],
  ['many bytes', { description: 'x'.repeat(65_536) }, /the limit is 65536/],
  ['a slow pattern', { pattern: '^(a+)+$' }, /event\.pattern/],
];
for (const [name, schema, said] of refused)
  test(`a shape may not have ${name}`, () => assert.match(faultsOf(schema), said));

test('a pattern is a plain, anchored run with at most one part that varies', () => {
  const good = [
    '^$',
    '^[a-z0-9-]{1,64}$',
    '^[0-9a-f]{64}$',
    '^s-[a-z]+$',
    '^\\d{4}-\\d{2}$',
    '^a?$',
    '^\\.x*$',
    '^[\\w.]+\\]$',
  ];
  for (const pattern of good) assert.equal(patternFault(pattern), undefined, pattern);
  const bad = [
    'a',
    '^a',
    'a$',
    '^(a+)+$',
    '^(a|a)*$',
    '^a+a+$',
    '^a*b*$',
    '^a?a?$',
    '^a{1,9}a{1,9}$',
    '^a|b$',
    '^(?=a)a$',
    '^(a)\\1$',
    '^.*$',
    '^a**$',
    '^a+?$',
    '^[a$',
    '^\\u{61}$',
    '^\\p{L}$',
    '^\\b$',
    `^${'a'.repeat(300)}$`,
    '^[z-a]$',
    '^[[a]$',
  ];
  for (const pattern of bad) assert.notEqual(patternFault(pattern), undefined, pattern);
});

test('the longest pattern is judged at once', () => {
  const start = performance.now();
  for (const part of ['[a', 'a*', '\\-', '[a]', 'a{1}', '\\'])
    patternFault(`^${part.repeat(256 / part.length - 4)}!`);
  assert.ok(performance.now() - start < 500);
});
