/** Archives as strangers make them: whatever is wrong is named before anything is written outside staging. */
import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  truncateSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { Header } from 'tar';
import { nameBook, unpackArchive } from '../../host/bundles/archive.ts';
import { bundleBounds, diagnoseBundle, packBundle, readBundle } from '../../host/bundles/index.ts';
import { paxRecords } from '../../host/bundles/tar.ts';
import { folderSink } from '../../host/bundles/write.ts';
import type { Problem } from '../../host/problems/index.ts';
import { authored, codeOf, openStore, packedBundle, plainFiles, temporary, value, write } from './fixture.ts';
import { type Entry, end, entryBytes, tarOf, tgzOf } from './tars.ts';

/** Every file below a folder, sorted. */
const below = (root: string): readonly string[] =>
  readdirSync(root, { recursive: true, encoding: 'utf8' }).sort();

/** A packed bundle's files as entries of an archive. */
const entriesOf = async (t: TestContext, files = plainFiles): Promise<readonly Entry[]> => {
  const { folder, manifest } = await packedBundle(temporary(t), 'demo', files);
  return ['bundle.json', ...manifest.content.map(({ path }) => path)].map((path) => ({
    path,
    body: readFileSync(join(folder, path)),
  }));
};

/** Stages an archive into a home of its own; what is left there must be a package or nothing. */
const staged = async (t: TestContext, bytes: Uint8Array) => {
  const root = temporary(t);
  const home = join(root, 'home');
  mkdirSync(home);
  const archive = join(root, 'it.tgz');
  writeFileSync(archive, bytes);
  const { store, packages, db } = openStore(home);
  t.after(() => db.close());
  const result = await store.stage(archive);
  const diagnosed = await diagnoseBundle(archive);
  assert.deepEqual(readdirSync(root).sort(), ['home', 'it.tgz']);
  const left = existsSync(packages) ? readdirSync(packages) : [];
  assert.deepEqual(left, result.ok ? [result.value.manifest.id] : []);
  return { result, diagnosed, packages };
};

const first = (problems: readonly Problem[]): string => `${problems[0]?.code} ${problems[0]?.subject}`;

test('an archive is the same bundle as its folder, and the same bytes whenever and wherever it is packed', async (t) => {
  const root = temporary(t);
  const long = `${'a-rather-long-folder/'.repeat(6)}ünïcode.txt`;
  const wide = `${'w'.repeat(150)}.txt`;
  const files = { ...plainFiles, [long]: 'deep', [wide]: 'wide' };
  const folder = await packedBundle(root, 'one', files);
  write(join(root, 'two'), files);
  mkdirSync(join(root, 'two', 'empty'));
  utimesSync(join(root, 'two', 'readme.md'), 1, 1);
  const one = value(await packBundle(join(root, 'one'), join(root, 'one.tgz')));
  const two = value(await packBundle(join(root, 'two'), join(root, 'two.tgz')));
  assert.equal(one.identity, folder.identity);
  assert.equal(one.folder, join(root, 'one.tgz'));
  assert.deepEqual(readFileSync(join(root, 'one.tgz')), readFileSync(join(root, 'two.tgz')));
  assert.equal(readFileSync(join(root, 'two', 'bundle.json'), 'utf8'), plainFiles['bundle.json']);
  assert.equal(two.identity, one.identity);
  assert.deepEqual([...readFileSync(join(root, 'one.tgz')).subarray(4, 10)], [0, 0, 0, 0, 2, 255]);
  const first = new Header(gunzipSync(readFileSync(join(root, 'one.tgz'))));
  assert.deepEqual([first.mtime?.getTime(), first.mode, first.uid, first.gid], [0, 0o644, 0, 0]);
  // Again over itself, and nothing is left beside it.
  value(await packBundle(join(root, 'one'), join(root, 'one.tgz')));
  assert.deepEqual(readdirSync(root).sort(), ['one', 'one.tgz', 'two', 'two.tgz']);
  const { result, packages } = await staged(t, readFileSync(join(root, 'one.tgz')));
  assert.equal(value(result).identity, folder.identity);
  const package_ = join(packages, 'demo.bundle', folder.identity);
  assert.equal(readFileSync(join(package_, long), 'utf8'), 'deep');
  assert.equal(value(await readBundle(package_)).identity, folder.identity);
});

