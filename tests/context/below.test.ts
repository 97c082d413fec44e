import assert from 'node:assert/strict';
import fs, { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { isBelow, makeBelow, plainBelow, strayBelow } from '../../host/paths/index.ts';
import { temporary, tree } from './fixture.ts';

describe('P13: prefixes are paths, not strings', () => {
  const rows: readonly (readonly [string, string, boolean])[] = [
    ['/srv/ws', '/srv/ws', true],
    ['/srv/ws', '/srv/ws/a', true],
    ['/srv/ws', '/srv/ws/..a', true],
    ['/srv/ws', '/srv/ws_evil', false],
    ['/srv/ws', '/srv/ws_evil/a', false],
    ['/srv/ws', '/srv', false],
    ['/srv/ws', '/srv/ws/../ws_evil', false],
    ['/srv/ws/', '/srv/ws/a', true],
    ['/', '/a', true],
  ];
  for (const [root, path, below] of rows)
    it(`${path} is ${below ? '' : 'not '}below ${root}`, () => assert.equal(isBelow(root, path), below));
});

describe('walking below a root', () => {
  const prepared = (root: string): void => {
    mkdirSync(join(root, 'real/deep'), { recursive: true });
    mkdirSync(join(root, 'elsewhere'));
    symlinkSync(join(root, 'elsewhere'), join(root, 'real/link'));
    writeFileSync(join(root, 'real/file'), '');
  };
  const rows: readonly (readonly [string, string, string])[] = [
    ['real/deep', 'folder', 'made'],
    ['real/new/er', 'missing', 'made'],
    ['real/link', 'paths/linked real/link', 'paths/linked real/link'],
    ['real/link/x', 'paths/linked real/link', 'paths/linked real/link'],
    ['real/file', 'paths/not-a-folder real/file', 'paths/not-a-folder real/file'],
    ['real/file/x', 'paths/not-a-folder real/file', 'paths/not-a-folder real/file'],
  ];
  for (const [path, looked, made] of rows)
    it(path, (t) => {
      const root = temporary(t);
      prepared(root);
      const look = plainBelow(root, path.split('/'));
      assert.equal(look.ok ? look.value : `${look.problem.code} ${look.problem.subject}`, looked);
      const make = makeBelow(root, path.split('/'));
      assert.equal(make.ok ? 'made' : `${make.problem.code} ${make.problem.subject}`, made);
      if (make.ok) assert.equal(tree(root)[path], 'folder');
      assert.deepEqual(tree(join(root, 'elsewhere')), {});
    });
  it('P3: a folder that is a link by now is found afterwards', (t) => {
    const root = temporary(t);
    prepared(root);
    assert.equal(strayBelow(root, ['real', 'deep']), undefined);
    assert.equal(strayBelow(root, ['real', 'link'])?.code, 'paths/linked');
    assert.equal(strayBelow(root, ['gone'])?.code, 'paths/unreadable');
    assert.equal(strayBelow(root, ['..'])?.code, 'paths/linked', 'not below the root at all');
  });
  // Someone else makes the place between the look and the making.
  const firsts: readonly (readonly [string, (at: string, elsewhere: string) => void, string])[] = [
    ['a folder', (at) => mkdirSync(at), 'made'],
    ['a link', (at, elsewhere) => symlinkSync(elsewhere, at), 'paths/linked real/new'],
    ['a file', (at) => writeFileSync(at, ''), 'paths/not-a-folder real/new'],
  ];
  for (const [what, first, said] of firsts)
    it(`P3: someone was first with ${what}`, (t) => {
      const root = temporary(t);
      prepared(root);
      const real = fs.mkdirSync;
      t.mock.method(fs, 'mkdirSync', (path: string) => {
        fs.mkdirSync = real;
        syncBuiltinESMExports();
        first(path, join(root, 'elsewhere'));
        return real(path);
      });
      syncBuiltinESMExports();
      t.after(() => {
        t.mock.restoreAll();
        syncBuiltinESMExports();
      });
      const make = makeBelow(root, ['real', 'new', 'er']);
      assert.equal(make.ok ? 'made' : `${make.problem.code} ${make.problem.subject}`, said);
      assert.deepEqual(tree(join(root, 'elsewhere')), {});
    });
});
