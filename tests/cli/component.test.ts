import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { repository, runJupiter } from '../e2e/harness.ts';
import { temporary } from './fixtures/command.ts';

const guest = join(repository, 'components', 'guest', 'index.ts');
const source = `
import { defineComponent } from ${JSON.stringify(guest)};
export const component = defineComponent<{ 'acme.greet': { request: { name: string }; reply: { text: string } } }>({
  handles: { 'acme.greet': ({ payload }) => ({ text: 'hello ' + payload.name }) },
});
`;
const manifest = {
  manifest: 2,
  id: 'acme.greeter',
  version: '1.0.0',
  components: [
    {
      id: 'greeter',
      driver: 'wasm',
      entry: 'greeter.wasm',
      permissions: [],
      handles: ['acme.greet'],
      subscribes: [],
      publishes: [],
    },
  ],
};

test('one command builds an author’s TypeScript into a bundle that diagnose finds whole', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-component-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFileSync(join(dir, 'bundle.json'), JSON.stringify(manifest));
  const missing = await runJupiter(['--json', 'component', 'build', dir]);
  assert.equal(missing.code, 1);
  assert.equal((missing.json()['problem'] as { code: string }).code, 'component/source-missing');

  writeFileSync(join(dir, 'greeter.ts'), 'export const component = ;');
  const broken = await runJupiter(['--json', 'component', 'build', dir]);
  assert.equal((broken.json()['problem'] as { code: string }).code, 'component/build-failed');

  writeFileSync(join(dir, 'greeter.ts'), source);
  mkdirSync(join(dir, 'skills', 'greet'), { recursive: true });
  writeFileSync(
    join(dir, 'skills', 'greet', 'SKILL.md'),
    '---\nname: greet\ndescription: Greets.\n---\nGreet.\n',
  );
  const built = await runJupiter(['--json', 'component', 'build', dir]);
  assert.equal(built.code, 0, built.stdout + built.stderr);
  assert.deepEqual(built.json()['components'], ['greeter']);
  const { content } = JSON.parse(readFileSync(join(dir, 'dist', 'bundle.json'), 'utf8'));
  assert.deepEqual(
    content.map(({ path }: { path: string }) => path),
    ['greeter.wasm', 'skills/greet/SKILL.md'],
  );
  const again = await runJupiter(['--json', 'component', 'build', dir]);
  assert.equal(again.code, 0, 'what a build made is replaced');
  for (const occupied of [dir, join(dir, 'skills')]) {
    const refused = await runJupiter(['--json', 'component', 'build', dir, '--out', occupied]);
    assert.equal((refused.json()['problem'] as { code: string }).code, 'component/out-occupied', occupied);
  }
  assert.equal(readFileSync(join(dir, 'greeter.ts'), 'utf8'), source, 'nothing of the author was touched');
  const diagnosed = await runJupiter(['--json', 'bundle', 'diagnose', join(dir, 'dist')]);
  assert.equal(diagnosed.code, 0, diagnosed.stdout);
});

/** A block of code in the README. */
const blocks = [...readFileSync(join(repository, 'README.md'), 'utf8').matchAll(/```(\w+)\n(.*?)```/gs)];
const block = (language: string, naming: string): string =>
  blocks.find(([, name, text = '']) => name === language && text.includes(naming))?.[2] ?? '';

/** The component of the README in a folder outside the repository. */
const author = (t: TestContext): string => {
  const dir = temporary(t);
  writeFileSync(join(dir, 'component.ts'), block('ts', 'jupiter-station/guest'));
  writeFileSync(join(dir, 'bundle.json'), block('json', 'component.wasm'));
  return dir;
};

test('the component of the README builds and type-checks in any folder', async (t) => {
  const dir = author(t);
  const built = await runJupiter(['--json', 'component', 'build', dir]);
  assert.equal(built.code, 0, built.stdout);
  assert.deepEqual(readdirSync(join(dir, 'dist')).sort(), ['bundle.json', 'component.wasm']);
  // Only now: the build reads the paths of a tsconfig too, and must do without.
  writeFileSync(
    join(dir, 'tsconfig.json'),
    block('json', 'tsconfig.author.json').replace('INSTALLATION', repository),
  );
  const tsc = join(repository, 'node_modules', 'typescript', 'bin', 'tsc');
  execFileSync(process.execPath, [tsc, '-p', dir, '--strict', '--module', 'nodenext'], { encoding: 'utf8' });
  const source = readFileSync(join(dir, 'component.ts'), 'utf8');
  writeFileSync(join(dir, 'component.ts'), source.replace('payload.text', 'payload.nothing'));
  assert.throws(
    () => execFileSync(process.execPath, [tsc, '-p', dir], { encoding: 'utf8' }),
    (error: { stdout: string }) => /Property 'nothing' does not exist/.test(error.stdout),
  );
});

test('a build that fails leaves what was there, and says that a component has no Node modules', async (t) => {
  const dir = author(t);
  const source = readFileSync(join(dir, 'component.ts'), 'utf8');
  for (const name of ['node:fs', 'fs']) {
    writeFileSync(join(dir, 'component.ts'), `import * as fs from '${name}';\nconsole.log(fs);\n${source}`);
    const failed = await runJupiter(['--json', 'component', 'build', dir]);
    const { code, fix } = failed.json()['problem'] as { code: string; fix: string };
    assert.equal(code, 'component/build-failed');
    assert.match(fix, /no Node modules/);
    assert.equal(existsSync(join(dir, 'dist')), false, 'no empty folder');
  }
  mkdirSync(join(dir, 'dist'));
  writeFileSync(join(dir, 'component.ts'), source.replace('jupiter-station/guest', 'no-such-library'));
  const other = await runJupiter(['--json', 'component', 'build', dir]);
  assert.doesNotMatch(JSON.stringify(other.json()), /Node modules/);
});
