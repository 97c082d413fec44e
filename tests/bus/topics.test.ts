import assert from 'node:assert/strict';
import test from 'node:test';
import { type DeclaredTopic, openTopicRegistry } from '../../host/bus/registry.ts';
import { payloadUnits, shapeFrom } from '../../host/bus/shape.ts';

const said = (result: { ok: boolean; problem?: { code: string; evidence?: string } }): string =>
  result.ok ? 'ok' : `${result.problem?.code} ${result.problem?.evidence ?? ''}`;

const schema = {
  type: 'object',
  properties: { list: { type: 'array', items: { type: 'integer' } }, name: { type: 'string' } },
  required: ['name'],
  additionalProperties: false,
};
const payloads: readonly (readonly [payload: string, said: RegExp])[] = [
  ['{"name":"a"}', /^ok$/],
  ['{"name":"a","list":[1,2]}', /^ok$/],
  ['{"name":"a","list":[1,"2"]}', /^bus\/payload-invalid #\/list\/1: /],
  ['{"list":[]}', /^bus\/payload-invalid #: .*name/],
  ['{"name":"a","more":1}', /^bus\/payload-invalid #\/more/],
  ['[]', /^bus\/payload-invalid #: /],
  ['{"name":"a"', /^bus\/payload-invalid not JSON$/],
  ['', /^bus\/payload-invalid not JSON$/],
];
for (const [payload, expected] of payloads)
  test(`a payload of ${payload || 'nothing'}`, () =>
    assert.match(said(shapeFrom(schema).check(payload, 's')), expected));

test('a payload has at most 4 Mi characters; the problem names its subject', () => {
  const text = (units: number) => `"${'x'.repeat(units - 2)}"`;
  const shape = shapeFrom({});
  assert.equal(said(shape.check(text(payloadUnits), 's')), 'ok');
  const over = shape.check(text(payloadUnits + 1), 'test.topic');
  assert.match(said(over), /^bus\/payload-too-large 4194305 of 4194304/);
  assert.equal(over.ok ? '' : over.problem.subject, 'test.topic');
});

test('a payload nested too deeply to be compared is refused: a guest cannot exhaust the stack of the host', () => {
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
  assert.equal(said(shapeFrom({}).check(deep, 's')), 'ok');
  const compared = shapeFrom({ type: 'array', uniqueItems: true, maxItems: 2 });
  assert.match(
    said(compared.check(`[${deep},${deep}]`, 's')),
    /^bus\/payload-invalid #: is nested too deeply$/,
  );
});

const event = (id: string, shape: Readonly<Record<string, unknown>> = {}): DeclaredTopic => ({
  id,
  kind: 'event',
  shape: { event: shape },
});

test('the registry has what bundles declare now: declaring again replaces, forgetting removes', () => {
  const topics = openTopicRegistry();
  const code = (id: string) => said(topics.get(id)).split(' ')[0];
  assert.equal(code('a'), 'bus/topic-unknown');
  topics.declare('one', [event('a'), event('b')]);
  topics.declare('two', [event('c')]);
  assert.deepEqual(['a', 'b', 'c'].map(code), ['ok', 'ok', 'ok']);
  topics.declare('one', [event('b')]);
  assert.deepEqual(['a', 'b', 'c'].map(code), ['bus/topic-unknown', 'ok', 'ok']);
  topics.declare('two', [event('b'), event('c')]);
  topics.forget('one');
  assert.deepEqual(['b', 'c'].map(code), ['ok', 'ok'], 'another bundle still declares it');
  topics.forget('two');
  assert.deepEqual(['b', 'c'].map(code), ['bus/topic-unknown', 'bus/topic-unknown']);
});

test('a command has a request and a reply, an event what it tells; a new declaration has its new shape', () => {
  const topics = openTopicRegistry();
  const number = { type: 'number' };
  const text = { type: 'string' };
  topics.declare('one', [
    { id: 'c', kind: 'command', shape: { request: number, reply: text } },
    event('e', number),
  ]);
  const checks = (id: string, payload: string) => {
    const topic = topics.get(id);
    assert.ok(topic.ok);
    return [
      topic.value.kind,
      topic.value.request.check(payload, '').ok,
      topic.value.reply.check(payload, '').ok,
    ];
  };
  assert.deepEqual(checks('c', '1'), ['command', true, false]);
  assert.deepEqual(checks('c', '"1"'), ['command', false, true]);
  assert.deepEqual(checks('e', '1'), ['event', true, true]);
  assert.deepEqual(checks('e', '"1"'), ['event', false, true]);
  topics.declare('one', [event('e', text)]);
  assert.deepEqual(checks('e', '"1"'), ['event', true, true]);
});

test('a shape is made when it is used first, and once', () => {
  let read = 0;
  const topics = openTopicRegistry();
  topics.declare('one', [
    {
      id: 'e',
      kind: 'event',
      get shape() {
        read += 1;
        return { event: {} };
      },
    },
  ]);
  assert.equal(read, 0);
  topics.get('e');
  topics.get('e');
  assert.equal(read, 1);
});
