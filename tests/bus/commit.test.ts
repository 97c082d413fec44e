import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { type CommitHost, commitBatch } from '../../host/bus/commit.ts';
import type { BusComponent } from '../../host/bus/edge.ts';
import type { Envelope } from '../../host/bus/inbox.ts';
import { openLogRate } from '../../host/bus/quota.ts';
import { openTopicRegistry } from '../../host/bus/registry.ts';
import { readPolicy } from '../../host/policy/index.ts';
import { ok, problem, refuse } from '../../host/problems/index.ts';
import { defaultLimits, type Effect, type Handled } from '../../host/sandbox/index.ts';
import { openComponentStore } from '../../host/state/index.ts';
import { opened } from '../state/fixture.ts';
import { topics } from './fixture.ts';

const component: BusComponent = {
  name: 'test.bundle:one',
  bundle: 'test.bundle',
  revision: 'r1',
  handles: new Set(['test.do']),
  subscribes: new Set(),
  publishes: new Set(['test.happened', 'test.do', 'test.nobody']),
  limits: defaultLimits,
  start: () => Promise.reject(new Error('not in this test')),
};
const everyPermission = ['store:own', 'bus:publish', 'process:spawn'];

/** What a commit did, in its order; `fate` is what a command's caller was told. */
const bench = (t: TestContext, granted: readonly string[] = everyPermission) => {
  const state = opened(t);
  const store = openComponentStore(state.db);
  const registry = openTopicRegistry();
  registry.declare('test.bundle', topics);
  const done: string[] = [];
  const stored = () => JSON.stringify(store.scan(component.name, '', null, 10).map(({ key }) => key));
  let policy = readPolicy(
    Buffer.from(JSON.stringify({ grants: { 'test.bundle': granted, other: everyPermission } })),
    'policy.jsonc',
  );
  let transactions = 0;
  const host: CommitHost = {
    state: {
      ...state,
      write: (work) => {
        transactions += 1;
        return state.write(work);
      },
    },
    store,
    topics: registry,
    policy: () => policy,
    ports: {
      log: (name, level, text) => done.push(`log ${name} ${level} ${text}`),
      wake: (name, token, afterMs) => done.push(`wake ${name} ${token} ${afterMs}`),
      write: (name, process, text) => done.push(`write ${name} ${process} ${text} with ${stored()}`),
      kill: (name, process) => done.push(`kill ${name} ${process}`),
      release: (name, terminal) => done.push(`release ${name} ${terminal}`),
      owns: (name, process) => name === component.name && process === 'mine',
      settleSpawns: () => undefined,
      call: () => ({ ok: true, value: null }),
    },
    redact: (text) => text,
    logRate: openLogRate(),
    now: () => 0,
    openRoom: () => (topic) =>
      topic === 'test.happened' ? ok(undefined) : refuse('bus/inbox-full', { subject: 'someone' }),
    publish: (from, effect, kind) => done.push(`publish ${from.name} ${kind} ${effect.topic}`),
    onFailed: (_component, envelope, why) => done.push(`failed ${envelope.message.id} ${why.code}`),
  };
  const envelope = (id: string, command: boolean): Envelope => ({
    message: { id, topic: 'test.do', payload: '{}', source: 's', at: 0 },
    flow: id,
    command,
    onFate: (fate) => done.push(`fate ${id} ${fate.ok ? fate.reply : fate.problem.code}`),
  });
  return {
    done,
    store,
    state,
    stored,
    transactions: () => transactions,
    revoke: () => {
      policy = readPolicy(Buffer.from('{}'), 'policy.jsonc');
    },
    commit: (handled: readonly Handled[], command = false, from = component) => {
      const envelopes = handled.map((_one, index) => envelope(`m${index}`, command));
      const { stoppedAt, problem: why } = commitBatch(host, from, envelopes, handled);
      return why === undefined ? 'kept' : `${stoppedAt} ${why.code} ${why.evidence ?? ''}`.trim();
    },
  };
};

const done = (...effects: readonly Effect[]): Handled => ({ outcome: { tag: 'done' }, effects });
const replied = (reply: string, ...effects: readonly Effect[]): Handled => ({
  outcome: { tag: 'replied', reply },
  effects,
});
const failing = (...effects: readonly Effect[]): Handled => ({
  outcome: { tag: 'failed', problem: problem('bus/message-failed') },
  effects,
});
const put = (key: string): Effect => ({ kind: 'put', key, value: 'v' });
const log: Effect = { kind: 'log', level: 'info', text: 'said' };
const wake: Effect = { kind: 'wake', token: 'w', afterMs: 5 };
const remove: Effect = { kind: 'remove', key: 'k' };
const write = (process: string): Effect => ({ kind: 'write', process, text: 'x' });
const kill = (process: string): Effect => ({ kind: 'kill', process });
const publish = (topic: string, payload: unknown = { what: 'x' }): Effect => ({
  kind: 'publish',
  topic,
  payload: JSON.stringify(payload),
  to: null,
  token: null,
});

const permissions: readonly (readonly [effect: Effect, permission: string | undefined])[] = [
  [log, undefined],
  [wake, undefined],
  [put('k'), 'store:own'],
  [remove, 'store:own'],
  [publish('test.happened'), 'bus:publish'],
  [write('mine'), 'process:spawn'],
  // Ending what it started needs no permission: a component that lost its grant must still be able to.
  [kill('mine'), undefined],
];
for (const [effect, permission] of permissions)
  test(`the effect ${effect.kind} needs ${permission ?? 'no permission'}, granted to its own bundle`, (t) => {
    const without = bench(
      t,
      everyPermission.filter((one) => one !== permission),
    );
    const expected = permission === undefined ? 'kept' : `0 bus/not-granted ${permission}`;
    assert.equal(without.commit([done(effect)]), expected);
    const only = bench(t, permission === undefined ? [] : [permission]);
    assert.equal(only.commit([done(effect)]), 'kept');
    only.revoke();
    assert.equal(only.commit([done(effect)]), expected, 'as policy is now');
  });

