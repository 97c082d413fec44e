import assert from 'node:assert/strict';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { buildComponent } from '../../components/guest/build.ts';
import { packBundle } from '../../host/bundles/index.ts';
import { connectStation, type StationClient } from '../../host/cli/client.ts';
import { type MethodResult, openStation } from '../../host/station/index.ts';
import { probePolicy, repository } from './harness.ts';

const shipped = join(repository, 'dist', 'bundles');

/**
 * The bundles of a time before `open.v2`: contracts do not declare it, Sessions publishes `open` and hands over no
 * servers. Adapter and Echo are today's: they take both.
 */
const oldBundles = async (dir: string): Promise<string> => {
  const out = join(dir, 'old');
  cpSync(shipped, out, { recursive: true });
  const contracts = JSON.parse(readFileSync(join(out, 'contracts', 'bundle.json'), 'utf8'));
  contracts.topics = contracts.topics.filter(({ id }: { id: string }) => id !== 'bearpunch.agents.open.v2');
  writeFileSync(join(out, 'contracts', 'bundle.json'), JSON.stringify(contracts));

  // Beside the sources, so that what they import is found; ignored by git.
  const source = mkdtempSync(join(repository, '.cache', 'old-sessions-'));
  try {
    cpSync(join(repository, 'components'), join(source, 'components'), { recursive: true });
    const opener = join(source, 'components', 'sessions', 'provision.ts');
    const text = readFileSync(opener, 'utf8');
    const before = text
      .replace("'bearpunch.agents.open.v2',", "'bearpunch.agents.open' as never,")
      .replace(/^ +mcpServers: .*\n/m, '')
      .replace(/^ +\.\.\.\(.*resume.*\n/m, '');
    assert.notEqual(before, text);
    assert.doesNotMatch(before, /open\.v2',|mcpServers:/);
    writeFileSync(opener, before);
    const manifestFile = join(out, 'sessions', 'bundle.json');
    const manifest = readFileSync(manifestFile, 'utf8').replaceAll(
      'bearpunch.agents.open.v2',
      'bearpunch.agents.open',
    );
    writeFileSync(manifestFile, manifest);
    await buildComponent({
      entry: join(source, 'components', 'sessions', 'component.ts'),
      out: join(out, 'sessions', 'component.wasm'),
      permissions: JSON.parse(manifest).components[0].permissions,
    });
    const packed = await packBundle(join(out, 'sessions'));
    assert.ok(packed.ok, JSON.stringify(packed));
  } finally {
    rmSync(source, { recursive: true, force: true });
  }
  return out;
};

const bench = async (t: TestContext) => {
  mkdirSync(join(repository, '.cache'), { recursive: true });
  const dir = mkdtempSync(join(tmpdir(), 'jupiter-upgrade-'));
  const home = join(dir, 'home');
  const workspace = join(dir, 'workspace');
  mkdirSync(home, { mode: 0o700 });
  mkdirSync(workspace);
  writeFileSync(join(home, 'policy.jsonc'), JSON.stringify(probePolicy()));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  const up = async (bundles: string) => {
    const station = await openStation({ home, shipped: bundles });
    assert.ok(station.ok, JSON.stringify(station));
    const client = await connectStation(home);
    assert.ok(client.ok);
    return { station: station.value, client: client.value };
  };
  const down = async ({ station, client }: Awaited<ReturnType<typeof up>>) => {
    client.close();
    await station.stop();
  };
  return { dir, workspace, up, down };
};

const create = async (client: StationClient, cwd: string): Promise<MethodResult<'session.create'>> => {
  const created = await client.call('session.create', { agent: 'listed', cwd });
  assert.ok(created.ok, JSON.stringify(created));
  assert.equal(created.value.state, 'idle', JSON.stringify(created.value));
  return created.value;
};
const turn = async (client: StationClient, id: string): Promise<readonly string[]> => {
  const said = await client.call('session.say', { id, text: 'use the probe', wait: true });
  assert.ok(said.ok && said.value.stopReason === 'end_turn', JSON.stringify(said));
  const transcript = await client.call('session.transcript', { id });
  assert.ok(transcript.ok);
  return transcript.value.entries.map(({ text }) => text);
};
const answered = 'probe.probe: probe answered';

test('from `open` to `open.v2` on a running station: the live session goes on, a new one gets its servers', async (t) => {
  const { dir, workspace, up, down } = await bench(t);
  const old = await up(await oldBundles(dir));
  try {
    const first = await create(old.client, workspace);
    assert.equal(first.provisioning.servers[0]?.stage, 'offered', '`open` hands over no servers');
    assert.ok(!(await turn(old.client, first.id)).includes(answered));

    for (const name of ['contracts', 'sessions']) {
      const installed = await old.client.call('bundle.install', { source: join(shipped, name) });
      assert.ok(installed.ok, JSON.stringify(installed));
    }
    const second = await create(old.client, workspace);
    assert.equal(second.provisioning.servers[0]?.stage, 'handed-over');
    assert.ok((await turn(old.client, second.id)).includes(answered));
    const texts = await turn(old.client, first.id);
    assert.equal(
      texts.filter((text) => text === 'use the probe').length,
      2,
      'the first session kept its state',
    );
  } finally {
    await down(old);
  }
});

test('from `open` to `open.v2` over a restart: sessions, records and transcripts of before are all there', async (t) => {
  const { dir, workspace, up, down } = await bench(t);
  const old = await up(await oldBundles(dir));
  const first = await create(old.client, workspace);
  const before = await turn(old.client, first.id);
  await down(old);

  const fresh = await up(shipped);
  try {
    const shown = await fresh.client.call('session.show', { id: first.id });
    assert.ok(shown.ok);
    assert.deepEqual(shown.value.provisioning, first.provisioning);
    const transcript = await fresh.client.call('session.transcript', { id: first.id });
    assert.ok(transcript.ok);
    assert.deepEqual(
      transcript.value.entries.slice(0, before.length).map(({ text }) => text),
      before,
    );
    const second = await create(fresh.client, workspace);
    assert.ok((await turn(fresh.client, second.id)).includes(answered));
  } finally {
    await down(fresh);
  }
});
