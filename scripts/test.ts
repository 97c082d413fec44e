/**
 * Runs the tests: `npm test` runs all but the slow suites, `npm test -- tests/bus` those below a folder or file.
 */
import { spawnSync } from 'node:child_process';
import { globSync, statSync } from 'node:fs';

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
const run = spawnSync(
  process.execPath,
  ['--test', '--test-concurrency=2', '--test-timeout=180000', '--test-reporter=spec', ...files],
  { stdio: 'inherit' },
);
process.exit(run.status ?? 1);