const refusals: readonly (readonly [name: string, effect: Effect, said: string])[] = [
  ['a process of another', write('theirs'), '0 bus/not-its-process theirs'],
  ['ending a process of another', kill('theirs'), '0 bus/not-its-process theirs'],
  ['a topic its manifest does not name', publish('test.undeclared'), '0 bus/not-declared test.undeclared'],
  ['a topic no bundle declares', publish('test.nobody'), '0 bus/topic-unknown'],
  [
    'a payload that does not fit',
    publish('test.happened', {}),
    '0 bus/payload-invalid #: does not have "what"',
  ],
  [
    'a command that does not fit',
    publish('test.do', { put: 1 }),
    '0 bus/payload-invalid #/put: is not object, but number',
  ],
];
for (const [name, effect, said] of refusals)
  test(`refused with its whole message: ${name}`, (t) => {
    const { commit, done: seen, stored } = bench(t);
    assert.equal(commit([done(put('a'), log, effect)]), said);
    assert.deepEqual(seen, [], 'nothing was done');
    assert.equal(stored(), '[]');
  });

test('an event is refused where a subscriber has no room; a command is not asked for it here', (t) => {
  const { commit } = bench(t);
  const from = { ...component, publishes: new Set(['test.undeclared', 'test.do']) };
  assert.equal(commit([done(publish('test.undeclared'))], false, from), '0 bus/inbox-full');
  assert.equal(commit([done(publish('test.do', {}))], false, from), 'kept');
});

test('effects are done in their order, after everything of the batch is written', (t) => {
  const { commit, done: seen } = bench(t);
  const said = commit([
    done(log, put('a'), write('mine'), publish('test.happened'), kill('mine'), wake),
    replied('{}', put('b'), publish('test.do', {})),
  ]);
  assert.equal(said, 'kept');
  assert.deepEqual(seen, [
    'log test.bundle:one info said',
    'write test.bundle:one mine x with ["a","b"]',
    'publish test.bundle:one event test.happened',
    'kill test.bundle:one mine',
    'wake test.bundle:one w 5',
    'fate m0 {}',
    'publish test.bundle:one command test.do',
    'fate m1 {}',
  ]);
});

test('a refused message stops the batch: what came before it is kept, what came after has not happened', (t) => {
  const { commit, done: seen, stored } = bench(t);
  assert.equal(
    commit([done(put('a')), done(put('b'), write('theirs')), done(put('c'))]),
    '1 bus/not-its-process theirs',
  );
  assert.equal(stored(), '["a"]');
  assert.deepEqual(seen, ['fate m0 {}']);
});

test('a failure told before anything changed is an answer, its log kept; after a change it is a roll back', (t) => {
  const { commit, done: seen, stored } = bench(t);
  assert.equal(commit([failing(log), done(put('a'))]), 'kept');
  assert.deepEqual(seen.splice(0), [
    'log test.bundle:one info said',
    'failed m0 bus/message-failed',
    'fate m1 {}',
  ]);
  for (const effect of [put('b'), remove, wake, publish('test.happened'), write('mine'), kill('mine')])
    assert.equal(commit([failing(log, effect)]), '0 bus/message-failed', effect.kind);
  assert.deepEqual(seen, []);
  assert.equal(stored(), '["a"]');
});

test('a reply is checked against its topic, of a command only; one that says nothing replies {}', (t) => {
  const { commit, done: seen, stored } = bench(t);
  assert.equal(commit([replied('{"value":"x"}')], true), 'kept');
  assert.equal(commit([done()], true), 'kept');
  assert.deepEqual(seen.splice(0), ['fate m0 {"value":"x"}', 'fate m0 {}']);
  assert.match(commit([replied('{"value":1}', put('a'))], true), /^0 bus\/payload-invalid #\/value/);
  assert.match(commit([replied('not JSON', put('a'))], true), /^0 bus\/payload-invalid not JSON/);
  assert.equal(stored(), '[]');
  assert.equal(commit([replied('not JSON')], false), 'kept', 'nobody reads the reply to an event');
});

test('a batch that cannot be written is undone whole and nothing of it is done', (t) => {
  const { commit, done: seen, stored, state } = bench(t);
  state.db.exec(`CREATE TRIGGER full BEFORE INSERT ON store WHEN new.key = 'b'
    BEGIN SELECT RAISE(ABORT, 'no space'); END`);
  assert.match(commit([done(put('a'), log), done(put('b'))]), /^0 state\/write-failed .*no space/);
  assert.equal(stored(), '[]');
  assert.deepEqual(seen, []);
  assert.equal(commit([done(put('a'))]), 'kept');
});

test('fewer outcomes than messages: the first without one has failed', (t) => {
  const { commit, stored } = bench(t);
  const sparse: Handled[] = [done(put('a'))];
  sparse.length = 2;
  assert.equal(commit(Array.from(sparse) as Handled[]), '1 bus/message-failed');
  assert.equal(stored(), '["a"]');
});

test('a batch costs one transaction, and none where nothing is written', (t) => {
  const { commit, transactions } = bench(t);
  commit([done(put('a'), put('b')), done(put('c'), remove)]);
  assert.equal(transactions(), 1);
  commit([done(log, wake), done(publish('test.happened'))]);
  assert.equal(transactions(), 1);
});