test('pack writes an archive over nothing but the archive of a whole bundle', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  writeFileSync(join(root, 'notes.tgz'), 'mine');
  mkdirSync(join(root, 'folder.tgz'));
  symlinkSync(join(root, 'notes.tgz'), join(root, 'link.tgz'));
  for (const name of ['notes.tgz', 'folder.tgz', 'link.tgz', 'demo/inside.tgz'])
    assert.equal(codeOf(await packBundle(join(root, 'demo'), join(root, name))), 'bundle/pack-target', name);
  assert.equal(readFileSync(join(root, 'notes.tgz'), 'utf8'), 'mine');
  assert.deepEqual(readdirSync(root).sort(), ['demo', 'folder.tgz', 'link.tgz', 'notes.tgz']);
});

test('archives of other tools are read: GNU and pax long names, `./` in front, folders, a comment of git', async (t) => {
  const name = `skills/${'long/'.repeat(12)}${'x'.repeat(120)}.md`;
  const root = temporary(t);
  const { identity } = await packedBundle(root, 'demo', { ...plainFiles, [name]: 'y' });
  for (const format of ['gnu', 'pax']) {
    const file = join(root, `${format}.tgz`);
    const made = spawnSync('tar', ['-C', join(root, 'demo'), `--format=${format}`, '-czf', file, '.']);
    assert.equal(made.status, 0, String(made.stderr));
    const { result } = await staged(t, readFileSync(file));
    assert.equal(value(result).identity, identity, format);
  }
  const comment = Buffer.from('30 comment=0123456789abcdefg\n\n');
  const global = entryBytes({ path: 'pax_global_header', type: 'GlobalExtendedHeader', body: comment });
  const bytes = gzipSync(Buffer.concat([global, tarOf(await entriesOf(t))]));
  assert.equal(codeOf((await staged(t, bytes)).result), 'ok');
});

const p8: readonly (readonly [string, readonly Entry[], string])[] = [
  ['up and out', [{ path: '../../x' }], 'paths/unsafe ../../x'],
  ['absolute', [{ path: '/abs' }], 'paths/unsafe /abs'],
  ['a drive', [{ path: 'C:\\x' }], 'paths/unsafe C:\\x'],
  ['down, up and out', [{ path: 'a/../../b' }], 'paths/unsafe a/../../b'],
  ['up behind the dot some tools write', [{ path: './../x' }], 'paths/unsafe ../x'],
  ['a folder that goes up', [{ path: '../x/', type: 'Directory' }], 'paths/unsafe ../x'],
  ['a name that is no UTF-8', [{ path: 'a\ufffdb' }], 'paths/unsafe a\\u{fffd}b'],
  [
    'a link, then a file through it',
    [
      { path: 'out', type: 'SymbolicLink', linkpath: '/tmp' },
      { path: 'out/x', body: 'through' },
    ],
    'bundle/link out',
  ],
  ['a hard link', [{ path: 'h', type: 'Link', linkpath: '/etc/passwd' }], 'bundle/link h'],
  ['a device', [{ path: 'd', type: 'CharacterDevice' }], 'bundle/not-a-file d'],
  ['a block device', [{ path: 'd', type: 'BlockDevice' }], 'bundle/not-a-file d'],
  ['a pipe', [{ path: 'p', type: 'FIFO' }], 'bundle/not-a-file p'],
  ['a contiguous file', [{ path: 'c', type: 'ContiguousFile' }], 'bundle/not-a-file c'],
  ['setuid', [{ path: 's', mode: 0o4755 }], 'bundle/entry-mode s'],
  ['setgid', [{ path: 's', mode: 0o2755 }], 'bundle/entry-mode s'],
  ['the same name twice', [{ path: 'a' }, { path: 'a', body: 'other' }], 'bundle/path-collision a'],
  ['a manifest twice', [{ path: 'bundle.json', body: '{}' }], 'bundle/path-collision bundle.json'],
  ['P10: twins in case', [{ path: 'A' }, { path: 'a' }], 'bundle/path-collision a'],
  ['P10: folders that are twins', [{ path: 'D/x' }, { path: 'd/y' }], 'bundle/path-collision d'],
  ['P10: sharp s', [{ path: 'straße' }, { path: 'STRASSE' }], 'bundle/path-collision STRASSE'],
  ['P10: a device name', [{ path: 'aux.md' }], 'paths/unsafe aux.md'],
  ['P10: a trailing dot', [{ path: 'x.' }], 'paths/unsafe x.'],
  ['P10: NFD', [{ path: 'e\u0301' }], 'paths/unsafe e\u0301'],
  ['a file that is also a folder', [{ path: 'a' }, { path: 'a/b' }], 'bundle/path-collision a'],
  ['a folder that is also a file', [{ path: 'a/b' }, { path: 'a' }], 'bundle/path-collision a'],
  ['too deep', [{ path: `${'d/'.repeat(16)}f` }], `bundle/limit-exceeded ${'d/'.repeat(16)}f`],
];
for (const [name, hostile, expected] of p8)
  test(`P8: an archive with ${name} is refused by name, and nothing is written`, async (t) => {
    const { result, diagnosed } = await staged(t, tgzOf([...(await entriesOf(t)), ...hostile]));
    assert.equal(result.ok ? 'ok' : first([result.problem]), expected);
    assert.equal(first(diagnosed.problems), expected);
  });

