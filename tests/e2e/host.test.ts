/**
 * What an agent asks of the station: files of its workspace and commands in it, as far as policy offers them. The
 * agent is a real one that asks for exactly what its prompt says; beside each refusal stands what is not refused.
 */
import assert from 'node:assert/strict';
import {
  existsSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { test } from 'node:test';
import type { TranscriptEntry } from '../../contracts/transcript.ts';
import { firstPartyGrants, fixtureAgent, openBench, processesNaming } from './harness.ts';

interface Answer {
  readonly code?: number;
  readonly message?: string;
  readonly content?: string;
  readonly terminalId?: string;
  readonly output?: string;
  readonly truncated?: boolean;
  readonly exitCode?: number | null;
  readonly signal?: string | null;
  readonly exitStatus?: { readonly exitCode: number | null; readonly signal: string | null };
}
type Step = readonly [method: string, params?: Readonly<Record<string, unknown>>];

const marker = `host-test-${process.pid}`;
const secret = 'the-value-of-a-secret-variable';
const hosts: Readonly<Record<string, unknown>> = {
  nothing: undefined,
  reader: { files: 'read' },
  writer: { files: 'write' },
  runner: { terminals: true },
};
const policy = (more: Readonly<Record<string, unknown>> = hosts) => ({
  grants: firstPartyGrants,
  agents: Object.fromEntries(
    Object.entries(more).map(([id, host]) => [
      id,
      { program: 'does', ...(host === undefined ? {} : { host }) },
    ]),
  ),
  programs: {
    does: {
      command: process.execPath,
      args: [fixtureAgent, 'does', '-', marker],
      // The last is set for the station alone.
      inherit: ['PATH', 'HOST_SECRET', 'MALLOC_TRIM_THRESHOLD_'],
      trust: 'full',
    },
  },
});

test('what an agent asks of the station', async (t) => {
  const bench = openBench(t, { policy: policy(), env: { HOST_SECRET: secret } });
  const outside = join(dirname(bench.workspace), 'outside');
  mkdirSync(outside);
  writeFileSync(join(outside, 'kept'), 'kept');
  symlinkSync(outside, join(bench.workspace, 'link'));
  symlinkSync(join(outside, 'kept'), join(bench.workspace, 'filelink'));
  bench.file('src/lines', 'one\ntwo\r\nthree\n\nfive');
  bench.file('src/a.txt', 'before');
  await bench.ask('up');
  const sessions = new Map<string, string>();
  for (const agent of Object.keys(hosts)) {
    const { id } = await bench.document<{ id: string }>(
      'session',
      'create',
      '--agent',
      agent,
      '--cwd',
      bench.workspace,
      '--approve',
      'auto',
    );
    sessions.set(agent, id);
  }
  for (const pid of processesNaming(marker)) {
    const names = readFileSync(`/proc/${pid}/environ`, 'utf8')
      .split('\0')
      .map((line) => line.split('=')[0]);
    assert.ok(names.includes('HOST_SECRET') && !names.includes('MALLOC_TRIM_THRESHOLD_'), names.join());
  }
  const say = async (agent: string, text: string) =>
    (
      await bench.document<{ entries: TranscriptEntry[] }>(
        'session',
        'say',
        sessions.get(agent) ?? '',
        text,
        '--wait',
      )
    ).entries;
  /** What the station answered to each step, and what the transcript says of them. */
  const does = async (agent: string, ...steps: readonly Step[]) => {
    const entries = await say(agent, JSON.stringify(steps));
    const of = (role: string) => entries.filter((entry) => entry.role === role).map(({ text }) => text);
    const answers = of('agent')
      .join('')
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Answer);
    return { answers, notes: of('note') };
  };
  const read = (path: string, more = {}): Step => ['fs/read_text_file', { path, ...more }];
  const write = (path: string, content: string): Step => ['fs/write_text_file', { path, content }];
  const inside = (...path: string[]) => join(bench.workspace, ...path);

  await t.test('it is told what policy offers, and anything else is a method nobody knows', async () => {
    const offered = {
      nothing: [false, false, false],
      reader: [true, false, false],
      writer: [true, true, false],
      runner: [false, false, true],
    };
    for (const [agent, [readTextFile, writeTextFile, terminal]] of Object.entries(offered)) {
      const [told] = (await say(agent, 'hello')).filter(({ role }) => role === 'agent');
      assert.deepEqual(
        JSON.parse(told?.text ?? ''),
        { fs: { readTextFile, writeTextFile }, terminal },
        agent,
      );
      const { answers } = await does(agent, read('src/a.txt'), write(`by-${agent}`, 'x'), [
        'terminal/create',
        { command: 'true' },
      ]);
      assert.deepEqual(
        answers.map(({ code }) => code !== -32_601),
        [readTextFile, writeTextFile, terminal],
        agent,
      );
    }
    assert.deepEqual(
      readdirSync(bench.workspace).filter((name) => name.startsWith('by-')),
      ['by-writer'],
    );
  });

  await t.test('files: lines by the protocol, whole files written, each told in the transcript', async () => {
    const { answers, notes } = await does(
      'writer',
      read(inside('src', 'lines')),
      read('src/lines', { line: 2, limit: 1 }),
      read('src/lines', { line: 4 }),
      read('src/lines', { line: 9, limit: 3 }),
      read('src/lines', { limit: 0 }),
      read('src/lines', { line: null, limit: null }),
      write(inside('src', 'a.txt'), 'after\nall\n'),
      write('new/deep/file.txt', 'made'),
      read('new/deep/file.txt'),
      read('absent'),
      read('src'),
    );
    const whole = 'one\ntwo\r\nthree\n\nfive';
    assert.deepEqual(
      answers.map((answer) => answer.content ?? answer.code ?? answer),
      [whole, 'two\r\n', '\nfive', '', '', whole, {}, {}, 'made', -32_002, -32_602],
    );
    assert.equal(bench.read('src/a.txt'), 'after\nall\n');
    assert.equal(bench.read('new/deep/file.txt'), 'made');
    for (const line of [
      `the agent read ${inside('src', 'lines')}: 5 lines`,
      'the agent read src/lines from line 2: 1 line',
      `the agent wrote ${inside('src', 'a.txt')}: 2 lines`,
      'the agent read absent: refused: There is no such file in the workspace. (context/file-missing)',
    ])
      assert.ok(notes.includes(line), `${line}\n${notes.join('\n')}`);
  });

  await t.test(
    'what leads outside is refused, whatever way it takes, and nothing happens there',
    async () => {
      mkdirSync(`${bench.workspace}_evil`);
      writeFileSync(join(`${bench.workspace}_evil`, 'f'), 'evil');
      linkSync(join(outside, 'kept'), inside('hard'));
      const ways = [
        join(outside, 'kept'),
        '../outside/kept',
        `${bench.workspace}/../outside/kept`,
        'link/kept',
        'link/../outside/kept',
        'link/../src/a.txt',
        'filelink',
        `${bench.workspace}_evil/f`,
        '/etc/hostname',
        '',
        '.',
        'a\0b',
      ];
      const { answers, notes } = await does(
        'writer',
        ...ways.flatMap((path) => [read(path), write(path, 'written')]),
      );
      for (const [at, { code, content, message }] of answers.entries()) {
        assert.deepEqual([code, content], [-32_602, undefined], `${ways[at >> 1]}: ${message}`);
        assert.match(message ?? '', /does not lie inside the workspace/);
      }
      assert.match(notes.join('\n'), /wrote link\/kept: refused: The path does not lie inside/);
      assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'kept');
      assert.deepEqual(readdirSync(outside), ['kept']);
      // A hard link is a name like any other; written through, it is parted from the other name.
      await does('writer', write('hard', 'mine'));
      assert.equal(bench.read('hard'), 'mine');
      assert.equal(readFileSync(join(outside, 'kept'), 'utf8'), 'kept');
    },
  );

  await t.test(
    'nothing is written where others believe or run what stands there; it can be read',
    async () => {
      bench.file('.jupiter/settings.jsonc', '{}');
      bench.file('.git/config', '[core]');
      linkSync(inside('.git', 'config'), inside('hardlinked'));
      const ways = [
        '.jupiter/settings.jsonc',
        '.jupiter/new/file',
        '.JUPITER/settings.jsonc',
        inside('.jupiter', 'x'),
        'src/../.jupiter/x',
        'src/.jupiter/settings.jsonc',
        'src/.jupiter',
        '.git/config',
        '.git/hooks/post-checkout',
        'src/.Git',
        'src/new/.git/config',
      ];
      const { answers, notes } = await does('writer', ...ways.map((path) => write(path, 'written')));
      for (const [at, { code, message }] of answers.entries())
        assert.match(`${code} ${message}`, /^-32602 .*\(context\/believed\)$/, `${ways[at]}`);
      assert.match(notes.join('\n'), /wrote \.git\/config: refused: .*\(context\/believed\)/);
      assert.deepEqual([bench.read('.jupiter/settings.jsonc'), bench.read('.git/config')], ['{}', '[core]']);
      assert.deepEqual(readdirSync(inside('.git')), ['config']);
      assert.deepEqual(
        readdirSync(inside('src')).filter((name) => !['lines', 'a.txt'].includes(name)),
        [],
      );
      const others = await does(
        'writer',
        read('.git/config'),
        write('.gitignore', 'x'),
        write('hardlinked', 'x'),
      );
      assert.deepEqual(
        others.answers.map((answer) => answer.content ?? answer),
        ['[core]', {}, {}],
      );
      assert.equal(bench.read('.git/config'), '[core]');
    },
  );

  await t.test('names that are no plain names, twins, the record of placements, and secrets', async () => {
    bench.file('with-secret', `token ${secret}`);
    writeFileSync(inside('bytes'), Buffer.from([0xff, 0xfe, 0]));
    const { answers } = await does(
      'writer',
      write('CON', 'x'),
      write('ends.', 'x'),
      write('.bearpunch-placed.json', '{}'),
      write('.Bearpunch-Placed.json', '{}'),
      write('SRC/b.txt', 'x'),
      write('Src', 'x'),
      read('with-secret'),
      write('copy', `token ${secret}`),
      read('bytes'),
    );
    assert.deepEqual(
      answers.map(({ code, message }) => [code, /\(([a-z-]+\/[a-z-]+)\)$/.exec(message ?? '')?.[1]]),
      [
        [-32_602, 'paths/unsafe'],
        [-32_602, 'paths/unsafe'],
        [-32_602, 'context/believed'],
        [-32_602, 'context/believed'],
        [-32_602, 'context/twin'],
        [-32_602, 'context/twin'],
        [-32_602, 'context/holds-secret'],
        [-32_602, 'context/holds-secret'],
        [-32_602, 'context/not-text'],
      ],
    );
    assert.deepEqual(
      ['CON', 'ends.', 'SRC', 'Src', 'copy', '.bearpunch-placed.json'].filter((name) =>
        existsSync(inside(name)),
      ),
      [],
    );
  });

  await t.test('a command: its output, its end, its environment, its folder', async () => {
    const create = (command: string, args: readonly string[], more = {}): Step => [
      'terminal/create',
      { command, args, ...more },
    ];
    const ended: readonly Step[] = [
      ['terminal/wait_for_exit', { terminalId: '$T' }],
      ['terminal/output', { terminalId: '$T' }],
      ['terminal/release', { terminalId: '$T' }],
      ['terminal/output', { terminalId: '$T' }],
    ];
    const run = async (...step: Parameters<typeof create>) => {
      const { answers, notes } = await does('runner', create(...step), ...ended);
      return { end: answers[1], output: answers[2], released: answers[4], notes };
    };
    const echo = await run('sh', ['-c', 'echo out; echo err >&2; pwd; exit 3'], { cwd: inside('src') });
    assert.deepEqual(echo.end, { exitCode: 3, signal: null });
    assert.deepEqual(echo.output, {
      output: `out\nerr\n${inside('src')}\n`,
      truncated: false,
      exitStatus: { exitCode: 3, signal: null },
    });
    assert.equal(echo.released?.code, -32_002);
    assert.match(echo.notes.join('\n'), /terminal p-\S+: sh -c echo out.* in .*src$/m);
    assert.match(echo.notes.join('\n'), /terminal p-\S+: ended with exit code 3/);

    const env = await run('env', [], { env: [{ name: 'GIVEN', value: 'by the agent' }] });
    assert.deepEqual(
      (env.output?.output ?? '')
        .trim()
        .split('\n')
        .map((line) => line.split('=')[0])
        .sort(),
      ['GIVEN', 'JUPITER_STARTED_BY', 'PATH'],
      'plain variables of its program, and what the agent gives',
    );
    const long = await run('sh', ['-c', 'for n in 1 2 3 4 5 6 7 8; do printf "€%s" $n; done'], {
      outputByteLimit: 7,
    });
    assert.deepEqual([long.output?.output, long.output?.truncated], ['7€8', true]);
    const quiet = await run('sh', ['-c', 'exec >&- 2>&-; sleep 1.5; exit 7']);
    assert.equal(quiet.end?.exitCode, 7, 'one that closes its output is not ended for it');
    const told = await run('sh', [
      '-c',
      `printf ${secret.slice(0, 10)}; sleep 0.1; printf ${secret.slice(10)}`,
    ]);
    assert.equal(told.output?.output, '[redacted HOST_SECRET]');

    const { answers } = await does(
      'runner',
      create('pwd', [], { cwd: outside }),
      create('pwd', [], { cwd: 'link' }),
      create('pwd', [], { cwd: bench.workspace }),
      create('no-such-command-anywhere', []),
      create('./src/a.txt', []),
      ['terminal/output', { terminalId: 'p-0' }],
    );
    assert.deepEqual(
      answers.map(({ code, terminalId }) => code ?? typeof terminalId),
      [-32_602, -32_602, 'string', -32_002, -32_002, -32_002],
    );
  });

  await t.test(
    'a command that runs on: killed, released, and gone with its session, grandchild and all',
    async () => {
      const forever = [
        '-c',
        `trap "" TERM; (trap "" TERM; sleep 1000; : ${marker}-grandchild) & echo up; wait; : ${marker}-child`,
      ];
      const create: Step = ['terminal/create', { command: 'sh', args: forever }];
      const running = () => processesNaming(`${marker}-`).length;
      const { answers } = await does(
        'runner',
        create,
        ['terminal/kill', { terminalId: '$T' }],
        ['terminal/wait_for_exit', { terminalId: '$T' }],
        ['terminal/output', { terminalId: '$T' }],
        ['terminal/release', { terminalId: '$T' }],
      );
      assert.deepEqual(answers[2], { exitCode: null, signal: 'SIGKILL' });
      assert.equal(answers[3]?.output, 'up\n');
      assert.equal(running(), 0, 'the whole group is gone');
      await does('runner', create);
      assert.ok(running() >= 2);
      // Another session's agent has no part in it.
      const closed = bench.ask('session', 'close', sessions.get('runner') ?? '');
      await closed;
      assert.equal(running(), 0, 'not released: it ends with its session');
    },
  );

  await t.test('policy is asked at each call, and no approval setting makes up for it', async () => {
    assert.equal((await does('writer', read('src/a.txt'))).answers[0]?.content, 'after\nall\n');
    bench.policy(JSON.stringify(policy({ ...hosts, writer: undefined, nothing: { files: 'read' } })));
    assert.equal((await does('writer', read('src/a.txt'))).answers[0]?.code, -32_601);
    // Given after it was opened: it was not told, and is refused as before.
    assert.equal((await does('nothing', read('src/a.txt'))).answers[0]?.code, -32_601);
  });
  await bench.ask('down');
  assert.deepEqual(processesNaming(marker), []);
});
