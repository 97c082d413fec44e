/** T10: every way a lock can be broken is named, and nothing but `update` writes one. */
import assert from 'node:assert/strict';
import { existsSync, rmSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { lockPath, manifest, repository, text, told } from './throwaway.ts';

const topics = { 'a.a': text(1), 'a.b': text(2), 'a.c': text(3) };
const lines = (lock: string, change: (lines: string[]) => string[]): string =>
  change(lock.split('\n')).join('\n');
const swapped = (all: string[]): string[] => [all[0], all[2], all[1], ...all.slice(3)].map(String);

const broken: readonly (readonly [string, (lock: string) => string, readonly string[]])[] = [
  ['empty', () => '', ['lock-empty']],
  ['only white space', () => '\n \n', ['lock-empty']],
  ['not JSON', (lock) => lock.replace(']\n', ''), ['lock-malformed']],
  ['cut in a line', (lock) => lock.slice(0, lock.length - 40), ['lock-malformed']],
  ['another document', () => '{"a":1}\n', ['lock-malformed']],
  [
    'an ID twice, alike',
    (lock) => lines(lock, (all) => [...all.slice(0, 2), all[1] ?? '', ...all.slice(2)]),
    ['lock-duplicate a.a'],
  ],
  ['carriage returns', (lock) => lock.replaceAll('\n', '\r\n'), ['lock-line-endings']],
  ['one carriage return', (lock) => lock.replace('\n', '\r\n'), ['lock-line-endings']],
  ['out of order', (lock) => lines(lock, swapped), ['lock-layout a.a']],
  ['laid out by a formatter', (lock) => `${JSON.stringify(JSON.parse(lock), null, 2)}\n`, ['lock-layout']],
  ['no line feed at the end', (lock) => lock.trimEnd(), ['lock-layout']],
  ['a byte order mark', (lock) => `\ufeff${lock}`, ['lock-layout']],
  [
    'shape edited by hand',
    (lock) => lock.replace('"maxLength":2', '"maxLength":7'),
    ['lock-edited a.b', 'released-changed a.b'],
  ],
  [
    'digest edited by hand',
    (lock) => lock.replace(/"digest":"(.)/, (_, first) => `"digest":"${first === '0' ? '1' : '0'}`),
    ['lock-edited a.a'],
  ],
  [
    'kind edited by hand',
    (lock) => lock.replace('"kind":"event"', '"kind":"command"'),
    ['kind-changed a.a', 'lock-edited a.a', 'released-changed a.a'],
  ],
  [
    'keys of a shape out of order',
    (lock) => lock.replace('{"maxLength":2,"type":"string"}', '{"type":"string","maxLength":2}'),
    ['lock-edited a.b'],
  ],
  [
    'an undecided merge',
    (lock) =>
      lines(lock, (all) => [
        ...all.slice(0, 2),
        '<<<<<<< HEAD',
        all[2] ?? '',
        '=======',
        all[3] ?? '',
        '>>>>>>> other',
        ...all.slice(4),
      ]),
    ['lock-conflict'],
  ],
];

for (const [what, breaks, expected] of broken)
  test(`T10: ${what}`, async (t) => {
    const repo = repository(t);
    await repo.release(topics);
    const lock = breaks(repo.read(lockPath));
    repo.write(lockPath, lock);
    const found = told(await repo.check({ ci: true }));
    assert.deepEqual(
      found.filter((rule) => !rule.startsWith('lock-edited') || expected.includes(rule)),
      expected,
    );
    assert.equal(repo.read(lockPath), lock, 'a check writes nothing');
  });

test('T10: missing: a named failure, and CI does not create it', async (t) => {
  const repo = repository(t);
  repo.write('bundle.json', manifest(topics));
  repo.commit();
  assert.deepEqual(told(await repo.check({ ci: true })), ['lock-missing']);
  assert.equal(existsSync(join(repo.dir, lockPath)), false);
  assert.equal(repo.git('status', '--porcelain'), '');
});

test('T10: two shapes for one ID in the lock: update refuses, naming both lines', async (t) => {
  const repo = repository(t);
  await repo.release(topics);
  const other = repository(t);
  await other.release({ ...topics, 'a.b': text(9) });
  const second = other.read(lockPath).split('\n')[2] ?? '';
  repo.write(
    lockPath,
    lines(repo.read(lockPath), (all) => [...all.slice(0, 3), second, ...all.slice(3)]),
  );
  const report = await repo.update();
  assert.deepEqual(told(report), ['lock-duplicate a.b']);
  assert.match(report.findings[0]?.evidence ?? '', /lines 3 and 4, with two shapes/);
});

test('T10: update mends what is layout only', async (t) => {
  const repo = repository(t);
  await repo.release(topics);
  const lock = repo.read(lockPath);
  const mended = [
    'carriage returns',
    'out of order',
    'laid out by a formatter',
    'an undecided merge',
    'an ID twice, alike',
    'empty',
  ];
  for (const [what, breaks] of broken) {
    if (!mended.includes(what)) continue;
    repo.write(lockPath, breaks(lock));
    assert.deepEqual(told(await repo.update()), [], what);
    assert.equal(repo.read(lockPath), lock, what);
  }
});

test('T10: a lock that is a link, or that git ignores, holds nothing', async (t) => {
  const repo = repository(t);
  await repo.release(topics);
  const lock = repo.read(lockPath);
  rmSync(join(repo.dir, lockPath));
  repo.write('elsewhere.json', lock);
  symlinkSync('../elsewhere.json', join(repo.dir, lockPath));
  assert.deepEqual(told(await repo.check()), [`file-unreadable ${lockPath}`]);

  const ignoring = repository(t);
  ignoring.write('.gitignore', 'contracts/\n');
  await ignoring.release(topics);
  const local = await ignoring.check();
  assert.deepEqual([told(local), local.notes.map(({ code }) => code)], [[], ['contract/lock-untracked']]);
  assert.deepEqual(told(await ignoring.check({ ci: true })), [`lock-untracked ${lockPath}`]);
});

test('T10: an old version of the lock with other line ends or layout still counts', async (t) => {
  const repo = repository(t);
  await repo.release(topics);
  const lock = repo.read(lockPath);
  for (const old of [lock.replaceAll('\n', '\r\n'), JSON.stringify(JSON.parse(lock), null, 4)]) {
    const other = repository(t);
    other.write('bundle.json', manifest(topics));
    other.write(lockPath, old);
    other.commit('as it was');
    assert.deepEqual(
      told(await other.check({ against: ['HEAD'] })).filter((rule) => rule.startsWith('released')),
      [],
      'the same entries',
    );
    other.write('bundle.json', manifest({ 'a.a': text(1), 'a.b': text(2) }));
    other.write(
      lockPath,
      lock
        .split('\n')
        .filter((line) => !line.includes('"a.c"'))
        .join('\n'),
    );
    other.commit('mended, and one entry less');
    assert.deepEqual(told(await other.check()), ['released-removed a.c']);
  }
});
