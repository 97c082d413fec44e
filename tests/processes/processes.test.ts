import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import { test } from 'node:test';
import { type ProcessRequest, processLives } from '../../host/processes/index.ts';
import { follow, room, temporary, vanished } from './fixtures/setup.ts';

test('a child gets exactly the environment, arguments and directory of the request', async (t) => {
  const place = await room(t);
  const child = await follow(place, '', {
    command: process.execPath,
    args: [
      '-e',
      'console.log(JSON.stringify({ env: process.env, args: process.argv.slice(1), cwd: process.cwd() }))',
      '--',
      'two words',
      '$HOME `id` "quoted" \'single\' \\',
      '',
      'a\nb',
    ],
    env: { A: '1', QUOTED: `it's "x" $Y\n`, EMPTY: '', go: 'on' },
  });
  const exit = await child.exit;
  assert.deepEqual(exit, { code: 0, signal: null });
  const seen = JSON.parse(child.lines[0] ?? '');
  assert.match(seen.env.JUPITER_STARTED_BY, /^[0-9a-f]{24}$/, 'the one thing that is added');
  delete seen.env.JUPITER_STARTED_BY;
  assert.deepEqual(seen.env, { A: '1', QUOTED: `it's "x" $Y\n`, EMPTY: '', go: 'on' });
  assert.deepEqual(seen.args, ['two words', '$HOME `id` "quoted" \'single\' \\', '', 'a\nb']);
  assert.equal(seen.cwd, place.cwd);
});

test('descriptor 3 of the gate is not open in the program', async (t) => {
  const child = await follow(await room(t), '(: <&3) 2>/dev/null && echo open || echo closed');
  await child.exit;
  assert.deepEqual(child.lines, ['closed']);
});

test('names that no shell would hand on reach the child all the same', async (t) => {
  const env = { 'npm.config-x': '1', IFS: 'x', PS4: 'y', _: 'z' };
  const child = await follow(await room(t), '', {
    command: process.execPath,
    args: ['-p', 'JSON.stringify(process.env)'],
    env,
  });
  await child.exit;
  const { JUPITER_STARTED_BY: mark, ...seen } = JSON.parse(child.lines[0] ?? '');
  assert.match(mark, /^[0-9a-f]{24}$/);
  assert.deepEqual(seen, env);
});

test('lines come in order from both streams, the last one without a newline, then the exit', async (t) => {
  const child = await follow(await room(t), 'printf "a\\nb\\r\\nlast"; echo problem >&2; exit 3');
  assert.deepEqual(await child.exit, { code: 3, signal: null });
  assert.deepEqual(child.lines, ['a', 'b', 'last']);
  assert.deepEqual(child.errors, ['problem']);
});

test('input is written in order and closed by end', async (t) => {
  const child = await follow(await room(t), 'cat; echo closed');
  assert.equal(child.running.write('one\n'), true);
  child.running.write('twö\n');
  await child.line((line) => line === 'twö');
  await child.running.end();
  await child.exit;
  assert.deepEqual(child.lines.slice(0, 2), ['one', 'twö']);
  assert.equal(child.running.write('late\n'), false);
});

test('pause holds the output back, resume lets it go on, and an end while paused loses nothing', async (t) => {
  const place = await room(t);
  const child = await follow(place, 'echo first; read -r x; echo second; read -r x; echo third');
  await child.line((line) => line === 'first');
  child.running.pause();
  child.running.write('go\n');
  const other = await follow(place, 'echo other');
  await other.exit;
  assert.deepEqual(child.lines, ['first']);
  child.running.resume();
  await child.line((line) => line === 'second');
  child.running.pause();
  child.running.write('go\n');
  await child.exit;
  assert.deepEqual(child.lines, ['first', 'second', 'third']);
});

