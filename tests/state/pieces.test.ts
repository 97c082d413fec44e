import assert from 'node:assert/strict';
import { test } from 'node:test';
import { newToken, tokenMark } from '../../host/http/index.ts';
import { openRedactor } from '../../host/state/index.ts';

const secret = 'sk-ant-9fQ2"x/ü-tail42';
const token = { name: 'token of a session', value: newToken() };
const pieces = () => openRedactor(() => new Set(['KEY']), { KEY: secret }, tokenMark).pieces(() => token);
const frame = (text: string, more: object = {}) =>
  JSON.stringify({ method: 'session/update', params: { sessionId: 's', update: { text, ...more } } });
const textOf = (line: string): string => JSON.parse(line).params.update.text;
/** What is told of these texts, each in a line of its own, and of what was held at the end. */
const told = (texts: readonly string[]): readonly string[] => {
  const stream = pieces();
  return [...texts.flatMap((text) => stream.push(frame(text))), ...stream.rest()].map(textOf);
};
/** Longest run of the secret's characters in a text. */
const longestRun = (text: string, of: string): number => {
  let most = 0;
  for (let from = 0; from < of.length; from += 1)
    while (from + most < of.length && text.includes(of.slice(from, from + most + 1))) most += 1;
  return most;
};

for (const [what, value] of [
  ['a secret', secret],
  ['a token', token.value],
] as const) {
  test(`${what} cut in two anywhere: no piece of it is told, but three letters at most`, () => {
    for (let cut = 1; cut < value.length; cut += 1) {
      const lines = told([`it is ${value.slice(0, cut)}`, `${value.slice(cut)}, as you see`, 'the end']);
      assert.equal(lines.length, 3);
      assert.ok(longestRun(lines.join('\n'), value) <= 3, lines.join(' | '));
      assert.match(lines.join(''), /^it is .*\[redacted (KEY|token of a session)\]/);
      assert.match(lines.join(''), /, as you seethe end$/);
    }
  });

  test(`${what} in pieces of one to five letters, also with other lines between`, () => {
    for (const size of [1, 2, 3, 4, 5])
      for (const other of [0, 1, 3]) {
        const cuts = Array.from({ length: Math.ceil(value.length / size) }, (_, n) =>
          value.slice(n * size, (n + 1) * size),
        );
        const lines = told(
          cuts.flatMap((text) => [text, ...Array.from({ length: other }, () => 'meanwhile')]),
        );
        assert.equal(lines.length, cuts.length * (1 + other));
        const left = lines.filter((text) => text !== 'meanwhile').join('');
        assert.ok(longestRun(left, value) <= 3, `${size}, ${other}: ${left}`);
      }
  });
}

test('in the order they came, each as it was, where they are no pieces of a secret', () => {
  const texts = ['sk-an', 'other', 'sk-', '', 'ant', 'x', '\\"', 'sk-ant-9', 'no', 'a', 'b', 'c', 'd', 'e'];
  assert.deepEqual(told(texts), texts);
});

test('a line waits only once four letters have come, and goes with the next but four', () => {
  const stream = pieces();
  assert.equal(stream.push(frame('sk-')).length, 1);
  assert.equal(stream.push(frame('a')).length, 0);
  assert.equal(stream.isHolding(), true);
  for (const text of ['1', '2', '3', '4']) assert.equal(stream.push(frame(text)).length, 0, text);
  assert.deepEqual(stream.push(frame('5')).map(textOf), ['a', '1', '2', '3', '4', '5']);
  assert.equal(stream.isHolding(), false);
});

test('of a secret whose rest does not come, half is taken out and little is not', () => {
  assert.deepEqual(told([`it is ${secret.slice(0, 15)}`]), ['it is [redacted KEY]']);
  assert.deepEqual(told([`it is ${secret.slice(0, 6)}`]), [`it is ${secret.slice(0, 6)}`]);
  assert.deepEqual(
    told([`it is ${secret.slice(0, 15)}`, '1', '2', '3', '4', '5'])[0],
    'it is [redacted KEY]',
  );
});

