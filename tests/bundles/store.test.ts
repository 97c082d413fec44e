import assert from 'node:assert/strict';
import {
  cpSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { type StoreStep, topicClaims } from '../../host/bundles/index.ts';
import type { Problem } from '../../host/problems/index.ts';
import {
  authored,
  codeOf,
  openStore,
  packedBundle,
  plainFiles,
  sha256,
  shapeOf,
  temporary,
  topic,
  value,
  write,
} from './fixture.ts';

const named = (id: string, version: string, topics: readonly unknown[] = []) => ({
  ...plainFiles,
  'bundle.json': authored({ id, version, topics }),
});

test('stage, activate, list: the package lies under its identity and reads as it was packed', async (t) => {
  const root = temporary(t);
  const packed = await packedBundle(root, 'demo');
  const { store, packages } = openStore(root);
  const staged = value(await store.stage(join(root, 'demo')));
  assert.equal(staged.identity, packed.identity);
  assert.equal(staged.folder, join(packages, 'demo.bundle', packed.identity));
  assert.deepEqual(store.active(), []);
  const active = value(store.activate(staged));
  assert.deepEqual(store.active(), [active]);
  assert.equal(readFileSync(join(staged.folder, 'readme.md'), 'utf8'), plainFiles['readme.md']);
  assert.equal(statSync(join(staged.folder, 'readme.md')).mode & 0o777, 0o644);
  assert.deepEqual(readdirSync(packages), ['demo.bundle']);
  assert.deepEqual(await store.verify(), [{ id: 'demo.bundle' }]);
  assert.deepEqual(await store.repair(), []);
  assert.deepEqual(store.active(), [active]);
});

test('the record outlives the store: another one reads the same', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const first = openStore(root);
  const active = value(first.store.activate(value(await first.store.stage(join(root, 'demo')))));
  first.db.close();
  const second = openStore(root);
  assert.deepEqual(second.store.active(), [active]);
  assert.deepEqual(
    second.db.prepare('SELECT manifest FROM bundles').pluck().get(),
    readFileSync(join(active.folder, 'bundle.json')),
  );
});

test('P12: staging what is there and whole writes nothing into it', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store, packages } = openStore(root);
  const first = value(await store.stage(join(root, 'demo')));
  const before = statSync(first.folder, { bigint: true });
  const second = value(await store.stage(join(root, 'demo')));
  assert.equal(second.identity, first.identity);
  assert.equal(statSync(first.folder, { bigint: true }).ino, before.ino);
  assert.deepEqual(readdirSync(packages), ['demo.bundle']);
});

test('P11: a damaged package is named, and replaced only by a verified copy', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const reports: Problem[] = [];
  const { store, packages } = openStore(root, { report: (problem) => reports.push(problem) });
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  writeFileSync(join(active.folder, 'readme.md'), 'B bundle.\n');
  write(root, { 'demo/extra': 'x' });
  assert.equal(codeOf(await store.stage(join(root, 'demo'))), 'bundle/file-extra');
  assert.equal(readFileSync(join(active.folder, 'readme.md'), 'utf8'), 'B bundle.\n');
  assert.equal(reports.length, 0);
  rmSync(join(root, 'demo/extra'));
  value(await store.stage(join(root, 'demo')));
  assert.equal(readFileSync(join(active.folder, 'readme.md'), 'utf8'), plainFiles['readme.md']);
  assert.deepEqual(
    reports.map((problem) => problem.code),
    ['bundle/package-damaged'],
  );
  assert.match(reports[0]?.evidence ?? '', /digest-mismatch: readme\.md: expected sha256/);
  assert.deepEqual(readdirSync(packages), ['demo.bundle']);
  assert.deepEqual(await store.verify(), [{ id: 'demo.bundle' }]);
});

test('P11: each single byte flipped in a package is found, with the file, expected and observed', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store } = openStore(root);
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  for (const path of ['readme.md', 'skills/greet/SKILL.md', 'skills/greet/scripts/hello.sh', 'bundle.json']) {
    const place = join(active.folder, path);
    const bytes = readFileSync(place);
    for (const at of [0, Math.floor(bytes.length / 2), bytes.length - 1]) {
      const flipped = Buffer.from(bytes);
      flipped[at] = (flipped[at] ?? 0) ^ 1;
      writeFileSync(place, flipped);
      const [found] = await store.verify('demo.bundle');
      assert.ok(found?.problem, `${path} ${at}`);
      if (path === 'bundle.json') continue;
      assert.equal(found.problem.code, 'bundle/digest-mismatch');
      assert.equal(found.problem.subject, path);
      assert.equal(
        found.problem.evidence,
        `expected sha256 ${sha256(bytes)}, observed sha256 ${sha256(flipped)}`,
      );
    }
    writeFileSync(place, bytes);
    assert.deepEqual(await store.verify('demo.bundle'), [{ id: 'demo.bundle' }]);
  }
});

