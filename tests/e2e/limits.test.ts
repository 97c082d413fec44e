/** A limit that is reached, from outside: in the session it hit, in `bundle list`, in the ledger; and the way back. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { packBundle } from '../../host/bundles/index.ts';
import { watGuest } from '../sandbox/guests.ts';
import { fixtureAgent, openBench, probePolicy, processesNaming } from './harness.ts';
import { problemOf, writtenBundle } from './trusting.ts';

const permissions = ['bus:publish', 'store:own', 'process:spawn'];
const agents = (name: string) => `bearpunch.agents.${name}`;

/** An agent provider that opens anything and does what a prompt says: loop, flood its log, or answer. */
const wildProvider = (dir: string): Promise<string> =>
  writtenBundle(
    dir,
    'wild',
    `{
       handles: {
         'bearpunch.agents.open.v2': ({ payload: { session, program, cwd } }, station) => {
           station.process.spawn(program, cwd);
           station.bus.event('bearpunch.agents.opened', {
             session, agentSession: session, capabilities: {}, handedOver: [], skipped: [], resumable: true, approval: 'none',
           });
         },
         'bearpunch.agents.prompt': ({ payload: { session, turn, text } }, station) => {
           if (text === 'hang') return;
           if (text === 'loop') for (;;);
           if (text === 'log') for (let line = 0; line < 100; line += 1) station.log.info('again');
           if (text === 'memory') for (const kept = []; ; ) kept.push(new Uint8Array(500_000).fill(1));
           if (text === 'effects') for (let n = 0; n < 150; n += 1) station.store.put('k' + n, n);
           if (text === 'text') station.store.put('k', 'y'.repeat(150_000));
           if (text === 'store') station.store.put('k', 'y'.repeat(50_000));
           if (text === 'inbox') for (let n = 0; n < 20; n += 1) station.bus.event('bearpunch.agents.titled', { session, title: 'x' });
           const stopReason = text === 'count' ? 'started ' + station.store.get('starts') : 'end_turn';
           station.bus.event('bearpunch.agents.settled', { session, turn, stopReason });
         },
       },
       subscribes: { 'bearpunch.agents.titled': () => {} },
       platform: {
         started: (_, station) => station.store.put('starts', (station.store.get('starts') ?? 0) + 1),
       },
     }`,
    {
      permissions,
      handles: [agents('open.v2'), agents('prompt')],
      subscribes: [agents('titled')],
      publishes: [agents('opened'), agents('settled'), agents('titled')],
    },
  );

/** A packed bundle with one component of this core code. */
const smallBundle = async (dir: string, name: string, core: string): Promise<string> => {
  const folder = join(dir, `test.${name}`);
  mkdirSync(folder);
  writeFileSync(join(folder, 'it.wasm'), await watGuest({ core }));
  const components = [{ id: 'it', driver: 'wasm', entry: 'it.wasm', permissions: [] }];
  const manifest = { manifest: 2, id: `test.${name}`, version: '1.0.0', components };
  writeFileSync(join(folder, 'bundle.json'), JSON.stringify(manifest));
  assert.ok((await packBundle(folder)).ok);
  return folder;
};

interface Listed {
  readonly bundles: readonly {
    readonly id: string;
    readonly components: readonly { readonly state: string; readonly problem?: { readonly code: string } }[];
  }[];
}

