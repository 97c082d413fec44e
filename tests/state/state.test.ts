import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import test, { type TestContext } from 'node:test';
import Database from 'better-sqlite3';
import { openState } from '../../host/state/index.ts';
import { opened, temporary } from './fixture.ts';

const codeAt = (file: string): string => {
  const state = openState(file);
  if (!state.ok) return state.problem.code;
  state.value.close();
  return 'open';
};

/** Another process that holds the database, once it has said how opening went. */
const holder = async (t: TestContext, file: string): Promise<{ child: ChildProcess; said: string }> => {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'holder.ts'), file], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [said] = await once(createInterface({ input: child.stdout }), 'line');
  return { child, said: String(said) };
};

/** Files this process has open below a folder (Linux). */
const openBelow = (dir: string): readonly string[] =>
  readdirSync('/proc/self/fd')
    .flatMap((fd) => {
      try {
        return [readlinkSync(`/proc/self/fd/${fd}`)];
      } catch {
        return [];
      }
    })
    .filter((path) => path.startsWith(dir));

test('one station holds a database: a second process is refused at once, also where nothing was written', async (t) => {
  const file = join(temporary(t), 'station.db');
  for (const round of ['a new database', 'one that is up to date']) {
    const first = await holder(t, file);
    assert.equal(first.said, 'open', round);
    const before = performance.now();
    assert.equal(codeAt(file), 'station/already-running', round);
    assert.ok(performance.now() - before < 2_500, `${round}: refused without waiting`);
    assert.equal((await holder(t, file)).said, 'station/already-running', `${round}: a third`);
    first.child.stdin?.end();
    await once(first.child, 'exit');
  }
  assert.equal(codeAt(file), 'open');
});

test('a killed station leaves no lock, and what it committed is there', async (t) => {
  const file = join(temporary(t), 'station.db');
  const held = await holder(t, file);
  held.child.kill('SIGKILL');
  await once(held.child, 'exit');
  assert.equal(codeAt(file), 'open');
});

test('a commit is on disk before it is told: WAL, and FULL where the library would take NORMAL', (t) => {
  const { db } = opened(t);
  assert.equal(db.pragma('journal_mode', { simple: true }), 'wal');
  assert.equal(db.pragma('synchronous', { simple: true }), 2);
});

test('a new database is migrated once; opened again it is as it was', (t) => {
  const file = join(temporary(t), 'station.db');
  const first = openState(file);
  assert.ok(first.ok);
  const version = first.value.db.pragma('user_version', { simple: true });
  assert.ok(typeof version === 'number' && version >= 1);
  first.value.db.exec(`INSERT INTO store VALUES ('o', 'k', 'v')`);
  first.value.close();
  const again = opened(t, file);
  assert.equal(again.db.pragma('user_version', { simple: true }), version);
  assert.deepEqual(again.db.prepare('SELECT * FROM store').all(), [{ owner: 'o', key: 'k', value: 'v' }]);
});

