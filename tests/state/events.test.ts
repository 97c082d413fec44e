import assert from 'node:assert/strict';
import test from 'node:test';
import { problem } from '../../host/problems/index.ts';
import { openEventLog } from '../../host/state/index.ts';
import { opened } from './fixture.ts';

const kept = 10_000;
/** Added beyond them before the oldest are removed. */
const slack = 100;

test('the newest 10,000 events are kept, newest first', (t) => {
  const state = opened(t);
  let at = 0;
  const now = () => {
    at += 1;
    return at;
  };
  const events = openEventLog(state.db, now, (text) => text);
  const count = () => Number(state.db.prepare('SELECT count(*) FROM events').pluck().get());
  const add = (times: number) =>
    state.transaction(() => {
      for (let index = 0; index < times; index += 1) events.add('kind', `subject ${at}`);
    });
  add(kept);
  assert.equal(count(), kept, 'none of these is removed');
  for (let round = 0; round < 5; round += 1) {
    add(slack / 2);
    assert.ok(count() >= kept && count() < kept + slack, `${count()} are kept`);
  }
  const total = kept + (5 * slack) / 2;
  assert.deepEqual(events.newest(3), [
    { seq: total, at: total, kind: 'kind', subject: `subject ${total - 1}` },
    { seq: total - 1, at: total - 1, kind: 'kind', subject: `subject ${total - 2}` },
    { seq: total - 2, at: total - 2, kind: 'kind', subject: `subject ${total - 3}` },
  ]);
});

test('subject and problem are redacted before they are written', (t) => {
  const state = opened(t);
  const events = openEventLog(
    state.db,
    () => 1,
    (text) => text.replaceAll('secret', '***'),
  );
  events.add('kind', 'a secret subject', problem('state/write-failed', { evidence: 'a secret reason' }));
  const [event] = events.newest(1);
  assert.equal(event?.subject, 'a *** subject');
  assert.equal(event?.problem?.code, 'state/write-failed');
  assert.equal(event?.problem?.evidence, 'a *** reason');
  assert.ok(!JSON.stringify(state.db.prepare('SELECT * FROM events').all()).includes('secret'));
});

test('an event that cannot be written is dropped and ends nothing', (t) => {
  const { db } = opened(t);
  const events = openEventLog(
    db,
    () => 1,
    (text) => text,
  );
  db.pragma('query_only = ON');
  events.add('kind', 'lost');
  db.pragma('query_only = OFF');
  events.add('kind', 'written');
  assert.deepEqual(
    events.newest(10).map(({ subject }) => subject),
    ['written'],
  );
});
