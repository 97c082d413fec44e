/**
 * Runs the tests: `npm test` runs all but the slow suites, `npm test -- tests/bus` those below a folder or file.
 */
import { spawnSync } from 'node:child_process';
import { globSync, mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const slow = /^tests\/(agents|bench|conformance)\//;
const asked = process.argv.slice(2);
const all = globSync('tests/**/*.test.ts').sort();
const files =
  asked.length === 0
    ? all.filter((file) => !slow.test(file))
    : asked.flatMap((path) =>
        statSync(path).isDirectory()
          ? all.filter((file) => file.startsWith(`${path.replace(/\/$/, '')}/`))
          : [path],
      );
if (files.length === 0) {
  console.error('no test files found');
  process.exit(1);
}
// What the files of one run share; and their code without its types, for this run and the next.
const shared = mkdtempSync(join(tmpdir(), 'jupiter-tests-'));
const run = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-timeout=180000', '--test-reporter=spec', ...files],
  {
    stdio: 'inherit',
    env: {
      ...process.env,
      JUPITER_TEST_RUN: shared,
      NODE_COMPILE_CACHE: join(import.meta.dirname, '..', 'node_modules', '.cache', 'tests'),
    },
  },
);
rmSync(shared, { recursive: true, force: true });
process.exit(run.status ?? 1);