test('a reader that pauses holds nothing back once the program has exited', async (t) => {
  const place = await room(t);
  const lines: string[] = [];
  const exit = Promise.withResolvers<unknown>();
  const started = await place.processes.start({
    alias: 'a',
    command: 'sh',
    args: ['-c', 'read -r x; yes 0123456789 | head -n 60000'],
    cwd: place.cwd,
    env: { PATH: process.env.PATH ?? '' },
    onLines: (found) => {
      lines.push(...found);
      if (!started.ok) return;
      const { pid, pause, resume } = started.value;
      pause();
      // While it runs it must be able to write; after it has exited nobody calls `resume` any more.
      if (processLives(pid)) setTimeout(resume, 5);
    },
    onExit: exit.resolve,
  });
  assert.ok(started.ok);
  started.value.write('go\n');
  await exit.promise;
  assert.equal(lines.length, 60_000);
});

const refusals: readonly (readonly [
  name: string,
  change: (folder: string) => Partial<ProcessRequest>,
  code: string,
  says: RegExp,
])[] = [
  [
    'a name not on the PATH',
    () => ({ command: 'no-such-program' }),
    'process/not-found',
    /^command no-such-program; PATH searched: ./,
  ],
  ['an absolute path that is not there', () => ({ command: '/no/such' }), 'process/not-found', /\/no\/such/],
  ['a folder', (folder) => ({ command: folder }), 'process/not-found', /file /],
  ['a path relative to the workspace', () => ({ command: './tool' }), 'process/not-found', /\.\/tool/],
  ['an empty command', () => ({ command: '' }), 'process/not-found', /""/],
  [
    'a file without the executable bit',
    (folder) => {
      writeFileSync(join(folder, 'plain'), 'x', { mode: 0o600 });
      return { command: join(folder, 'plain') };
    },
    'process/not-executable',
    /plain is not executable/,
  ],
  [
    'a script whose interpreter is missing',
    (folder) => {
      writeFileSync(join(folder, 'script'), '#!/no/such/interpreter -x\n');
      chmodSync(join(folder, 'script'), 0o700);
      return { command: join(folder, 'script') };
    },
    'process/not-executable',
    /needs \/no\/such\/interpreter/,
  ],
  ['a directory that is not there', () => ({ cwd: '/no/such' }), 'process/no-directory', /\/no\/such/],
  ['a file as directory', () => ({ cwd: process.execPath }), 'process/no-directory', /node/],
  [
    'arguments over the limit of the system',
    () => ({ args: ['x'.repeat(4 << 20)] }),
    'process/spawn-failed',
    /E2BIG/,
  ],
  ['a NUL in an argument', () => ({ args: ['a\0b'] }), 'process/spawn-failed', /null bytes/],
];
for (const [name, change, code, says] of refusals) {
  test(`C15: ${name} is refused as ${code}, naming the alias`, async (t) => {
    const { processes, cwd } = await room(t);
    const refused = await processes.start({
      alias: 'my-agent',
      command: 'sh',
      args: [],
      cwd,
      env: {},
      onLines: () => assert.fail('no output'),
      onExit: () => assert.fail('no exit'),
      ...change(temporary(t)),
    });
    assert.ok(!refused.ok);
    assert.equal(refused.problem.code, code);
    assert.equal(refused.problem.subject, 'my-agent');
    assert.match(refused.problem.evidence ?? '', says);
    assert.equal(processes.running(), 0);
  });
}

test("C15: the search uses the station's PATH, and no relative entry of it", async (t) => {
  const place = await room(t);
  writeFileSync(join(place.cwd, 'planted'), '#!/bin/sh\necho planted\n', { mode: 0o700 });
  const path = process.env.PATH;
  t.after(() => {
    process.env.PATH = path;
  });
  process.env.PATH = `${relative(process.cwd(), place.cwd)}:${path}`;
  const request = {
    alias: 'a',
    command: 'planted',
    args: [],
    cwd: place.cwd,
    onLines: () => {},
    onExit: () => {},
  };
  const refused = await place.processes.start({ ...request, env: { PATH: place.cwd } });
  assert.equal(!refused.ok && refused.problem.code, 'process/not-found');
  assert.ok(
    !refused.ok && refused.problem.evidence?.includes(process.env.PATH),
    'the evidence names the PATH',
  );
  assert.ok(!refused.problem.message.includes(place.cwd), 'and it alone');
  process.env.PATH = `${place.cwd}:${path}`;
  const child = await follow(place, '', { command: 'planted', args: [] });
  await child.exit;
  assert.deepEqual(child.lines, ['planted']);
});

