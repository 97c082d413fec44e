/** What is left when the station, or the station and its watchdog, are killed: nothing. */
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { gateArguments, gateText } from '../../host/processes/gate.ts';
import { openProcesses, processLives } from '../../host/processes/index.ts';
import { temporary, vanished } from './fixtures/setup.ts';

interface Station {
  readonly child: ChildProcess;
  readonly group: number;
  readonly watchdog: number;
  /** What left the group; 0 where nothing did. */
  readonly daemon: number;
  readonly run: string;
  /** The next thing it tells. */
  readonly told: () => Promise<{
    readonly group: number;
    readonly watchdog: number;
    readonly daemon: number;
  }>;
}
const station = async (t: TestContext, kind = 'stubborn'): Promise<Station> => {
  const run = temporary(t);
  const script = fileURLToPath(new URL('fixtures/station.ts', import.meta.url));
  const child = spawn(process.execPath, [script, run, kind], { stdio: ['ignore', 'pipe', 'inherit'] });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  const told = async () => JSON.parse(String((await lines.next()).value));
  const { group, watchdog, daemon } = await told();
  assert.ok(group > 1 && watchdog > 1);
  t.after(() => {
    for (const pid of [child.pid ?? 0, -group, watchdog, ...(daemon > 1 ? [daemon] : [])]) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {}
    }
  });
  return { child, group, watchdog, daemon, run, told };
};
const killed = async ({ child }: Station): Promise<void> => {
  child.kill('SIGKILL');
  await once(child, 'exit');
};
test('C6: the station is killed: the watchdog ends a group that ignores SIGTERM', async (t) => {
  const found = await station(t);
  await killed(found);
  await vanished(found.group);
});

test('C6: Ctrl-C and hang-up do not end the watchdog', async (t) => {
  const found = await station(t);
  for (const signal of ['SIGINT', 'SIGHUP', 'SIGTERM'] as const) process.kill(found.watchdog, signal);
  await killed(found);
  await vanished(found.group);
});

test('C6: a watchdog that was killed is replaced while the station lives', async (t) => {
  const found = await station(t);
  process.kill(found.watchdog, 'SIGKILL');
  assert.notEqual((await found.told()).watchdog, found.watchdog);
  await killed(found);
  await vanished(found.group);
});

test('C6: station and watchdog are killed: the next one ends what they left, and forgets it', async (t) => {
  const found = await station(t);
  process.kill(found.watchdog, 'SIGSTOP');
  await killed(found);
  process.kill(found.watchdog, 'SIGKILL');
  assert.ok(processLives(found.group));
  await openProcesses({ run: found.run });
  await vanished(found.group, 0);
  assert.deepEqual(readdirSync(found.run), []);
});

test('C6: a leftover whose leader has gone is known by the output it still holds', {
  skip: process.platform !== 'linux',
}, async (t) => {
  const found = await station(t);
  process.kill(found.watchdog, 'SIGSTOP');
  await killed(found);
  process.kill(found.watchdog, 'SIGKILL');
  process.kill(found.group, 'SIGKILL');
  const until = performance.now() + 8_000;
  while (processLives(found.group) && performance.now() < until) await new Promise((r) => setTimeout(r, 5));
  await openProcesses({ run: found.run });
  await vanished(found.group, 0);
});

const linux = process.platform === 'linux';

test('C6: the station is killed: the watchdog ends a daemon that left its group', {
  skip: !linux,
}, async (t) => {
  const found = await station(t, 'daemon');
  await killed(found);
  await vanished(found.daemon);
});

test('C6: … and gives one that wants to end by itself the time for it', { skip: !linux }, async (t) => {
  const found = await station(t, 'polite');
  await killed(found);
  await vanished(found.daemon);
  assert.ok(existsSync(join(found.run, 'ended')));
});

test('C6: station and watchdog are killed: the next one ends a daemon whose group has gone', {
  skip: !linux,
}, async (t) => {
  const found = await station(t, 'daemon');
  process.kill(found.watchdog, 'SIGSTOP');
  await killed(found);
  process.kill(found.watchdog, 'SIGKILL');
  process.kill(-found.group, 'SIGKILL');
  await vanished(found.group);
  // Nobody may have collected the leader: its number is made to look as somebody else's.
  const note = join(found.run, `group-${found.group}.json`);
  writeFileSync(note, JSON.stringify({ ...JSON.parse(readFileSync(note, 'utf8')), started: 'other 1' }));
  await openProcesses({ run: found.run });
  await vanished(found.daemon, 0);
});

test('a note about a number that belongs to somebody else by now ends nobody', async (t) => {
  const run = temporary(t);
  const bystander = spawn('sleep', ['30'], { detached: true, stdio: 'ignore' });
  t.after(() => bystander.kill('SIGKILL'));
  await once(bystander, 'spawn');
  const group = bystander.pid ?? 0;
  const boot =
    process.platform === 'linux' ? readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').trim() : 'then';
  const mark = '0'.repeat(24);
  const notes = [
    ['an earlier start', JSON.stringify({ group, mark, started: `${boot} 1`, output: [] })],
    ['another boot', JSON.stringify({ group, mark, started: 'other 1', output: ['socket:[1]'] })],
    ['no JSON', '{'],
    ['every process', JSON.stringify({ group: 1, mark, started: `${boot} 1`, output: [] })],
  ] as const;
  for (const [name, text] of notes) {
    writeFileSync(join(run, `group-${group}.json`), text);
    await openProcesses({ run });
    assert.ok(processLives(group), name);
    assert.deepEqual(readdirSync(run), [], name);
  }
});

for (const shell of ['/bin/sh', '/bin/bash'].filter(existsSync)) {
  test(`the gate (${shell}) starts nothing when the station dies before all of the text`, async (t) => {
    const folder = temporary(t);
    const args = ['-c', 'echo started > started'];
    const text = gateText({ file: '/bin/sh', args, cwd: folder, env: {} });
    for (const part of ['', text.slice(0, text.indexOf('exec')), text.slice(0, -2)]) {
      const child = spawn(shell, [...gateArguments], {
        argv0: 'sh',
        cwd: '/',
        env: {},
        stdio: ['pipe', 'ignore', 'ignore', 'pipe'],
      });
      const gate = child.stdio[3];
      assert.ok(gate && 'write' in gate);
      gate.end(part);
      assert.deepEqual(await once(child, 'exit'), [125, null]);
      assert.deepEqual(readdirSync(folder), []);
    }
  });

  test(`the gate (${shell}) hands on arguments, folder and environment as they are`, async (t) => {
    const odd = `a 'b' "c" $HOME \\ \`id\`\n* ü\n`;
    const env = { A: odd, SHLVL: '7' };
    const cwd = join(temporary(t), "it's here");
    mkdirSync(cwd);
    const script = 'console.log(JSON.stringify([process.env, process.argv.slice(1), process.cwd()]))';
    const child = spawn(shell, [...gateArguments], {
      argv0: 'sh',
      cwd: '/',
      env: {},
      stdio: ['pipe', 'pipe', 'inherit', 'pipe'],
    });
    const gate = child.stdio[3];
    assert.ok(gate && 'write' in gate && child.stdout);
    gate.end(gateText({ file: process.execPath, args: ['-e', script, '--', odd], cwd, env }));
    const [line] = await once(createInterface({ input: child.stdout }), 'line');
    assert.deepEqual(JSON.parse(String(line)), [env, [odd], cwd]);
  });
}