test('P11: a package exchanged for another whole bundle is not the one that was installed', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store } = openStore(root);
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  const other = await packedBundle(root, 'other', { ...plainFiles, 'readme.md': 'Other.\n' });
  rmSync(active.folder, { recursive: true });
  cpSync(other.folder, active.folder, { recursive: true });
  const [found] = await store.verify();
  assert.equal(found?.problem?.code, 'bundle/identity-mismatch');
  assert.match(
    found?.problem?.evidence ?? '',
    new RegExp(`expected identity ${active.identity}, observed ${other.identity}`),
  );
});

test('P4: at admission a link is refused before anything is in the packages', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  rmSync(join(root, 'demo/readme.md'));
  symlinkSync('/etc/hostname', join(root, 'demo/readme.md'));
  const { store, packages } = openStore(root);
  const result = await store.stage(join(root, 'demo'));
  assert.equal(codeOf(result), 'bundle/link');
  assert.deepEqual(readdirSync(packages), []);
});

test('P4: a package folder exchanged for a link is not read through', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store, packages } = openStore(root);
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  rmSync(active.folder, { recursive: true });
  symlinkSync(join(root, 'demo'), active.folder);
  assert.deepEqual(
    (await store.verify()).map((found) => found.problem?.code),
    ['bundle/package-missing'],
  );
  rmSync(join(packages, 'demo.bundle'), { recursive: true });
  cpSync(join(root, 'demo'), join(root, 'elsewhere', active.identity), { recursive: true });
  symlinkSync(join(root, 'elsewhere'), join(packages, 'demo.bundle'));
  assert.deepEqual(
    (await store.verify()).map((found) => found.problem?.code),
    ['bundle/package-missing'],
  );
  assert.equal(codeOf(store.activate(active)), 'bundle/not-staged');
});

test('T13: a topic known with another shape is refused, naming the installation', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'one', named('one', '1.0.0', [topic('demo.told')]));
  const other = await packedBundle(
    root,
    'two',
    named('two', '1.0.0', [topic('demo.new'), topic('demo.told', 'number')]),
  );
  const { store, db } = openStore(root);
  const one = value(store.activate(value(await store.stage(join(root, 'one')))));
  const two = value(await store.stage(join(root, 'two')));
  const result = store.activate(two);
  assert.equal(codeOf(result), 'bundle/topic-conflict');
  const problem = result.ok ? undefined : result.problem;
  assert.equal(problem?.subject, 'demo.told');
  assert.match(problem?.message ?? '', new RegExp(`bundle "one", revision ${one.identity} \\(installed\\)`));
  assert.match(
    problem?.evidence ?? '',
    /expected event with shape [0-9a-f]{64}, observed event with shape [0-9a-f]{64}/,
  );
  assert.deepEqual(store.conflicts(value(topicClaims(other.manifest, other.folder, shapeOf))), [problem]);
  // Nothing of it is there: no record, not even its other topic.
  assert.deepEqual(
    store.active().map((bundle) => bundle.manifest.id),
    ['one'],
  );
  assert.deepEqual(db.prepare('SELECT id FROM topics').pluck().all(), ['demo.told']);
});

test('T13: another kind is another shape, and an upgrade may not change its own topic', async (t) => {
  const root = temporary(t);
  const kind = { id: 'demo.told', kind: 'command', shape: { request: {}, reply: {} } };
  await packedBundle(root, 'one', named('one', '1.0.0', [topic('demo.told')]));
  await packedBundle(root, 'next', named('one', '2.0.0', [topic('demo.told', 'number')]));
  await packedBundle(root, 'kind', named('kind', '1.0.0', [kind]));
  const { store } = openStore(root);
  const one = value(store.activate(value(await store.stage(join(root, 'one')))));
  for (const name of ['next', 'kind']) {
    const staged = value(await store.stage(join(root, name)));
    assert.equal(codeOf(store.activate(staged)), 'bundle/topic-conflict', name);
  }
  assert.deepEqual(store.active(), [one]);
});