test('C4: no newline for ever is ended as process/line-too-long, with the lines before it', async (t) => {
  for (const redirect of ['', ' >&2']) {
    const child = await follow(await room(t), `echo fine; tr '\\0' x < /dev/zero${redirect}`, {
      lineBytes: 1 << 20,
    });
    const exit = await child.exit;
    assert.equal(exit.problem?.code, 'process/line-too-long');
    assert.equal(exit.problem?.subject, 'sample');
    assert.deepEqual(child.lines, ['fine']);
    await vanished(child.running.pid);
  }
});

test('C5: closes its output and lives on: ended as process/output-closed', async (t) => {
  const child = await follow(await room(t), 'echo hello; exec >&-; while :; do sleep 1; done');
  const exit = await child.exit;
  assert.equal(exit.problem?.code, 'process/output-closed');
  assert.deepEqual(child.lines, ['hello']);
  await vanished(child.running.pid);
});

test('C5: closes its input and lives on: ended as process/input-closed at the next write', async (t) => {
  const child = await follow(await room(t), 'exec <&-; echo ready; while :; do sleep 1; done');
  await child.line((line) => line === 'ready');
  child.running.write('anybody?\n');
  assert.equal((await child.exit).problem?.code, 'process/input-closed');
});

test('C5: an ordinary exit and a kill are told as they were, without a problem', async (t) => {
  const place = await room(t);
  assert.deepEqual(await (await follow(place, 'exit 0')).exit, { code: 0, signal: null });
  assert.deepEqual(await (await follow(place, 'kill -9 $$')).exit, { code: null, signal: 'SIGKILL' });
});

test('a program that never reads is ended as process/input-stuck', async (t) => {
  const child = await follow(await room(t), 'while :; do sleep 1; done');
  const text = 'x'.repeat(1 << 20);
  let written = 0;
  while (child.running.write(text)) written += 1;
  assert.ok(written >= 32 && written < 40, `${written} MiB taken`);
  assert.equal((await child.exit).problem?.code, 'process/input-stuck');
});

const stubborn = `trap '' TERM; sh -c "trap '' TERM; echo grandchild; while :; do sleep 1; done" & echo leader; wait; wait`;

test('C6: ignores SIGTERM and has a grandchild: the whole group is gone after end', async (t) => {
  const place = await room(t);
  const child = await follow(place, stubborn);
  await child.line((line) => line === 'grandchild');
  await child.running.end(50);
  await vanished(child.running.pid, 0);
  assert.equal((await child.exit).signal, 'SIGKILL');
  // The gate that waits for the next program has a note of its own.
  assert.ok(!readdirSync(place.run).includes(`group-${child.running.pid}.json`));
});

test('C6: endAll ends every group, one that is just being started too', async (t) => {
  const place = await room(t);
  const first = await follow(place, stubborn);
  await first.line((line) => line === 'grandchild');
  const second = follow(place, stubborn);
  await place.processes.endAll(50);
  assert.equal(place.processes.running(), 0);
  await vanished(first.running.pid, 0);
  await vanished((await second).running.pid, 0);
});

test('C6: a second, shorter end does not wait for the first', async (t) => {
  const child = await follow(await room(t), stubborn);
  await child.line((line) => line === 'grandchild');
  const began = performance.now();
  const long = child.running.end(60_000);
  await child.running.end(0);
  await long;
  assert.ok(performance.now() - began < 5_000);
});

