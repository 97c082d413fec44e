import assert from 'node:assert/strict';
import { test } from 'node:test';
import { textUnits } from '../../components/adapter/blocks.ts';
import { optionFor, readPermission } from '../../components/adapter/permissions.ts';
import { readUpdate, type Update } from '../../components/adapter/updates.ts';
import { reportedUsage } from '../../components/adapter/usage.ts';

const block = (text: string) => ({ type: 'content', content: { type: 'text', text } });

// The shapes are those of recorded agents.
const read: readonly (readonly [update: unknown, Update])[] = [
  [
    { sessionUpdate: 'agent_message_chunk', content: { type: 'text', text: 'hi' }, messageId: 'm1' },
    { role: 'agent', id: 'm1', text: 'hi' },
  ],
  [
    { sessionUpdate: 'agent_thought_chunk', content: { type: 'text', text: 'hm' } },
    { role: 'thought', text: 'hm' },
  ],
  [
    { sessionUpdate: 'agent_message_chunk', content: { type: 'image', data: 'AAAA', mimeType: 'image/png' } },
    {
      role: 'agent',
      text: '[image image/png, about 3 bytes]',
      data: { images: [{ mimeType: 'image/png', data: 'AAAA' }] },
    },
  ],
  [
    { sessionUpdate: 'tool_call', toolCallId: 'c1', title: 'probe_probe', status: 'pending', rawInput: {} },
    { role: 'tool', id: 'c1', state: 'pending', title: 'probe_probe', text: '' },
  ],
  [
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'completed',
      content: [block('probe answered')],
      rawOutput: { output: 'raw' },
    },
    { role: 'tool', id: 'c1', state: 'completed', text: 'probe answered' },
  ],
  [
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'completed',
      rawOutput: { result: { content: [{ type: 'text', text: 'probe answered' }] }, error: null },
    },
    { role: 'tool', id: 'c1', state: 'completed', text: 'probe answered' },
  ],
  [
    { sessionUpdate: 'tool_call_update', toolCallId: 'c1', rawOutput: [{ type: 'text', text: 'a' }] },
    { role: 'tool', id: 'c1', text: 'a' },
  ],
  [
    { sessionUpdate: 'tool_call_update', toolCallId: 7, status: null, title: null, content: null },
    { role: 'tool', id: '7', text: '' },
  ],
  [
    {
      sessionUpdate: 'tool_call_update',
      toolCallId: 'c1',
      status: 'exploded',
      content: [{ type: 'diff', path: 'a.ts' }],
    },
    { role: 'tool', id: 'c1', text: '[changed a.ts]', data: { diffs: [{ path: 'a.ts', newText: '' }] } },
  ],
  [
    {
      sessionUpdate: 'tool_call',
      toolCallId: 'c1',
      title: 'edit',
      kind: 'edit',
      locations: [{ path: '/w/a.ts', line: 3 }, { path: null }],
      rawInput: { file_path: '/w/a.ts' },
      content: [
        { type: 'diff', path: '/w/a.ts', oldText: 'a\nb\n', newText: 'a\n' },
        { type: 'diff', path: '/w/b.ts', newText: 'x\n' },
      ],
    },
    {
      role: 'tool',
      id: 'c1',
      title: 'edit',
      text: '[changed /w/a.ts: 2 lines, now 1]\n[new /w/b.ts: 1 line]',
      data: {
        kind: 'edit',
        input: { file_path: '/w/a.ts' },
        locations: [{ path: '/w/a.ts', line: 3 }],
        diffs: [
          { path: '/w/a.ts', oldText: 'a\nb\n', newText: 'a\n' },
          { path: '/w/b.ts', newText: 'x\n' },
        ],
      },
    },
  ],
  [
    { sessionUpdate: 'plan', entries: [{ content: 'look', status: 'completed' }, { content: 'do' }, null] },
    {
      role: 'plan',
      text: '[completed] look\n[pending] do',
      data: {
        entries: [
          { content: 'look', status: 'completed' },
          { content: 'do', status: 'pending' },
        ],
      },
    },
  ],
  [
    { sessionUpdate: 'invented_kind', value: 7 },
    {
      role: 'note',
      text: '{"sessionUpdate":"invented_kind","value":7}',
      data: { update: { sessionUpdate: 'invented_kind', value: 7 } },
    },
  ],
  [
    { sessionUpdate: 'agent_message_chunk', content: null },
    { role: 'agent', text: '' },
  ],
];