test('P8: nothing of an archive is written after its first fault', async (t) => {
  const root = temporary(t);
  writeFileSync(
    join(root, 'it.tgz'),
    // A link has no body, whatever a record says of its size: what follows is still read as what it is.
    tgzOf([
      { path: 'a' },
      { path: '../b' },
      { path: 'c' },
      { path: 'pax', type: 'ExtendedHeader', body: '12 size=512\n' },
      { path: 'l', type: 'SymbolicLink', linkpath: 'a' },
      { path: '/d' },
    ]),
  );
  const problems = await unpackArchive(join(root, 'it.tgz'), folderSink(join(root, 'out')));
  assert.deepEqual(
    problems.map(({ subject }) => subject),
    ['../b', 'l', '/d'],
  );
  assert.deepEqual(below(root), ['it.tgz', 'out', 'out/a']);
});

test('P9: what inflates beyond the limit is stopped there, and staging is removed', async (t) => {
  // Members of a gzip follow each other: 16 KiB for 16 MiB, so 2 GB in 2 MB.
  const zeros = gzipSync(Buffer.alloc(16 * 1024 * 1024));
  const bomb = Buffer.concat([tgzOf(await entriesOf(t)), ...Array.from({ length: 128 }, () => zeros)]);
  const before = performance.now();
  const { result } = await staged(t, bomb);
  assert.equal(codeOf(result), 'bundle/limit-exceeded');
  assert.match(result.ok ? '' : result.problem.message, /bytes of archive, inflated; the limit is 100663296/);
  assert.ok(performance.now() - before < 10_000);
});

