import assert from 'node:assert/strict';
import { test } from 'node:test';
import { foldTranscript, plainEntry, type TranscriptRow } from '../../contracts/transcript.ts';

type Part = Omit<TranscriptRow, 'seq' | 'at' | 'text'> & { readonly text?: string };
const rows = (parts: readonly Part[]): TranscriptRow[] =>
  parts.map((part, index) => ({ text: '', ...part, seq: index + 1, at: 1_000 + index }));
const plain = (parts: readonly Part[]): string[] => foldTranscript(rows(parts)).map(plainEntry);

const tool = (fields: Partial<Part> = {}): Part => ({ role: 'tool', id: 'c1', ...fields });

const cases: Readonly<
  Record<string, readonly (readonly [parts: readonly Part[], lines: readonly string[]])[]>
> = {
  'C13: the updates of a call are one entry, whatever their order': [
    [
      [
        tool({ state: 'pending', title: 'probe.probe' }),
        tool({ state: 'in_progress' }),
        tool({ state: 'completed', text: 'probe answered' }),
      ],
      ['tool [completed]: probe.probe: probe answered'],
    ],
    [
      [
        tool({ state: 'completed', text: 'done' }),
        tool({ state: 'pending', title: 'late title' }),
        tool({ state: 'in_progress' }),
      ],
      ['tool [completed]: late title: done'],
    ],
    [
      [tool({ title: 'first' }), tool({ title: 'second', state: 'completed' }), tool({ state: 'failed' })],
      ['tool [completed]: first'],
    ],
    [[tool({ title: '', text: 'a' }), tool({ title: 'named' }), tool({ text: '' })], ['tool: named: a']],
    [
      [
        tool({ title: 'one' }),
        { role: 'agent', text: 'between' },
        tool({ state: 'completed', text: 'x' }),
        { role: 'agent', text: ' and after' },
      ],
      ['tool [completed]: one: x', 'agent: between and after'],
    ],
    [
      [tool({ title: 'one' }), tool({ id: 'c2', title: 'two' }), tool({ state: 'failed' })],
      ['tool [failed]: one', 'tool: two'],
    ],
    [
      [
        { role: 'tool', title: 'no id' },
        { role: 'tool', title: 'no id' },
      ],
      ['tool: no id', 'tool: no id'],
    ],
  ],
  'pieces of text that follow each other are one entry': [
    [
      [
        { role: 'agent', text: 'one ' },
        { role: 'agent', text: 'two' },
        { role: 'thought', text: 'hm' },
        { role: 'agent', text: 'three' },
      ],
      ['agent: one two', 'thought: hm', 'agent: three'],
    ],
    [
      [
        { role: 'agent', id: 'm1', text: 'a' },
        { role: 'agent', id: 'm2', text: 'b' },
      ],
      ['agent: a', 'agent: b'],
    ],
    [
      [
        { role: 'agent', turn: 't1', text: 'a' },
        { role: 'agent', turn: 't2', text: 'b' },
      ],
      ['agent: a', 'agent: b'],
    ],
    [
      [
        { role: 'user', text: 'a' },
        { role: 'user', text: 'a' },
      ],
      ['user: a', 'user: a'],
    ],
  ],
  'a request and its answer are one entry, a plan is the latest of its turn': [
    [
      [
        { role: 'permission', id: 'r1', state: 'pending', title: 'rm -rf' },
        { role: 'plan', turn: 't1', text: '[pending] a' },
        { role: 'permission', id: 'r1', state: 'denied', text: 'by a person' },
        { role: 'permission', id: 'r1', state: 'allowed', text: '' },
        { role: 'plan', turn: 't1', text: '[completed] a' },
      ],
      ['permission [denied]: rm -rf: by a person', 'plan: [completed] a'],
    ],
    [
      [
        { role: 'tool', id: 'c1', state: 'pending', title: 'rm' },
        { role: 'permission', id: 'r1', state: 'pending', title: 'rm -rf' },
      ],
      ['tool [pending]: rm', 'permission [pending r1]: rm -rf'],
    ],
  ],
};
for (const [name, table] of Object.entries(cases)) {
  test(name, () => {
    for (const [parts, lines] of table) assert.deepEqual(plain(parts), lines);
  });
}

test('C9: rows that come twice, and calls that are replayed, count once', () => {
  const once = rows([
    { role: 'user', text: 'go' },
    tool({ title: 'x', state: 'completed' }),
    { role: 'agent', text: 'a' },
  ]);
  assert.deepEqual(foldTranscript([...once, ...once]), foldTranscript(once));
  assert.deepEqual(
    plain([
      tool({ title: 'x', state: 'completed', text: 'r' }),
      tool({ title: 'x', state: 'completed', text: 'r' }),
    ]),
    ['tool [completed]: x: r'],
  );
});

test('a tool call keeps the latest of each field of its data; a turn has one usage; an image stands alone', () => {
  const folded = foldTranscript(
    rows([
      tool({ title: 'edit', data: { kind: 'edit', input: { a: 1 } } }),
      { role: 'usage', turn: 't1', text: 'context 1', data: { used: 1 } },
      tool({ state: 'completed', server: 'probe', data: { input: { a: 2 } } }),
      { role: 'usage', turn: 't1', text: 'context 2', data: { used: 2 } },
      { role: 'agent', text: 'see: ' },
      { role: 'agent', text: '[image]', data: { images: [{ mimeType: 'image/png' }] } },
      { role: 'agent', text: 'there' },
    ]),
  );
  assert.deepEqual(
    folded.map(({ role, text, server, data }) => ({ role, text, server, data })),
    [
      { role: 'tool', text: 'edit', server: 'probe', data: { kind: 'edit', input: { a: 2 } } },
      { role: 'usage', text: 'context 2', server: undefined, data: { used: 2 } },
      { role: 'agent', text: 'see: ', server: undefined, data: undefined },
      { role: 'agent', text: '[image]', server: undefined, data: { images: [{ mimeType: 'image/png' }] } },
      { role: 'agent', text: 'there', server: undefined, data: undefined },
    ],
  );
});

test('what an agent counts and offers parts no text', () => {
  for (const role of ['usage', 'commands', 'mode', 'option'] as const)
    assert.deepEqual(
      foldTranscript(
        rows([
          { role: 'agent', turn: 't1', text: 'one ' },
          { role, turn: 't1', text: 'x' },
          { role: 'agent', turn: 't1', text: 'piece' },
        ]),
      ).map(({ text }) => text),
      ['one piece', 'x'],
    );
});

test('an entry stands at the place and time of its first row', () => {
  const [entry] = foldTranscript(rows([tool({ title: 'x' }), tool({ state: 'completed' })]));
  assert.deepEqual(entry, { seq: 1, at: 1_000, role: 'tool', id: 'c1', state: 'completed', text: 'x' });
});

test('the plain form is one line that drives no terminal', () => {
  const text = 'one\r\n  two\u001b[31m red\u001b]0;title\u0007\u0007 end\u009b';
  assert.equal(plainEntry({ role: 'agent', text }), 'agent: one two red end');
});

test('ten thousand pieces fold in linear time', () => {
  const many = rows(
    Array.from({ length: 10_000 }, () => ({ role: 'agent' as const, text: 'x'.repeat(100) })),
  );
  assert.equal(foldTranscript(many)[0]?.text.length, 1_000_000);
});
