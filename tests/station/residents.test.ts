import assert from 'node:assert/strict';
import { once } from 'node:events';
import { appendFileSync, cpSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import type { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { packBundle } from '../../host/bundles/index.ts';
import { openResidents } from '../../host/station/residents.ts';
import { demoAgent, firstPartyGrants, probePolicy } from '../e2e/harness.ts';
import { code, create, dist, echoPolicy, openStationBench, type Up } from './fixture.ts';

const echo = 'bearpunch.echo';
const statusOf = async ({ client }: Up, id = echo) => {
  const list = await client.call('bundle.list', {});
  assert.ok(list.ok);
  return list.value.bundles.find((bundle) => bundle.id === id);
};
const shortly = async (station: Up, id = echo): Promise<string> => {
  const bundle = await statusOf(station, id);
  return bundle === undefined
    ? 'none'
    : `${bundle.version} ${bundle.components.map((one) => `${one.state} ${one.problem?.code ?? ''}`.trim()).join()} ${bundle.problem?.code ?? ''}`.trim();
};
/** A copy of a shipped bundle, changed and packed. */
const changed = async (
  dir: string,
  name: string,
  version: string,
  change: (manifest: Record<string, never[]>, folder: string) => void = () => {},
): Promise<string> => {
  const folder = join(dir, `${name}-${version}`);
  cpSync(join(dist, name), folder, { recursive: true });
  const manifest = JSON.parse(readFileSync(join(folder, 'bundle.json'), 'utf8'));
  manifest.version = version;
  change(manifest, folder);
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
  const packed = await packBundle(folder);
  assert.ok(packed.ok, JSON.stringify(packed));
  return folder;
};

test('a component waits for its grants, says which, and starts at the first request after they are there', async (t) => {
  const { echo: _, ...less } = { ...firstPartyGrants, echo: 0 };
  const { [echo]: granted, ...rest } = less;
  const { policy, up, workspace } = openStationBench(
    t,
    echoPolicy({ grants: { ...rest, [echo]: ['store:own'] } }),
  );
  const station = await up();
  assert.equal(await shortly(station), '0.1.0 waiting bundle/not-granted');
  const waiting = await statusOf(station);
  assert.deepEqual(waiting?.ungranted, ['bus:publish']);
  assert.equal(waiting?.components[0]?.problem?.evidence, 'bus:publish');
  policy(echoPolicy({ grants: { ...rest, [echo]: granted } }));
  await create(station.client, workspace);
  assert.equal(await shortly(station), '0.1.0 running');
  assert.deepEqual((await statusOf(station))?.ungranted, []);
  policy(echoPolicy({ grants: rest }));
  assert.equal(
    await shortly(station),
    '0.1.0 running',
    'one that runs is refused at its next effect, not stopped',
  );
  assert.deepEqual((await statusOf(station))?.ungranted, ['bus:publish', 'store:own']);
});

test('two requests after a grant: both wait until the component runs', async (t) => {
  const { [echo]: _, ...rest } = firstPartyGrants;
  const { policy, up, workspace } = openStationBench(t, echoPolicy({ grants: rest }));
  const { client } = await up();
  await client.call('status', {});
  policy(echoPolicy());
  const asked = await Promise.all([
    client.call('status', {}),
    client.call('session.create', { agent: 'echo', cwd: workspace }),
  ]);
  const [, created] = asked;
  assert.equal(
    created?.ok && 'state' in created.value && created.value.state,
    'idle',
    JSON.stringify(created),
  );
});

test('a new revision that cannot run is refused, what serves goes on; one without the component retires it', async (t) => {
  const { dir, home, up, workspace, events } = openStationBench(t);
  const station = await up();
  const id = await create(station.client, workspace);
  const before = (await statusOf(station))?.revision;
  const stored = readdirSync(join(home, 'packages')).length;
  const broken = await changed(dir, 'echo', '0.2.0', (_manifest, folder) =>
    writeFileSync(join(folder, 'component.wasm'), 'no component'),
  );
  const early = once(process, 'worker');
  const refused = await station.client.call('bundle.install', { source: broken });
  assert.match(code(refused), /^sandbox\//);
  const [worker] = (await early) as [Worker];
  if (worker.threadId > 0) await once(worker, 'exit', { signal: AbortSignal.timeout(10_000) });
  assert.equal((await statusOf(station))?.revision, before);
  assert.equal(readdirSync(join(home, 'packages')).length, stored, 'nothing of it stays');
  assert.equal(code(await station.client.call('session.say', { id, text: 'x', wait: true })), 'ok');

  const better = await changed(dir, 'echo', '0.3.0');
  const installed = await station.client.call('bundle.install', { source: better });
  assert.ok(installed.ok && installed.value.components[0]?.state === 'running', JSON.stringify(installed));
  assert.equal(await shortly(station), '0.3.0 running');
  assert.equal(
    code(await station.client.call('session.say', { id, text: 'x', wait: true })),
    'ok',
    'its store is kept',
  );

  const without = await changed(dir, 'echo', '0.4.0', (manifest) => {
    manifest['components'] = [];
  });
  assert.equal(code(await station.client.call('bundle.install', { source: without })), 'ok');
  assert.equal(await shortly(station), '0.4.0');
  const created = await station.client.call('session.create', { agent: 'echo', cwd: workspace });
  assert.ok(created.ok && created.value.state === 'ended', JSON.stringify(created));
  await station.down();
  assert.deepEqual(
    events()
      .filter((event) => event.includes(echo) && /^(install|refuse) /.test(event))
      .map((event) => event.split(' ')[0]),
    ['install', 'refuse', 'install', 'install'],
  );
});

test('a bundle whose bytes changed is not in service: it says so, the others are, installing it again mends it', async (t) => {
  const { home, up, workspace, events } = openStationBench(t);
  const first = await up();
  await first.down();
  tamper(home);
  const station = await up();
  assert.equal(await shortly(station), '0.1.0 failed bundle/size-mismatch');
  assert.equal(await shortly(station, 'bearpunch.sessions'), '0.1.0 running');
  const verified = await station.client.call('bundle.verify', {});
  assert.ok(verified.ok);
  assert.deepEqual(
    verified.value.bundles.filter((one) => one.problem !== undefined).map((one) => one.id),
    [echo],
  );
  const mended = await station.client.call('bundle.install', { source: join(dist, 'echo') });
  assert.equal(code(mended), 'ok', JSON.stringify(mended));
  assert.equal(await shortly(station), '0.1.0 running');
  await create(station.client, workspace);
  await station.down();
  assert.ok(events().some((event) => event.startsWith(`fail ${echo}`)));
});

/** Appends an empty custom section to Echo's component: other bytes, still a component. */
const tamper = (home: string) => {
  for (const file of readdirSync(join(home, 'packages'), { recursive: true, encoding: 'utf8' })) {
    if (file.includes(echo) && file.endsWith('.wasm'))
      appendFileSync(join(home, 'packages', file), Buffer.from([0, 2, 1, 97]));
  }
};

test('a retry does not run a bundle whose bytes changed', async (t) => {
  const { home, up } = openStationBench(t);
  await (await up()).down();
  tamper(home);
  const station = await up();
  assert.equal(await shortly(station), '0.1.0 failed bundle/size-mismatch');
  const retried = await station.client.call('bundle.retry', { component: `${echo}:echo` });
  assert.notEqual(code(retried), 'ok', JSON.stringify(retried));
  await station.down();
  // Nor one whose component is whole, where something beside it is not.
  const other = openStationBench(t);
  await (await other.up()).down();
  const [identity = ''] = readdirSync(join(other.home, 'packages', echo));
  writeFileSync(join(other.home, 'packages', echo, identity, 'more.txt'), '');
  const again = await other.up();
  assert.equal(await shortly(again), '0.1.0 failed bundle/file-extra');
  assert.equal(
    code(await again.client.call('bundle.retry', { component: `${echo}:echo` })),
    'bundle/file-extra',
  );
});

test('uninstalled: out of service and out of the list; what is not there is named', async (t) => {
  const { up, workspace, home } = openStationBench(t);
  const station = await up();
  const { client } = station;
  for (const call of [
    client.call('bundle.uninstall', { id: 'no.such' }),
    client.call('bundle.retry', { component: 'no.such:one' }),
    client.call('bundle.verify', { id: 'no.such' }),
  ]) {
    const refused = await call;
    assert.equal(code(refused), 'bundle/not-installed');
    assert.match(refused.ok ? '' : (refused.problem.evidence ?? ''), /bearpunch\.echo/);
  }
  assert.equal(
    code(await client.call('bundle.retry', { component: `${echo}:other` })),
    'bundle/no-component',
  );
  const retried = await client.call('bundle.retry', { component: `${echo}:echo` });
  assert.ok(retried.ok && retried.value.components[0]?.restarts === 0, 'one that runs is left');
  assert.equal(code(await client.call('bundle.uninstall', { id: echo })), 'ok');
  assert.equal(await shortly(station), 'none');
  const created = await client.call('session.create', { agent: 'echo', cwd: workspace });
  assert.ok(created.ok && created.value.state === 'ended', JSON.stringify(created));
  assert.equal(code(await client.call('bundle.uninstall', { id: 'bearpunch.sessions' })), 'ok');
  assert.equal(code(await client.call('session.list', {})), 'bus/no-handler');
  assert.equal(code(await client.call('bundle.uninstall', { id: 'bearpunch.contracts' })), 'ok');
  assert.equal(code(await client.call('session.list', {})), 'bus/topic-unknown');
  assert.equal(code(await client.call('down', {})), 'ok');
  // What served, and that it was leaving, is forgotten: installed again it begins anew.
  const db = new Database(join(home, 'station.db'), { readonly: true });
  const rows = (table: string) => db.prepare(`SELECT bundle FROM ${table} WHERE bundle = ?`).all(echo);
  assert.deepEqual([rows('standings'), rows('leaving')], [[], []]);
  db.close();
});

const withAgent = () =>
  probePolicy({
    programs: {
      'claude-acp': { command: process.execPath, args: [demoAgent], inherit: ['PATH'], trust: 'full' },
    },
    servers: {},
  });

test('a component that leaves service ends what it runs', async (t) => {
  const { up, workspace } = openStationBench(t, withAgent());
  const { client } = await up();
  await create(client, workspace, 'listed');
  const running = async () => {
    const status = await client.call('status', {});
    return status.ok && status.value.processes;
  };
  assert.equal(await running(), 1);
  assert.equal(code(await client.call('bundle.uninstall', { id: 'bearpunch.adapter' })), 'ok');
  assert.equal(await running(), 0);
});

test('a change of policy that could not be carried out fails no request, and is tried again by the next', async () => {
  const told: string[] = [];
  let looks = 0;
  let revision = 'one';
  const residents = openResidents({
    bundles: {
      verify: async () => [],
      active: () => {
        looks += 1;
        if (looks === 2) throw new Error('SQLITE_FULL');
        return [];
      },
    },
    standings: { leaving: () => new Set() },
    bus: { onParked: () => () => {}, status: () => [] },
    policy: { current: () => ({ revision }) },
    events: {
      add: (kind: string, subject: string, why?: { code: string }) =>
        told.push(`${kind} ${subject} ${why?.code}`),
    },
    rest: { after: (work: () => unknown) => work() },
  } as never);
  residents.start();
  await residents.reconcile();
  assert.equal(looks, 1);
  revision = 'two';
  await residents.reconcile();
  assert.deepEqual(told, ['fail bundles station/internal']);
  await residents.reconcile();
  assert.equal(looks, 3);
  await residents.reconcile();
  assert.equal(looks, 3, 'carried out');
  assert.equal(told.length, 1);
});
