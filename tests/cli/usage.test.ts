/** Arguments in, exit codes and text out; no station runs. */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { test } from 'node:test';
import type { Command } from 'commander';
import { commandLine } from '../../host/cli/main.ts';
import { problemText, shown, table } from '../../host/cli/output.ts';
import { run, temporary } from './fixtures/command.ts';

const commands = (at: Command): readonly Command[] => [
  at,
  ...at.commands.flatMap((child) => commands(child)),
];
const nameOf = (command: Command): string =>
  command.parent === null ? command.name() : `${nameOf(command.parent)} ${command.name()}`;

const expected = [
  'jupiter',
  ...['demo', 'init', 'up', 'down', 'status', 'bundle', 'policy', 'session'],
  ...['pack', 'diagnose', 'install', 'list', 'verify', 'retry', 'uninstall'].map((name) => `bundle ${name}`),
  ...['show', 'check', 'explain', 'set', 'unset'].map((name) => `policy ${name}`),
  ...['create', 'say', 'list', 'show', 'transcript', 'respond', 'cancel', 'close'].map(
    (name) => `session ${name}`,
  ),
];

test('every command is there, says what it does, and shows an example', () => {
  const all = commands(commandLine(async () => {}));
  const names = all.map((command) => nameOf(command).replace(/^jupiter /, ''));
  assert.deepEqual(
    expected.filter((name) => !names.includes(name)),
    [],
  );
  for (const command of all) {
    let help = '';
    command.configureOutput({ writeOut: (text) => (help += text) });
    command.outputHelp();
    assert.notEqual(command.description(), '', nameOf(command));
    assert.match(
      help,
      new RegExp(`Example:\\n {2}\\$ ${nameOf(command)}|Example:\\n {2}\\$ jupiter demo`),
      nameOf(command),
    );
  }
});

