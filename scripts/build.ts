/** Makes what is published: `dist/` with JavaScript for host, contracts and demo, and the shipped bundles. */
import { spawnSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '..');
const run = (...args: readonly string[]) => {
  const done = spawnSync(process.execPath, args, { cwd: root, stdio: 'inherit' });
  if (done.status !== 0) process.exit(done.status ?? 1);
};

for (const folder of ['host', 'contracts', 'demo'])
  rmSync(join(root, 'dist', folder), { recursive: true, force: true });
run(join(root, 'node_modules', 'typescript', 'bin', 'tsc'), '-p', 'tsconfig.build.json');
run('scripts/build-bundles.ts');
