/** What changes under an ID is found: in the manifest, in lock and manifest together, over several commits. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { asText } from '../../host/contracts/index.ts';
import { lockPath, manifest, only, repository, text, told } from './throwaway.ts';

/** The lock without the entry of one ID. */
const without = (lock: string, id: string): string =>
  lock
    .split('\n')
    .filter((line) => !line.includes(`"id":"${id}"`))
    .join('\n');

test('T1: a shape changed under its ID fails, with the place, both values and the way out', async (t) => {
  const repo = repository(t);
  const commit = await repo.release({ 'a.b': text(100), 'a.c': text(5) });
  repo.write('bundle.json', manifest({ 'a.b': text(200), 'a.c': text(5) }));
  const report = await repo.check();
  const found = only(report);
  assert.equal(found.code, 'contract/shape-changed');
  assert.equal(found.subject, 'a.b');
  assert.equal(found.file, 'bundle.json');
  assert.match(repo.read('bundle.json').split('\n')[found.line - 1] ?? '', /"maxLength": 200/);
  assert.deepEqual(found.differences, [
    { path: '/event/properties/text/maxLength', before: '100', after: '200' },
  ]);
  assert.deepEqual(
    found.releases.map((release) => release.commit),
    [commit],
  );
  const named = only(await repo.check({ against: [commit] }));
  assert.deepEqual([named.releases[0]?.commit, typeof named.releases[0]?.at], [commit, 'number']);
  assert.match(found.fix ?? '', /"a\.b\.v2"/);
  assert.deepEqual(told(await repo.update()), ['shape-changed a.b'], 'update refuses it too');
});

test('T1: the way out names an ID that is free', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.b.v2': text(1), 'a.b.v3': text(2) });
  repo.write('bundle.json', manifest({ 'a.b.v2': text(9), 'a.b.v3': text(2) }));
  assert.match(only(await repo.check()).fix ?? '', /"a\.b\.v4"/);
});

test('T1: a topic that is not in the lock fails; update adds it; a second update changes no byte', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.b': text(1) });
  const before = repo.read(lockPath);
  repo.write('bundle.json', manifest({ 'a.c': text(1), 'a.b': text(1) }));
  assert.deepEqual(told(await repo.check()), ['unlocked a.c']);
  await repo.update();
  const after = repo.read(lockPath);
  assert.deepEqual(
    after.split('\n').filter((line) => !before.split('\n').includes(line)).length,
    1,
    'one line more, none changed',
  );
  await repo.update();
  assert.equal(repo.read(lockPath), after);
  assert.deepEqual(told(await repo.check()), []);
});

test('T1: one ID declared with two shapes names both places', async (t) => {
  const repo = repository(t);
  repo.write('one/bundle.json', manifest({ 'a.b': text(1) }));
  repo.write('two/bundle.json', manifest({ 'a.b': text(2) }));
  const report = await repo.update();
  assert.deepEqual(told(report), ['manifest-twice a.b']);
  assert.match(asText(report), /two\/bundle\.json:\d+: contract\/manifest-twice/);
  assert.match(asText(report), /also at one\/bundle\.json:\d+, with another shape/);
});

test('T1: one shape declared by two bundles is one topic', async (t) => {
  const repo = repository(t);
  repo.write('one/bundle.json', manifest({ 'a.b': text(1) }));
  repo.write('two/bundle.json', manifest({ 'a.b': text(1) }));
  assert.deepEqual(told(await repo.update()), []);
});

test('T1: a manifest that readers disagree on is refused', async (t) => {
  const cases: [string, string, RegExp][] = [
    ['not JSON', '{"manifest":2,"topics":[}', /JSON/],
    [
      'a key twice',
      '{"manifest":2,"topics":[{"id":"a.b","kind":"event","kind":"event","shape":{"event":true}}]}',
      /twice/,
    ],
    ['topics that are no list', '{"manifest":2,"topics":{}}', /list/],
    [
      'an ID that is none',
      '{"manifest":2,"topics":[{"id":"a b","kind":"event","shape":{"event":true}}]}',
      /"id"/,
    ],
    [
      'a kind that is none',
      '{"manifest":2,"topics":[{"id":"a.b","kind":"query","shape":{"event":true}}]}',
      /command or event/,
    ],
    [
      'a shape that is no schema',
      '{"manifest":2,"topics":[{"id":"a.b","kind":"event","shape":{"event":{"type":"x"}}}]}',
      /\/event\/type/,
    ],
  ];
  for (const [what, source, evidence] of cases) {
    const repo = repository(t);
    repo.write('bundle.json', source);
    const found = only(await repo.check());
    assert.match(found.evidence ?? '', evidence, what);
  }
});

test("T1: another program's bundle.json is left alone", async (t) => {
  const repo = repository(t);
  repo.write('bundle.json', '{"name":"something else","files":[]}');
  assert.deepEqual(told(await repo.check()), []);
});

