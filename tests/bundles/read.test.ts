import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import {
  appendFileSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { unpackArchive } from '../../host/bundles/archive.ts';
import { examine } from '../../host/bundles/examine.ts';
import { bundleBounds, diagnoseBundle, packBundle, readBundle } from '../../host/bundles/index.ts';
import { readRegular, walkTree } from '../../host/bundles/tree.ts';
import type { Problem } from '../../host/problems/index.ts';
import { authored, codeOf, packedBundle, plainFiles, sha256, temporary, value, write } from './fixture.ts';

const problemOf = (result: Awaited<ReturnType<typeof readBundle>>): Problem => {
  assert.equal(result.ok, false);
  return result.ok ? { code: '', message: '' } : result.problem;
};

const place = (t: TestContext, kind: string, at: string): Promise<void> | void => {
  if (kind === 'link to a file') return symlinkSync('/etc/hostname', at);
  if (kind === 'link to a folder') return symlinkSync('/etc', at);
  if (kind === 'dangling link') return symlinkSync('nowhere', at);
  if (kind === 'fifo') {
    execFileSync('mkfifo', [at]);
    return;
  }
  const server = createServer();
  t.after(() => server.close());
  return new Promise((resolve) => server.listen(at, () => resolve()));
};

for (const [kind, code] of [
  ['link to a file', 'bundle/link'],
  ['link to a folder', 'bundle/link'],
  ['dangling link', 'bundle/link'],
  ['fifo', 'bundle/not-a-file'],
  ['socket', 'bundle/not-a-file'],
] as const)
  test(`P4: a ${kind} inside a skill is refused by name, at pack and at admission`, async (t) => {
    const folder = join(temporary(t), 'demo');
    write(folder, plainFiles);
    await place(t, kind, join(folder, 'skills/greet/extra'));
    const packed = problemOf(await packBundle(folder));
    assert.deepEqual([packed.code, packed.subject], [code, 'skills/greet/extra']);
    assert.equal(readFileSync(join(folder, 'bundle.json'), 'utf8'), plainFiles['bundle.json']);

    // At admission: also where the manifest names it as if it were a file.
    const bytes = kind === 'link to a file' ? readFileSync('/etc/hostname') : Buffer.from('');
    const content = [
      ...Object.entries(plainFiles)
        .filter(([path]) => path !== 'bundle.json')
        .map(([path, text]) => ({ path, sha256: sha256(text), size: Buffer.byteLength(text) })),
      { path: 'skills/greet/extra', sha256: sha256(bytes), size: bytes.length },
    ];
    writeFileSync(join(folder, 'bundle.json'), authored({ content }));
    const read = problemOf(await readBundle(folder));
    assert.deepEqual([read.code, read.subject], [code, 'skills/greet/extra']);
  });

test('P4: bundle.json itself may be no link and no folder', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  write(root, { 'other/readme.md': 'x', 'third/bundle.json/x': 'x' });
  symlinkSync(join(root, 'demo/bundle.json'), join(root, 'other/bundle.json'));
  for (const look of [readBundle, packBundle]) {
    assert.equal(codeOf(await look(join(root, 'other'))), 'bundle/link');
    assert.equal(codeOf(await look(join(root, 'third'))), 'bundle/not-a-file');
  }
});

