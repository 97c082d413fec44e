import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { repository, runJupiter } from '../e2e/harness.ts';

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
