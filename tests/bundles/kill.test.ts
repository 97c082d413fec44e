import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { packBundle, type StoreStep } from '../../host/bundles/index.ts';
import { authored, openStore, packedBundle, plainFiles, temporary, topic, value } from './fixture.ts';

const child = fileURLToPath(new URL('kill.child.ts', import.meta.url));

/** `version` that is active after the repair, and whether that topic is known. */
interface Truth {
  readonly version: string | undefined;
  readonly topic: boolean;
}
const before: Truth = { version: '1.0.0', topic: false };
const after: Truth = { version: '2.0.0', topic: true };
const none: Truth = { version: undefined, topic: false };

const cases: readonly (readonly [work: 'v2' | 'v2.tgz' | 'remove', step: StoreStep, nth: number, Truth])[] = [
  ['v2', 'stage:folder-made', 1, before],
  ['v2', 'stage:file-written', 1, before],
  ['v2', 'stage:file-written', 2, before],
  ['v2', 'stage:file-written', 4, before],
  ['v2', 'stage:written', 1, before],
  ['v2', 'stage:compared', 1, before],
  ['v2', 'stage:renamed', 1, before],
  ['v2', 'activate:recorded', 1, before],
  ['v2', 'activate:topics-recorded', 1, before],
  ['v2', 'activate:committed', 1, after],
  ['v2.tgz', 'stage:entry-unpacked', 1, before],
  ['v2.tgz', 'stage:entry-unpacked', 3, before],
  ['v2.tgz', 'stage:unpacked', 1, before],
  ['v2.tgz', 'stage:compared', 1, before],
  ['v2.tgz', 'activate:committed', 1, after],
  ['remove', 'remove:forgotten', 1, none],
  ['remove', 'remove:package-aside', 1, none],
  ['remove', 'remove:removed', 1, none],
];

for (const [work, step, nth, truth] of cases)
  test(`P7: killed at ${step} ${nth} of ${work}: the next start has a true state`, async (t) => {
    const home = temporary(t);
    await packedBundle(home, 'v1');
    await packedBundle(home, 'v2', {
      ...plainFiles,
      'bundle.json': authored({ version: '2.0.0', topics: [topic('demo.told')] }),
    });
    if (work === 'v2.tgz') value(await packBundle(join(home, 'v2'), join(home, work)));
    const first = openStore(home);
    value(first.store.activate(value(await first.store.stage(join(home, 'v1')))));
    first.db.close();

    const run = spawnSync(process.execPath, [child, home, work, step, String(nth)], { encoding: 'utf8' });
    assert.equal(run.signal, 'SIGKILL', run.stderr);

    const { store, db, packages } = openStore(home);
    // Even before the repair nothing half is taken for whole.
    assert.ok((await store.verify()).every((found) => found.problem === undefined));
    assert.deepEqual(await store.repair(), []);
    const active = store.active();
    assert.deepEqual(
      active.map((bundle) => bundle.manifest.version),
      truth.version === undefined ? [] : [truth.version],
    );
    assert.ok((await store.verify()).every((found) => found.problem === undefined));
    assert.equal(db.prepare('SELECT count(*) FROM topics').pluck().get(), truth.topic ? 1 : 0);
    // Every package on disk has its record, every record its package, and nothing else is there.
    const rows = db.prepare('SELECT identity FROM bundles ORDER BY identity').pluck().all();
    const folder = join(packages, 'demo.bundle');
    assert.deepEqual(existsSync(folder) ? readdirSync(folder).sort() : [], rows);
    assert.deepEqual(readdirSync(packages), rows.length === 0 ? [] : ['demo.bundle']);
    // And the work can simply be done again.
    value(store.activate(value(await store.stage(join(home, 'v2')))));
    assert.deepEqual(
      store.active().map((bundle) => bundle.manifest.version),
      ['2.0.0'],
    );
  });

test('P7: killed while a damaged package is replaced: reported, never taken for whole', async (t) => {
  const home = temporary(t);
  await packedBundle(home, 'v1');
  const first = openStore(home);
  const active = value(first.store.activate(value(await first.store.stage(join(home, 'v1')))));
  first.db.close();
  writeFileSync(join(active.folder, 'readme.md'), 'half');
  const run = spawnSync(process.execPath, [child, home, 'v1', 'stage:damaged-aside', '1'], {
    encoding: 'utf8',
  });
  assert.equal(run.signal, 'SIGKILL', run.stderr);
  const { store, packages } = openStore(home);
  assert.deepEqual(
    (await store.repair()).map((problem) => problem.code),
    ['bundle/package-missing'],
  );
  assert.deepEqual(
    (await store.verify()).map((found) => found.problem?.code),
    ['bundle/package-missing'],
  );
  assert.deepEqual(readdirSync(packages), []);
  value(store.activate(value(await store.stage(join(home, 'v1')))));
  assert.deepEqual(await store.verify(), [{ id: 'demo.bundle' }]);
});
