/**
 * What of a shape is identity, as tables over the keywords of JSON Schema 2020-12: pairs that are one identity, pairs
 * that are two, and shapes that have none.
 */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { canonicalShape } from '../../host/contracts/index.ts';

const digestOf = (schema: unknown): string => {
  const found = canonicalShape({ id: 'a.b', kind: 'event', shape: { event: schema } });
  assert.ok(found.ok, found.ok ? '' : `${found.problem.code}: ${found.problem.evidence}`);
  const again = canonicalShape({ id: 'a.b', kind: 'event', shape: JSON.parse(found.value.shape) });
  assert.ok(again.ok);
  assert.equal(again.value.shape, found.value.shape, 'the canonical shape is the canonical shape of itself');
  return found.value.digest;
};
const parsed = (text: string): unknown => JSON.parse(text);
const node = (name: string) => ({
  $ref: `#/$defs/${name}`,
  $defs: { [name]: { type: 'object', properties: { next: { $ref: `#/$defs/${name}` } } } },
});

const same: readonly (readonly [string, unknown, unknown])[] = [
  ['key order', parsed('{"type":"string","maxLength":3}'), parsed('{"maxLength":3,"type":"string"}')],
  ['white space and number spelling', parsed('{ "maximum" : 1e2 }'), parsed('{"maximum":100.0}')],
  ['title', { title: 'A', type: 'string' }, { type: 'string' }],
  ['description', { type: 'string', description: 'one' }, { type: 'string', description: 'two' }],
  ['description of a property', { properties: { a: { description: 'x' } } }, { properties: { a: {} } }],
  ['examples', { examples: [1] }, {}],
  ['default: it fills in, it does not check', { type: 'string', default: 'x' }, { type: 'string' }],
  ['deprecated', { deprecated: true }, {}],
  ['readOnly and writeOnly', { readOnly: true, writeOnly: false }, {}],
  ['$comment', { $comment: 'why' }, {}],
  ['$schema', { $schema: 'https://json-schema.org/draft/2020-12/schema', type: 'null' }, { type: 'null' }],
  ['$id and $anchor', { $id: 'https://example.org/a', $anchor: 'a', type: 'null' }, { type: 'null' }],
  ['$vocabulary', { $vocabulary: { 'https://example.org/v': true } }, {}],
  [
    'content…: annotations in 2020-12',
    { contentEncoding: 'base64', contentMediaType: 'a/b', contentSchema: {} },
    {},
  ],
  ['a keyword no one knows', { 'x-order': 3 }, {}],
  ['order of required', { required: ['a', 'b'] }, { required: ['b', 'a'] }],
  ['order of enum', { enum: [1, 'a', null] }, { enum: [null, 'a', 1] }],
  ['key order inside enum', { enum: [{ a: 1, b: 2 }, 1] }, { enum: [1, { b: 2, a: 1 }] }],
  ['order of type', { type: ['string', 'null'] }, { type: ['null', 'string'] }],
  ['a list of one type', { type: ['string'] }, { type: 'string' }],
  ['integer beside number', { type: ['integer', 'number'] }, { type: 'number' }],
  ['enum of one and const', { enum: ['a'] }, { const: 'a' }],
  [
    'order of dependentRequired',
    { dependentRequired: { a: ['b', 'c'] } },
    { dependentRequired: { a: ['c', 'b'] } },
  ],
  [
    'order of anyOf',
    { anyOf: [{ type: 'string' }, { type: 'null' }] },
    { anyOf: [{ type: 'null' }, { type: 'string' }] },
  ],
  [
    'order of allOf',
    { allOf: [{ minimum: 1 }, { maximum: 3 }] },
    { allOf: [{ maximum: 3 }, { minimum: 1 }] },
  ],
  [
    'order of oneOf',
    { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
    { oneOf: [{ maximum: 3 }, { minimum: 1 }] },
  ],
  ['the same twice in anyOf', { anyOf: [{ type: 'null' }, { type: 'null' }] }, { type: 'null' }],
  ['a union of one', { allOf: [{ type: 'null' }] }, { oneOf: [{ anyOf: [{ type: 'null' }] }] }],
  ['true and {}', { properties: { a: true } }, { properties: { a: {} } }],
  ['false and not anything', { properties: { a: false } }, { properties: { a: { not: {} } } }],
  [
    'limits that forbid nothing',
    { minLength: 0, minItems: 0, minProperties: 0, uniqueItems: false, required: [] },
    {},
  ],
  ['empty maps', { properties: {}, patternProperties: {}, dependentSchemas: {}, dependentRequired: {} }, {}],
  ['additionalProperties and items that allow anything', { additionalProperties: true, items: {} }, {}],
  ['then without if', parsed('{"then":{"type":"null"},"else":false}'), {}],
  ['if without then and else', { if: { type: 'null' } }, {}],
  ['minContains without contains', { minContains: 2, maxContains: 3 }, {}],
  ['minContains 1', { contains: { type: 'null' }, minContains: 1 }, { contains: { type: 'null' } }],
  ['the name of a $def', node('a'), node('node')],
  [
    'the name of a $def, no circle',
    { $ref: '#/$defs/a', $defs: { a: { type: 'null' } } },
    { $ref: '#/$defs/b', $defs: { b: { type: 'null' } } },
  ],
  ['an unused $def', { type: 'null', $defs: { a: { type: 'string' } } }, { type: 'null' }],
  [
    'a $def and the same written out',
    { properties: { a: { $ref: '#/$defs/a' } }, $defs: { a: { type: 'null' } } },
    { properties: { a: { type: 'null' } } },
  ],
  [
    'definitions and $defs',
    { $ref: '#/definitions/a', definitions: { a: { type: 'null' } } },
    { type: 'null' },
  ],
  [
    '$ref with only an annotation beside it',
    { $ref: '#/$defs/a', description: 'x', $defs: { a: { type: 'null' } } },
    { type: 'null' },
  ],
  [
    '$ref beside a keyword and allOf',
    { $ref: '#/$defs/a', maxLength: 3, $defs: { a: { type: 'string' } } },
    { allOf: [{ type: 'string' }], maxLength: 3 },
  ],
  ['$ref by anchor', { $ref: '#here', $defs: { a: { $anchor: 'here', type: 'null' } } }, { type: 'null' }],
  [
    '$ref by $id',
    { $ref: 'a', $id: 'https://example.org/b', $defs: { x: { $id: 'a', type: 'null' } } },
    { type: 'null' },
  ],
  [
    '$ref relative to an embedded $id',
    { $ref: '#/$defs/x', $defs: { x: { $id: 'x', $ref: '#/$defs/y', $defs: { y: { type: 'null' } } } } },
    { type: 'null' },
  ],
  ['$ref with escapes', { $ref: '#/$defs/a~1b%25', $defs: { 'a/b%': { type: 'null' } } }, { type: 'null' }],
  [
    '$ref to the whole',
    { properties: { a: { $ref: '#' } } },
    { $ref: '#/$defs/r', $defs: { r: { properties: { a: { $ref: '#/$defs/r' } } } } },
  ],
  [
    '$dynamicRef to the only anchor of that name',
    { $dynamicRef: '#n', $defs: { a: { $dynamicAnchor: 'n', type: 'null' } } },
    { type: 'null' },
  ],
  [
    'a circle unrolled once',
    node('a'),
    { type: 'object', properties: { next: { $ref: '#/$defs/a' } }, $defs: node('a').$defs },
  ],
  [
    'two names for one circle',
    node('a'),
    {
      $ref: '#/$defs/x',
      $defs: {
        x: { type: 'object', properties: { next: { $ref: '#/$defs/y' } } },
        y: { type: 'object', properties: { next: { $ref: '#/$defs/x' } } },
      },
    },
  ],
  [
    'order of a union on a circle',
    { anyOf: [{ type: 'null' }, { items: { $ref: '#' }, minItems: 1 }] },
    { anyOf: [{ minItems: 1, items: { $ref: '#' } }, { type: 'null' }] },
  ],
  [
    'a union on a circle whose members turn out the same',
    {
      items: { anyOf: [{ $ref: '#' }, { $ref: '#/$defs/r' }] },
      $defs: { r: { items: { anyOf: [{ $ref: '#/$defs/r' }, { $ref: '#' }] } } },
    },
    { items: { $ref: '#' } },
  ],
];

const two: readonly (readonly [string, unknown, unknown])[] = [
  ['type', { type: 'string' }, { type: 'number' }],
  ['integer and number', { type: 'integer' }, { type: 'number' }],
  ['a type more', { type: 'string' }, { type: ['string', 'null'] }],
  ['const', { const: 1 }, { const: '1' }],
  ['const and nothing', { const: {} }, {}],
  ['a description inside const is data', { const: { description: 'x' } }, { const: {} }],
  ['order inside a const array', { const: [1, 2] }, { const: [2, 1] }],
  ['enum', { enum: ['a', 'b'] }, { enum: ['a', 'b', 'c'] }],
  ['required', { required: ['a'] }, {}],
  ['properties', { properties: { a: {} } }, { properties: { b: {} } }],
  ['a property named title', { properties: { title: { type: 'null' } } }, { properties: {} }],
  [
    'a property named $ref',
    { properties: { $ref: { type: 'null' } } },
    { properties: { $ref: { type: 'string' } } },
  ],
  ['a property named __proto__', parsed('{"properties":{"__proto__":{"type":"null"}}}'), { properties: {} }],
  ['a property made optional', { properties: { a: {} }, required: ['a'] }, { properties: { a: {} } }],
  ['additionalProperties', { additionalProperties: false }, {}],
  [
    'additionalProperties with a schema',
    { additionalProperties: { type: 'null' } },
    { additionalProperties: { type: 'string' } },
  ],
  ['patternProperties', { patternProperties: { '^a': false } }, { patternProperties: { '^b': false } }],
  ['propertyNames', { propertyNames: { maxLength: 3 } }, {}],
  ['unevaluatedProperties', { unevaluatedProperties: false }, {}],
  [
    'additionalProperties: true below unevaluatedProperties',
    { additionalProperties: true, unevaluatedProperties: false },
    { unevaluatedProperties: false },
  ],
  [
    'if alone below unevaluatedProperties',
    { if: { properties: { a: {} } }, unevaluatedProperties: false },
    { unevaluatedProperties: false },
  ],
  ['dependentRequired', { dependentRequired: { a: ['b'] } }, { dependentRequired: { a: ['c'] } }],
  ['dependentSchemas', { dependentSchemas: { a: false } }, {}],
  ['minProperties and maxProperties', { minProperties: 1 }, { maxProperties: 1 }],
  ['items', { items: { type: 'null' } }, { items: { type: 'string' } }],
  ['prefixItems', { prefixItems: [{ type: 'null' }] }, { items: { type: 'null' } }],
  [
    'order of prefixItems',
    { prefixItems: [{ type: 'null' }, true] },
    { prefixItems: [true, { type: 'null' }] },
  ],
  ['contains', { contains: { type: 'null' } }, {}],
  ['minContains 0', { contains: { type: 'null' }, minContains: 0 }, { contains: { type: 'null' } }],
  ['maxContains', { contains: { type: 'null' }, maxContains: 1 }, { contains: { type: 'null' } }],
  ['unevaluatedItems', { unevaluatedItems: false }, {}],
  ['minItems', { minItems: 1 }, { minItems: 2 }],
  ['maxItems 0', { maxItems: 0 }, {}],
  ['uniqueItems', { uniqueItems: true }, {}],
  ['minimum', { minimum: 0 }, {}],
  ['minimum and exclusiveMinimum', { minimum: 0 }, { exclusiveMinimum: 0 }],
  ['maximum', { maximum: 1 }, { maximum: 2 }],
  ['exclusiveMaximum', { exclusiveMaximum: 1 }, {}],
  ['multipleOf', { multipleOf: 2 }, {}],
  ['minLength', { minLength: 1 }, {}],
  ['maxLength', { maxLength: 1 }, {}],
  ['pattern', { pattern: '^a' }, { pattern: '^b' }],
  ['format: our validator asserts it', { format: 'uuid' }, {}],
  ['not', { not: { type: 'null' } }, {}],
  [
    'anyOf and oneOf',
    { anyOf: [{ minimum: 1 }, { maximum: 3 }] },
    { oneOf: [{ minimum: 1 }, { maximum: 3 }] },
  ],
  [
    'the same twice in oneOf: never one alone',
    { oneOf: [{ type: 'null' }, { type: 'null' }] },
    { oneOf: [{ type: 'null' }] },
  ],
  ['anyOf, a member more', { anyOf: [{ minimum: 1 }] }, { anyOf: [{ minimum: 1 }, { type: 'null' }] }],
  ['allOf', { allOf: [{ minimum: 1 }, { maximum: 3 }] }, { allOf: [{ minimum: 1 }, { maximum: 4 }] }],
  ['then', parsed('{"if":{"type":"null"},"then":false}'), { if: { type: 'null' }, else: false }],
  ['true and false', true, false],
  [
    'a used $def',
    { $ref: '#/$defs/a', $defs: { a: { type: 'null' } } },
    { $ref: '#/$defs/a', $defs: { a: { type: 'string' } } },
  ],
  [
    'which $def is used',
    { $ref: '#/$defs/a', $defs: { a: { type: 'null' }, b: true } },
    { $ref: '#/$defs/b', $defs: { a: { type: 'null' }, b: true } },
  ],
  [
    'a keyword beside $ref',
    { $ref: '#/$defs/a', maxLength: 3, $defs: { a: { type: 'string' } } },
    { type: 'string' },
  ],
  [
    'what a circle goes through',
    node('a'),
    {
      $ref: '#/$defs/a',
      $defs: { a: { type: 'object', properties: { next: { $ref: '#/$defs/a' } }, required: ['next'] } },
    },
  ],
  [
    'a circle of two and of one',
    {
      $ref: '#/$defs/x',
      $defs: {
        x: { properties: { n: { $ref: '#/$defs/y' } } },
        y: { properties: { n: { $ref: '#/$defs/x' } }, type: 'object' },
      },
    },
    { $ref: '#/$defs/x', $defs: { x: { properties: { n: { $ref: '#/$defs/x' } } } } },
  ],
  ['Unicode forms', { const: '\u00e9' }, { const: 'e\u0301' }],
];

const refused: readonly (readonly [string, unknown, string])[] = [
  ['no schema', 'string', 'contract/shape-invalid'],
  ['null', null, 'contract/shape-invalid'],
  ['type', { type: 'text' }, 'contract/shape-invalid'],
  ['maxLength', { properties: { a: { maxLength: -1 } } }, 'contract/shape-invalid'],
  ['pattern', { pattern: '(' }, 'contract/shape-invalid'],
  ['a pattern as a name', { patternProperties: { '(': true } }, 'contract/shape-invalid'],
  ['items as a list', { items: [true] }, 'contract/shape-invalid'],
  ['an empty anyOf', { anyOf: [] }, 'contract/shape-invalid'],
  ['another dialect', { $schema: 'http://json-schema.org/draft-07/schema#' }, 'contract/shape-unsupported'],
  ['dependencies', { dependencies: { a: ['b'] } }, 'contract/shape-unsupported'],
  ['$recursiveRef', { $recursiveRef: '#' }, 'contract/shape-unsupported'],
  ['a reference that leads outside', { $ref: 'https://example.org/a' }, 'contract/shape-reference'],
  [
    'a reference that leads nowhere',
    { properties: { a: { $ref: '#/$defs/a' } } },
    'contract/shape-reference',
  ],
  ['a reference to itself', { $ref: '#' }, 'contract/shape-reference'],
  [
    'two references to each other',
    { $ref: '#/$defs/a', $defs: { a: { $ref: '#/$defs/b' }, b: { allOf: [{ $ref: '#/$defs/a' }] } } },
    'contract/shape-reference',
  ],
  [
    'a $dynamicRef with two targets',
    { $dynamicRef: '#n', $defs: { a: { $id: 'a', $dynamicAnchor: 'n' }, b: { $dynamicAnchor: 'n' } } },
    'contract/shape-reference',
  ],
  [
    'doubling',
    {
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        Array.from({ length: 40 }, (_, i) => [
          `d${i}`,
          i === 39
            ? { type: 'null' }
            : { prefixItems: [{ $ref: `#/$defs/d${i + 1}` }, { $ref: `#/$defs/d${i + 1}` }] },
        ]),
      ),
    },
    'contract/shape-too-large',
  ],
  [
    'a long chain',
    {
      $ref: '#/$defs/d0',
      $defs: Object.fromEntries(
        Array.from({ length: 5_000 }, (_, i) => [
          `d${i}`,
          i === 4_999 ? { type: 'null' } : { items: { $ref: `#/$defs/d${i + 1}` } },
        ]),
      ),
    },
    'contract/shape-too-large',
  ],
  [
    'deep nesting',
    parsed(`${'{"items":'.repeat(3_000)}true${'}'.repeat(3_000)}`),
    'contract/shape-too-large',
  ],
  ['deep data', { const: parsed(`${'['.repeat(3_000)}${']'.repeat(3_000)}`) }, 'contract/shape-invalid'],
];