test('a leader that exits takes the rest of its group with it; output they had written is not lost', async (t) => {
  const child = await follow(
    await room(t),
    'sh -c "echo grandchild; while :; do sleep 1; done" & sleep 0.1; exit 0',
  );
  assert.deepEqual(await child.exit, { code: 0, signal: null });
  assert.deepEqual(child.lines, ['grandchild']);
  await vanished(child.running.pid, 0);
});

const linux = process.platform === 'linux';
/** A daemon: it leaves its group, its session and its parent, and ignores SIGTERM. Tells its number. */
const daemon = (
  start = '',
) => `${start} setsid sh -c 'trap "" TERM; echo $$ >&3; exec sleep 300' 3>&1 >/dev/null 2>&1 </dev/null &
  read -r x; exit 0`;

test('C6: a daemon that left the group is gone after end', { skip: !linux }, async (t) => {
  const child = await follow(await room(t), daemon());
  const escaped = Number(await child.line((line) => /^\d+$/.test(line)));
  await child.running.end(50);
  await vanished(escaped, 0);
  assert.equal((await child.exit).problem, undefined);
});

test('C6: a daemon does not outlive a leader that exits, nor one that is started directly', {
  skip: !linux,
}, async (t) => {
  // A name that no shell hands on: it is started without a gate.
  for (const env of [{}, { 'a.b': 'direct' }]) {
    const child = await follow(await room(t), daemon(), { env: { PATH: process.env['PATH'] ?? '', ...env } });
    const escaped = Number(await child.line((line) => /^\d+$/.test(line)));
    child.running.write('go\n');
    assert.equal((await child.exit).code, 0);
    await vanished(escaped, 0);
  }
});

test('a daemon of one program is not ended with another, though that was told its mark', {
  skip: !linux,
}, async (t) => {
  const place = await room(t);
  const mark = 'echo "$JUPITER_STARTED_BY"';
  const one = await follow(place, `${mark}; ${daemon()}`);
  const escaped = Number(await one.line((line) => /^\d+$/.test(line)));
  const told = await one.line((line) => /^[0-9a-f]{24}$/.test(line));
  const other = await follow(place, `${mark}; exit 0`, {
    env: { PATH: process.env['PATH'] ?? '', JUPITER_STARTED_BY: told },
  });
  await other.exit;
  assert.notEqual(other.lines[0], told, 'each start has a mark of its own');
  assert.equal(processLives(escaped), true);
});

test('a process that cleared its environment and left cannot hold the exit back by keeping the output open', async (t) => {
  const child = await follow(
    await room(t),
    'env -i PATH="$PATH" setsid sh -c \'echo $$; exec sleep 20\' & read -r x; exit 0',
  );
  const escaped = Number(await child.line((line) => /^\d+$/.test(line)));
  t.after(() => process.kill(escaped, 'SIGKILL'));
  child.running.write('go\n');
  const began = performance.now();
  await child.exit;
  assert.ok(performance.now() - began < 10_000);
  assert.equal(processLives(escaped), true, 'nothing says that it is ours');
});

test('a process that has ended and that nobody collected does not live', {
  skip: process.platform !== 'linux',
}, async (t) => {
  // `sleep` takes the place of the shell, which would collect its child.
  const child = spawn('sh', ['-c', 'sh -c "read -r x" <&3 & echo $!; exec sleep 20'], {
    stdio: ['ignore', 'pipe', 'inherit', 'pipe'],
  });
  t.after(() => child.kill('SIGKILL'));
  const [line] = await once((child.stdout as Readable).setEncoding('utf8'), 'data');
  const pid = Number(line);
  assert.equal(processLives(pid), true);
  while (readFileSync(`/proc/${child.pid}/comm`, 'utf8') !== 'sleep\n')
    await new Promise((resolve) => setImmediate(resolve));
  (child.stdio[3] as Writable).end('go\n');
  const end = performance.now() + 5_000;
  while (processLives(pid) && performance.now() < end) await new Promise((resolve) => setImmediate(resolve));
  assert.equal(processLives(pid), false);
  assert.equal(process.kill(pid, 0), true, 'the system still knows it');
  assert.equal(processLives(child.pid ?? 0), true);
});
