/** Every keyword a shape may use: what fits, what does not, and where; then against another validator, at random. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { schemaFaults } from '../../host/bundles/shape.ts';
import { shapeFrom } from '../../host/bus/shape.ts';
import { type Random, randomFrom, rounds, seed } from '../hostile/random.ts';

type Schema = Readonly<Record<string, unknown>>;
const said = (schema: Schema, payload: string): string => {
  const result = shapeFrom(schema).check(payload, 's');
  return result.ok ? 'fits' : (result.problem.evidence ?? '');
};

const text = { type: 'string' };
const number = { type: 'number' };
const table: readonly (readonly [
  schema: string,
  fits: readonly string[],
  misfits: Readonly<Record<string, string>>,
])[] = [
  ['{}', ['1', 'null', '[[]]', '{"a":1}'], {}],
  ['{"type":"null"}', ['null'], { '0': '#: is not null, but number', '{}': '#: is not null, but object' }],
  ['{"type":"boolean"}', ['true', 'false'], { '"true"': '#: is not boolean, but string' }],
  [
    '{"type":"integer"}',
    ['1', '-0', '1.0', '1e300'],
    { '1.5': '#: is not integer, but number', '1e999': '#: is not integer, but number' },
  ],
  ['{"type":"number"}', ['1.5'], { '"1"': '#: is not number, but string' }],
  ['{"type":"array"}', ['[]'], { '{}': '#: is not array, but object' }],
  ['{"type":"object"}', ['{}'], { '[]': '#: is not object, but array', null: '#: is not object, but null' }],
  ['{"type":["string","null"]}', ['""', 'null'], { '1': '#: is not string or null, but number' }],
  [
    '{"const":{"a":[1,{"b":null}]}}',
    ['{"a":[1,{"b":null}]}'],
    {
      '{"a":[1,{}]}': '#: is not the one value it may be',
      '{"a":[1,{"b":null}],"c":1}': '#: is not the one value it may be',
    },
  ],
  ['{"const":null}', ['null'], { '0': '#: is not the one value it may be' }],
  ['{"const":{"__proto__":{}}}', ['{"__proto__":{}}'], { '{"x":1}': '#: is not the one value it may be' }],
  ['{"const":[]}', ['[]'], { '{}': '#: is not the one value it may be' }],
  [
    '{"enum":[1,"a",null,[2],{"toString":1}]}',
    ['1', '"a"', 'null', '[2]', '{"toString":1}'],
    {
      '"1"': '#: is none of the values it may be',
      '[]': '#: is none of the values it may be',
      '{}': '#: is none of the values it may be',
      '{"valueOf":1}': '#: is none of the values it may be',
    },
  ],
  [
    '{"minimum":1,"maximum":2}',
    ['1', '2', '"0"'],
    { '0.9': '#: is less than 1', '2.1': '#: is more than 2' },
  ],
  [
    '{"exclusiveMinimum":1,"exclusiveMaximum":2}',
    ['1.5'],
    { '1': '#: is not more than 1', '2': '#: is not less than 2' },
  ],
  [
    '{"multipleOf":3}',
    ['9', '-3', '0', '"1"'],
    { '10': '#: is no multiple of 3', '9.5': '#: is no multiple of 3' },
  ],
  ['{"multipleOf":0.1}', ['0.3', '1.1', '7'], { '0.35': '#: is no multiple of 0.1' }],
  [
    '{"minLength":2,"maxLength":3}',
    ['"ab"', '"😀😀😀"', '1'],
    {
      '"😀"': '#: is shorter than 2',
      '"a"': '#: is shorter than 2',
      '"abcd"': '#: is longer than 3',
      '"😀😀😀😀"': '#: is longer than 3',
    },
  ],
  ['{"pattern":"^[a-z]+$"}', ['"abc"', '1'], { '"aB"': '#: does not match its pattern' }],
  ['{"format":"ipv4"}', ['"1.2.3.4"', '1'], { '"1.2.3"': '#: is not a ipv4' }],
  ['{"format":"date-time"}', ['"2026-01-02T03:04:05Z"'], { '"today"': '#: is not a date-time' }],
  ['{"required":["a"]}', ['{"a":null}', '[]'], { '{}': '#: does not have "a"' }],
  ['{"required":["constructor"]}', ['{"constructor":1}'], { '{}': '#: does not have "constructor"' }],
  ['{"required":["__proto__"]}', ['{"__proto__":1}'], { '{}': '#: does not have "__proto__"' }],
  [
    '{"properties":{"a":{"type":"string"},"b/c":{"properties":{"d~":false}}}}',
    ['{}', '{"a":"x","z":1}', '{"b/c":{}}'],
    { '{"a":1}': '#/a: is not string, but number', '{"b/c":{"d~":1}}': '#/b~1c/d~0: may not be here' },
  ],
  [
    '{"properties":{"toString":{"type":"string"},"__proto__":{"type":"string"}}}',
    ['{}', '{"toString":"a","__proto__":"b"}'],
    {
      '{"toString":1}': '#/toString: is not string, but number',
      '{"__proto__":1}': '#/__proto__: is not string, but number',
    },
  ],
  [
    '{"properties":{"a":{}},"additionalProperties":false}',
    ['{"a":1}', '[1]'],
    { '{"a":1,"b":1}': '#/b: may not be here', '{"toString":1}': '#/toString: may not be here' },
  ],
  [
    '{"additionalProperties":{"type":"number"}}',
    ['{"a":1}'],
    { '{"a":"1"}': '#/a: is not number, but string' },
  ],
  [
    '{"propertyNames":{"maxLength":1}}',
    ['{"a":1}', '[]'],
    { '{"ab":1}': '#/ab: has a name that is longer than 1' },
  ],
  [
    '{"minProperties":1,"maxProperties":2}',
    ['{"a":1}', '1'],
    { '{}': '#: has 0 properties, fewer than 1', '{"a":1,"b":1,"c":1}': '#: has 3 properties, more than 2' },
  ],
  ['{"items":{"type":"number"}}', ['[]', '[1]', '{}'], { '[1,"2"]': '#/1: is not number, but string' }],
  [
    '{"prefixItems":[{"type":"number"},true]}',
    ['[]', '[1]', '[1,"a","b"]'],
    { '["1"]': '#/0: is not number, but string' },
  ],
  [
    '{"prefixItems":[{"type":"number"}],"items":{"type":"string"}}',
    ['[1,"a"]'],
    { '[1,2]': '#/1: is not string, but number' },
  ],
  ['{"prefixItems":[true],"items":false}', ['[1]'], { '[1,2]': '#/1: may not be here' }],
  [
    '{"minItems":1,"maxItems":2}',
    ['[1]', '{}'],
    { '[]': '#: has 0 items, fewer than 1', '[1,2,3]': '#: has 3 items, more than 2' },
  ],
  [
    '{"contains":{"type":"number"}}',
    ['["a",1]', '{}'],
    { '[]': '#: has 0 items of a kind it needs 1 of', '["a"]': '#: has 0 items of a kind it needs 1 of' },
  ],
  [
    '{"contains":{"type":"number"},"minContains":0,"maxContains":1}',
    ['[]', '[1]'],
    { '[1,2]': '#: has 2 items of a kind it may have 1 of' },
  ],
  [
    '{"contains":{"type":"number"},"maxContains":1}',
    ['[1]'],
    { '[]': '#: has 0 items of a kind it needs 1 of' },
  ],
  [
    '{"uniqueItems":true,"maxItems":9}',
    ['[1,"1",[1],{"a":1,"b":2},{"a":2,"b":1},null,"null"]'],
    { '[1,2,1.0]': '#/2: is there twice', '[{"a":1,"b":[]},{"b":[],"a":1}]': '#/1: is there twice' },
  ],
  ['{"allOf":[{"type":"number"},{"minimum":2}]}', ['2'], { '1': '#: is less than 2' }],
  [
    '{"anyOf":[{"type":"string"},{"type":"object","properties":{"a":{"type":"number"}}}]}',
    ['"a"', '{"a":1}'],
    { '{"a":"b"}': '#/a: is not number, but string', '1': '#: is not string, but number' },
  ],
  [
    '{"oneOf":[{"minimum":1},{"maximum":2}]}',
    ['0', '3'],
    { '1.5': '#: fits more than one of what it may be' },
  ],
  ['{"oneOf":[{"type":"null"},{"type":"string"}]}', ['null', '"a"'], { '1': '#: is not null, but number' }],
  ['{"not":{"type":"null"}}', ['1'], { null: '#: is what it may not be' }],
  [
    '{"if":{"type":"number"},"then":{"minimum":2},"else":{"minLength":1}}',
    ['2', '"a"', '[]'],
    { '1': '#: is less than 2', '""': '#: is shorter than 1' },
  ],
  ['{"if":{"type":"number"},"else":{"minLength":1}}', ['2', '"a"'], { '""': '#: is shorter than 1' }],
  [
    '{"$ref":"#/$defs/n","maximum":3,"$defs":{"n":{"minimum":2}}}',
    ['3'],
    { '1': '#: is less than 2', '4': '#: is more than 3' },
  ],
  [
    '{"title":"t","description":"d","default":1,"examples":[1],"deprecated":true,"readOnly":true,"writeOnly":true,"contentEncoding":"base64","contentMediaType":"text/plain","$comment":"c"}',
    ['1', '"a"'],
    {},
  ],
];
for (const [schema, fits, misfits] of table)
  test(`T14: ${schema}`, () => {
    const read = JSON.parse(schema) as Schema;
    assert.deepEqual(schemaFaults(read, 's'), [], 'it is a shape a manifest may have');
    for (const payload of fits) assert.equal(said(read, payload), 'fits', payload);
    for (const [payload, why] of Object.entries(misfits)) assert.equal(said(read, payload), why);
  });

test('comparing a list of large items takes no longer than reading it, whatever they share', () => {
  const item = JSON.stringify(Array.from({ length: 1_000 }, (_, index) => index)).slice(0, -1);
  const list = `[${Array.from({ length: 1_000 }, (_, index) => `${item},${index}.5]`).join()}]`;
  const begun = performance.now();
  assert.equal(said({ type: 'array', uniqueItems: true, maxItems: 1_024 }, list), 'fits');
  assert.ok(performance.now() - begun < 5_000, 'two by two it is half a million comparisons of a thousand');
});

const names = ['a', 'b', 'c', 'é', 'x y'];
const value = (random: Random, depth: number): unknown =>
  random.one<() => unknown>([
    () => null,
    () => random.chance(0.5),
    () => random.below(6) - 1,
    () => random.below(12) / 4,
    () => random.one(['', 'a', 'ab', 'abc', '😀', '2026-01-02', '1.2.3.4']),
    () => (depth === 0 ? [] : Array.from({ length: random.below(4) }, () => value(random, depth - 1))),
    () =>
      depth === 0
        ? {}
        : Object.fromEntries(
            Array.from({ length: random.below(4) }, () => [random.one(names), value(random, depth - 1)]),
          ),
  ])();
/** The other validator takes an empty list for an empty object. */
const wanted = (random: Random): unknown => {
  const made = value(random, 1);
  return /\[\]|\{\}/.test(JSON.stringify(made)) ? 'a' : made;
};
const schema = (random: Random, depth: number): unknown => {
  if (random.chance(0.1)) return random.chance(0.7);
  const sub = () => (depth === 0 ? random.one([text, number, {}]) : schema(random, depth - 1));
  const subs = () => Array.from({ length: 1 + random.below(3) }, sub);
  const keywords: Readonly<Record<string, () => unknown>> = {
    type: () =>
      random.one<unknown>([
        'null',
        'boolean',
        'number',
        'integer',
        'string',
        'array',
        'object',
        ['string', 'array'],
        ['object', 'integer'],
      ]),
    const: () => wanted(random),
    enum: () => Array.from({ length: 1 + random.below(3) }, () => wanted(random)),
    minimum: () => random.below(4),
    maximum: () => random.below(4),
    exclusiveMinimum: () => random.below(4),
    exclusiveMaximum: () => random.below(4),
    multipleOf: () => random.one([1, 2, 0.5]),
    minLength: () => random.below(3),
    maxLength: () => random.below(3),
    pattern: () => random.one(['^a*$', '^[a-b]{1,2}$']),
    format: () => random.one(['date', 'ipv4', 'email']),
    properties: () => Object.fromEntries(names.filter(() => random.chance(0.5)).map((name) => [name, sub()])),
    required: () => names.filter(() => random.chance(0.3)),
    additionalProperties: sub,
    propertyNames: () => random.one<unknown>([{ maxLength: 1 }, { pattern: '^[a-b]{1,2}$' }]),
    minProperties: () => random.below(3),
    maxProperties: () => random.below(4),
    items: sub,
    prefixItems: subs,
    minItems: () => random.below(3),
    maxItems: () => random.below(4),
    contains: sub,
    allOf: subs,
    anyOf: subs,
    oneOf: subs,
    not: sub,
    if: sub,
    // biome-ignore lint/suspicious/noThenProperty: a keyword of JSON Schema; the table is never awaited
    then: sub,
    else: sub,
    $ref: () => '#/$defs/d',
  };
  const chosen = Object.entries(keywords).filter(() => random.chance(0.12));
  return Object.fromEntries(chosen.map(([keyword, make]) => [keyword, make()]));
};

test('at random: what fits is what another validator lets through', () => {
  const random = randomFrom(seed);
  let [fitting, not] = [0, 0];
  for (let round = 0; round < rounds(4_000); round += 1) {
    const made = schema(random, 3);
    const root = {
      ...(typeof made === 'object' ? (made as Schema) : { not: !made }),
      $defs: { d: { type: random.one(['string', 'object', 'array']) } },
    };
    const other = new Validator(structuredClone(root), '2020-12', true);
    const shape = shapeFrom(root);
    for (let tries = 0; tries < 8; tries += 1) {
      const payload = JSON.stringify(value(random, 3));
      const ours = shape.check(payload, 's');
      const theirs = other.validate(JSON.parse(payload));
      assert.equal(
        ours.ok,
        theirs.valid,
        `seed ${seed}: ${JSON.stringify(root)} of ${payload}: ${JSON.stringify(ours)} ${JSON.stringify(theirs.errors)}`,
      );
      if (ours.ok) fitting += 1;
      else not += 1;
    }
  }
  assert.ok(Math.min(fitting, not) > rounds(4_000), `${fitting} fit, ${not} do not`);
});
