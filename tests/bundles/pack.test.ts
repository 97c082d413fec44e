import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packBundle, readBundle } from '../../host/bundles/index.ts';
import { authored, codeOf, packedBundle, plainFiles, sha256, temporary, value, write } from './fixture.ts';

test('pack names every file with digest and size, in byte order, and keeps the author’s order of fields', async (t) => {
  const root = temporary(t);
  const files = {
    ...plainFiles,
    'bundle.json': '{"version": "1.0.0", "tools": [], "id": "demo.bundle", "manifest": 2}',
    'skills/greet-more': 'x',
    'a/b': '1',
    'a-b': '2',
    ä: '3',
  };
  const bundle = await packedBundle(root, 'demo', files);
  const manifest = JSON.parse(readFileSync(join(root, 'demo', 'bundle.json'), 'utf8'));
  assert.deepEqual(Object.keys(manifest), ['version', 'tools', 'id', 'manifest', 'content']);
  const paths = manifest.content.map((file: { path: string }) => file.path);
  const expected = Object.keys(files).filter((path) => path !== 'bundle.json');
  assert.deepEqual(
    paths,
    expected.sort((a, b) => Buffer.compare(Buffer.from(a), Buffer.from(b))),
  );
  assert.deepEqual(manifest.content[0], { path: 'a-b', sha256: sha256('2'), size: 1 });
  assert.equal(bundle.folder, join(root, 'demo'));
});

test('P12: packing again changes no byte and writes nothing', async (t) => {
  const root = temporary(t);
  const first = await packedBundle(root, 'demo');
  const before = statSync(join(root, 'demo', 'bundle.json'), { bigint: true });
  const second = value(await packBundle(join(root, 'demo')));
  const after = statSync(join(root, 'demo', 'bundle.json'), { bigint: true });
  assert.equal(second.identity, first.identity);
  assert.equal(after.ino, before.ino);
  assert.equal(after.mtimeNs, before.mtimeNs);
});

test('the identity is SHA-256 over the manifest and every path and byte, each behind its length', async (t) => {
  const root = temporary(t);
  const bundle = await packedBundle(root, 'demo', { 'bundle.json': authored(), b: '22', a: '1' });
  const hash = createHash('sha256');
  const put = (bytes: string | Buffer): void => {
    const length = Buffer.alloc(8);
    length.writeBigUInt64BE(BigInt(Buffer.byteLength(bytes)));
    hash.update(length).update(bytes);
  };
  hash.update('jupiter bundle 2\n');
  put(readFileSync(join(root, 'demo', 'bundle.json')));
  for (const part of ['a', '1', 'b', '22']) put(part);
  assert.equal(bundle.identity, hash.digest('hex'));
});

test('pack to another folder leaves the author’s alone and gives the same identity', async (t) => {
  const root = temporary(t);
  write(join(root, 'demo'), plainFiles);
  const out = value(await packBundle(join(root, 'demo'), join(root, 'out')));
  assert.equal(readFileSync(join(root, 'demo', 'bundle.json'), 'utf8'), plainFiles['bundle.json']);
  assert.equal(out.folder, join(root, 'out'));
  assert.equal(value(await readBundle(join(root, 'out'))).identity, out.identity);
  assert.equal(value(await packBundle(join(root, 'demo'))).identity, out.identity);
  writeFileSync(join(root, 'demo', 'readme.md'), 'New words.\n');
  const again = value(await packBundle(join(root, 'demo'), join(root, 'out')));
  assert.notEqual(again.identity, out.identity);
  assert.equal(value(await readBundle(join(root, 'out'))).identity, again.identity);
  assert.deepEqual(readdirSync(root).sort(), ['demo', 'out']);
});