test('a limit a provider reaches is told in the session it hit, in bundle list and in the ledger; parked, it comes back by retry', async (t) => {
  const policy = probePolicy();
  const marker = `parked-${process.pid}-${Math.random()}`;
  const wild = {
    command: process.execPath,
    args: [fixtureAgent, 'plain', '-', marker],
    inherit: ['PATH'],
    trust: 'full',
  };
  const bench = openBench(t, {
    policy: {
      ...policy,
      grants: { ...policy.grants, 'test.wild': permissions },
      agents: { ...policy.agents, wild: { program: 'wild', provider: 'test.wild:wild' } },
      programs: { ...policy.programs, wild },
      limits: {
        'test.wild': {
          callDeadlineMs: 500,
          logLinesPerMinute: 50,
          memoryBytes: 8 * 1024 * 1024,
          effects: 120,
          effectUnits: 100_000,
          storeBytes: 20_000,
          inbox: 8,
          restartsPerHour: 9,
        },
        'test.slow': { startDeadlineMs: 300 },
        'test.tabled': { tableElements: 16 },
      },
    },
  });
  await bench.ask('up');
  const dir = dirname(bench.workspace);
  const refused = async (name: string, core: string) =>
    problemOf(await bench.jupiter('--json', 'bundle', 'install', await smallBundle(dir, name, core)));
  const slow = await refused('slow', '(func $s (loop (br 0))) (start $s)');
  assert.deepEqual(
    [slow.code, slow.evidence],
    ['sandbox/start-deadline', 'more than 300 ms (startDeadlineMs)'],
  );
  const tabled = await refused('tabled', '(table 100 funcref)');
  assert.equal(tabled.code, 'sandbox/table-minimum');
  assert.match(tabled.evidence ?? '', /16 are allowed \(tableElements\)/);
  await bench.ask('bundle', 'install', await wildProvider(dir));
  const create = ['session', 'create', '--agent', 'wild', '--cwd', bench.workspace];
  const { id } = await bench.ask<{ id: string }>(...create);
  const say = async (text: string, session = id) => {
    const said = await bench.document<{ stopReason?: string; entries: readonly { text: string }[] }>(
      'session',
      'say',
      session,
      text,
      '--wait',
    );
    return `${said.stopReason}: ${said.entries.at(-1)?.text}`;
  };
  const component = async () => {
    const { bundles } = await bench.ask<Listed>('bundle', 'list');
    const [wild] = bundles.find((bundle) => bundle.id === 'test.wild')?.components ?? [];
    return [wild?.state, wild?.problem?.code];
  };
  assert.match(await say('count'), /^started 1/);
  const reached: readonly (readonly [text: string, code: string, limit: string])[] = [
    ['log', 'bus/log-rate', 'logLinesPerMinute'],
    ['effects', 'sandbox/effects-limit', 'effects'],
    ['text', 'sandbox/effects-limit', 'effectUnits'],
    ['store', 'bus/store-quota', 'storeBytes'],
    ['inbox', 'bus/inbox-full', 'inbox'],
    ['memory', 'sandbox/memory', 'memoryBytes'],
  ];
  for (const [text, code, limit] of reached) {
    assert.match(await say(text), new RegExp(`^failed: .*\\(${code}\\).*\\(${limit}\\)`, 's'));
    assert.equal((await component())[1], code);
  }
  assert.match(await say('answer'), /^end_turn/);

  assert.match(await say('loop'), /^failed: .*\(sandbox\/deadline\)/);
  assert.equal((await component())[1], 'sandbox/deadline');
  const plain = await bench.jupiter('status', '--events', '100');
  for (const [, code, limit] of reached)
    assert.match(plain.stdout, new RegExp(`test\\.wild:wild +${code}.*\\(${limit}\\)`));
  assert.match(plain.stdout, /kill +test\.wild:wild +sandbox\/deadline/);
  assert.match(await say('answer'), /^end_turn/);

  const other = await bench.ask<{ id: string }>(...create);
  await bench.ask('session', 'say', other.id, 'hang');

  assert.notDeepEqual(processesNaming(marker), []);
  let last = '';
  for (let round = 0; round < 8 && !last.includes('bus/component-parked'); round += 1)
    last = await say('loop');
  assert.match(last, /^failed: .*\(bus\/component-parked\)/);
  assert.deepEqual(await component(), ['parked', 'bus/restart-limit']);
  // Nobody waits for a turn that cannot end: it ends with the problem, and the session goes on after a retry.
  const end = Date.now() + 10_000;
  while (processesNaming(marker).length > 0 && Date.now() < end) await setTimeout(20);
  assert.deepEqual(processesNaming(marker), [], 'what it ran is ended');
  const shown = await bench.ask<{ state: string; attached: boolean }>('session', 'show', other.id);
  assert.deepEqual([shown.state, shown.attached], ['idle', false]);
  const { stdout } = await bench.jupiter('session', 'transcript', other.id);
  assert.match(stdout, /the turn ended: the provider test\.wild:wild is parked \(bus\/restart-limit\)/);
  assert.match(
    (await bench.jupiter('status', '--events', '100')).stdout,
    /park +test\.wild:wild +bus\/restart-limit.*\(restartsPerHour\)/,
  );
  await bench.ask('bundle', 'retry', 'test.wild:wild');
  assert.match(await say('answer'), /^end_turn/);
  assert.deepEqual(await component(), ['running', undefined]);
  assert.match(await say('count', other.id), /^started 2/, 'it begins as after a start');
});