for (const [what, left, right] of same)
  test(`T4: one identity: ${what}`, () => assert.equal(digestOf(left), digestOf(right)));
for (const [what, left, right] of two)
  test(`T1: two identities: ${what}`, () => assert.notEqual(digestOf(left), digestOf(right)));
for (const [what, schema, code] of refused)
  test(`T1: no identity: ${what}`, () => {
    const found = canonicalShape({ id: 'a.b', kind: 'event', shape: { event: schema } });
    assert.equal(found.ok ? 'accepted' : found.problem.code, code);
  });

test('T5: the kind says which schemas there are', () => {
  const kinds = [
    ['command', { request: true, reply: true }, undefined],
    ['command', { event: true }, 'contract/shape-invalid'],
    ['command', { request: true }, 'contract/shape-invalid'],
    ['event', { request: true, reply: true }, 'contract/shape-invalid'],
    ['event', { event: true, extra: true }, 'contract/shape-invalid'],
    ['toString', { event: true }, 'contract/shape-invalid'],
  ] as const;
  for (const [kind, shape, code] of kinds) {
    const found = canonicalShape({ id: 'a.b', kind: kind as 'event', shape });
    assert.equal(found.ok ? undefined : found.problem.code, code, kind);
  }
});

test('the canonical shape is readable, and its digest is of its text', () => {
  const found = canonicalShape({
    id: 'a.b',
    kind: 'command',
    shape: { request: { title: 'x', type: 'object', required: ['b', 'a'] }, reply: node('list') },
  });
  assert.deepEqual(found, {
    ok: true,
    value: {
      shape:
        '{"reply":{"$defs":{"1":{"properties":{"next":{"$ref":"#/$defs/1"}},"type":"object"}},"$ref":"#/$defs/1"},"request":{"required":["a","b"],"type":"object"}}',
      digest: '42501a6408dae881ca012f274f3f4d270068654f8386bd88cfff1e5caada44dd',
    },
  });
});

