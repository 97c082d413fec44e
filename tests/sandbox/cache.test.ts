import assert from 'node:assert/strict';
import { once } from 'node:events';
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { Worker } from 'node:worker_threads';
import { permissions } from '../../host/policy/index.ts';
import { readComponent } from '../../host/sandbox/admission/component.ts';
import { readCoreModule } from '../../host/sandbox/admission/core.ts';
import { limitComponent, memoryPlan } from '../../host/sandbox/admission/rewrite.ts';
import { writeEntry } from '../../host/sandbox/cache.ts';
import {
  type AdmittedComponent,
  admitComponent,
  defaultLimits,
  startActivation,
  transpileLimits,
  verifyAdmitted,
} from '../../host/sandbox/index.ts';
import { expectTranspile, transpile } from '../../host/sandbox/transpile/transpile.ts';
import { admitted, codeOf, limits, quickJs, temporaryFolder, watGuest } from './guests.ts';

const callbacks = {
  limits: defaultLimits,
  name: 'a:b',
  onCall: () => ({ ok: true, value: null }) as const,
  onResult: () => undefined,
  onGone: () => undefined,
};
const flip = (file: string, at: number): void => {
  const bytes = readFileSync(file);
  bytes[at] = (bytes[at] ?? 0) ^ 1;
  writeFileSync(file, bytes);
};

test('P11: one byte flipped in any cached file is found, named, and nothing runs from it', async (t) => {
  const cache = temporaryFolder(t);
  const bytes = await watGuest();
  const component = await admitted(bytes, cache);
  assert.equal(codeOf(await verifyAdmitted(component)), 'ok');
  for (const name of readdirSync(component.folder)) {
    const file = join(component.folder, name);
    const { size } = statSync(file);
    const places =
      name === 'files.json' ? Array.from({ length: size }, (_, at) => at) : [0, size >> 1, size - 1];
    for (const at of places) {
      flip(file, at);
      const found = await verifyAdmitted(component);
      assert.ok(!found.ok, `${name} at ${at}`);
      assert.equal(found.problem.code, 'sandbox/cache-changed');
      assert.ok((found.problem.subject ?? '').endsWith(`/${name}`), found.problem.subject ?? '');
      if (at === places[0])
        assert.equal(codeOf(await startActivation(component, callbacks)), 'sandbox/cache-changed');
      flip(file, at);
    }
  }
  assert.equal(codeOf(await verifyAdmitted(component)), 'ok');
});

test('P11: admission throws a changed copy away, says so, and generates it again', async (t) => {
  const cache = temporaryFolder(t);
  const bytes = await watGuest();
  const changes: Record<string, (folder: string) => void> = {
    'a byte': (folder) => flip(join(folder, 'g.js'), 100),
    'a file more': (folder) => writeFileSync(join(folder, 'more.js'), ''),
    'a file less': (folder) => rmSync(join(folder, 'g.core.wasm')),
    'a longer file': (folder) => writeFileSync(join(folder, 'g.js'), 'x', { flag: 'a' }),
    'no listing': (folder) => rmSync(join(folder, 'files.json')),
    'an empty folder': (folder) => {
      rmSync(folder, { recursive: true });
      mkdirSync(folder);
    },
    'a folder as a file': (folder) => {
      rmSync(join(folder, 'g.js'));
      mkdirSync(join(folder, 'g.js'));
    },
  };
  for (const [kind, change] of Object.entries(changes)) {
    const { folder } = await admitted(bytes, cache);
    change(folder);
    const again = await admitComponent(bytes, { cache, permissions, limits: defaultLimits });
    assert.ok(again.ok, kind);
    assert.equal(again.value.discarded?.code, 'sandbox/cache-changed', kind);
    assert.equal(codeOf(await verifyAdmitted(again.value)), 'ok', kind);
    assert.equal((await admitted(bytes, cache)).discarded, undefined, kind);
  }
});

test('the cache key holds component and limits; an entry is used as long as it is whole', async (t) => {
  const cache = temporaryFolder(t);
  const bytes = await watGuest();
  const first = await admitted(bytes, cache);
  const { mtimeMs } = statSync(join(first.folder, 'g.js'));
  const second = await admitted(bytes, cache);
  assert.equal(second.folder, first.folder);
  assert.equal(statSync(join(second.folder, 'g.js')).mtimeMs, mtimeMs);
  const others = [
    await admitted(bytes, cache, { memoryBytes: 8 * 1024 * 1024 }),
    await admitted(bytes, cache, { tableElements: 100 }),
    await admitted(await watGuest({ memory: '2' }), cache),
  ];
  assert.equal(new Set([first, ...others].map(({ folder }) => folder)).size, 4);
  assert.equal(readdirSync(cache).length, 4, 'no folder under construction is left');
});