test('T13: a topic stays known when its bundle is an earlier revision or uninstalled', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'v1', named('one', '1.0.0', [topic('demo.told')]));
  await packedBundle(root, 'v2', named('one', '2.0.0'));
  await packedBundle(root, 'two', named('two', '1.0.0', [topic('demo.told', 'number')]));
  await packedBundle(root, 'same', named('same', '1.0.0', [topic('demo.told')]));
  const { store } = openStore(root);
  value(store.activate(value(await store.stage(join(root, 'v1')))));
  value(store.activate(value(await store.stage(join(root, 'v2')))));
  const two = value(await store.stage(join(root, 'two')));
  const said = (): string => {
    const result = store.activate(two);
    return result.ok ? 'ok' : result.problem.message;
  };
  assert.match(said(), /an earlier revision/);
  value(await store.remove('one'));
  assert.match(said(), /no longer installed/);
  value(store.activate(value(await store.stage(join(root, 'same')))));
});

test('one revision of an ID is active; earlier ones are kept, two of them', async (t) => {
  const root = temporary(t);
  const { store, packages } = openStore(root);
  const identities: string[] = [];
  for (const version of ['1.0.0', '2.0.0', '3.0.0', '4.0.0']) {
    await packedBundle(root, version, named('one', version));
    identities.push(value(store.activate(value(await store.stage(join(root, version))))).identity);
  }
  assert.deepEqual(
    store.active().map((bundle) => bundle.manifest.version),
    ['4.0.0'],
  );
  assert.equal(readdirSync(join(packages, 'one')).length, 4);
  assert.deepEqual(await store.repair(), []);
  assert.deepEqual(readdirSync(join(packages, 'one')).sort(), identities.slice(1).sort());
  // Back to an earlier one: the same bytes, active again.
  value(store.activate(value(await store.stage(join(root, '2.0.0')))));
  assert.deepEqual(
    store.active().map((bundle) => bundle.manifest.version),
    ['2.0.0'],
  );
});

test('collecting and repairing: the oldest revisions go with record and package, but not one that is in use', async (t) => {
  const root = temporary(t);
  const used = new Set<string>();
  const { store, packages, db } = openStore(root, { inUse: () => used });
  const staged = async (version: string) => {
    await packedBundle(root, version, named('one', version));
    return value(store.activate(value(await store.stage(join(root, version)))));
  };
  const [first, second, third, ...rest] = [
    await staged('1.0.0'),
    await staged('2.0.0'),
    await staged('3.0.0'),
    await staged('4.0.0'),
    await staged('5.0.0'),
  ];
  used.add(first.identity);
  const kept = [first, third, ...rest].map(({ identity }) => identity).sort();
  const recorded = () =>
    db.prepare<[], string>('SELECT identity FROM bundles ORDER BY identity').pluck().all();
  await store.collect();
  assert.deepEqual(readdirSync(join(packages, 'one')).sort(), kept);
  assert.deepEqual(recorded(), kept);
  assert.equal(store.revision('one', second.identity), undefined);
  assert.equal(store.revision('one', first.identity)?.manifest.version, '1.0.0');
  // Who no longer wants a revision it staged does not take away one that is installed.
  await store.discard(third);
  assert.deepEqual(readdirSync(join(packages, 'one')).sort(), kept);
  rmSync(third.folder, { recursive: true });
  assert.equal(store.revision('one', third.identity), undefined);
  assert.deepEqual(await store.repair(), [], 'an earlier one that is gone is no news');
  assert.deepEqual(
    recorded(),
    kept.filter((identity) => identity !== third.identity),
  );
});

test('a record that cannot be written is a problem, and nothing became active', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store, db } = openStore(root);
  const staged = value(await store.stage(join(root, 'demo')));
  db.pragma('query_only = ON');
  assert.equal(codeOf(store.activate(staged)), 'state/write-failed');
  db.pragma('query_only = OFF');
  assert.deepEqual(store.active(), []);
});

test('remove forgets the bundle and takes its package away', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store, packages } = openStore(root);
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  assert.equal(value(await store.remove('demo.bundle')).identity, active.identity);
  assert.deepEqual(store.active(), []);
  assert.deepEqual(readdirSync(packages), []);
  assert.equal(codeOf(await store.remove('demo.bundle')), 'bundle/not-installed');
  assert.equal(codeOf(await store.remove('../..')), 'bundle/not-installed');
  assert.deepEqual(
    (await store.verify('demo.bundle')).map((found) => found.problem?.code),
    ['bundle/not-installed'],
  );
  // What was active once is not staged now.
  assert.equal(codeOf(store.activate(active)), 'bundle/not-staged');
});

test('only what this store staged can become active', async (t) => {
  const root = temporary(t);
  const packed = await packedBundle(root, 'demo');
  const { store } = openStore(root);
  assert.equal(codeOf(store.activate({ ...packed, installedAt: 0 })), 'bundle/not-staged');
});

