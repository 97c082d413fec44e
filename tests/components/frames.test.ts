import assert from 'node:assert/strict';
import { test } from 'node:test';
import { readLine } from '../../components/adapter/frames.ts';

const answer = '{"jsonrpc":"2.0","id":1,"result":{"a":"}{"}}';
const request = '{ "id": "x", "method": "m", "jsonrpc": "2.0" }';

const noise: readonly string[] = [
  'Loading model…',
  '{"level":"info","msg":"GET /","id":7,"method":"GET"}',
  '{"level":"debug","sent":"{\\"jsonrpc\\":\\"2.0\\",\\"id\\":1,\\"method\\":\\"m\\"}"}',
  '\u001b]0;title\u0007',
  '{"jsonrpc":"2.0"',
  '{"jsonrpc":"1.0","id":1,"result":1}',
  '{"jsonrpc":"2.0","id":null,"result":1}',
  '{"jsonrpc":"2.0","id":1}',
  '[{"jsonrpc":"2.0","id":1,"result":1}',
  'null',
  '{"a":1} {"b":2} "jsonrpc"',
];

test('C1: noise is told from frames, whatever it looks like', () => {
  for (const line of noise) {
    const { frames, noise: found } = readLine(line);
    if (line.startsWith('[')) {
      // A batch is no frame of ACP; what it holds is found like anything glued.
      assert.equal(frames.length, 1);
      continue;
    }
    assert.deepEqual(frames, [], line);
    assert.equal(found.join(''), line);
  }
  assert.deepEqual(readLine('   '), { frames: [], noise: [] });
});

test('C2: a frame glued behind, before or between other output is read', () => {
  const cases: readonly (readonly [line: string, kinds: readonly string[], noise: readonly string[]])[] = [
    [answer, ['response'], []],
    [request, ['request'], []],
    [`\u001b]0;my agent\u0007${answer}`, ['response'], ['\u001b]0;my agent\u0007']],
    [`Agent {v1} ready> ${request}`, ['request'], ['Agent {v1} ready> ']],
    [`${answer}${request}`, ['response', 'request'], []],
    [`${answer} done`, ['response'], [' done']],
    [`{"log":1} ${answer}`, ['response'], ['{"log":1} ']],
    [`{broken "jsonrpc ${answer}`, ['response'], ['{broken "jsonrpc ']],
  ];
  for (const [line, kinds, left] of cases) {
    const reading = readLine(line);
    assert.deepEqual(
      reading.frames.map(({ kind }) => kind),
      kinds,
      line,
    );
    assert.deepEqual(reading.noise, left);
  }
});

test('C3: a frame of 5 MB is read the same way behind a banner and alone', () => {
  const text = 'é"\\{}'.repeat(1_000_000);
  const frame = JSON.stringify({ jsonrpc: '2.0', method: 'session/update', params: { text } });
  assert.deepEqual(readLine(`banner ${frame}`).frames, readLine(frame).frames);
});

test('C8: IDs, errors and nulls as agents send them', () => {
  const read = (value: unknown) => readLine(JSON.stringify(value)).frames[0];
  assert.deepEqual(read({ jsonrpc: '2.0', id: 1, result: null }), { kind: 'response', id: 1, result: null });
  assert.deepEqual(read({ jsonrpc: '2.0', id: '1', result: {}, error: null, extra: 1 }), {
    kind: 'response',
    id: '1',
    result: {},
  });
  assert.deepEqual(read({ jsonrpc: '2.0', id: 1, error: { code: '-32000' } }), {
    kind: 'response',
    id: 1,
    result: undefined,
    error: { code: -32_000, message: 'the agent gave no reason', data: undefined },
  });
  assert.deepEqual(read({ jsonrpc: '2.0', id: null, method: 'm' }), {
    kind: 'notification',
    method: 'm',
    params: undefined,
  });
});

test('a line of garbage costs bounded time', () => {
  const started = performance.now();
  readLine(`{"jsonrpc ${'{ "'.repeat(1_000_000)}`);
  assert.ok(performance.now() - started < 2_000);
});