test('an entry of another component under the same key is not used', async (t) => {
  const cache = temporaryFolder(t);
  const mine = await admitted(await watGuest(), cache);
  const other = await admitted(await watGuest({ memory: '2' }), cache);
  for (const name of readdirSync(other.folder))
    copyFileSync(join(other.folder, name), join(mine.folder, name));
  assert.equal(codeOf(await verifyAdmitted(mine)), 'sandbox/cache-changed');
  assert.equal(codeOf(await startActivation(mine, callbacks)), 'sandbox/cache-changed');
});

test('a cache that cannot be written is a problem with a code', async (t) => {
  const folder = temporaryFolder(t);
  const cache = join(folder, 'file');
  writeFileSync(cache, '');
  const result = await admitComponent(await watGuest(), { cache, permissions, limits: defaultLimits });
  assert.equal(codeOf(result), 'sandbox/cache-failed');
  const files = new Map(['a', 'x'.repeat(300)].map((name) => [name, new Uint8Array(1)] as const));
  const surface = { imports: [], wit: '0.1.0', wasi: [] };
  const half = await writeEntry(folder, 'key', { component: '0', surface, files });
  assert.equal(codeOf(half), 'sandbox/cache-failed');
  assert.deepEqual(readdirSync(folder), ['file'], 'nothing of an entry that is not whole');
  const gone: AdmittedComponent = { digest: '0', folder: join(folder, 'none'), imports: [], wit: '0.1.0' };
  assert.equal(codeOf(await verifyAdmitted(gone)), 'sandbox/cache-changed');
});

/** A component's bytes as they go to the transpiler. */
const bounded = (bytes: Uint8Array, memoryBytes = defaultLimits.memoryBytes): Uint8Array => {
  const tree = readComponent(bytes);
  const plan = memoryPlan(tree, limits({ memoryBytes }));
  assert.ok(plan.ok);
  return limitComponent(bytes, tree, plan.value);
};

test('W11: transpilation stops at its deadline, its heap and its output', async () => {
  const component = bounded(await watGuest());
  const late = await transpile(component, { ...transpileLimits, deadlineMs: 5 });
  assert.equal(codeOf(late), 'sandbox/transpile-limit');
  const large = await transpile(component, { ...transpileLimits, outputBytes: 1_000 });
  assert.equal(codeOf(large), 'sandbox/transpile-limit');
  const hungry = await transpile(component, { ...transpileLimits, heapMiB: 4 });
  assert.equal(codeOf(hungry), 'sandbox/transpile-limit');
  const broken = await transpile(component.slice(0, component.length - 3));
  assert.equal(codeOf(broken), 'sandbox/transpile-failed');
});

test('a worker started early is the one that transpiles, once; one that is not needed ends', async (t) => {
  const component = bounded(await watGuest());
  const workers: Worker[] = [];
  const onWorker = (worker: Worker) => workers.push(worker);
  process.on('worker', onWorker);
  t.after(() => process.off('worker', onWorker));
  const unneeded = expectTranspile();
  expectTranspile();
  assert.equal((await transpile(component)).ok, true);
  assert.equal(workers.length, 1, 'it loaded the generator before there was a component');
  assert.equal((await transpile(component)).ok, true);
  assert.equal(workers.length, 2, 'and has seen one only');
  unneeded();
  const third = once(process, 'worker');
  const drop = expectTranspile();
  const [worker] = (await third) as [Worker];
  const gone = once(worker, 'exit');
  drop();
  await gone;
});

test('W6: every memory and table of what is generated has a maximum, all memories within the bound', async (t) => {
  const memoryBytes = 16 * 1024 * 1024;
  const cache = temporaryFolder(t);
  const guests = [
    await quickJs('return [];'),
    await watGuest({ core: '(table 3 funcref)', memory: '2 60000' }),
  ];
  for (const bytes of guests) {
    const { folder } = await admitted(bytes, cache, { memoryBytes });
    const modules = readdirSync(folder)
      .filter((name) => name.endsWith('.wasm'))
      .map((name) => readFileSync(join(folder, name)))
      .map((module) => readCoreModule(module, 0, module.length, (name) => name));
    const pages = modules.flatMap(({ memories }) =>
      memories.map(({ maximum }) => maximum ?? Number.POSITIVE_INFINITY),
    );
    assert.ok(pages.length > 0);
    assert.ok(pages.reduce((sum, count) => sum + count) <= memoryBytes / 65_536, pages.join());
    for (const { maximum } of modules.flatMap(({ tables }) => tables)) {
      assert.ok((maximum ?? Number.POSITIVE_INFINITY) <= defaultLimits.tableElements);
    }
  }
});

test('custom sections never reach the transpiler', async () => {
  const marked = await watGuest({
    extra: '(@custom "package-docs" "*/ marked") (core module (@custom "x" "marked"))',
  });
  assert.ok(Buffer.from(marked).includes('marked'));
  assert.ok(!Buffer.from(bounded(marked)).includes('marked'));
  assert.ok(!existsSync('g.js'));
});