test('pack writes over nothing but a whole bundle or an empty folder, and not into itself', async (t) => {
  const root = temporary(t);
  write(join(root, 'demo'), plainFiles);
  write(join(root, 'mine'), { 'notes.txt': 'keep me' });
  mkdirSync(join(root, 'empty'));
  const to = (out: string): Promise<string> => packBundle(join(root, 'demo'), join(root, out)).then(codeOf);
  assert.equal(await to('mine'), 'bundle/pack-target');
  assert.equal(readFileSync(join(root, 'mine', 'notes.txt'), 'utf8'), 'keep me');
  assert.equal(await to('demo/dist'), 'bundle/pack-target');
  assert.equal(existsSync(join(root, 'demo', 'dist')), false);
  assert.equal(await to('missing/deep'), 'bundle/pack-target');
  assert.equal(await to('.'), 'bundle/pack-target');
  assert.equal(await to('empty'), 'ok');
  write(join(root, 'empty'), { 'notes.txt': 'mine again' });
  assert.equal(await to('empty'), 'bundle/pack-target');
  assert.equal(readFileSync(join(root, 'empty', 'notes.txt'), 'utf8'), 'mine again');
});

test('pack refuses over a bound and names the number found and the limit', async (t) => {
  const mib = 1024 * 1024;
  const sparse = (place: string, size: number): void => {
    writeFileSync(place, '');
    truncateSync(place, size);
  };
  const cases: readonly [string, (folder: string) => void, RegExp][] = [
    ['one file', (f) => sparse(join(f, 'big'), 32 * mib + 1), /33554433 bytes in one file.*33554432/],
    [
      'all files',
      (f) => {
        for (const name of ['1', '2', '3']) sparse(join(f, name), 30 * mib);
      },
      /94371840 bytes of content in all.*67108864/,
    ],
    [
      'number of files',
      (f) => {
        for (let i = 0; i < 4_097; i += 1) writeFileSync(join(f, `f${i}`), '');
      },
      /4097 files.*4096/,
    ],
    ['depth', (f) => write(f, { [`${'d/'.repeat(16)}f`]: '' }), /17 path segments.*16/],
    [
      'manifest',
      (f) => writeFileSync(join(f, 'bundle.json'), ' '.repeat(mib + 1)),
      /1048577 bytes of bundle.json.*1048576/,
    ],
  ];
  for (const [name, build, said] of cases) {
    const folder = join(temporary(t), 'demo');
    write(folder, { 'bundle.json': authored() });
    build(folder);
    const result = await packBundle(folder);
    assert.equal(codeOf(result), 'bundle/limit-exceeded', name);
    assert.match(result.ok ? '' : result.problem.message, said, name);
  }
});

test('pack takes exactly the bounds of depth', async (t) => {
  await packedBundle(temporary(t), 'demo', { 'bundle.json': authored(), [`${'d/'.repeat(15)}f`]: '' });
});

test('pack refuses the history of a repository, at its top and below', async (t) => {
  for (const path of ['.git/HEAD', '.hg/store', '.svn/entries', 'vendor/probe/.git', 'skills/.GIT/config']) {
    const root = temporary(t);
    write(join(root, 'demo'), { 'bundle.json': authored(), a: '1', [path]: 'x' });
    const refused = await packBundle(join(root, 'demo'));
    assert.equal(codeOf(refused), 'bundle/version-control', path);
    assert.ok(!refused.ok && path.startsWith(refused.problem.subject ?? '-'), path);
    assert.equal(codeOf(await packBundle(join(root, 'demo'), join(root, 'out'))), 'bundle/version-control');
  }
  await packedBundle(temporary(t), 'demo', {
    'bundle.json': authored(),
    '.gitignore': 'dist',
    'a.git/b': 'x',
  });
});

test('pack says what is missing or broken about the folder and its manifest', async (t) => {
  const root = temporary(t);
  write(root, { file: 'x', 'none/readme.md': 'x', 'list/bundle.json': '[]', 'bad/bundle.json': '{' });
  assert.equal(codeOf(await packBundle(join(root, 'nowhere'))), 'bundle/folder-missing');
  assert.equal(codeOf(await packBundle(join(root, 'file'))), 'bundle/folder-missing');
  assert.equal(codeOf(await packBundle(join(root, 'none'))), 'bundle/manifest-missing');
  assert.equal(codeOf(await packBundle(join(root, 'list'))), 'bundle/manifest-invalid');
  assert.equal(codeOf(await packBundle(join(root, 'bad'))), 'bundle/manifest-unreadable');
});