test('a property seen before is judged in its new surroundings', () => {
  const shapeOf = (event: unknown): string => {
    const found = canonicalShape({ id: 'a.b', kind: 'event', shape: { event } });
    return found.ok ? found.value.shape : found.problem.code;
  };
  // What lets everything through says something only beside `unevaluated…`.
  const open = { properties: { x: { type: 'null' } }, additionalProperties: true };
  const plain = { properties: { open } };
  const strict = { properties: { open }, unevaluatedProperties: false };
  const closed = '{"event":{"properties":{"open":{"properties":{"x":{"type":"null"}}}}}}';
  for (const _ of [1, 2]) {
    assert.equal(shapeOf(plain), closed);
    assert.match(shapeOf(strict), /"additionalProperties":true/);
  }
  // A reference means another schema in another shape.
  const refers = (type: string) => ({ properties: { p: { $ref: '#/$defs/d' } }, $defs: { d: { type } } });
  assert.notEqual(shapeOf(refers('string')), shapeOf(refers('null')));
  // Bounds count what was not built again.
  const many = (property: unknown, count: number) => ({
    properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, property])),
  });
  const two = { items: {} };
  assert.match(shapeOf(many(two, 2_000)), /^\{"event"/);
  for (const _ of [1, 2]) assert.equal(shapeOf(many(two, 11_000)), 'contract/shape-too-large');
});
