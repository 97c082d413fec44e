import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { chmodSync, copyFileSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { registry } from '../../host/problems/index.ts';
import { launcher, run, temporary } from './fixtures/command.ts';

/** A Node.js older than the one the station needs, if the machine has one. */
const older = (process.env.PATH ?? '')
  .split(':')
  .map((folder) => join(folder, 'node'))
  .find((file) => {
    try {
      const [major = 0] = execFileSync(file, ['-p', 'process.versions.node'], { encoding: 'utf8' })
        .split('.')
        .map(Number);
      return major >= 18 && major < 26;
    } catch {
      return false;
    }
  });
const withOlder = { skip: older === undefined ? 'no older Node.js on this machine' : false };

/** An installation with this launcher and a `main` of its own, its runtime a script that the test writes. */
const installation = (
  t: TestContext,
  main: string,
  runtime?: { version: string; script?: string },
): string => {
  const root = temporary(t);
  mkdirSync(join(root, 'bin'));
  copyFileSync(launcher, join(root, 'bin', 'jupiter.mjs'));
  writeFileSync(join(root, 'package.json'), '{"type":"module"}');
  mkdirSync(join(root, 'host', 'cli'), { recursive: true });
  writeFileSync(join(root, 'host', 'cli', 'main.ts'), main);
  if (runtime !== undefined) {
    const bin = join(root, 'node_modules', 'node', 'bin');
    mkdirSync(bin, { recursive: true });
    writeFileSync(
      join(bin, '..', 'package.json'),
      JSON.stringify({ name: 'node', version: runtime.version }),
    );
    if (runtime.script === undefined) symlinkSync(process.execPath, join(bin, 'node'));
    else {
      writeFileSync(join(bin, 'node'), runtime.script);
      chmodSync(join(bin, 'node'), 0o700);
    }
  }
  return join(root, 'bin', 'jupiter.mjs');
};
const tellArguments = `export const main = async (args: readonly string[]): Promise<number> => {
  console.log(JSON.stringify({ args, node: process.versions.node }));
  return 7;
};`;

test('the running Node.js is used where it is new enough', async (t) => {
  const script = installation(t, tellArguments);
  const ran = await run(['a b', '--x', ''], { script });
  assert.equal(ran.code, 7);
  assert.deepEqual(JSON.parse(ran.out), { args: ['a b', '--x', ''], node: process.versions.node });
});

test(
  'an older Node.js starts the packaged one, with the same arguments and exit code',
  withOlder,
  async (t) => {
    const script = installation(t, tellArguments, { version: '26.0.0' });
    const ran = await run(['a b', '--x', ''], { script, node: older ?? '' });
    assert.equal(ran.code, 7);
    assert.equal(ran.err, '');
    assert.deepEqual(JSON.parse(ran.out), { args: ['a b', '--x', ''], node: process.versions.node });
  },
);

test(
  'an older Node.js hands signals on, and ends by the signal that ended the packaged one',
  withOlder,
  async (t) => {
    const waits = `export const main = async (): Promise<number> => {
    process.on('SIGTERM', () => { console.log('told'); process.removeAllListeners('SIGTERM'); process.kill(process.pid, 'SIGTERM'); });
    setInterval(() => {}, 1000);
    console.log('ready');
    return new Promise(() => {});
  };`;
    const script = installation(t, waits, { version: '26.0.0' });
    const ran = await run([], { script, node: older ?? '', onOutput: (child) => child.kill('SIGTERM') });
    assert.deepEqual([ran.signal, ran.out], ['SIGTERM', 'ready\ntold\n']);
  },
);

const without: readonly (readonly [
  name: string,
  runtime: { version: string; script?: string } | undefined,
  evidence: RegExp,
])[] = [
  ['no package', undefined, /not installed/],
  ['a package that is too old', { version: '22.1.0' }, /22\.1\.0/],
  [
    'a package whose binary cannot be started',
    { version: '26.0.0', script: '#!/no/such/interpreter\n' },
    /cannot be started/,
  ],
];
for (const [name, runtime, evidence] of without) {
  test(`${name}: station/runtime-missing, said plainly, exit 1`, withOlder, async (t) => {
    const script = installation(t, tellArguments, runtime);
    // Resolution of packages goes up the folders; nothing above the temporary one has a package of that name.
    const ran = await run(['status'], { script, node: older ?? '' });
    assert.equal(ran.code, 1);
    assert.equal(ran.out, '');
    assert.ok(ran.err.startsWith(`error: ${registry['station/runtime-missing'].message}\n`), ran.err);
    assert.ok(ran.err.includes(registry['station/runtime-missing'].fix ?? '?'));
    assert.match(ran.err, evidence);
    const json = await run(['--json', 'status'], { script, node: older ?? '' });
    assert.equal(JSON.parse(json.out).problem.code, 'station/runtime-missing');
  });
}

test('the launcher is plain JavaScript that any Node.js since 18 can read', () => {
  const text = readFileSync(launcher, 'utf8');
  assert.match(text, /^#!\/usr\/bin\/env node\n/);
  assert.doesNotMatch(text, /import\.meta\.(dirname|filename)|\bwith \{ type/);
});

test('a cache that cannot be written does no harm', async (t) => {
  const script = installation(t, tellArguments);
  const folder = temporary(t);
  writeFileSync(join(folder, 'file'), '');
  const env = { XDG_CACHE_HOME: join(folder, 'file'), HOME: join(folder, 'file') };
  assert.equal((await run([], { script, env })).code, 7);
});
