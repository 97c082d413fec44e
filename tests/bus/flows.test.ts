import assert from 'node:assert/strict';
import { test } from 'node:test';
import { type Envelope, openInbox } from '../../host/bus/inbox.ts';

const envelope = (flow: string, number: number, more: Partial<Envelope> = {}): Envelope => ({
  message: { id: `${flow}${number}`, topic: 't', payload: '{}', source: 'test', at: 0 },
  flow,
  command: false,
  ...more,
});
const ids = (batch: readonly Envelope[]) => batch.map(({ message }) => message.id).join(' ');

test('flows take turns, each in its own order', () => {
  const inbox = openInbox();
  for (let number = 0; number < 6; number += 1) inbox.add(envelope('flood', number));
  inbox.add(envelope('a', 0));
  inbox.add(envelope('b', 0));
  inbox.add(envelope('a', 1));
  assert.equal(inbox.sizeOf('flood'), 6);
  assert.equal(ids(inbox.take(4)), 'flood0 a0 b0 flood1');
  inbox.add(envelope('b', 1));
  assert.equal(ids(inbox.take(4)), 'a1 flood2 b1 flood3');
  assert.deepEqual([inbox.size(), inbox.sizeOf('a'), inbox.sizeOf('flood')], [2, 0, 2]);
  assert.equal(ids(inbox.take(9)), 'flood4 flood5');
  assert.deepEqual([inbox.size(), ids(inbox.take(9))], [0, '']);
});

test('while one flow has a backlog, every other batch is of those that wait for little', () => {
  const inbox = openInbox();
  const add = (flow: string, ...numbers: readonly number[]) => {
    for (const number of numbers) inbox.add(envelope(flow, number));
  };
  const next = () => ids(inbox.take(8, 2));
  add('flood', 1, 2, 3, 4, 5, 6);
  add('a', 1);
  add('b', 1, 2);
  assert.equal(next(), 'a1 b1 b2', 'the light ones first, and by themselves');
  add('c', 1);
  assert.equal(next(), 'flood1 c1 flood2', 'then the flood has its turn, with who came meanwhile');
  add('d', 1);
  assert.equal(next(), 'd1');
  assert.equal(next(), 'flood3 flood4 flood5 flood6', 'alone it has the whole batch');
});

test('while several flows wait, none gives more than its turn to a batch', () => {
  const inbox = openInbox();
  for (let number = 0; number < 20; number += 1) inbox.add(envelope('flood', number));
  assert.equal(inbox.isShared(), false, 'alone');
  inbox.add(envelope('a', 0));
  assert.equal(inbox.isShared(), true);
  assert.equal(ids(inbox.take(9, 3)), 'a0');
  inbox.add(envelope('a', 1));
  assert.equal(ids(inbox.take(9, 3)), 'flood0 a1 flood1 flood2');
  assert.equal(inbox.take(9, 3).length, 9, 'alone again');
  for (const flow of ['x', 'y', 'z']) for (const number of [0, 1]) inbox.add(envelope(flow, number));
  while (inbox.sizeOf('flood') > 0) inbox.take(4);
  assert.equal(inbox.isShared(), false, 'many flows of a few messages are no backlog');
});

test('what is put back comes first, in its order, and one that is alone goes alone', () => {
  const inbox = openInbox();
  for (const flow of ['a', 'b']) for (const number of [0, 1]) inbox.add(envelope(flow, number));
  const taken = inbox.take(3);
  assert.equal(ids(taken), 'a0 b0 a1');
  inbox.putBack(taken.map((each, index) => (index === 1 ? { ...each, alone: true } : each)));
  assert.equal(inbox.size(), 4);
  assert.equal(ids(inbox.take(9)), 'a0');
  assert.equal(inbox.nextIsAlone(), true);
  assert.equal(ids(inbox.take(9)), 'b0');
  assert.equal(ids(inbox.take(9)), 'a1 b1');
});

test('ten thousand messages of one flow go through in order, and are all cleared', () => {
  const inbox = openInbox();
  for (let number = 0; number < 10_000; number += 1) inbox.add(envelope('x', number));
  for (let number = 0; number < 5_000; number += 1) assert.equal(ids(inbox.take(1)), `x${number}`);
  assert.equal(inbox.clear().length, 5_000);
  assert.equal(inbox.size(), 0);
});
