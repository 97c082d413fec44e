import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { openProcessCapability, type ProcessPorts } from '../../host/capabilities/index.ts';
import { readPolicy } from '../../host/policy/index.ts';
import { ok } from '../../host/problems/index.ts';
import type { Processes, ProcessRequest } from '../../host/processes/index.ts';
import { openRedactor } from '../../host/state/index.ts';
import { room } from '../processes/fixtures/setup.ts';

const one = 'test.bundle:one';
const two = 'test.bundle:two';
const script = (text: string) => ({ command: '/bin/sh', args: ['-c', text], inherit: ['SEEN', 'ABSENT'] });
const programs = {
  echo: { ...script('while read -r line; do echo "got $line"; done'), trust: 'full' },
  speaks: { ...script('echo "a secret"; echo "$SEEN-$HIDDEN-$ABSENT"; read -r line'), trust: 'full' },
  complains: { ...script('printf "x%.0s" $(seq 3995) >&2; echo secret and more >&2; exit 3'), trust: 'full' },
  cuts: {
    ...script(
      `echo '{"t":"a secr"}'; echo '{"t":"et."}'; read -r x; echo '{"t":"secr"}'; read -r x; echo '{"t":"secr"}'`,
    ),
    trust: 'full',
  },
  ends: { ...script('exit 7'), trust: 'full' },
  killed: { ...script('kill -9 $$'), trust: 'full' },
  chatty: { ...script('while :; do echo line; done'), trust: 'full' },
  missing: { command: 'no-such-program-anywhere', trust: 'full' },
  unsafe: { command: '/bin/sh' },
};
const reading = (value: unknown) =>
  readPolicy(Buffer.from(typeof value === 'string' ? value : JSON.stringify(value)), 'policy.jsonc');

