import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { Validator } from '@cfworker/json-schema';
import { firstPartyTopics } from '../../contracts/topics/index.ts';
import type { Manifest } from '../../host/bundles/index.ts';
import { registry } from '../../host/problems/index.ts';
import { type BundleName, buildBundles, bundleNames } from '../../scripts/build-bundles.ts';
import { loadGuest } from './guest-host.ts';

let folder = '';
let out = '';
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'jupiter-bundles-'));
  out = join(folder, 'bundles');
  await buildBundles(out);
});
after(() => rm(folder, { recursive: true, force: true }));

const manifestOf = async (name: BundleName): Promise<Manifest> =>
  JSON.parse(await readFile(join(out, name, 'bundle.json'), 'utf8')) as Manifest;

test('every bundle lists its content with true digests and sizes, and nothing is built twice', async () => {
  for (const name of bundleNames) {
    const { content, id } = await manifestOf(name);
    assert.equal(id, `bearpunch.${name}`);
    for (const { path, sha256, size } of content) {
      const bytes = await readFile(join(out, name, path));
      assert.equal(createHash('sha256').update(bytes).digest('hex'), sha256);
      assert.equal(bytes.length, size);
    }
    assert.equal((await readdir(join(out, name))).length, content.length + 1);
  }
  assert.deepEqual(await buildBundles(out), []);
});

test('T13: the contract bundle declares open beside open.v2, and each topic once with its shape', async () => {
  const { topics } = await manifestOf('contracts');
  assert.deepEqual(
    topics.map(({ id }) => id),
    [...new Set(firstPartyTopics.map(({ id }) => id))].sort(),
  );
  const shape = (id: string) => topics.find((topic) => topic.id === id)?.shape as { request: object };
  const request = { session: 's', agent: 'a', program: 'p', cwd: '/', approve: 'manual' };
  const takes = (id: string, payload: unknown) =>
    new Validator(shape(id).request, '2020-12').validate(payload).valid;
  assert.equal(takes('bearpunch.agents.open', request), true);
  assert.equal(takes('bearpunch.agents.open.v2', request), false);
  assert.equal(takes('bearpunch.agents.open.v2', { ...request, mcpServers: [] }), true);
});

test('T14: Adapter and Echo take open and open.v2, Sessions sends open.v2', async () => {
  for (const name of ['adapter', 'echo'] as const) {
    const [component] = (await manifestOf(name)).components;
    assert.ok(component?.handles.includes('bearpunch.agents.open'));
    assert.ok(component?.handles.includes('bearpunch.agents.open.v2'));
  }
  const [sessions] = (await manifestOf('sessions')).components;
  assert.ok(sessions?.publishes.includes('bearpunch.agents.open.v2'));
  assert.ok(!sessions?.publishes.includes('bearpunch.agents.open'));
});

test('a guest has a handler for every topic its manifest names, and imports what it has permission for', async () => {
  const known = new Map(firstPartyTopics.map(({ id, kind }) => [id, kind]));
  for (const name of ['adapter', 'echo', 'sessions'] as const) {
    for (const { entry, handles, subscribes, publishes, permissions } of (await manifestOf(name))
      .components) {
      for (const topic of handles) assert.equal(known.get(topic), 'command', topic);
      for (const topic of subscribes) assert.equal(known.get(topic), 'event', topic);
      for (const topic of publishes) assert.ok(known.has(topic), topic);
      const guest = await loadGuest(join(out, name, entry));
      // `process:spawn` opens three: the process, its workspace, its terminals.
      const more = permissions.includes('process:spawn') ? 2 : 0;
      assert.equal(guest.imports.length, 3 + permissions.length + more, guest.imports.join());
      // Who needs nothing of the newer release is built against the older, which more stations have.
      const bytes = await readFile(join(out, name, entry), 'latin1');
      const release = { adapter: '0.2.0', echo: '0.1.0', sessions: '0.3.0' }[name];
      for (const each of ['0.1.0', '0.2.0', '0.3.0'])
        assert.equal(bytes.includes(`bearpunch:station/log@${each}`), each === release, `${name} ${each}`);
      for (const topic of [...handles, ...subscribes]) {
        const [asked] = guest.handle([{ topic, payload: '{}', source: 'test:test' }]);
        const unhandled =
          asked?.outcome.tag === 'failed' && asked.outcome.val.code === 'component/topic-unhandled';
        assert.equal(unhandled, false, `${name} ${topic}`);
      }
      await guest.close();
    }
  }
});

test('every problem code of the guests is registered', async () => {
  const files = (await readdir('components', { recursive: true })).filter((file) => file.endsWith('.ts'));
  const found = new Set<string>();
  for (const file of files) {
    const text = await readFile(join('components', file), 'utf8');
    for (const [, code = ''] of text.matchAll(/'((?:agent|session|component)\/[a-z-]+)'/g)) found.add(code);
  }
  for (const method of ['session/new', 'session/load', 'session/resume', 'session/list', 'session/prompt'])
    found.delete(method);
  const codes = [...found].filter(
    (code) => !/^session\/(cancel|close|update)$/.test(code) && !code.includes('_'),
  );
  assert.ok(codes.length > 20);
  for (const code of codes) assert.ok(code in registry, code);
});
