/** The workflow of docs/contracts.md, run step by step in a throw-away repository, and this repository's own check. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { parse } from 'yaml';
import { contractManifestText } from '../../contracts/manifest.ts';
import { packBundle } from '../../host/bundles/index.ts';
import { at, environment, manifest, repository, type Throwaway, text, told } from './throwaway.ts';

const root = join(import.meta.dirname, '..', '..');
const page = readFileSync(join(root, 'docs', 'contracts.md'), 'utf8');
const source = /```yaml\n(.*?)```/s.exec(page)?.[1] ?? '';

interface Step {
  readonly uses?: string;
  readonly with?: { readonly 'fetch-depth': number };
  readonly run?: string;
}

/** Runs the steps as a runner would: a clone as deep as asked, then each command by bash. */
const run = (origin: Throwaway, name: string): { code: number; output: string } => {
  const steps = (parse(source) as { jobs: { contracts: { steps: Step[] } } }).jobs.contracts.steps;
  const dir = join(origin.home, name);
  let output = '';
  for (const step of steps) {
    if (step.uses !== undefined) {
      assert.match(step.uses, /^actions\/checkout@/);
      const depth = step.with?.['fetch-depth'] ?? 1;
      origin.git(
        'clone',
        '-q',
        ...(depth === 0 ? [] : ['--depth', String(depth)]),
        `file://${origin.dir}`,
        dir,
      );
    } else if (step.run?.startsWith('npm install')) {
      assert.equal(step.run, 'npm install --no-save jupiter-station');
      // What it would install, without a registry.
      mkdirSync(join(dir, 'node_modules', '.bin'), { recursive: true });
      symlinkSync(join(root, 'bin', 'jupiter.mjs'), join(dir, 'node_modules', '.bin', 'jupiter'));
    } else {
      const env = { ...environment(origin.home), npm_config_offline: 'true' };
      const done = spawnSync('bash', ['-e', '-c', step.run ?? ''], { cwd: dir, env, encoding: 'utf8' });
      output += done.stdout + done.stderr;
      if (done.status !== 0) return { code: done.status ?? 1, output };
    }
  }
  return { code: 0, output };
};

test('the documented workflow has ten lines', () => {
  assert.equal(source.trimEnd().split('\n').length, 10);
});

test('the documented workflow passes an addition, and stops a change and a broken bundle', async (t) => {
  const repo = repository(t);
  const release = async (topics: Parameters<typeof manifest>[0]): Promise<void> => {
    repo.write('bundle/bundle.json', manifest(topics));
    const packed = await packBundle(join(repo.dir, 'bundle'));
    assert.ok(packed.ok, packed.ok ? '' : JSON.stringify(packed.problem));
  };
  repo.write('bundle/skills/hello/SKILL.md', '---\nname: hello\ndescription: Says hello.\n---\nHello.\n');
  await release({ 'probe.said': text(10) });
  await repo.update();
  repo.commit('first');
  await release({ 'probe.said': text(10), 'probe.heard': text(10) });
  await repo.update();
  repo.commit('an addition');
  const good = run(repo, 'good');
  assert.equal(good.code, 0, good.output);

  await release({ 'probe.said': text(20), 'probe.heard': text(10) });
  repo.commit('a change');
  const changed = run(repo, 'changed');
  assert.equal(changed.code, 1);
  assert.match(
    changed.output,
    /^::error file=bundle\/bundle\.json,line=\d+,title=contract\/shape-changed::/m,
  );

  repo.git('revert', '--no-edit', 'HEAD');
  repo.write('bundle/skills/hello/SKILL.md', 'edited');
  repo.commit('a file that the manifest does not know');
  const broken = run(repo, 'broken');
  assert.equal(broken.code, 1);
  assert.match(broken.output, /bundle\//);
});

test('this repository holds its own topics', async () => {
  assert.equal(
    readFileSync(join(root, 'contracts', 'bundle.json'), 'utf8'),
    contractManifestText(),
    'contracts/bundle.json is what the topics say: run npm run generate',
  );
  const { PATH, HOME } = process.env;
  const own = at(root, HOME ?? root);
  const report = await own.check({ env: { PATH, HOME } });
  assert.deepEqual(told(report), []);
});