test('C8: updates as agents send them, with nulls, extra fields and unknown kinds', () => {
  for (const [update, expected] of read)
    assert.deepEqual(readUpdate(update), { as: 'update', update: expected });
  for (const update of [null, 7, [], {}, { sessionUpdate: 3 }])
    assert.equal(readUpdate(update).as, 'malformed');
  for (const [title, said] of [
    ['x', 'x'],
    ['', null],
    [null, null],
  ] as const)
    assert.deepEqual(readUpdate({ sessionUpdate: 'session_info_update', title }), {
      as: 'titled',
      title: said,
    });
  assert.equal(readUpdate({ sessionUpdate: 'session_info_update' }).as, 'quiet');
  assert.deepEqual(
    readUpdate({
      sessionUpdate: 'usage_update',
      used: 1,
      size: 2,
      cost: { amount: 0.5, currency: 'USD' },
      _meta: {},
    }),
    {
      as: 'usage',
      usage: { used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } },
      update: {
        role: 'usage',
        text: 'context 1 of 2 tokens, cost 0.5 USD',
        data: { used: 1, size: 2, cost: { amount: 0.5, currency: 'USD' } },
      },
    },
  );
});

test('a text over the bound says how much is missing', () => {
  const result = readUpdate({
    sessionUpdate: 'agent_message_chunk',
    content: { type: 'text', text: 'x'.repeat(textUnits + 10) },
  });
  assert.ok(
    result.as === 'update' && result.update.text.endsWith(`[cut: 10 of ${textUnits + 10} characters]`),
  );
});

test('an option is chosen by its kind, once before always, never by its ID', () => {
  const { options } = readPermission({
    toolCall: { toolCallId: 'c' },
    options: [
      { optionId: 'reject_once', name: 'x', kind: 'allow_always' },
      { optionId: 'allow', name: 'x', kind: 'reject_always' },
      { optionId: 'z', name: 'x', kind: 'allow_once' },
      { name: 'no id', kind: 'allow_once' },
      null,
    ],
  });
  assert.equal(optionFor(options, true), 'z');
  assert.equal(optionFor(options, false), 'allow');
  assert.equal(optionFor([], false), undefined);
  assert.deepEqual(readPermission({}), { options: [], paths: [], pathsWhole: true });
});

test('C14: no usage, zero, and usage in another field are told apart', () => {
  const zero = { totalTokens: 0 };
  assert.deepEqual(reportedUsage({ stopReason: 'end_turn', usage: zero }, { used: 5 }), zero);
  assert.deepEqual(reportedUsage({ stopReason: 'end_turn', usage: null }, { used: 5 }), { used: 5 });
  assert.deepEqual(reportedUsage({ _meta: { quota: { token_count: 1 } } }, undefined), { token_count: 1 });
  assert.equal(reportedUsage({ stopReason: 'end_turn' }, undefined), undefined);
  for (const nothing of [{}, { totalTokens: null }]) {
    assert.equal(reportedUsage({ usage: nothing, _meta: { quota: nothing } }, undefined), undefined);
    assert.deepEqual(reportedUsage({ usage: nothing }, { used: 5 }), { used: 5 });
    assert.equal(readUpdate({ sessionUpdate: 'usage_update', ...nothing }).as, 'quiet');
  }
  const words = (usage: object) => {
    const read = readUpdate({ sessionUpdate: 'usage_update', ...usage });
    return read.as === 'usage' ? read.update.text : read.as;
  };
  assert.equal(
    words({ used: '5', size: '100', cost: { amount: '0.5', currency: 'USD' }, other: null }),
    'context 5 of 100 tokens, cost 0.5 USD',
  );
  assert.equal(words({ used: 0, size: 0 }), 'context 0 of 0 tokens');
  assert.equal(reportedUsage(null, undefined), undefined);
});

test('what an agent offers is told whole, and what names nothing is malformed', () => {
  const option = (value: string) => ({
    id: 'mode',
    name: 'Mode',
    category: 'mode',
    currentValue: value,
    options: [
      { value: 'default', name: 'Manual' },
      { name: 'group', options: [{ value: 'auto' }] },
    ],
  });
  const table: readonly (readonly [update: unknown, announced: unknown])[] = [
    [
      {
        sessionUpdate: 'available_commands_update',
        availableCommands: [
          { name: 'deploy', description: 'Does it', input: { hint: 'where' } },
          { name: 'bare', input: null },
          { description: 'no name' },
        ],
      },
      {
        commands: [
          { name: 'deploy', description: 'Does it', hint: 'where' },
          { name: 'bare', description: '' },
        ],
      },
    ],
    [{ sessionUpdate: 'current_mode_update', currentModeId: 'plan' }, { mode: { id: 'plan', name: 'plan' } }],
    [
      { sessionUpdate: 'config_option_update', configOptions: [option('default'), null, { id: 'x' }] },
      {
        options: [{ id: 'mode', name: 'Mode', value: 'default', values: ['default', 'auto'] }],
        mode: { id: 'default', name: 'Manual' },
      },
    ],
  ];
  for (const [update, announced] of table)
    assert.deepEqual(readUpdate(update), { as: 'announced', announced });
  for (const sessionUpdate of ['available_commands_update', 'current_mode_update', 'config_option_update'])
    assert.equal(readUpdate({ sessionUpdate }).as, 'malformed');
});