test('P9: sizes are refused as they are declared, and entries as they are counted', async (t) => {
  const gib = 1024 ** 3;
  const many = (type: 'File' | 'Directory', count: number) =>
    gzipSync(
      Buffer.concat([...Array.from({ length: count }, (_, at) => entryBytes({ path: `f${at}`, type })), end]),
    );
  const cases: readonly (readonly [string, Uint8Array, RegExp])[] = [
    ['4 GB declared', tgzOf([{ path: 'big', size: 4 * gib }]), /4294967296 bytes in one file/],
    ['a manifest', tgzOf([{ path: 'bundle.json', size: 2 * 1024 ** 2 }]), /2097152 bytes of bundle.json/],
    ['a signature', tgzOf([{ path: 'bundle.sig.json', size: 20_000 }]), /20000 bytes of bundle.sig.json/],
    ['a million files', many('File', 10_000), /4099 files; the limit is 4096/],
    [
      'all files together',
      tgzOf(['a', 'b', 'c'].map((path) => ({ path, body: Buffer.alloc(30 * 1024 ** 2) }))),
      /94371840 bytes of content in all; the limit is 67108864/,
    ],
    ['a million folders', many('Directory', 10_000), /4097 folders/],
  ];
  for (const [name, bytes, said] of cases) {
    const { result } = await staged(t, bytes);
    assert.equal(codeOf(result), 'bundle/limit-exceeded', name);
    assert.match(result.ok ? '' : result.problem.message, said, name);
  }
  const sparse = join(temporary(t), 'huge.tgz');
  writeFileSync(sparse, '');
  truncateSync(sparse, bundleBounds.archiveBytes + 1);
  assert.match((await diagnoseBundle(sparse)).problems[0]?.message ?? '', /bytes of archive; the limit/);
});

test('an archive that readers could read differently is refused', async (t) => {
  const honest = tarOf(await entriesOf(t));
  const files = honest.subarray(0, honest.length - 1024);
  const pax = (body: string, type: 'ExtendedHeader' | 'GlobalExtendedHeader') =>
    entryBytes({ path: 'PaxHeader', type, body });
  // Another owner, which nobody reads: only the checksum tells.
  const touched = Buffer.from(honest);
  touched.write('7', 113);
  const late = entryBytes({ path: 'late' });
  const record = (text: string): string => {
    const length = (digits: number): number => digits + 1 + Buffer.byteLength(text) + 1;
    const size = length(length(2) > 99 ? 3 : 2);
    return `${size} ${text}\n`;
  };
  const cases: readonly (readonly [string, Uint8Array])[] = [
    ['not a gzip', honest],
    ['nothing', Buffer.alloc(0)],
    ['a gzip of nothing', gzipSync(Buffer.alloc(0))],
    ['a gzip that is cut off', gzipSync(honest).subarray(0, -9)],
    ['zeros behind the gzip', Buffer.concat([gzipSync(honest), Buffer.alloc(4)])],
    ['something behind the gzip', Buffer.concat([gzipSync(honest), Buffer.from('more')])],
    ['a gzip in a gzip', gzipSync(gzipSync(honest))],
    ['no end', gzipSync(files)],
    ['half an end', gzipSync(Buffer.concat([files, Buffer.alloc(512)]))],
    ['something behind the end', gzipSync(Buffer.concat([honest, entryBytes({ path: 'late' })]))],
    ['an empty block between entries', gzipSync(Buffer.concat([Buffer.alloc(512), honest]))],
    ['a body that is cut off', gzipSync(entryBytes({ path: 'x', size: 5_000 }))],
    ['a wrong checksum alone', gzipSync(touched)],
    ['an entry in the middle of the end', gzipSync(Buffer.concat([files, Buffer.alloc(512), late, end]))],
    [
      'a long comment',
      gzipSync(Buffer.concat([pax(`90015 comment=${'x'.repeat(90_000)}\n`, 'ExtendedHeader'), honest])),
    ],
    ['a wrong checksum', gzipSync(Buffer.concat([Buffer.alloc(512, 'x'), honest]))],
    ['a sparse file', gzipSync(Buffer.concat([pax(record('GNU.sparse.major=1'), 'ExtendedHeader'), honest]))],
    ['a global name', gzipSync(Buffer.concat([pax(record('path=evil'), 'GlobalExtendedHeader'), honest]))],
    ['a record that is none', gzipSync(Buffer.concat([pax('garbage', 'ExtendedHeader'), honest]))],
    ['a header that is too long', gzipSync(entryBytes({ path: 'x', type: 'ExtendedHeader', size: 100_000 }))],
    ['a name for nothing', gzipSync(Buffer.concat([files, pax(record('path=x'), 'ExtendedHeader'), end]))],
  ];
  for (const [name, bytes] of cases) {
    const { result } = await staged(t, bytes);
    assert.equal(codeOf(result), 'bundle/archive-unreadable', name);
  }
});

