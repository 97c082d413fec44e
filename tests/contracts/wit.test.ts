/** T15: a released WIT version is locked like a topic: same rules, same reports. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asText } from '../../host/contracts/index.ts';
import { readWit } from '../../host/contracts/wit.ts';
import { only, repository, type Throwaway, told } from './throwaway.ts';

const station = `package probe:station@0.1.0;

/// What a component may log.
interface log {
  enum level { debug, info }
  record line { level: level, text: string }
  write: func(line: line) -> result<u32, string>;
  resource sink {
    constructor(name: string);
    close: func();
  }
}

interface clock {
  now: func() -> u64;
}

world plugin {
  import log;
  import clock;
  export run: func(input: list<u8>) -> option<string>;
}
`;
const file = 'wit/0.1.0/station.wit';
const lockFile = 'wit/wit.lock.json';

const released = async (repo: Throwaway): Promise<string> => {
  repo.write(file, station);
  assert.deepEqual((await repo.update()).findings, []);
  return repo.commit('release 0.1.0');
};
const shapeOf = (text: string): string | undefined =>
  readWit('0.1.0', [{ path: file, text }]).declared?.entry.shape;

const same: readonly (readonly [string, (text: string) => string])[] = [
  ['comments', (text) => text.replace('/// What a component may log.', '/* new /* nested */ */')],
  ['white space', (text) => text.replaceAll('\n', '\r\n\t').replaceAll(', ', ' , ')],
  ['a trailing comma', (text) => text.replace('text: string }', 'text: string, }')],
  [
    'order of functions',
    (text) =>
      text
        .replace('  now: func() -> u64;', '')
        .replace('interface clock {', 'interface clock {now: func() -> u64;'),
  ],
  [
    'order of interfaces',
    (text) => {
      const [head = '', ...parts] = text.split('\ninterface ');
      const [log = '', clock = ''] = parts;
      const [own = '', world = ''] = clock.split('\nworld ');
      return `${head}\ninterface ${own}\ninterface ${log}\nworld ${world}`;
    },
  ],
];
for (const [what, edit] of same)
  test(`T15: no change: ${what}`, () => {
    assert.notEqual(edit(station), station);
    assert.equal(shapeOf(edit(station)), shapeOf(station));
  });

test('T15: no change: split over two files', () => {
  const [log = '', rest = ''] = station.split('interface clock');
  const split = readWit('0.1.0', [
    { path: 'wit/0.1.0/a.wit', text: log },
    { path: 'wit/0.1.0/b.wit', text: `interface clock${rest}` },
  ]);
  assert.equal(split.declared?.entry.shape, shapeOf(station));
});

const edits: readonly (readonly [string, string, string, string])[] = [
  ['a parameter', 'now: func() -> u64', 'now: func() -> u32', '/probe:station@0.1.0/interface clock/now'],
  [
    'a field',
    'level: level, text',
    'text: string, level: level, more',
    '/probe:station@0.1.0/interface log/record line',
  ],
  ['order of cases', 'debug, info', 'info, debug', '/probe:station@0.1.0/interface log/enum level'],
  ['a function more', 'now:', 'zone: func() -> string;\n  now:', '/probe:station@0.1.0/interface clock/zone'],
  [
    'a method',
    'close: func()',
    'close: func(hard: bool)',
    '/probe:station@0.1.0/interface log/resource sink/close',
  ],
  ['an import of the world', 'import clock', 'import log2', '/probe:station@0.1.0/world plugin/import clock'],
  ['an export of the world', 'list<u8>', 'list<u16>', '/probe:station@0.1.0/world plugin/export run'],
];
for (const [what, from, to, path] of edits)
  test(`T15: an interface of a released version edited: ${what}`, async (t) => {
    const repo = repository(t);
    await released(repo);
    repo.write(file, station.replace(from, to));
    const found = only(await repo.check());
    assert.deepEqual([found.code, found.subject, found.file], ['contract/shape-changed', 'wit/0.1.0', file]);
    assert.equal(found.differences[0]?.path, path);
    assert.match(found.fix ?? '', /new version folder/);
  });

test('T15: interface and lock edited together; a version removed', async (t) => {
  const repo = repository(t);
  const first = await released(repo);
  const other = repository(t);
  other.write(file, station.replace('u64', 'u32'));
  await other.update();
  repo.write(file, other.read(file));
  repo.write(lockFile, other.read(lockFile));
  repo.commit('edit both');
  const report = await repo.check();
  const found = only(report);
  assert.deepEqual([found.code, found.releases[0]?.commit], ['contract/released-changed', first]);
  assert.match(
    asText(report),
    /wit\/wit\.lock\.json:2: contract\/released-changed: .*\n {4}at .*now: was "now : func \( \) -> u64 ;"/,
  );
  repo.write(lockFile, '[{"lock":1}\n]\n');
  assert.deepEqual(told(await repo.check({ against: ['HEAD~1'] })), [
    'unlocked wit/0.1.0',
    'released-removed wit/0.1.0',
  ]);
});

test('T15: an addition is a new version folder', async (t) => {
  const repo = repository(t);
  await released(repo);
  const before = repo.read(lockFile);
  repo.write(
    'wit/0.2.0/station.wit',
    station.replaceAll('0.1.0', '0.2.0').replace('now:', 'zone: func() -> string;\n  now:'),
  );
  assert.deepEqual(told(await repo.check()), ['unlocked wit/0.2.0']);
  await repo.update();
  assert.deepEqual(told(await repo.check({ ci: true })), ['lock-untracked wit/wit.lock.json'].slice(1));
  assert.ok(repo.read(lockFile).includes(before.split('\n')[1] ?? '-'));
});

test('T15: text that cannot be read is named with its line', () => {
  const cases: [string, string, RegExp][] = [
    ['an open brace', 'interface a {\n  now: func();\n', /line 1: an item does not end/],
    ['a brace too many', 'interface a {\n}\n}\n', /line 3: "}" closes nothing/],
    ['an open comment', 'interface a {}\n/* never', /line 2: a comment does not end/],
    ['a name twice', 'interface a {\n  f: func();\n  f: func();\n}', /line 3: "f" stands twice/],
  ];
  for (const [what, text, evidence] of cases)
    assert.match(readWit('0.1.0', [{ path: file, text }]).findings[0]?.evidence ?? '', evidence, what);
});
