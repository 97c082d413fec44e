/** What `npm ci` needs on a machine with Node and npm and nothing else. */
import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';

const root = join(import.meta.dirname, '..', '..');
interface Lock {
  readonly packages: Readonly<
    Record<
      string,
      { readonly resolved?: string; readonly gypfile?: boolean; readonly hasInstallScript?: boolean }
    >
  >;
}
const lock = JSON.parse(readFileSync(join(root, 'package-lock.json'), 'utf8')) as Lock;

test('better-sqlite3 is taken by its prebuilt binary: npm would compile it, with headers it has to fetch', () => {
  // npm forgets this line when it rewrites the lock file; the package itself says so in its package.json.
  assert.equal(lock.packages['node_modules/better-sqlite3']?.gypfile, false);
});

test('the lock file names no download address', () => {
  const named = Object.entries(lock.packages).filter(([, entry]) => entry.resolved !== undefined);
  assert.deepEqual(named, []);
});

test('only packages that are known to need it run a script at install', () => {
  const scripts = Object.entries(lock.packages)
    .filter(([, entry]) => entry.hasInstallScript === true)
    .map(([path]) => path.replace(/^.*node_modules\//, ''));
  const { allowScripts } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as {
    allowScripts: Readonly<Record<string, boolean>>;
  };
  assert.deepEqual(
    scripts.filter((name) => allowScripts[name] === undefined),
    [],
  );
});