test('T2: manifest and lock changed together fail against history, with the commit', async (t) => {
  const repo = repository(t);
  const first = await repo.release({ 'a.b': text(1) });
  repo.write('bundle.json', manifest({ 'a.b': text(2) }));
  repo.git('rm', '-q', '--cached', lockPath);
  const lock = repo.read(lockPath);
  const forged = repository(t);
  await forged.release({ 'a.b': text(2) });
  repo.write(lockPath, forged.read(lockPath));
  assert.notEqual(repo.read(lockPath), lock);
  for (const state of ['before', 'after']) {
    if (state === 'after') repo.commit('change both');
    const found = only(await repo.check());
    assert.equal(found.code, 'contract/released-changed', state);
    assert.equal(found.releases[0]?.commit, first, state);
    assert.deepEqual(found.differences, [
      { path: '/event/properties/text/maxLength', before: '1', after: '2' },
    ]);
  }
  assert.match(asText(await repo.check()), new RegExp(`released by commit ${first.slice(0, 12)} of \\d{4}-`));
});

test('T3: an entry removed from the lock fails, naming the commit that released it', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1) });
  const second = await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  await repo.release({ 'a.a': text(1), 'a.b': text(1), 'a.c': text(1) });
  repo.write('bundle.json', manifest({ 'a.a': text(1), 'a.c': text(1) }));
  repo.write(lockPath, without(repo.read(lockPath), 'a.b'));
  const found = only(await repo.check());
  assert.deepEqual(
    [found.code, found.subject, found.releases[0]?.commit],
    ['contract/released-removed', 'a.b', second],
  );
  repo.commit('remove');
  assert.deepEqual(told(await repo.check()), ['released-removed a.b'], 'after the commit too');
  assert.deepEqual(told(await repo.update()), ['released-removed a.b'], 'update refuses it');
});

test('T3: an entry renamed in the lock fails', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.b': text(1) });
  repo.write('bundle.json', manifest({ 'a.x': text(1) }));
  repo.write(lockPath, repo.read(lockPath).replace('"a.b"', '"a.x"'));
  assert.deepEqual(told(await repo.check()), ['released-removed a.b']);
});

test('T3: removed, and added with another shape two commits later', async (t) => {
  const repo = repository(t);
  const first = await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  repo.write('bundle.json', manifest({ 'a.a': text(1) }));
  repo.write(lockPath, without(repo.read(lockPath), 'a.b'));
  repo.commit('remove');
  repo.write('README', 'between');
  repo.commit('between');
  const other = repository(t);
  await other.release({ 'a.a': text(1), 'a.b': text(2) });
  for (const path of ['bundle.json', lockPath]) repo.write(path, other.read(path));
  repo.commit('add it again');
  repo.write('README', 'after');
  repo.commit('after');
  const found = only(await repo.check());
  assert.deepEqual(
    [found.code, found.subject, found.releases[0]?.commit],
    ['contract/released-changed', 'a.b', first],
  );
});

test('T3: removed and added again as it was is no harm', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  const lock = repo.read(lockPath);
  repo.write(lockPath, without(lock, 'a.b'));
  repo.commit('remove');
  repo.write(lockPath, lock);
  repo.commit('put back');
  assert.deepEqual(told(await repo.check()), []);
});

test('T3: the whole lock removed, and written anew with another shape', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.b': text(1) });
  repo.git('rm', '-q', lockPath);
  repo.commit('remove the lock');
  assert.deepEqual(told(await repo.check()), ['lock-missing']);
  repo.write('bundle.json', manifest({ 'a.b': text(2) }));
  assert.deepEqual(told(await repo.update()), ['released-changed a.b'], 'update looks at history too');
  assert.deepEqual(told(await repo.check()), ['lock-missing'], 'and wrote nothing');
});

test('T3: a topic that no manifest declares any more stays locked and is no finding', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.a': text(1), 'a.b': text(1) });
  repo.write('bundle.json', manifest({ 'a.a': text(1) }));
  assert.deepEqual(told(await repo.check()), []);
  await repo.update();
  assert.match(repo.read(lockPath), /"a\.b"/);
});

test('T4: keys reordered, white space and descriptions changed are no change', async (t) => {
  const repo = repository(t);
  await repo.release({ 'a.b': { type: 'object', properties: { a: { type: 'string' } }, required: ['a'] } });
  const lock = repo.read(lockPath);
  repo.write(
    'bundle.json',
    '{"topics":[{"shape":{"event":{"required":["a"],\n\n"properties":{"a":{"description":"new","type":"string"}},"title":"B","type":"object"}},"kind":"event","id":"a.b"}],"manifest":2}',
  );
  assert.deepEqual(told(await repo.check()), []);
  await repo.update();
  assert.equal(repo.read(lockPath), lock);
});

test('T5: another kind, and another reply, fail', async (t) => {
  const repo = repository(t);
  await repo.release({
    'a.b': { request: text(1), reply: text(1) },
    'a.c': { request: true, reply: text(1) },
  });
  repo.write('bundle.json', manifest({ 'a.b': text(1), 'a.c': { request: true, reply: text(2) } }));
  const report = await repo.check();
  assert.deepEqual(told(report), ['kind-changed a.b', 'shape-changed a.c']);
  assert.deepEqual(report.findings[0]?.differences, [
    { path: '/kind', before: '"command"', after: '"event"' },
  ]);
  assert.equal(report.findings[1]?.differences[0]?.path, '/reply/properties/text/maxLength');
  const other = repository(t);
  await other.release({ 'a.b': text(1), 'a.c': { request: true, reply: text(1) } });
  for (const path of ['bundle.json', lockPath]) repo.write(path, other.read(path));
  assert.deepEqual(told(await repo.check()), ['released-changed a.b'], 'against history too');
});