// Each pair is one file for somebody; Linux keeps them apart, so the author's folder can hold both.
const twins: readonly (readonly [string, string, string])[] = [
  ['case', 'Readme.md', 'README.md'],
  ['NFC and NFD', 'caf\u00e9.md', 'cafe\u0301.md'],
  ['sharp s', 'straße.md', 'STRASSE.md'],
  ['capital sharp s', 'ẞ.md', 'ß.md'],
  ['trailing dot', 'notes', 'notes.'],
  ['trailing space', 'notes', 'notes '],
  ['case of a folder', 'Docs/a.md', 'docs/b.md'],
  ['zero width', 'notes.md', 'no\u200btes.md'],
  ['the manifest', 'bundle.json', 'Bundle.JSON'],
];
for (const [name, one, other] of twins)
  test(`P10: ${name}: refused at pack and at admission, naming both`, async (t) => {
    const folder = join(temporary(t), 'demo');
    const names = (problem: Problem): void => {
      assert.equal(problem.code, 'bundle/path-collision');
      const shown = problem.evidence?.replace(/\\u\{([0-9a-f]+)\}/g, (_, code) =>
        String.fromCodePoint(Number.parseInt(code, 16)),
      );
      for (const path of [one, other])
        assert.ok(shown?.includes(`"${path.split('/')[0]}"`), `${path}: ${shown}`);
    };
    write(folder, { [other]: 'x', [one]: 'x', 'bundle.json': authored() });
    names(problemOf(await packBundle(folder)));
    const content = [one, other]
      .filter((path) => path !== 'bundle.json')
      .map((path) => ({ path, sha256: sha256('x'), size: 1 }));
    writeFileSync(join(folder, 'bundle.json'), authored({ content }));
    names(problemOf(await readBundle(folder)));
    // Where the manifest tells of one only.
    if (content.length > 1) {
      writeFileSync(join(folder, 'bundle.json'), authored({ content: content.slice(0, 1) }));
      names(problemOf(await readBundle(folder)));
      writeFileSync(join(folder, 'bundle.json'), authored({ content }));
    }
    // And where only one of them is on the disk, as on a system that cannot hold both.
    if (one !== 'bundle.json') rmSync(join(folder, one));
    names(problemOf(await readBundle(folder)));
  });

test('P10: names no system can hold everywhere are refused at pack and at admission', async (t) => {
  for (const path of [
    'aux.md',
    'skills/con/SKILL.md',
    'a/nul',
    'end.',
    'end ',
    'cafe\u0301',
    'a\\b',
    'a:b',
    'x\u202ey',
  ]) {
    const folder = join(temporary(t), 'demo');
    write(folder, { [path]: 'x', 'bundle.json': authored() });
    assert.equal(codeOf(await packBundle(folder)), 'paths/unsafe', path);
    writeFileSync(
      join(folder, 'bundle.json'),
      authored({ content: [{ path, sha256: sha256('x'), size: 1 }] }),
    );
    assert.equal(codeOf(await readBundle(folder)), 'paths/unsafe', path);
  }
});

test('P10: paths that leave the bundle are refused before anything is read', async (t) => {
  for (const path of ['../x', '/etc/hostname', 'a/../../b', './a', 'a//b', 'C:/x', 'a/', '..']) {
    const folder = join(temporary(t), 'demo');
    write(folder, { 'bundle.json': authored({ content: [{ path, sha256: sha256('x'), size: 1 }] }) });
    assert.equal(codeOf(await readBundle(folder)), 'paths/unsafe', path);
  }
});

const damages: readonly (readonly [string, string, string, (folder: string) => void, RegExp])[] = [
  [
    'size',
    'bundle/size-mismatch',
    'readme.md',
    (f) => appendFileSync(join(f, 'readme.md'), '!'),
    /expected 10 bytes, observed 11 bytes/,
  ],
  [
    'digest',
    'bundle/digest-mismatch',
    'readme.md',
    (f) => writeFileSync(join(f, 'readme.md'), 'A bumdle.\n'),
    new RegExp(`expected sha256 ${sha256('A bundle.\n')}, observed sha256 ${sha256('A bumdle.\n')}`),
  ],
  [
    'extra file',
    'bundle/file-extra',
    'skills/greet/more.md',
    (f) => write(f, { 'skills/greet/more.md': 'x' }),
    /expected no such file, observed 1 bytes/,
  ],
  [
    'missing file',
    'bundle/file-missing',
    'readme.md',
    (f) => rmSync(join(f, 'readme.md')),
    /expected a file, observed none/,
  ],
];
for (const [name, code, subject, harm, evidence] of damages)
  test(`P14: ${name}: ${code} with expected and observed`, async (t) => {
    const root = temporary(t);
    await packedBundle(root, 'demo');
    harm(join(root, 'demo'));
    const problem = problemOf(await readBundle(join(root, 'demo')));
    assert.deepEqual([problem.code, problem.subject], [code, subject]);
    assert.match(problem.evidence ?? '', evidence);
  });