test('P7: repair removes what nobody knows, reports what is missing, and leaves what is not ours', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  await packedBundle(root, 'gone', named('gone', '1.0.0'));
  const { store, packages } = openStore(root);
  const active = value(store.activate(value(await store.stage(join(root, 'demo')))));
  const gone = value(store.activate(value(await store.stage(join(root, 'gone')))));
  rmSync(gone.folder, { recursive: true });
  const unknown = 'a'.repeat(64);
  write(packages, {
    '.staging-123/half': 'x',
    [`demo.bundle/${unknown}/bundle.json`]: '{}',
    [`other/${unknown}/bundle.json`]: '{}',
    'notes.txt': 'mine',
    'demo.bundle/notes': 'mine',
  });
  symlinkSync(root, join(packages, 'link'));
  symlinkSync(root, join(packages, 'demo.bundle', 'b'.repeat(64)));
  const problems = await store.repair();
  assert.deepEqual(
    problems
      .map((problem) => `${problem.code} ${problem.subject}`)

      .sort(),
    [
      `bundle/package-missing gone ${gone.identity}`,
      `bundle/package-stray packages/demo.bundle/${'b'.repeat(64)}`,
      'bundle/package-stray packages/demo.bundle/notes',
      'bundle/package-stray packages/link',
      'bundle/package-stray packages/notes.txt',
    ],
  );
  assert.deepEqual(readdirSync(packages).sort(), ['demo.bundle', 'link', 'notes.txt']);
  assert.deepEqual(
    readdirSync(join(packages, 'demo.bundle')).sort(),
    [active.identity, 'b'.repeat(64), 'notes'].sort(),
  );
  assert.deepEqual(
    (await store.verify()).map((found) => [found.id, found.problem?.code]),
    [
      ['demo.bundle', undefined],
      ['gone', 'bundle/package-missing'],
    ],
  );
  assert.ok(existsSync(root));
});

test('a record this station cannot read is told and can be removed', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const first = openStore(root);
  value(first.store.activate(value(await first.store.stage(join(root, 'demo')))));
  first.db.prepare('UPDATE bundles SET manifest = ?').run(Buffer.from('{"manifest": 3}'));
  first.db.close();
  const { store, db } = openStore(root);
  for (const wrong of ['{"manifest": 3}', authored({ id: 'another.bundle', content: [] })]) {
    db.prepare('UPDATE bundles SET manifest = ?').run(Buffer.from(wrong));
    assert.deepEqual(store.active(), []);
    assert.deepEqual(
      (await store.verify()).map((found) => found.problem?.code),
      ['bundle/record-unreadable'],
    );
  }
  assert.equal(value(await store.remove('demo.bundle')).manifest.id, 'demo.bundle');
});

test('20 installs of one bundle at once end as one whole package', async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo');
  const { store, packages } = openStore(root);
  const staged = await Promise.all(Array.from({ length: 20 }, () => store.stage(join(root, 'demo'))));
  assert.deepEqual([...new Set(staged.map(codeOf))], ['ok']);
  assert.deepEqual(readdirSync(packages), ['demo.bundle']);
  for (const result of staged) value(store.activate(value(result)));
  assert.deepEqual(await store.verify(), [{ id: 'demo.bundle' }]);
});

test('staging is read back and compared: what changed or was exchanged meanwhile never gets its name', async (t) => {
  const staging = (packages: string): string =>
    join(packages, readdirSync(packages).find((name) => name.startsWith('.staging-')) ?? 'none');
  const harms: readonly (readonly [StoreStep, string, (folder: string, root: string) => void])[] = [
    [
      'stage:written',
      'bundle/digest-mismatch',
      (folder) => writeFileSync(join(folder, 'readme.md'), 'B bundle.\n'),
    ],
    [
      'stage:written',
      'bundle/identity-mismatch',
      (folder, root) => {
        rmSync(folder, { recursive: true });
        cpSync(join(root, 'other'), folder, { recursive: true });
      },
    ],
    // A write that fails is told as one, not as a fault of the bundle.
    ['stage:folder-made', 'bundle/write-failed', (folder) => rmSync(folder, { recursive: true })],
  ];
  for (const [step, code, harm] of harms) {
    const root = temporary(t);
    await packedBundle(root, 'demo');
    await packedBundle(root, 'other', { ...plainFiles, 'readme.md': 'Other.\n' });
    const packages = join(root, 'packages');
    const { store } = openStore(root, { onStep: (name) => name === step && harm(staging(packages), root) });
    assert.equal(codeOf(await store.stage(join(root, 'demo'))), code);
    assert.deepEqual(readdirSync(packages), []);
  }
});