const lines: readonly (readonly [line: string, code: number, says: RegExp])[] = [
  ['', 2, /Usage: jupiter/],
  ['--help', 0, /Usage: jupiter/],
  ['help bundle', 0, /Usage: jupiter bundle/],
  ['session create --help', 0, /--require-server.*opened but not\s+ready: it takes no prompt,\s+close it/s],
  ['nonsense', 2, /Unknown command 'nonsense'/],
  ['stauts', 2, /Did you mean status/],
  ['bundle', 2, /jupiter bundle --help/],
  ['bundle nonsense', 2, /cli\/usage/],
  ['bundle install', 2, /Missing required argument 'src'/],
  ['session creat --agent a', 2, /Did you mean create/],
  ['--version', 0, /^\d+\.\d+\.\d+\n$/],
  ['status extra', 2, /Too many arguments/],
  ['status --no-such-option', 2, /Unknown option/],
  ['--home', 2, /argument missing/],
  ['session create', 2, /--agent/],
  ['session create --agent a --approve perhaps', 2, /manual, auto, workspace/],
  ['session respond s r', 2, /either --allow or --deny/],
  ['session respond s r --allow --deny', 2, /either --allow or --deny/],
  ["session show ''", 2, /Argument 'id' is empty/],
  ["session say s ''", 2, /Argument 'text' is empty/],
  ["session create --agent ''", 2, /Option '--agent <id>' is empty/],
  ["status --home ''", 2, /Option '--home <dir>' is empty/],
  ['status --follow', 2, /jupiter status --help/],
  ['policy explain --agent a --cwd /no/such/folder', 1, /context\/workspace-missing/],
  ['bundle keygen -o /no/such/folder/key.pem', 1, /The private key could not be written/],
  ['status', 3, /No station runs for this home[\s\S]*jupiter up/],
  ['down', 3, /No station runs/],
  ['bundle list', 3, /No station runs/],
  ['bundle install .', 3, /No station runs/],
  ['bundle verify', 3, /No station runs/],
  ['bundle retry a:b', 3, /No station runs/],
  ['bundle uninstall a', 3, /No station runs/],
  ['policy show', 3, /No station runs/],
  ['session list', 3, /No station runs/],
  ['session create --agent a', 3, /No station runs/],
  ['session say s hello', 3, /No station runs/],
  ['session show s', 3, /No station runs/],
  ['session transcript s --follow', 3, /No station runs/],
  ['session respond s r --deny', 3, /No station runs/],
  ['session cancel s', 3, /No station runs/],
  ['session close s', 3, /No station runs/],
  ['policy check /no/such/file', 1, /This file does not exist/],
  ['policy check /', 1, /not a regular file/],
  ['policy explain --agent a --cwd /no/such', 1, /context\/workspace-missing/],
  ['mcp list', 3, /`jupiter up --home/],
  ['status --follow', 2, /`jupiter status --help`/],
  ['contracts check --repo /no/such', 2, /`jupiter contracts check --help`/],
  ['bundle pack tests/policy', 1, /subject: +\/\S+\n[\s\S]*bundle\/manifest-missing/],
  ['bundle keygen -o /no/such/key.pem', 1, /private key could not be written[\s\S]*with `-o`/],
  ['session respond --help', 0, /respond s-1 r1 --allow/],
  ['policy set agents.a.program x', 1, /policy\//],
  ['bundle diagnose /no/such/folder', 1, /bundle\/folder-missing/],
  ['bundle pack /no/such/folder', 1, /bundle\/folder-missing/],
];
for (const [line, code, says] of lines) {
  test(`jupiter ${line} → ${code}`, async (t) => {
    const args = [
      '--home',
      temporary(t),
      ...line
        .split(' ')
        .filter((word) => word !== '')
        .map((word) => (word === "''" ? '' : word)),
    ];
    const plain = await run(args);
    assert.equal(plain.code, code, plain.err);
    assert.match(plain.out + plain.err, says);
    assert.ok(code === 0 || code === 1 || plain.out === '', 'a refusal goes to standard error');
    // biome-ignore lint/suspicious/noControlCharactersInRegex: colour is what is looked for
    assert.doesNotMatch(plain.out + plain.err, /\u001b/, 'no colour where there is no terminal');
    if (code === 0 || line === '') return;
    const json = await run(['--json', ...args]);
    assert.equal(json.code, code);
    assert.equal(json.err, '', 'with --json everything is on standard output');
    const document = JSON.parse(json.out);
    const found = document.problem ?? document.problems[0];
    assert.equal(typeof found.code, 'string');
    assert.equal(typeof found.message, 'string');
  });
}

test('init makes a home once, closed to others; JUPITER_HOME and --home name it', async (t) => {
  const folder = temporary(t);
  const made = await run(['init'], { env: { JUPITER_HOME: `${folder}/home` } });
  assert.equal(made.code, 0, made.err);
  assert.equal(statSync(`${folder}/home`).mode & 0o777, 0o700);
  assert.deepEqual(readdirSync(`${folder}/home`).sort(), [
    'cache',
    'logs',
    'packages',
    'policy.jsonc',
    'run',
  ]);
  const again = await run(['--home', `${folder}/home`, '--json', 'init']);
  assert.deepEqual([again.code, JSON.parse(again.out).problem.code], [1, 'station/home-exists']);
  assert.equal((await run(['policy', 'check'], { env: { JUPITER_HOME: `${folder}/home` } })).code, 0);
});

test('policy set and unset change the file, keep its comments, and say the new revision', async (t) => {
  const home = `${temporary(t)}/home`;
  await run(['--home', home, 'init']);
  const text = (): string => readFileSync(`${home}/policy.jsonc`, 'utf8');
  const before = text();
  const set = await run(['--home', home, '--json', 'policy', 'set', 'agents.echo.approve', 'auto']);
  assert.equal(set.code, 0, set.out);
  assert.match(text(), /"approve": "auto"/);
  assert.match(text(), /\/\/ What this station allows/);
  const wrong = await run(['--home', home, '--json', 'policy', 'set', 'agents.echo.approve', 'perhaps']);
  const { code, message } = JSON.parse(wrong.out).problem;
  assert.equal(code, 'policy/wrong-value');
  assert.match(message, /nothing was changed\.$/);
  const unset = await run(['--home', home, '--json', 'policy', 'unset', 'agents.echo.approve']);
  assert.equal(unset.code, 0);
  assert.notEqual(JSON.parse(unset.out).revision, JSON.parse(set.out).revision);
  assert.doesNotMatch(text(), /"approve"/);
  assert.equal(text().length, before.length);
  const explained = await run(['--home', home, '--json', 'policy', 'explain', '--agent', 'echo']);
  assert.equal(JSON.parse(explained.out).program, 'echo');
});

test('text of others cannot drive the terminal or break a table', () => {
  assert.equal(shown('a\u001b[31mb\r\nc\td\u0007'), 'a[31mb c d');
  assert.equal(
    table([
      ['a', 'b\nc'],
      ['long', 'd'],
    ]),
    'a     b c\nlong  d',
  );
  const problem = { code: 'x/y', message: 'bad\u001b[2J', evidence: 'l1\nl2' };
  const plain = problemText(problem, { write: () => {}, colour: false });
  assert.equal(plain, 'error: bad[2J\n  evidence: l1 l2\n  code:     x/y');
  // biome-ignore lint/suspicious/noControlCharactersInRegex: colour is what is looked for
  assert.match(problemText(problem, { write: () => {}, colour: true }), /^\u001b\[1;31merror:\u001b\[0m /);
});

test('--json is one document without a command too, and where the system says no; nothing shows a stack', async (t) => {
  const folder = temporary(t);
  writeFileSync(`${folder}/file`, '');
  const rows: readonly (readonly [args: readonly string[], code: number, problem: string])[] = [
    [[], 2, 'cli/usage'],
    [['--home', `${folder}/file/home`, 'init'], 1, 'cli/system'],
    // A recursive mkdir of Node never comes back from here.
    ...(process.platform === 'linux'
      ? [[['--home', '/proc/none/home', 'init'], 1, 'cli/system'] as const]
      : []),
  ];
  for (const [args, code, expected] of rows) {
    const ran = await run(['--json', ...args]);
    assert.equal(ran.code, code, ran.err);
    assert.equal(JSON.parse(ran.out).problem.code, expected);
    assert.equal(ran.err, '');
    assert.doesNotMatch((await run(args)).err, /^ +at /m);
  }
});