const bench = (processes: Processes, more: Partial<ProcessPorts> = {}) => {
  const told: string[] = [];
  const logged: string[] = [];
  let look: (() => void) | undefined;
  let count = 0;
  const capability = openProcessCapability({
    processes,
    policy: () => reading({ programs }),
    env: { SEEN: 'seen', HIDDEN: 'hidden' },
    redact: (text) => text.replaceAll('secret', '***'),
    pieces: () => openRedactor(() => new Set(['HIDDEN']), { HIDDEN: 'secret' }).pieces(),
    tell: (component, topic, payload) => {
      told.push(`${component} ${topic.replace('station.process.', '')} ${JSON.stringify(payload)}`);
      look?.();
    },
    hasRoom: () => true,
    log: (component, level, text) => {
      logged.push(`${component} ${level} ${text}`);
      look?.();
    },
    newId: () => {
      count += 1;
      return `p-${count}`;
    },
    ...more,
  });
  return {
    ...capability,
    told,
    logged,
    spawned: async (component: string, message: string, program: string, cwd: string) => {
      const answer = await capability.spawn(component, message, program, cwd);
      assert.ok(answer.ok, JSON.stringify(answer));
      return String(answer.value);
    },
    /** Resolves when something told or logged passes. */
    until: (test: (line: string) => boolean) =>
      new Promise<void>((resolve) => {
        look = () => {
          if (told.some(test) || logged.some(test)) resolve();
        };
        look();
      }),
  };
};
const real = async (t: TestContext, more: Partial<ProcessPorts> = {}) => {
  const { processes, cwd } = await room(t);
  return { ...bench(processes, more), processes, cwd };
};
/** Waits for what the operating system alone knows, at most 10 s. */
const settled = async (condition: () => boolean): Promise<void> => {
  const end = performance.now() + 10_000;
  while (!condition()) {
    assert.ok(performance.now() < end, 'it does not come');
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
};
const code = (answer: { ok: boolean; problem?: { code: string; evidence?: string } }): string =>
  answer.ok ? 'ok' : `${answer.problem?.code} ${answer.problem?.evidence ?? ''}`;

test('a program is started by its alias; refusals say why and own nothing', async (t) => {
  const { spawn, owns, cwd } = await real(t);
  const known = Object.keys(programs).sort().join(', ');
  assert.equal(code(await spawn(one, 'm', 'nobody', cwd)), `process/program-unknown known: ${known}`);
  assert.match(code(await spawn(one, 'm', 'unsafe', cwd)), /^process\/not-trusted/);
  assert.match(code(await spawn(one, 'm', 'missing', cwd)), /^process\/not-found/);
  for (const id of ['p-1', 'p-2', 'p-3']) assert.equal(owns(one, id), false, id);
  const none = bench({} as Processes, { policy: () => reading({}) });
  assert.equal(code(await none.spawn(one, 'm', 'echo', cwd)), 'process/program-unknown known: none');
  const broken = bench({} as Processes, { policy: () => reading('{') });
  assert.equal(
    code(await broken.spawn(one, 'm', 'echo', cwd)),
    'process/program-unknown the policy cannot be read',
  );
});

test('output is told line by line, redacted; the environment is what the program inherits', async (t) => {
  const { spawned, until, told, write, cwd } = await real(t);
  const id = await spawned(one, 'm', 'speaks', cwd);
  await until((line) => line.includes('seen'));
  write(one, id, 'go\n');
  await until((line) => line.includes('exited'));
  assert.deepEqual(told, [
    `${one} line {"process":"${id}","line":"a [redacted HIDDEN]"}`,
    `${one} line {"process":"${id}","line":"seen--"}`,
    `${one} exited {"process":"${id}","code":0}`,
  ]);
});

test('a secret over two lines is told in neither; what may be the beginning of one waits a while, or for the exit', async (t) => {
  const { spawned, until, told, write, cwd } = await real(t);
  const id = await spawned(one, 'm', 'cuts', cwd);
  await until((line) => line.includes('.'));
  write(one, id, 'go\n');
  await until((line) => line.includes('"secr'));
  write(one, id, 'go\n');
  await until((line) => line.includes('exited'));
  assert.deepEqual(
    told.map((line) => JSON.parse(line.replace(/^\S+ \w+ /, '')).line ?? 'exited'),
    ['{"t":"a [redacted HIDDEN]"}', '{"t":"."}', '{"t":"secr"}', '{"t":"secr"}', 'exited'],
  );
});

test('errors go to the log, redacted before they are cut at 4000 characters; the exit is told with its code or signal', async (t) => {
  const { spawned, until, told, logged, cwd } = await real(t);
  await spawned(one, 'm', 'complains', cwd);
  await until((line) => line.includes('exited'));
  assert.deepEqual(logged, [`${one} info complains: ${'x'.repeat(3995)}*** a`]);
  assert.deepEqual(told.splice(0), [`${one} exited {"process":"p-1","code":3}`]);
  await spawned(one, 'm', 'killed', cwd);
  await until((line) => line.includes('exited'));
  assert.deepEqual(told, [`${one} exited {"process":"p-2","signal":"SIGKILL"}`]);
});

test('a process is its component’s alone, also when it has ended; what is written to it then is dropped', async (t) => {
  const { spawned, until, told, owns, write, kill, cwd } = await real(t);
  const id = await spawned(one, 'm', 'echo', cwd);
  assert.deepEqual([owns(one, id), owns(two, id), owns(one, 'p-9')], [true, false, false]);
  write(one, id, 'hello\n');
  await until((line) => line.includes('got hello'));
  kill(one, id);
  await until((line) => line.includes('exited'));
  assert.deepEqual([owns(one, id), owns(two, id)], [true, false]);
  told.length = 0;
  write(one, id, 'late\n');
  kill(one, id);
  assert.deepEqual(told, []);
});

test('what a message started stays when it is kept, and ends untold when it is rolled back', async (t) => {
  const { spawned, told, settleSpawns, processes, until, write, cwd } = await real(t);
  const kept = await spawned(one, 'm-1', 'echo', cwd);
  await spawned(one, 'm-2', 'chatty', cwd);
  await until((line) => line.includes('"line"'));
  await spawned(one, 'm-2', 'echo', cwd);
  settleSpawns(one, 'm-1', true);
  settleSpawns(one, 'm-1', false);
  settleSpawns(one, 'm-2', false);
  told.length = 0;
  await settled(() => processes.running() <= 1);
  write(one, kept, 'still here\n');
  await until((line) => line.includes('still here'));
  assert.deepEqual(told, [`${one} line {"process":"${kept}","line":"got still here"}`]);
});

test('one event two components handle: each one’s roll back ends its own processes only', async (t) => {
  const { spawned, settleSpawns, processes, until, write, cwd } = await real(t);
  await spawned(one, 'm-1', 'echo', cwd);
  const other = await spawned(two, 'm-1', 'echo', cwd);
  settleSpawns(one, 'm-1', false);
  await settled(() => processes.running() <= 1);
  write(two, other, 'mine\n');
  await until((line) => line.includes('got mine'));
  settleSpawns(two, 'm-1', false);
  await settled(() => processes.running() <= 0);
});

test('a message that is rolled back while its process is starting ends it once it has started', async (t) => {
  const { spawn, settleSpawns, processes, told, cwd } = await real(t);
  const starting = spawn(one, 'm-1', 'speaks', cwd);
  settleSpawns(one, 'm-1', false);
  await starting;
  await settled(() => processes.running() <= 0);
  assert.deepEqual(told, []);
});

test('a component that leaves service: all it runs has ended, also what is starting, and nothing is told', async (t) => {
  const { spawn, spawned, processes, told, endAllOf, until, write, cwd } = await real(t);
  await spawned(one, 'm-1', 'speaks', cwd);
  const other = await spawned(two, 'm-2', 'echo', cwd);
  const starting = spawn(one, 'm-3', 'speaks', cwd);
  const ended = endAllOf(one);
  told.length = 0;
  await ended;
  await starting;
  await settled(() => processes.running() <= 1);
  assert.deepEqual(told, []);
  write(two, other, 'mine\n');
  await until((line) => line.includes('got mine'));
});

test('output of a component that has too much waiting is paused, and goes on when it has room', async (t) => {
  let has = true;
  const rooms: string[] = [];
  const { spawned, told, eased, until, processes, cwd } = await real(t, {
    hasRoom: (component) => {
      rooms.push(component);
      return has;
    },
  });
  has = false;
  await spawned(one, 'm', 'chatty', cwd);
  await until((line) => line.includes(' line '));
  /** Lines told until none has come for a while: the pipe and what was read are bounded. */
  const quiet = async () => {
    for (let before = -1; before !== told.length; ) {
      before = told.length;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    return told.length;
  };
  const paused = await quiet();
  eased();
  assert.equal(await quiet(), paused, 'no room yet');
  has = true;
  eased();
  await settled(() => told.length > paused);
  assert.ok(rooms.every((component) => component === one));
  await processes.endAll(0);
});

/** Processes whose starts and ends are the test's: for bounds no machine should run up to. */
const scripted = () => {
  const requests: ProcessRequest[] = [];
  let resumed = 0;
  const running = {
    pid: 1,
    write: () => true,
    pause: () => {},
    resume: () => {
      resumed += 1;
    },
    end: async () => {},
  };
  const processes: Processes = {
    start: async (request) => {
      requests.push(request);
      return ok(running);
    },
    endAll: async () => {},
    running: () => requests.length,
  };
  return { processes, requests, resumed: () => resumed };
};

test('a component runs at most 500 processes; those that ended or did not start do not count', async () => {
  const { processes, requests } = scripted();
  const { spawn, spawned } = bench(processes);
  for (let index = 0; index < 600; index += 1) await spawn(one, 'm', 'nobody', '/');
  for (let index = 0; index < 500; index += 1) await spawned(one, 'm', 'echo', '/');
  assert.equal(code(await spawn(one, 'm', 'echo', '/')), 'process/too-many 500');
  await spawned(two, 'm', 'echo', '/');
  requests[7]?.onExit({ code: 0, signal: null });
  await spawned(one, 'm', 'echo', '/');
  assert.equal(code(await spawn(one, 'm', 'echo', '/')), 'process/too-many 500');
});

test('the newest 5000 processes that ended are remembered as their component’s', async () => {
  const { processes, requests } = scripted();
  const { spawned, owns } = bench(processes);
  for (let index = 1; index <= 5_001; index += 1) {
    const id = await spawned(one, 'm', 'echo', '/');
    requests[index - 1]?.onExit({ code: 0, signal: null });
    assert.equal(owns(one, id), true);
  }
  assert.equal(owns(one, 'p-1'), false);
  assert.equal(owns(one, 'p-2'), true);
});

test('only what was paused is asked about and resumed, once', async () => {
  const { processes, requests, resumed } = scripted();
  let has = false;
  let asked = 0;
  const { spawned, eased } = bench(processes, {
    hasRoom: () => {
      asked += 1;
      return has;
    },
  });
  await spawned(one, 'm', 'echo', '/');
  await spawned(one, 'm', 'echo', '/');
  requests[0]?.onLines(['x'], 'stdout');
  requests[1]?.onLines(['x'], 'stderr');
  assert.equal(asked, 1, 'the error stream is not told to anybody');
  has = true;
  eased();
  eased();
  assert.deepEqual([resumed(), asked], [1, 2]);
});

test('an exit the station caused says its reason', async () => {
  const { processes, requests } = scripted();
  const { spawned, told } = bench(processes);
  await spawned(one, 'm', 'echo', '/');
  requests[0]?.onExit({
    code: null,
    signal: 'SIGTERM',
    problem: { code: 'process/line-too-long', message: 'A line is too long.' },
  });
  assert.deepEqual(told, [
    `${one} exited {"process":"p-1","signal":"SIGTERM","reason":"process/line-too-long: A line is too long."}`,
  ]);
});
