import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';
import { outsideOf } from '../../host/context/index.ts';

test('a path lies inside a workspace only below it and over no link', (t) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-outside-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const ws = join(dir, 'ws');
  mkdirSync(join(ws, 'src'), { recursive: true });
  mkdirSync(join(dir, 'ws_evil'));
  writeFileSync(join(ws, 'src', 'a.ts'), '');
  symlinkSync(dir, join(ws, 'up'));
  symlinkSync(join(dir, 'ws_evil'), join(ws, 'src', 'link'));
  symlinkSync(ws, join(dir, 'way'));

  const inside = [
    join(ws, 'src', 'a.ts'),
    join(ws, 'new', 'deep', 'file'),
    'src/a.ts',
    './src/../src/a.ts',
    'src',
    '.gitignore',
    'jupiter/settings.jsonc',
  ];
  const outside = [
    ws,
    '.',
    '',
    join(dir, 'ws_evil', 'x'),
    join(ws, '..', 'x'),
    '../ws/../x',
    '/etc/passwd',
    'up/ws/src/a.ts',
    'up',
    'src/link/x',
    'src/link',
    'src/a.ts/below-a-file',
    'file:///etc/passwd',
    '~/x',
    '$HOME/x',
    'a\0b',
    '.jupiter/settings.jsonc',
    'src/.Jupiter',
    '.git/hooks/post-checkout',
    'new/.git/config',
    '.bearpunch-placed.json',
  ];
  const found = outsideOf(ws, [...inside, ...outside]);
  assert.deepEqual(found, { ok: true, value: outside });
  // The workspace itself may be named by a way with links in it.
  const way = join(dir, 'way');
  const named = outsideOf(way, [join(way, 'src', 'a.ts'), join(ws, 'src', 'a.ts'), join(dir, 'x')]);
  assert.deepEqual(named, { ok: true, value: [join(dir, 'x')] });
  assert.equal(outsideOf('relative', ['a']).ok, false);
  assert.equal(outsideOf(join(dir, 'absent'), ['a']).ok, false);
});
