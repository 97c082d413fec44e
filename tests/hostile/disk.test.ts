/** A disk that takes nothing any more: named problems, nothing thrown where nobody catches. */
import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { setTimeout as delay } from 'node:timers/promises';
import { openProcesses } from '../../host/processes/index.ts';
import { openEventLog, openState } from '../../host/state/index.ts';
import { openStationLog } from '../../host/station/log.ts';

const temporary = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), 'hostile-disk-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const same = (text: string) => text;
const unhandled = (t: TestContext): unknown[] => {
  const seen: unknown[] = [];
  const note = (error: unknown) => void seen.push(error);
  process.on('unhandledRejection', note);
  t.after(() => process.off('unhandledRejection', note));
  return seen;
};

it('an event that cannot be written is lost, and what it is about goes on', (t) => {
  const opened = openState(join(temporary(t), 'station.db'));
  assert.ok(opened.ok);
  const { db, transaction, close } = opened.value;
  const events = openEventLog(opened.value, Date.now, same);
  events.add('install', 'kept');
  db.pragma(`max_page_count = ${db.pragma('page_count', { simple: true })}`);
  for (let count = 0; count < 200; count += 1) events.add('fail', `${count} ${'x'.repeat(900)}`);
  assert.equal(events.newest(1_000).at(-1)?.kind, 'install');
  db.pragma('max_page_count = 1000000');
  events.add('start', 'kept');
  assert.equal(events.newest(1)[0]?.kind, 'start');
  transaction(() => events.add('park', 'kept'));
  close();
});

it('a log on a full disk ends nobody', { skip: process.platform !== 'linux' }, async (t) => {
  const logs = temporary(t);
  symlinkSync('/dev/full', join(logs, 'station.log'));
  const log = openStationLog(logs, same);
  for (let count = 0; count < 100; count += 1) log.station('info', 'x'.repeat(10_000));
  await delay(50);
  log.close();
});

it('a log is set aside while the station runs, and one older is kept', async (t) => {
  const logs = temporary(t);
  const limit = 64 * 1024;
  const log = openStationLog(logs, same, limit);
  for (let count = 0; count < 400; count += 1) {
    log.component('test:one', 'info', `${count} ${'x'.repeat(2_000)}`);
    if (count % 20 === 0) await delay(1);
  }
  log.close();
  assert.deepEqual(readdirSync(logs).sort(), ['station.log', 'station.log.1']);
  for (const name of readdirSync(logs)) assert.ok(statSync(join(logs, name)).size <= limit, name);
  assert.match(readFileSync(join(logs, 'station.log'), 'utf8'), /399 xxx/);
});

it('a process of which no note can be written is not started, and none is left waiting', async (t) => {
  const run = join(temporary(t), 'run');
  const rejections = unhandled(t);
  const processes = await openProcesses({ run });
  t.after(() => processes.endAll(0));
  rmSync(run, { recursive: true });
  const ran = join(run, '..', 'ran');
  for (const env of [{}, { 'not.for-a-shell': '1' }]) {
    const started = await processes.start({
      alias: 'sample',
      command: 'sh',
      args: ['-c', `echo >${ran}; sleep 60`],
      cwd: tmpdir(),
      env,
      onLines: () => undefined,
      onExit: () => undefined,
    });
    assert.equal(started.ok ? 'started' : started.problem.code, 'process/spawn-failed');
    // One with such a name is started directly; all others never run.
    if (Object.keys(env).length === 0) assert.equal(existsSync(ran), false);
    // Long enough for the gate that is made ahead of need.
    await delay(300);
  }
  assert.equal(processes.running(), 0);
  assert.deepEqual(rejections, []);
});
