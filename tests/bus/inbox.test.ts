import assert from 'node:assert/strict';
import test from 'node:test';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { type Envelope, inboxUnits, openInbox } from '../../host/bus/inbox.ts';
import { usualLimits } from '../../host/policy/index.ts';

const inboxMessages = usualLimits.inbox;

const letter = (id: string, units = 1, alone = false): Envelope => ({
  message: { id, topic: 't', payload: 'x'.repeat(units), source: 's', at: 0 },
  flow: 'one',
  command: false,
  ...(alone ? { alone } : {}),
});
const ids = (envelopes: readonly Envelope[]) => envelopes.map(({ message }) => message.id).join(' ');
const holding = (...envelopes: readonly Envelope[]) => {
  const inbox = openInbox();
  for (const envelope of envelopes) inbox.add(envelope);
  return inbox;
};
const many = (count: number, units = 1) =>
  Array.from({ length: count }, (_, index) => letter(`${index}`, units));
const everything = (inbox: ReturnType<typeof openInbox>, most: number): readonly string[] => {
  const batches: string[] = [];
  while (inbox.size() > 0) batches.push(ids(inbox.take(most)));
  return batches;
};

const mebi = 1024 * 1024;
const rows: readonly (readonly [
  name: string,
  waiting: readonly Envelope[],
  most: number,
  batches: readonly string[],
])[] = [
  ['oldest first, at most so many', many(5), 2, ['0 1', '2 3', '4']],
  ['nothing waits', [], 2, []],
  [
    'one that must be alone, in the middle',
    [letter('a'), letter('b', 1, true), letter('c'), letter('d')],
    9,
    ['a', 'b', 'c d'],
  ],
  [
    'two that must be alone, at the front',
    [letter('a', 1, true), letter('b', 1, true), letter('c')],
    9,
    ['a', 'b', 'c'],
  ],
  [
    'a batch is cut at a mebi of text',
    [letter('a', mebi - 2), letter('b', 2), letter('c', 1), letter('d', 1)],
    9,
    ['a b', 'c d'],
  ],
  [
    'one message larger than a batch goes by itself',
    [letter('a', 2 * mebi), letter('b', 2 * mebi), letter('c')],
    9,
    ['a', 'b', 'c'],
  ],
];
for (const [name, waiting, most, batches] of rows)
  test(`take: ${name}`, () => assert.deepEqual(everything(holding(...waiting), most), batches));

test('what is put back stands at the front, in its order, also after many were taken', () => {
  const inbox = holding(...many(3_000));
  const first = inbox.take(2);
  inbox.putBack(first);
  assert.equal(ids(inbox.take(3)), '0 1 2');
  assert.equal(inbox.size(), 2_997);
  for (let taken = 3; taken < 2_000; taken += 1) assert.equal(ids(inbox.take(1)), `${taken}`);
  const last = inbox.take(2);
  inbox.add(letter('new'));
  inbox.putBack(last);
  assert.equal(ids(inbox.take(3)), '2000 2001 2002');
  assert.equal(inbox.size(), 3_001 - 2_003);
});

test('whether the next must be alone', () => {
  const inbox = holding(letter('a'), letter('b', 1, true));
  assert.equal(inbox.nextIsAlone(), false);
  inbox.take(9);
  assert.equal(inbox.nextIsAlone(), true);
  inbox.take(9);
  assert.equal(inbox.nextIsAlone(), false);
});

test('full by messages: those that wait count, not those that were taken', () => {
  const inbox = holding(...many(inboxMessages - 1));
  assert.equal(inbox.isFull(inboxMessages), false);
  inbox.add(letter('last'));
  assert.equal(inbox.isFull(inboxMessages), true);
  const taken = inbox.take(1);
  assert.equal(inbox.isFull(inboxMessages), false);
  inbox.putBack(taken);
  assert.equal(inbox.isFull(inboxMessages), true);
});

test('full by text: what is taken is free again, what is put back is not', () => {
  const inbox = holding(...many(31, mebi), letter('almost', mebi - 1));
  assert.equal(inbox.isFull(inboxMessages), false);
  inbox.add(letter('last', 1));
  assert.equal(inbox.isFull(inboxMessages), true);
  const taken = inbox.take(1);
  assert.equal(inbox.isFull(inboxMessages), false);
  inbox.putBack(taken);
  assert.equal(inbox.isFull(inboxMessages), true);
  assert.ok(inboxUnits === 32 * mebi);
});

test('clear hands over all that waits and forgets its weight', () => {
  const inbox = holding(letter('a', inboxUnits), letter('b'), letter('c'));
  inbox.take(1);
  inbox.putBack([letter('a', inboxUnits)]);
  inbox.take(1);
  inbox.putBack([letter('a', inboxUnits)]);
  inbox.take(1);
  assert.equal(ids(inbox.clear()), 'b c');
  assert.equal(inbox.size(), 0);
  assert.equal(inbox.isFull(inboxMessages), false);
  assert.deepEqual(inbox.clear(), []);
  inbox.add(letter('d'));
  assert.equal(inbox.size(), 1);
  assert.equal(ids(inbox.take(9)), 'd');
});

test('what was taken is let go of while others wait: an inbox that is never empty does not grow', async () => {
  setFlagsFromString('--expose-gc');
  const collect: unknown = runInNewContext('gc');
  assert.ok(typeof collect === 'function');
  const inbox = holding(...many(2_000));
  const kept = (() => new WeakRef(inbox.take(1_500)[0] as Envelope))();
  // A reference just made holds until the turn is over.
  await new Promise(setImmediate);
  collect();
  assert.equal(kept.deref(), undefined);
  assert.equal(inbox.size(), 500);
});
