/** The life of a real station from the command line. */
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, watch, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { startDetached } from '../../host/cli/start.ts';
import { processLives } from '../../host/processes/index.ts';
import { launcher, run, temporary } from './fixtures/command.ts';

/** A home without any bundle: quick to start. */
const homeOf = async (t: TestContext): Promise<string> => {
  const home = join(temporary(t), 'home');
  assert.equal((await run(['--home', home, 'init'])).code, 0);
  t.after(() => run(['--home', home, 'down']));
  return home;
};
/** Processes whose command line names the folder: a station and its agents do. */
const naming = (folder: string): readonly string[] =>
  execFileSync('ps', ['-A', '-ww', '-o', 'args='], { encoding: 'utf8' })
    .split('\n')
    .filter((line) => line.includes(folder));

test('up returns when the station is ready; status, a second up and down say what is so', async (t) => {
  const home = await homeOf(t);
  const up = await run(['--home', home, '--json', 'up']);
  assert.equal(up.code, 0, up.out + up.err);
  const { pid } = JSON.parse(up.out);
  assert.deepEqual(JSON.parse(up.out), { home, pid });
  assert.ok(processLives(pid));
  if (process.platform === 'linux')
    assert.match(readFileSync(`/proc/${pid}/environ`, 'utf8'), /\0MALLOC_TRIM_THRESHOLD_=\d+\0/);
  const status = await run(['--home', home, '--json', 'status']);
  assert.equal(JSON.parse(status.out).pid, pid);
  assert.match((await run(['--home', home, 'status'])).out, new RegExp(`^station +\\S+, pid ${pid}, since`));
  const output = join(home, 'logs', 'station.out');
  writeFileSync(output, 'what it said before\n');
  const second = await run(['--home', home, '--json', 'up']);
  assert.deepEqual([second.code, JSON.parse(second.out).problem.code], [1, 'station/already-running']);
  assert.ok(processLives(pid));
  assert.match(readFileSync(output, 'utf8'), /^what it said before/, 'of the station that runs');
  const list = await run(['--home', home, '--json', 'session', 'show', 's-nobody']);
  assert.equal(list.code, 1);
  assert.match(JSON.parse(list.out).problem.code, /\//);
  const down = await run(['--home', home, '--json', 'down']);
  assert.deepEqual([down.code, JSON.parse(down.out)], [0, { stopped: true, pid }]);
  assert.ok(!processLives(pid), 'its process has ended');
  assert.equal((await run(['--home', home, 'status'])).code, 3);
});

test('up on a home that is missing or damaged says why, and leaves nothing running', async (t) => {
  const missing = join(temporary(t), 'home');
  const none = await run(['--home', missing, '--json', 'up']);
  assert.deepEqual([none.code, JSON.parse(none.out).problem.code], [1, 'station/home-missing']);
  assert.equal(existsSync(missing), false);
  const home = await homeOf(t);
  writeFileSync(join(home, 'station.db'), 'this is no database, however long one looks at it');
  const damaged = await run(['--home', home, '--json', 'up']);
  assert.deepEqual([damaged.code, JSON.parse(damaged.out).problem.code], [1, 'state/unreadable']);
  assert.equal((await run(['--home', home, 'status'])).code, 3);
});

test('up --foreground stays until it is told to stop', async (t) => {
  const home = await homeOf(t);
  const ran = await run(['--home', home, '--json', 'up', '--foreground'], {
    onOutput: (child) => child.kill('SIGTERM'),
  });
  assert.deepEqual([ran.code, ran.signal], [0, null], ran.err);
  const [ready, stopped] = ran.out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));
  assert.equal(ready.ready.home, home);
  assert.deepEqual(stopped, { stopped: true });
  assert.equal((await run(['--home', home, 'status'])).code, 3);
});

test('a start that is given up ends what was started, before it says so', async (t) => {
  const home = await homeOf(t);
  for (const before of [true, false]) {
    const stop = new AbortController();
    if (before) stop.abort();
    const started = startDetached({ home, signal: stop.signal });
    stop.abort();
    const given = await started;
    assert.equal(!given.ok && given.problem.code, 'cli/interrupted');
    assert.deepEqual(naming(home), []);
  }
});

const readme = new URL('../../README.md', import.meta.url);
/** What a demo prints, without what differs from one run to the next. */
const anyDemo = (text: string): string =>
  text
    .replace(/^(session|workspace|created|policy)( +).*$/gm, '$1$2…')
    .replace(/\b[0-9a-f]{12}\b/g, 'revision')
    .trim();

test('the demo calls the tool and leaves nothing behind', async (t) => {
  const TMPDIR = temporary(t);
  const ran = await run(['demo'], { env: { TMPDIR } });
  assert.equal(ran.code, 0, ran.err);
  assert.match(ran.out, /^tool \[completed\]: probe\.probe: probe answered$/m);
  assert.match(ran.out, /say-hello +placed/);
  assert.equal(ran.err, 'starting a station in a temporary home…\n');
  assert.equal(
    anyDemo(ran.out),
    anyDemo(/```text\n(session .*?)```/s.exec(readFileSync(readme, 'utf8'))?.[1] ?? ''),
    'the README shows what the demo prints',
  );
  assert.deepEqual(readdirSync(TMPDIR), []);
  assert.deepEqual(naming(TMPDIR), []);
});

test('the demo leaves nothing behind when it is interrupted, twice', async (t) => {
  const TMPDIR = temporary(t);
  const child = spawn(process.execPath, [launcher, '--json', 'demo'], {
    env: { PATH: process.env.PATH ?? '', TMPDIR },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let out = '';
  child.stdout.setEncoding('utf8').on('data', (text) => {
    out += text;
  });
  // The station has its lock: it is being opened.
  await new Promise<void>((resolve) => {
    const watcher = watch(TMPDIR, { recursive: true }, (_event, name) => {
      if (!String(name).endsWith('run/lock')) return;
      watcher.close();
      resolve();
    });
  });
  child.kill('SIGINT');
  child.kill('SIGINT');
  const [code] = await once(child, 'close');
  assert.equal(code, 1);
  assert.equal(JSON.parse(out).problem.code, 'cli/interrupted');
  assert.deepEqual(readdirSync(TMPDIR), []);
  assert.deepEqual(naming(TMPDIR), []);
});
