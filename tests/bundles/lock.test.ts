/** The lock a bundle carries: what it holds stands for its shape here, declared or not. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openBundleStore, packBundle } from '../../host/bundles/index.ts';
import { canonicalShape } from '../../host/contracts/index.ts';
import { openState } from '../../host/state/index.ts';

const event = (type: string) => ({ event: { type: 'object', properties: { what: { type } } } });
const topic = (type: string) => ({ id: 'acme.happened', kind: 'event' as const, shape: event(type) });
const shapeOf = (entry: Parameters<typeof canonicalShape>[0]) => {
  const found = canonicalShape(entry);
  if (!found.ok) throw new Error(found.problem.message);
  return found.value;
};
const lockOf = (type: string): string => {
  const { shape, digest } = shapeOf(topic(type));
  return `[{"lock":1}\n,{"id":"acme.happened","kind":"event","digest":"${digest}","shape":${shape}}\n]\n`;
};

test('T13: a bundle that declares a topic otherwise than an installed lock is refused, the installation named', async (t) => {
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-lock-'));
  const state = openState(join(dir, 'station.db'));
  assert.ok(state.ok);
  t.after(() => {
    state.value.close();
    rmSync(dir, { recursive: true, force: true });
  });
  const store = openBundleStore({
    packages: join(dir, 'packages'),
    db: state.value.db,
    now: Date.now,
    shapeOf,
  });
  const install = async (id: string, topics: readonly unknown[], lock?: string) => {
    const folder = join(dir, id);
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'bundle.json'), JSON.stringify({ manifest: 2, id, version: '1.0.0', topics }));
    if (lock !== undefined) writeFileSync(join(folder, 'topics.lock.json'), lock);
    const packed = await packBundle(folder);
    assert.ok(packed.ok, JSON.stringify(packed));
    const staged = await store.stage(folder);
    assert.ok(staged.ok, JSON.stringify(staged));
    return store.activate(staged.value);
  };
  const contracts = await install('acme.contracts', [], lockOf('string'));
  assert.ok(contracts.ok, JSON.stringify(contracts));

  const other = await install('acme.other', [topic('number')]);
  assert.ok(!other.ok);
  assert.equal(other.problem.code, 'bundle/topic-conflict');
  assert.match(other.problem.message, /acme\.contracts/);
  assert.ok((await install('acme.same', [topic('string')])).ok);

  for (const [id, topics, lock] of [
    ['acme.unlike', [topic('number')], lockOf('string')],
    ['acme.broken', [], 'no lock'],
    // Its digest says it is the known shape.
    ['acme.forged', [], lockOf('string').replace('"string"', '"number"')],
  ] as const) {
    const refused = await install(id, topics, lock);
    assert.equal(refused.ok ? '' : refused.problem.code, 'bundle/lock-invalid', id);
  }
});
