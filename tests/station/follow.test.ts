import assert from 'node:assert/strict';
import test from 'node:test';
import { plainEntry, type TranscriptRow } from '../../contracts/transcript.ts';
import { followRows } from '../../host/station/follow.ts';

type Step = readonly TranscriptRow[] | 'flush';
let seq = 0;
const row = (role: string, more: Partial<TranscriptRow> = {}): TranscriptRow => {
  seq += 1;
  return { seq, at: 0, role, text: '', ...more } as TranscriptRow;
};
const agent = (text: string, more: Partial<TranscriptRow> = {}) => row('agent', { text, ...more });
const tool = (id: string, state: string | undefined, text = '', title = '') =>
  row('tool', { id, text, ...(title === '' ? {} : { title }), ...(state === undefined ? {} : { state }) });
const user = (text: string) => row('user', { text });

/** What is told, a line each, `|` after each step. */
const told = (steps: readonly Step[]): string => {
  const lines: string[] = [];
  const follower = followRows((entry) => lines.push(plainEntry(entry)));
  for (const step of steps) {
    if (step === 'flush') follower.flush();
    else follower.add(step);
    lines.push('|');
  }
  return lines.join(' ').replace(/ \|$/, '');
};

const rows: readonly (readonly [name: string, steps: readonly Step[], told: string])[] = [
  ['nothing', [[], 'flush'], '|'],
  [
    'pieces of text are one entry, told when something else follows',
    [[agent('a'), agent('b')], [agent('c')], [user('u')]],
    '| | agent: abc',
  ],
  ['what is still open is told at the end of a turn, once', [[agent('a')], 'flush', 'flush'], '| agent: a |'],
  [
    'text after a flush is an entry of its own',
    [[agent('a')], 'flush', [agent('b')], 'flush'],
    '| agent: a | | agent: b',
  ],
  [
    'thought, then answer',
    [[row('thought', { text: 't' }), agent('a'), row('thought', { text: 'u' })], 'flush'],
    'thought: t agent: a | thought: u',
  ],
  [
    'pieces of another message of the same role',
    [[agent('a', { id: '1' }), agent('b', { id: '1' }), agent('c', { id: '2' })], 'flush'],
    'agent: ab | agent: c',
  ],
  ['two things said by the user are two', [[user('a'), user('b')], 'flush'], '| user: a user: b'],
  [
    'a tool call is told at once, and again at each change of its state only',
    [
      [tool('t', 'pending', '', 'title')],
      [tool('t', 'pending', 'half')],
      [tool('t', 'in_progress', 'more')],
      [tool('t', 'in_progress', 'still more')],
      [tool('t', 'completed', 'done')],
      [tool('t', 'completed', 'again')],
    ],
    'tool [pending]: title | | tool [in_progress]: title: more | | tool [completed]: title: done |',
  ],
  [
    'a state that goes back is no change',
    [[tool('t', 'completed', 'x')], [tool('t', 'pending', 'x')]],
    'tool [completed]: x |',
  ],
  [
    'a tool call without a state is told once',
    [[tool('t', undefined, 'x')], [tool('t', undefined, 'y')]],
    'tool: x |',
  ],
  [
    'two tool calls at a time are told each',
    [
      [
        tool('t', 'pending', 'a'),
        tool('u', 'pending', 'b'),
        tool('t', 'completed', 'a'),
        tool('u', 'failed', 'b'),
      ],
    ],
    'tool [pending]: a tool [pending]: b tool [completed]: a tool [failed]: b',
  ],
  [
    'a tool call ends the text before it, and an update of one does too',
    [[agent('a'), tool('t', 'pending', 'x'), agent('b'), tool('t', 'completed', 'x'), agent('c')], 'flush'],
    'agent: a tool [pending]: x agent: b tool [completed]: x | agent: c',
  ],
  ['a tool row without an ID is an entry', [[row('tool', { text: 'x' })], 'flush'], '| tool: x'],
  [
    'a flush tells no tool call again',
    [[tool('t', 'pending', 'x')], 'flush', [tool('t', 'completed', 'x')], 'flush'],
    'tool [pending]: x | | tool [completed]: x |',
  ],
];
for (const [name, steps, expected] of rows)
  test(`follow: ${name}`, () => assert.equal(told(steps), expected));

test('200 tool calls are remembered, those used last: an update of one forgotten begins afresh', () => {
  const lines: string[] = [];
  const follower = followRows((entry) => lines.push(plainEntry(entry)));
  for (let index = 0; index < 200; index += 1) follower.add([tool(`t${index}`, 'pending', 'x', 'title')]);
  follower.add([tool('t0', 'in_progress', 'y')]);
  follower.add([tool('new', 'pending', 'x', 'title')]);
  lines.length = 0;
  follower.add([tool('t0', 'completed', 'y')]);
  follower.add([tool('t2', 'completed', 'y')]);
  follower.add([tool('t1', 'completed', 'y')]);
  assert.deepEqual(lines, [
    'tool [completed]: title: y',
    'tool [completed]: title: y',
    'tool [completed]: y',
  ]);
});
