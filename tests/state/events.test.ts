/** The ledger: durable, bounded by age, number and burst, and honest about what it dropped. */
import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import Database from 'better-sqlite3';
import { problem } from '../../host/problems/index.ts';
import { burst, keptMs, keptOfKind } from '../../host/state/events.ts';
import { openEventLog, openState, type StationEvent } from '../../host/state/index.ts';
import { migrations } from '../../host/state/migrations.ts';

const openLog = (t: TestContext) => {
  const folder = mkdtempSync(join(tmpdir(), 'jupiter-events-'));
  const file = join(folder, 'station.db');
  let at = 1_000_000;
  const open = () => {
    const state = openState(file);
    if (!state.ok) throw new Error(state.problem.message);
    const log = openEventLog(
      state.value,
      () => at,
      (text) => text.replaceAll('hunter22', '[redacted]'),
    );
    return { state: state.value, log };
  };
  let now = open();
  t.after(() => {
    now.state.close();
    rmSync(folder, { recursive: true, force: true });
  });
  return {
    log: () => now.log,
    db: () => now.state.db,
    flushed: () => now.state.flushed(),
    pass: (ms: number) => {
      at += ms;
    },
    reopen: () => {
      now.log.flush();
      now.state.close();
      now = open();
    },
  };
};

const told = (events: readonly StationEvent[]): readonly string[] =>
  events.map(({ kind, subject }) => `${kind} ${subject}`);

test('events outlive the station, with time, subject and problem, and nothing secret in them', (t) => {
  const bench = openLog(t);
  bench.log().add('install', 'a 1');
  bench.pass(5);
  bench.log().add('fail', 'a:b hunter22', problem('bundle/link', { evidence: 'hunter22' }));
  bench.reopen();
  const [newest, first] = bench.log().newest(10);
  assert.deepEqual(first, { seq: 1, at: 1_000_000, kind: 'install', subject: 'a 1' });
  assert.equal(newest?.at, 1_000_005);
  assert.equal(newest?.subject, 'a:b [redacted]');
  assert.equal(newest?.problem?.code, 'bundle/link');
  assert.equal(newest?.problem?.evidence, '[redacted]');
  assert.equal(bench.log().dropped(), 0);
});

test('who listens hears each event once it is on disk, until it stops', async (t) => {
  const bench = openLog(t);
  const heard: StationEvent[] = [];
  const stop = bench.log().listen((event) => heard.push(event));
  bench.log().add('grant', 'a store:own');
  assert.deepEqual(heard, [], 'nobody waits for the disk');
  await bench.flushed();
  stop();
  bench.log().add('revoke', 'a store:own');
  await bench.flushed();
  assert.deepEqual(told(heard), ['grant a store:own']);
  assert.deepEqual(heard[0], bench.log().newest(2)[1]);
});

test('a kind is bounded by itself: a thousand failures push out no installation, and what goes is counted', (t) => {
  const bench = openLog(t);
  bench.log().add('install', 'a');
  const transaction = bench.db().transaction(() => {
    for (let count = 0; count < keptOfKind * 2; count += 1) bench.log().add('fail', `c${count}`);
  });
  transaction();
  const all = bench.log().newest(10_000);
  const failures = all.filter(({ kind }) => kind === 'fail');
  assert.ok(failures.length >= keptOfKind && failures.length <= keptOfKind + 50, `${failures.length}`);
  assert.equal(failures[0]?.subject, `c${keptOfKind * 2 - 1}`);
  assert.ok(told(all).includes('install a'));
  assert.equal(bench.log().dropped(), keptOfKind * 2 - failures.length);
  const before = bench.log().dropped();
  bench.reopen();
  assert.equal(bench.log().dropped(), before);
});

test('one subject that repeats itself is written about so often a minute, and the rest is counted', (t) => {
  const bench = openLog(t);
  for (let count = 0; count < burst + 25; count += 1) bench.log().add('fail', 'noisy');
  bench.log().add('fail', 'other');
  assert.equal(bench.log().newest(1_000).length, burst + 1);
  assert.equal(bench.log().dropped(), 25);
  bench.pass(60_000);
  bench.log().add('fail', 'noisy');
  assert.equal(bench.log().newest(1_000).length, burst + 2);
  bench.reopen();
  assert.equal(bench.log().dropped(), 25);
});

test('what is older than the bound goes, and is counted', (t) => {
  const bench = openLog(t);
  bench.log().add('install', 'old');
  bench.pass(keptMs - 1);
  bench.log().add('install', 'new');
  assert.deepEqual(told(bench.log().newest(10)), ['install new', 'install old']);
  bench.pass(60 * 60 * 1_000);
  bench.log().add('install', 'newer');
  assert.deepEqual(told(bench.log().newest(10)), ['install newer', 'install new']);
  assert.equal(bench.log().dropped(), 1);
});

test('a ledger that cannot be written stops nobody, and counts', (t) => {
  const bench = openLog(t);
  bench.db().pragma('query_only = ON');
  bench.log().add('install', 'a');
  assert.equal(bench.log().dropped(), 1);
  bench.db().pragma('query_only = OFF');
  bench.log().add('install', 'b');
  assert.deepEqual(told(bench.log().newest(10)), ['install b']);
  assert.equal(bench.log().dropped(), 1);
});

test('a home of the first schema is brought up to this one with its events', (t) => {
  const folder = mkdtempSync(join(tmpdir(), 'jupiter-events-'));
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  const file = join(folder, 'station.db');
  const old = new Database(file);
  old.exec(migrations[0] ?? '');
  old.pragma('user_version = 1');
  old.exec("INSERT INTO events (at, kind, subject) VALUES (1, 'bundle-installed', 'a')");
  old.close();
  const state = openState(file);
  if (!state.ok) throw new Error(state.problem.message);
  const log = openEventLog(
    state.value,
    () => 2,
    (text) => text,
  );
  log.add('grant', 'b');
  assert.deepEqual(told(log.newest(10)), ['grant b', 'bundle-installed a']);
  state.value.close();
});