test('pax records: what names and measures the next entry, or the fault', () => {
  const table: readonly (readonly [string, string])[] = [
    ['12 path=a/b\n', '{"path":"a/b"}'],
    ['10 size=7\n12 path=a/b\n', '{"size":7,"path":"a/b"}'],
    ['20 mtime=1700000000\n', '{}'],
    ['11 size=-7\n', 'bundle/archive-unreadable'],
    ['13 path=a/b\n', 'bundle/archive-unreadable'],
    ['0 path=a/b\n', 'bundle/archive-unreadable'],
    ['99999999999999999999 path=a\n', 'bundle/archive-unreadable'],
    ['4 =\n\n', 'bundle/archive-unreadable'],
  ];
  for (const [text, expected] of table) {
    const read = paxRecords(Buffer.from(text));
    assert.equal(read.ok ? JSON.stringify(read.value) : read.problem.code, expected, JSON.stringify(text));
  }
});

test('P14: an archive is verified as a folder is: extra, missing, another size, other bytes', async (t) => {
  const entries = await entriesOf(t);
  const without = entries.filter(({ path }) => path !== 'readme.md');
  const cases: readonly (readonly [readonly Entry[], string])[] = [
    [[...entries, { path: 'extra' }], 'bundle/file-extra extra'],
    [without, 'bundle/file-missing readme.md'],
    [[...without, { path: 'readme.md', body: 'A bundle?\n' }], 'bundle/digest-mismatch readme.md'],
    [[...without, { path: 'readme.md', body: 'A bundle' }], 'bundle/size-mismatch readme.md'],
    [entries.slice(1), 'bundle/manifest-missing undefined'],
  ];
  for (const [made, expected] of cases) {
    const { result } = await staged(t, tgzOf(made));
    assert.equal(result.ok ? 'ok' : first([result.problem]), expected);
    if (!result.ok && expected.includes('mismatch'))
      assert.match(result.problem.evidence ?? '', /expected .*observed/);
  }
});

test('P4: a link in a folder is refused when it is packed into an archive', async (t) => {
  const root = temporary(t);
  write(join(root, 'demo'), { 'bundle.json': authored(), 'skills/a/SKILL.md': 'x' });
  symlinkSync('/etc/hostname', join(root, 'demo', 'skills', 'a', 'host'));
  const packed = await packBundle(join(root, 'demo'), join(root, 'demo.tgz'));
  assert.equal(packed.ok ? 'ok' : first([packed.problem]), 'bundle/link skills/a/host');
  assert.deepEqual(readdirSync(root), ['demo']);
});

test('P10: names that meet are found as they come, folders as soon as they differ', () => {
  type Step = readonly [path: string, kind: 'file' | 'folder', collides?: string];
  const table: readonly (readonly Step[])[] = [
    [
      ['a/x', 'file'],
      ['a/y', 'file'],
      ['a', 'folder'],
      ['b', 'folder'],
      ['b/z', 'file'],
    ],
    [
      ['D/x', 'file'],
      ['d/y', 'file', 'D'],
    ],
    [
      ['D', 'folder'],
      ['d', 'folder', 'D'],
    ],
    [
      ['a', 'file'],
      ['a', 'folder', 'a'],
    ],
    [
      ['a', 'folder'],
      ['a', 'file', 'a'],
    ],
    [
      ['x/ß', 'file'],
      ['x/SS', 'file', 'x/ß'],
    ],
  ];
  for (const steps of table) {
    const book = nameBook();
    for (const [path, kind, other] of steps) {
      const fault = book.add(path, kind);
      assert.equal(fault?.code, other === undefined ? undefined : 'bundle/path-collision', path);
      if (other !== undefined) assert.ok(fault?.message.includes(`"${other}"`), path);
    }
  }
});