test('diagnose says everything at once, and changes nothing', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const folder = join(root, 'demo');
  for (const [, , , harm] of damages.slice(1)) harm(folder);
  rmSync(join(folder, 'skills/greet/SKILL.md'));
  symlinkSync('readme.md', join(folder, 'link.md'));
  const before = readFileSync(join(folder, 'bundle.json'));
  const { bundle, problems } = await diagnoseBundle(folder);
  assert.equal(bundle, undefined);
  assert.deepEqual(problems.map((problem) => `${problem.code} ${problem.subject}`).sort(), [
    'bundle/file-extra skills/greet/more.md',
    'bundle/file-missing readme.md',
    'bundle/file-missing skills/greet/SKILL.md',
    'bundle/link link.md',
  ]);
  assert.deepEqual(readFileSync(join(folder, 'bundle.json')), before);
});

test('diagnose warns of what was probably not meant, and asks the station for the rest', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo', { 'bundle.json': authored(), '.env': 'x', 'skills/greet/skill.md': 'x' });
  const further: Problem = { code: 'bundle/topic-conflict', message: 'as the station says' };
  const { bundle, problems, warnings } = await diagnoseBundle(join(root, 'demo'), async () => [further]);
  assert.equal(bundle?.manifest.id, 'demo.bundle');
  assert.deepEqual(problems, [further]);
  assert.deepEqual(
    warnings.map((warning) => `${warning.code} ${warning.subject}`),
    ['bundle/no-skill-file skills/greet', 'bundle/hidden-file .env', 'bundle/nothing-inside demo.bundle'],
  );
});

test('a file that grows, shrinks or is rewritten while it is read is refused', async (t) => {
  const root = temporary(t);
  const at = join(root, 'file');
  const bytes = Buffer.alloc(3 * 1024 * 1024, 'a');
  const changes: readonly [string, () => void][] = [
    ['grown', () => appendFileSync(at, 'more')],
    ['shrunk', () => writeFileSync(at, bytes.subarray(0, 2 * 1024 * 1024))],
    ['rewritten', () => writeFileSync(at, Buffer.alloc(bytes.length, 'b'))],
  ];
  for (const [name, change] of changes) {
    writeFileSync(at, bytes);
    let first = true;
    const read = await readRegular({ path: 'file', place: at, size: bytes.length }, 'fileBytes', () => {
      if (first) change();
      first = false;
    });
    assert.equal(codeOf(read), 'bundle/changed-while-read', name);
  }
});

test('P4: a folder swapped for a link while the tree is walked leads nowhere', async (t) => {
  const root = temporary(t);
  write(root, {
    'demo/a/1.txt': 'mine',
    'demo/a/2.txt': 'mine',
    'outside/1.txt': 'secret',
    'outside/2.txt': 'secret',
  });
  const seen: string[] = [];
  const problems: Problem[] = [];
  await walkTree(join(root, 'demo'), {
    manifest: async () => {},
    found: (problem) => problems.push(problem),
    visit: async (file) => {
      if (file.path === 'a/1.txt') {
        renameSync(join(root, 'demo/a'), join(root, 'demo/b'));
        symlinkSync(join(root, 'outside'), join(root, 'demo/a'));
      }
      value(await readRegular(file, 'fileBytes', (chunk) => seen.push(chunk.toString())));
    },
  });
  assert.ok(
    seen.every((text) => text === 'mine'),
    `${seen}`,
  );
  assert.ok(seen.length > 0);
});