test('two secrets in pieces, and one that is whole beside them', () => {
  const two = told([`${secret} and sk-ant-`, `${secret.slice(7)} and sk-an`, `${secret.slice(5)}!`]);
  assert.deepEqual(two, ['[redacted KEY] and [redacted KEY]', ' and [redacted KEY]', '!']);
});

test('two secrets that share letters: nothing of either is told', () => {
  const both = { A: 'abcd-efgh-1234', B: 'efgh-1234-wxyz' };
  const stream = openRedactor(() => new Set(Object.keys(both)), both).pieces();
  const lines = ['"<abcd-ef"', '"gh-1234-wxyz>"'].flatMap((line) => stream.push(line));
  assert.deepEqual([...lines, ...stream.rest()], ['"<[redacted A]"', '">"']);
});

test('names of members are no text, and what is no JSON or too long goes through', () => {
  const stream = pieces();
  const odd = ['{"a":"sk-ant-9fQ2', 'no "json', '"', `"${'x'.repeat(70_000)}sk-ant-"`, `{"sk-ant-":1}`];
  assert.deepEqual(
    odd.flatMap((line) => stream.push(line)),
    odd,
  );
});

test('a last letter that another text between looks like: both are taken out, and the secret is told of once', () => {
  for (const size of [1, 2, 3]) {
    const end = secret.length - size;
    const lines = told([
      secret.slice(0, 12),
      secret.slice(12, end),
      secret.slice(end),
      secret.slice(end),
      'on',
    ]);
    assert.equal(lines.join('|'), '[redacted KEY]||||on');
  }
});

test('whatever letter a secret ends with, what lines say of themselves stays, and so does what follows it', () => {
  for (const letter of 'abcdefghijklmnopqrstuvwxyz0123456789') {
    const value = `sk-ant-longer-than-${letter}`;
    const stream = openRedactor(() => new Set(['KEY']), { KEY: value }).pieces();
    const chunk = (text: string) =>
      JSON.stringify({
        jsonrpc: '2.0',
        method: 'session/update',
        params: { sessionId: 's-1', kind: letter, text },
      });
    const others = [
      JSON.stringify({ jsonrpc: '2.0', id: 3, result: { stopReason: 'end_turn', reason: letter } }),
      JSON.stringify({ jsonrpc: '2.0', method: letter, params: [letter, `${letter}more`] }),
    ];
    const sent = [chunk(value.slice(0, 9)), ...others, chunk(value.slice(9, -1)), ...others];
    sent.push(chunk(letter), chunk(`${letter}, as you see`), ...others);
    const lines = [...sent.flatMap((line) => stream.push(line)), ...stream.rest()];
    const texts = ['[redacted KEY]', '', '', `${letter}, as you see`].map(chunk);
    assert.deepEqual(lines, [texts[0], ...others, texts[1], ...others, texts[2], texts[3], ...others]);
  }
});

test('nothing is followed where nothing is secret; what is held has a bound', () => {
  const none = openRedactor(() => new Set(), {}).pieces();
  assert.deepEqual(none.push('"sk-ant-"'), ['"sk-ant-"']);
  const long = Array.from({ length: 2_000 }, (_, at) =>
    String.fromCharCode(97 + ((at * at + (at >> 3)) % 26)),
  ).join('');
  const stream = openRedactor(() => new Set(['KEY']), { KEY: long }).pieces();
  const lines: string[] = [];
  let most = 0;
  for (const [at, letter] of [...long].entries()) {
    lines.push(...stream.push(frame(letter)).map(textOf));
    most = Math.max(most, at + 1 - lines.length);
  }
  lines.push(...stream.rest().map(textOf));
  assert.equal(most, 256);
  assert.ok(longestRun(lines.join(''), long) <= 8, lines.join(''));
});
