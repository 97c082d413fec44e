import assert from 'node:assert/strict';
import {
  chmodSync,
  chownSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { createHome, homeAt, installation, openHome } from '../../host/station/home.ts';

const temporary = (t: TestContext): string => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-home-'));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};
const said = (result: { ok: boolean; problem?: { code: string; evidence?: string } }): string =>
  result.ok ? 'ok' : `${result.problem?.code} ${result.problem?.evidence ?? ''}`.trim();
const modeOf = (path: string) => (statSync(path).mode & 0o777).toString(8);
const folders = ['packages', 'cache', 'logs', 'run'] as const;

test('a new home is its owner’s alone, whatever the umask; a second one does not touch the policy', (t) => {
  const dir = join(temporary(t), 'deep', 'home');
  const before = process.umask(0);
  t.after(() => process.umask(before));
  const made = createHome(dir, '// mine');
  assert.ok(made.ok);
  assert.deepEqual(made.value, homeAt(dir));
  assert.equal(modeOf(dir), '700');
  for (const folder of folders) assert.equal(modeOf(made.value[folder]), '700', folder);
  assert.equal(modeOf(made.value.policy), '600');
  assert.equal(said(createHome(dir, '// other')), 'station/home-exists');
  assert.equal(readFileSync(made.value.policy, 'utf8'), '// mine');
  assert.equal(said(openHome(dir)), 'ok');
  const linked = join(dir, '..', 'linked');
  mkdirSync(linked, { mode: 0o700 });
  symlinkSync(join(dir, 'elsewhere'), join(linked, 'policy.jsonc'));
  assert.equal(said(createHome(linked, '// other')), 'station/home-exists', 'a link to nothing is one too');
  assert.equal(existsSync(join(dir, 'elsewhere')), false);
});

test('a home is there when it has a policy or a database; what is missing in it is made', (t) => {
  const dir = join(temporary(t), 'home');
  assert.equal(said(openHome(dir)), 'station/home-missing');
  assert.equal(existsSync(dir), false);
  mkdirSync(dir, { mode: 0o700 });
  assert.equal(said(openHome(dir)), 'station/home-missing');
  for (const file of ['policy.jsonc', 'station.db']) {
    writeFileSync(join(dir, file), '');
    assert.equal(said(openHome(dir)), 'ok', file);
    for (const folder of folders) assert.ok(statSync(join(dir, folder)).isDirectory(), folder);
    rmSync(join(dir, file));
  }
});

test('a home others can enter, or a link to one, is refused with what was found; its run folder is closed', (t) => {
  const dir = join(temporary(t), 'home');
  assert.ok(createHome(dir, '').ok);
  for (const mode of [0o710, 0o720, 0o740, 0o701, 0o702, 0o704]) {
    chmodSync(dir, mode);
    assert.equal(said(openHome(dir)), `station/home-unsafe mode ${mode.toString(8)}`);
  }
  chmodSync(dir, 0o700);
  const link = `${dir}-link`;
  symlinkSync(dir, link);
  assert.match(said(openHome(link)), /^station\/home-unsafe/);
  chmodSync(join(dir, 'run'), 0o755);
  assert.equal(said(openHome(dir)), 'ok');
  assert.equal(modeOf(join(dir, 'run')), '700');
});

test('a home of another user is refused', { skip: process.getuid?.() !== 0 }, (t) => {
  const dir = join(temporary(t), 'home');
  assert.ok(createHome(dir, '').ok);
  chownSync(dir, 12_345, 0);
  assert.equal(said(openHome(dir)), 'station/home-unsafe owned by user 12345');
});

test('the installation is the folder with package.json', () => {
  assert.ok(existsSync(join(installation(), 'package.json')));
  assert.ok(existsSync(join(installation(), 'wit')));
});
