import assert from 'node:assert/strict';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { makeKey, packBundle, readKey } from '../../host/bundles/index.ts';
import { everyFile, firstPartyGrants, skillBundle, skillText } from '../e2e/harness.ts';
import { code, create, dist, echoPolicy, openStationBench, type Up } from './fixture.ts';

test('values of variables policy names are redacted: at once, and for ever once named', async (t) => {
  const env = { OF_PROGRAM: 'canary-of-program', OF_ORIGIN: 'canary-of-origin', OF_LATER: 'canary-of-later' };
  const values = Object.values(env);
  const naming = {
    programs: { some: { command: 'sh', inherit: ['OF_PROGRAM'] } },
    origins: { some: { url: 'http://127.0.0.1:9', bearer: 'OF_ORIGIN' } },
  };
  const { policy, up, workspace, home } = openStationBench(t, echoPolicy(naming));
  const { client, down } = await up({ env });
  const id = await create(client, workspace);
  const shown = async (text: string): Promise<string> => {
    const said = await client.call('session.say', { id, text, wait: true });
    assert.ok(said.ok, JSON.stringify(said));
    const transcript = await client.call('session.transcript', { id });
    assert.ok(transcript.ok);
    return transcript.value.entries
      .slice(-3, -1)
      .map((entry) => entry.text)
      .join(' / ');
  };
  const first = values.slice(0, 2).join(' ');
  assert.equal(await shown(first), Array(2).fill('[redacted OF_PROGRAM] [redacted OF_ORIGIN]').join(' / '));
  policy(echoPolicy({ programs: { some: { command: 'sh', inherit: ['OF_LATER'] } } }));
  assert.equal(
    await shown(values.join(' ')),
    Array(2).fill('[redacted OF_PROGRAM] [redacted OF_ORIGIN] [redacted OF_LATER]').join(' / '),
    'one taken out of policy may still be in what an agent says',
  );
  await down();
  for (const [file, bytes] of everyFile(home))
    for (const value of values) assert.ok(!bytes.includes(value), `${file} holds ${value}`);
});

/** IDs and versions of what is installed. */
const installed = async ({ client }: Up): Promise<readonly string[]> => {
  const list = await client.call('bundle.list', {});
  assert.ok(list.ok);
  return list.value.bundles.map(({ id, version }) => `${id} ${version}`).sort();
};

test('shipped bundles: new ones and newer ones are installed, contracts first; an uninstalled one does not come back', async (t) => {
  const { dir, up, events } = openStationBench(t, {});
  const shipped = join(dir, 'shipped');
  const ship = (name: string, version: string) =>
    skillBundle(shipped, name, { [name]: { 'SKILL.md': skillText(name, version) } }, version);
  for (const name of ['zeta', 'alpha', 'contracts']) await ship(name, '1.0.0');
  let station = await up({ shipped });
  assert.deepEqual(await installed(station), ['alpha 1.0.0', 'contracts 1.0.0', 'zeta 1.0.0']);
  assert.equal(code(await station.client.call('bundle.uninstall', { id: 'zeta' })), 'ok');
  await station.down();
  assert.deepEqual(
    events()
      .filter((event) => event.startsWith('install'))
      .map((event) => event.split(' ')[1]),
    ['contracts', 'alpha', 'zeta'],
  );

  station = await up({ shipped });
  assert.deepEqual(await installed(station), ['alpha 1.0.0', 'contracts 1.0.0']);
  await station.down();
  assert.equal(events().filter((event) => event.startsWith('install')).length, 3, 'none again');

  await ship('alpha', '1.1.0');
  await ship('zeta', '1.1.0');
  station = await up({ shipped });
  assert.deepEqual(await installed(station), ['alpha 1.1.0', 'contracts 1.0.0']);
  await station.down();
  station = await up({ shipped: join(dir, 'nowhere') });
  assert.deepEqual(await installed(station), ['alpha 1.1.0', 'contracts 1.0.0'], 'no folder: nothing to do');
  await station.down();
});