test('P4: a folder that became a link between listing and entering is refused', async (t) => {
  const root = temporary(t);
  write(root, { 'demo/a': 'first', 'demo/b/1.txt': 'mine', 'outside/1.txt': 'secret' });
  const paths: string[] = [];
  const codes: string[] = [];
  await walkTree(join(root, 'demo'), {
    manifest: async () => {},
    found: (problem) => codes.push(problem.code),
    visit: async (file) => {
      paths.push(file.path);
      if (file.path !== 'a') return;
      rmSync(join(root, 'demo/b'), { recursive: true });
      symlinkSync(join(root, 'outside'), join(root, 'demo/b'));
    },
  });
  assert.deepEqual(paths, ['a']);
  assert.equal(codes.length, 1);
  assert.match(codes[0] ?? '', /^bundle\/(link|changed-while-read)$/);
});

test('P4: a file that became a link between listing and opening is not followed', async (t) => {
  const at = join(temporary(t), 'link');
  symlinkSync('/etc/hostname', at);
  assert.equal(
    codeOf(await readRegular({ path: 'link', place: at, size: 1 }, 'fileBytes', () => {})),
    'bundle/link',
  );
});

test('a file that gives more bytes than it has is refused', {
  skip: process.platform !== 'linux',
}, async () => {
  const at = '/proc/self/status';
  const read = await readRegular({ path: 'status', place: at, size: 0 }, 'fileBytes', () => {});
  assert.equal(codeOf(read), 'bundle/changed-while-read');
});

test('folders deeper than the bound are not entered, empty ones too', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  mkdirSync(join(root, 'demo', 'd/'.repeat(15)), { recursive: true });
  value(await readBundle(join(root, 'demo')));
  mkdirSync(join(root, 'demo', 'd/'.repeat(17)), { recursive: true });
  assert.equal(codeOf(await readBundle(join(root, 'demo'))), 'bundle/limit-exceeded');
});

test('folders nobody could make everywhere, and too many of them, are refused though they are empty', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  mkdirSync(join(root, 'demo', 'con'));
  assert.equal(problemOf(await readBundle(join(root, 'demo'))).code, 'paths/unsafe');
  rmSync(join(root, 'demo', 'con'), { recursive: true });
  for (let count = 0; count <= bundleBounds.folders; count += 1) mkdirSync(join(root, 'demo', `f${count}`));
  assert.equal(codeOf(await readBundle(join(root, 'demo'))), 'bundle/limit-exceeded');
});

test('P8: a pipe in the place of a file does not hold the reader', async (t) => {
  const place = join(temporary(t), 'pipe');
  execFileSync('mkfifo', [place]);
  const read = await readRegular({ path: 'pipe', place, size: 0 }, 'fileBytes', () => {});
  assert.equal(codeOf(read), 'bundle/not-a-file');
});

test('what cannot be read is a problem with the reason', {
  skip: process.getuid?.() === 0 && 'root reads everything',
}, async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  mkdirSync(join(root, 'demo/closed'), { mode: 0o000 });
  assert.equal(codeOf(await readBundle(join(root, 'demo'))), 'bundle/unreadable');
});

test('P10: nothing is handed on of a bundle once something is wrong with it, and only so many problems are kept', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  write(join(root, 'demo'), {
    'a-extra.md': 'x',
    ...Object.fromEntries(Array.from({ length: 150 }, (_, n) => [`z${n}`, ''])),
  });
  const begun: string[] = [];
  const sink = {
    begin: (path: string) => {
      begun.push(path);
      return { write: () => {}, end: () => {} };
    },
  };
  const { problems } = await examine(join(root, 'demo'), sink);
  assert.deepEqual(begun, ['bundle.json']);
  assert.equal(problems.length, bundleBounds.problems);
  // The same of an archive that is none.
  const [fault] = await unpackArchive('/dev/null', sink);
  assert.equal(fault?.code, 'bundle/not-a-file');
});