test('a migration happens whole or not at all', (t) => {
  const file = join(temporary(t), 'station.db');
  const before = new Database(file);
  // The first step makes `bundles` and then fails at `store`.
  before.exec('CREATE TABLE store (something)');
  before.close();
  assert.equal(codeAt(file), 'state/unreadable');
  const after = new Database(file);
  const tables = after.prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`).pluck().all();
  assert.deepEqual(tables, ['store']);
  assert.equal(after.pragma('user_version', { simple: true }), 0);
  after.close();
});

test('a database of a newer station is refused, with both versions, unchanged and not held', (t) => {
  const dir = temporary(t);
  const file = join(dir, 'station.db');
  assert.equal(codeAt(file), 'open');
  const newer = new Database(file);
  newer.pragma('user_version = 999');
  newer.close();
  const refused = openState(file);
  assert.equal(refused.ok ? 'open' : refused.problem.code, 'state/newer');
  assert.match(refused.ok ? '' : (refused.problem.evidence ?? ''), /^version 999, known \d+$/);
  if (process.platform === 'linux') assert.deepEqual(openBelow(dir), []);
  const after = new Database(file);
  assert.equal(after.pragma('user_version', { simple: true }), 999);
  after.close();
});

test('what is no database is state/unreadable, and nothing stays open', (t) => {
  const dir = temporary(t);
  const file = join(dir, 'station.db');
  writeFileSync(file, 'this is no database, however long one looks at it'.repeat(20));
  assert.equal(codeAt(file), 'state/unreadable');
  assert.equal(codeAt(join(dir, 'no', 'folder.db')), 'state/unreadable');
  if (process.platform === 'linux') assert.deepEqual(openBelow(dir), []);
});

test('a transaction is all or nothing; a nested one rolls back alone, with everything nested in it', (t) => {
  const { db, transaction } = opened(t);
  const put = (key: string) => db.prepare(`INSERT INTO store VALUES ('o', ?, '')`).run(key);
  const keys = () => db.prepare('SELECT key FROM store ORDER BY key').pluck().all();
  const stop = (): never => {
    throw new Error('stop');
  };

  assert.equal(
    transaction(() => {
      put('a');
      return 'value';
    }),
    'value',
  );
  assert.equal(db.inTransaction, false);
  assert.throws(() => transaction(() => [put('b'), stop()]), /stop/);
  assert.equal(db.inTransaction, false);
  assert.deepEqual(keys(), ['a']);

  transaction(() => {
    put('c');
    assert.throws(() =>
      transaction(() => {
        put('d');
        transaction(() => put('e'));
        stop();
      }),
    );
    transaction(() => put('f'));
    assert.throws(() => transaction(() => [put('g'), stop()]));
    assert.equal(db.inTransaction, true, 'the outer one goes on');
  });
  assert.deepEqual(keys(), ['a', 'c', 'f']);

  assert.throws(() =>
    transaction(() => {
      transaction(() => put('h'));
      stop();
    }),
  );
  transaction(() => {
    assert.throws(() =>
      transaction(() => {
        put('h');
        assert.throws(() => transaction(() => [put('i'), stop()]));
        stop();
      }),
    );
  });
  assert.deepEqual(keys(), ['a', 'c', 'f'], 'a released savepoint goes with its outer transaction');
});

test('a transaction that SQLite ended itself says why it did, and the next one works', (t) => {
  const { db, transaction } = opened(t);
  const put = db.prepare(`INSERT OR ROLLBACK INTO store VALUES ('o', 'k', '')`);
  const twice = () => [put.run(), put.run()];
  assert.throws(() => transaction(twice), /UNIQUE/);
  assert.throws(() => transaction(() => transaction(twice)), /UNIQUE/);
  transaction(() => put.run());
  assert.equal(db.prepare('SELECT count(*) FROM store').pluck().get(), 1);
});

test('what is written is there at once; what waits for the disk is called in its order, once it is there', async (t) => {
  const state = opened(t);
  state.db.exec('CREATE TABLE t (a)');
  const put = (value: number) => state.db.prepare('INSERT INTO t VALUES (?)').run(value);
  const called: string[] = [];
  state.durable(() => called.push('nothing was written'));
  assert.deepEqual(called, ['nothing was written']);
  state.write(() => put(1));
  state.durable(() => {
    called.push('first');
    state.write(() => put(3));
    state.durable(() => called.push('asked while the first was called'));
  });
  state.write(() => put(2));
  state.durable(() => called.push('second'));
  assert.deepEqual(state.db.prepare('SELECT a FROM t').pluck().all(), [1, 2]);
  assert.equal(called.length, 1, 'the disk has not answered');
  await state.flushed();
  assert.deepEqual(called.slice(1), ['first', 'second', 'asked while the first was called']);
  assert.throws(() =>
    state.write(() => {
      put(4);
      throw new Error('no');
    }),
  );
  assert.deepEqual(state.db.prepare('SELECT a FROM t').pluck().all(), [1, 2, 3]);
  assert.equal(
    state.db.pragma('synchronous', { simple: true }),
    2,
    'everything else waits for the disk itself',
  );
});