test('a shipped bundle that is refused, and a file that is none, stop no other; mended, it is installed', async (t) => {
  const { dir, up, events, home } = openStationBench(t, {});
  const shipped = join(dir, 'shipped');
  await skillBundle(shipped, 'whole', { whole: { 'SKILL.md': skillText('whole') } });
  const changed = await skillBundle(shipped, 'changed', { changed: { 'SKILL.md': skillText('changed') } });
  const text = readFileSync(join(changed, 'skills/changed/SKILL.md'), 'utf8');
  writeFileSync(join(changed, 'skills/changed/SKILL.md'), `${text}more`);
  const empty = join(shipped, 'a-broken');
  mkdirSync(empty);
  writeFileSync(join(empty, 'bundle.json'), '{');
  writeFileSync(join(shipped, '.DS_Store'), '');
  mkdirSync(join(shipped, 'no-bundle'));
  let station = await up({ shipped });
  assert.deepEqual(await installed(station), ['whole 1.0.0']);
  await station.down();
  const refused = events().filter((event) => event.startsWith('refuse'));
  assert.deepEqual(refused, [`refuse ${empty}`, `refuse ${changed}`]);
  const log = everyFile(join(home, 'logs'))
    .map(([, bytes]) => bytes.toString())
    .join('');
  assert.match(log, /changed: /);
  writeFileSync(join(changed, 'skills/changed/SKILL.md'), text);
  rmSync(empty, { recursive: true });
  station = await up({ shipped });
  assert.deepEqual(await installed(station), ['changed 1.0.0', 'whole 1.0.0']);
  await station.down();
});

test('shipped bundles that must be signed: unsigned they are refused, once a signed copy is there no start refuses anything', async (t) => {
  const { dir, policy, up, events, workspace } = openStationBench(t);
  const file = join(dir, 'key');
  const key = makeKey(file);
  const privateKey = readKey(file);
  assert.ok(key.ok && privateKey.ok);
  const signed = echoPolicy({
    keys: { own: key.value.key },
    signatures: [{ prefix: 'bearpunch', key: 'own' }],
  });
  policy(signed);
  const refused = () => events().filter((event) => event.startsWith('refuse'));
  const names = readdirSync(dist).sort();
  let station = await up();
  assert.deepEqual(await installed(station), []);
  for (const name of names.toSorted((a, b) => Number(b === 'contracts') - Number(a === 'contracts'))) {
    const out = join(dir, `${name}.tgz`);
    assert.ok((await packBundle(join(dist, name), out, privateKey.value)).ok);
    assert.equal(code(await station.client.call('bundle.install', { source: out })), 'ok');
  }
  const all = await installed(station);
  assert.equal(all.length, names.length);
  await station.down();
  assert.equal(refused().length, names.length);
  const before = events().filter((event) => event.startsWith('install')).length;
  for (const _start of ['the first with them', 'one more']) {
    station = await up();
    assert.deepEqual(await installed(station), all);
    await create(station.client, workspace);
    await station.down();
    assert.equal(refused().length, names.length);
    assert.equal(events().filter((event) => event.startsWith('install')).length, before);
  }
  policy(echoPolicy());
  await (await up()).down();
  assert.equal(refused().length, names.length);
});

test('status and policy.show: the policy as it is now, its problems, the sessions by state', async (t) => {
  const { home, policy, up, workspace } = openStationBench(t);
  const { client } = await up();
  const status = async () => {
    const found = await client.call('status', {});
    assert.ok(found.ok);
    return found.value;
  };
  const first = await create(client, workspace);
  await create(client, workspace);
  await client.call('session.close', { id: first });
  const before = await status();
  assert.deepEqual(before.sessions, { closed: 1, idle: 1 });
  assert.equal(before.pid, process.pid);
  assert.equal(before.home, home);
  assert.equal(before.processes, 0);
  assert.deepEqual(before.policyProblems, []);
  const shown = await client.call('policy.show', {});
  assert.ok(shown.ok);
  assert.deepEqual(
    [shown.value.file, shown.value.revision, shown.value.text],
    [join(home, 'policy.jsonc'), before.policyRevision, JSON.stringify(echoPolicy())],
  );
  writeFileSync(join(home, 'policy.jsonc'), '{ "grants": 7 }');
  const wrong = await client.call('policy.show', {});
  assert.ok(wrong.ok && wrong.value.problems.length > 0 && wrong.value.text.includes('7'));
  assert.notEqual((await status()).policyRevision, before.policyRevision);
  assert.ok((await status()).policyProblems.length > 0);
  rmSync(join(home, 'policy.jsonc'));
  assert.equal(code(await client.call('policy.show', {})), 'policy/missing');
  policy(echoPolicy());
  assert.deepEqual((await status()).policyProblems, []);
});

test('a station stops once, however often it is told, and its home can be opened again', async (t) => {
  const { up, workspace } = openStationBench(t, echoPolicy({ grants: firstPartyGrants }));
  const station = await up();
  const id = await create(station.client, workspace);
  const [one, other] = await Promise.all([station.client.call('down', {}), station.client.call('down', {})]);
  assert.deepEqual([code(one), code(other)].includes('ok'), true);
  await station.down();
  const again = await up();
  const shown = await again.client.call('session.show', { id });
  assert.ok(shown.ok && shown.value.state === 'idle' && !shown.value.attached, JSON.stringify(shown));
});
