/** Whether an answer fits a server's form; whatever the form says, the question is settled at once. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { formFault } from '../../host/station/forms.ts';

const fits = (field: unknown, value: unknown): boolean =>
  formFault('g-1', { type: 'object', properties: { a: field } } as never, { a: value }) === undefined;

test('what a field of MCP may ask for is asked for', () => {
  for (const [field, good, bad] of [
    [{ type: 'string' }, ['', 'x'], [1, null, []]],
    [{ type: 'string', minLength: 2, maxLength: 3 }, ['ab', '🦊🦊🦊'], ['a', 'abcd']],
    [{ type: 'string', format: 'email' }, ['a@b.example'], ['a', 'a@', 'a @b']],
    [{ type: 'string', format: 'uri' }, ['https://a.example/x'], ['no']],
    [{ type: 'string', format: 'date' }, ['2026-02-28'], ['2026-13-01', 'today']],
    [{ type: 'string', format: 'date-time' }, ['2026-02-28T10:00:00Z'], ['2026-02-28', 'now']],
    [{ type: 'string', enum: ['a', 'b'] }, ['a'], ['c', 1]],
    [{ type: 'string', oneOf: [{ const: 'a', title: 'A' }] }, ['a'], ['A']],
    [{ type: 'number', minimum: 1, maximum: 2 }, [1, 1.5], [0, 3, '1']],
    [{ type: 'integer' }, [3], [3.5]],
    [{ type: 'boolean' }, [true, false], ['true']],
    [{ type: 'array', items: { type: 'string', enum: ['a', 'b'] }, minItems: 1 }, [['a']], [[], ['c'], 'a']],
    [{ type: 'array', items: { anyOf: [{ const: 'a' }] }, maxItems: 1 }, [[], ['a']], [['a', 'a'], ['b']]],
    [{ type: 'something' }, [1, 'x'], []],
    [7, [1], []],
  ] as const) {
    for (const value of good) assert.equal(fits(field, value), true, JSON.stringify([field, value]));
    for (const value of bad) assert.equal(fits(field, value), false, JSON.stringify([field, value]));
  }
});

test('what is required must be there, and what is closed takes nothing more', () => {
  const schema = {
    properties: { a: { type: 'string' }, b: { type: 'integer', default: 1 } },
    required: ['a', 'b', 'toString'],
    additionalProperties: false,
  };
  assert.match(
    formFault('g-1', schema, { c: 1 })?.evidence ?? '',
    /^a is missing\. toString is missing\. c is/,
  );
});

test('a form cannot stop the station: nothing a server wrote into it is run', () => {
  const endless = `${'a'.repeat(40)}!`;
  for (const [schema, content] of [
    // A default of the server itself, against a pattern of the server itself.
    [{ properties: { a: { type: 'string', pattern: '^(a+)+$', default: endless } } }, {}],
    [{ patternProperties: { '^(a+)+$': {} } }, { [endless]: 1 }],
    [{ $ref: '#', properties: { a: { $ref: '#/properties/a', pattern: '(((' } } }, { a: 'x' }],
    [{ allOf: [{ $ref: '#' }], $schema: 'x', properties: null, required: 7 }, {}],
  ] as const) {
    assert.equal(formFault('g-1', schema as never, content), undefined);
  }
  for (const format of ['email', 'uri', 'date', 'date-time']) {
    for (const part of ['a', 'a.', 'a@', '1', '2026-02-28T10:00:00.1', 'xn--', '%41', '../', ' ']) {
      const began = performance.now();
      fits({ type: 'string', format }, `http://${part.repeat(300_000 / part.length)}!`);
      fits({ type: 'string', format }, part.repeat(300_000 / part.length));
      assert.ok(performance.now() - began < 1_000, `${format} ${part}`);
    }
  }
});
