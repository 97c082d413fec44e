import assert from 'node:assert/strict';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { after, before, test } from 'node:test';
import { buildComponent, narrowedWorld } from '../../components/guest/build.ts';
import { type Guest, loadGuest, refusal, type Sent } from './guest-host.ts';

const wit = resolve('wit/0.3.0');
const entry = resolve('tests/fixtures/components/trials.ts');
const everything = ['store:own', 'bus:publish', 'process:spawn', 'session-context:provision'];
let folder = '';
let guest: Guest;
let poor: Guest;

before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jupiter-trials-'));
  await buildComponent({ entry, out: join(folder, 'all.wasm') });
  await buildComponent({ entry, out: join(folder, 'none.wasm'), permissions: [] });
  guest = await loadGuest(join(folder, 'all.wasm'), {
    spawn: (program) =>
      program === 'there' ? 'p1' : refusal({ code: 'process/not-found', message: 'no such program' }),
  });
  poor = await loadGuest(join(folder, 'none.wasm'));
});
after(async () => {
  await guest.close();
  await poor.close();
  await rm(folder, { recursive: true, force: true });
});

const sent = (topic: string, payload: unknown = {}): Sent => ({
  topic,
  payload: typeof payload === 'string' ? payload : JSON.stringify(payload),
  source: 'test:test',
});
const one = (topic: string, payload: unknown = {}, to: Guest = guest) => {
  const [asked] = to.handle([sent(topic, payload)]);
  assert.ok(asked);
  return asked;
};
const reply = (topic: string, payload: unknown = {}): unknown => {
  const { outcome } = one(topic, payload);
  assert.equal(outcome.tag, 'replied', JSON.stringify(outcome));
  return outcome.tag === 'replied' ? JSON.parse(outcome.val) : undefined;
};

const throws: Readonly<Record<string, readonly [code: string, message: RegExp]>> = {
  error: ['component/failed', /TypeError: an error/],
  string: ['component/failed', /a string/],
  object: ['component/failed', /"some":"object"/],
  undefined: ['component/failed', /threw undefined/],
  null: ['component/failed', /threw null/],
  circular: ['component/failed', /cannot be shown/],
  hostile: ['component/failed', /cannot be shown/],
  surrogate: ['component/failed', /half \ufffd/],
  symbol: ['component/failed', /Symbol\(s\)/],
  noKey: ['component/failed', /takes a string here, not undefined/],
  noValue: ['component/failed', /undefined has no JSON/],
  noTopic: ['component/failed', /takes a string here/],
  noProgram: ['component/failed', /takes a string here/],
  noTime: ['component/failed', /takes a number/],
  noText: ['component/failed', /TypeError/],
  fail: ['trial/failed', /It failed/],
  failWith: ['trial/passed-on', /Passed on/],
};

test('whatever a handler throws is the failed outcome of its message, and the instance goes on', () => {
  for (const [what, [code, message]] of Object.entries(throws)) {
    const asked = one('trial.throw', { what });
    assert.ok(asked.outcome.tag === 'failed', what);
    assert.equal(asked.outcome.val.code, code, what);
    assert.match(asked.outcome.val.message, message);
    assert.deepEqual(asked.logs, [`error about to throw ${what}`]);
    assert.deepEqual(reply('trial.echo', { text: what }), { text: what });
  }
  const { outcome } = one('trial.throw', { what: 'fail' });
  assert.ok(outcome.tag === 'failed');
  assert.equal(outcome.val.subject, 'me');
  assert.equal(outcome.val.fix, 'Try again.');
  assert.equal(guest.store.has('written'), false);
});

test('one failed message of a batch leaves its neighbours alone, and what was kept in memory is dropped', () => {
  const outcomes = guest
    .handle([
      sent('trial.store', { key: 'k1' }),
      sent('trial.throw', { what: 'string' }),
      sent('trial.store', { key: 'k2' }),
      sent('trial.echo', '{not json'),
      sent('trial.unknown'),
      sent('station.of.a.later.release'),
      sent('trial.nothing'),
    ])
    .map(({ outcome }) => (outcome.tag === 'failed' ? outcome.val.code : outcome.tag));
  assert.deepEqual(outcomes, [
    'replied',
    'component/failed',
    'replied',
    'component/failed',
    'component/topic-unhandled',
    'done',
    'replied',
  ]);
  assert.deepEqual(
    [...guest.store],
    [
      ['k1', '{"kept":0}'],
      ['k2', '{"kept":0}'],
    ],
  );
  assert.deepEqual(reply('trial.nothing'), {});
});

test('text of every kind crosses, half a surrogate pair too', () => {
  for (const text of ['é 漢 😀', '\u0000', 'half \ud800 pair']) {
    const asked = one('trial.echo', { text });
    assert.deepEqual(asked.logs, [`info ${text.toWellFormed()}`]);
    assert.ok(asked.outcome.tag === 'replied');
    assert.equal((JSON.parse(asked.outcome.val) as { text: string }).text, text);
    assert.deepEqual(JSON.parse(asked.published[0]?.payload ?? ''), { text: text.toWellFormed() });
  }
});

test('a refused import is a result, an ID is random, the last of a topic is known', () => {
  assert.deepEqual(reply('trial.spawn', { program: 'there' }), { process: 'p1' });
  assert.deepEqual(reply('trial.spawn', { program: 'absent' }), { code: 'process/not-found' });
  const { ids } = reply('trial.ids') as { ids: string[] };
  assert.match(ids[0] ?? '', /^[a-z0-9]{20}$/);
  assert.match(ids[1] ?? '', /^[a-z0-9]{5}$/);
  const logs = guest
    .handle([sent('trial.last'), sent('trial.nothing'), sent('trial.last'), sent('trial.nothing')])
    .flatMap((asked) => asked.logs);
  assert.deepEqual(logs, ['info last false', 'info last true']);
});

test('a component imports only what its permissions allow, and is told what to ask for', () => {
  assert.deepEqual(poor.imports, [
    'bearpunch:station/clock',
    'bearpunch:station/log',
    'bearpunch:station/random',
  ]);
  assert.equal(guest.imports.length, 9);
  assert.equal(one('trial.nothing', {}, poor).outcome.tag, 'replied');
  const { outcome } = one('trial.store', { key: 'k' }, poor);
  assert.ok(outcome.tag === 'failed');
  assert.equal(outcome.val.code, 'component/permission-missing');
  assert.match(outcome.val.fix ?? '', /store:own/);
});

test('the narrowed world is the platform without the rest', async () => {
  const text = await readFile(join(wit, 'station.wit'), 'utf8');
  assert.equal(narrowedWorld(text, everything), text);
  const narrow = narrowedWorld(text, ['store:own']);
  const imports = narrow.slice(narrow.indexOf('world plugin')).match(/import [a-z-]+/g);
  assert.deepEqual(imports, ['import log', 'import clock', 'import random', 'import store']);
});
