/** A limit that is reached, from outside: in the session it hit, in `bundle list`, in the ledger; and the way back. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import test from 'node:test';
import { setTimeout } from 'node:timers/promises';
import { fixtureAgent, openBench, probePolicy, processesNaming } from './harness.ts';
import { writtenBundle } from './trusting.ts';

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
           const stopReason = text === 'count' ? 'started ' + station.store.get('starts') : 'end_turn';
           station.bus.event('bearpunch.agents.settled', { session, turn, stopReason });
         },
       },
       platform: {
         started: (_, station) => station.store.put('starts', (station.store.get('starts') ?? 0) + 1),
       },
     }`,
    {
      permissions,
      handles: [agents('open.v2'), agents('prompt')],
      publishes: [agents('opened'), agents('settled')],
    },
  );

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
      limits: { 'test.wild': { callDeadlineMs: 500, logLinesPerMinute: 50 } },
    },
  });
  await bench.ask('up');
  await bench.ask('bundle', 'install', await wildProvider(dirname(bench.workspace)));
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
  assert.match(await say('log'), /^failed: .*\(bus\/log-rate\)/);
  assert.equal((await component())[1], 'bus/log-rate');
  assert.match(await say('answer'), /^end_turn/);

  assert.match(await say('loop'), /^failed: .*\(sandbox\/deadline\)/);
  assert.equal((await component())[1], 'sandbox/deadline');
  const plain = await bench.jupiter('status', '--events', '100');
  assert.match(plain.stdout, /fail +test\.wild:wild +bus\/log-rate/);
  assert.match(plain.stdout, /kill +test\.wild:wild +sandbox\/deadline/);
  assert.match(await say('answer'), /^end_turn/);

  const other = await bench.ask<{ id: string }>(...create);
  await bench.ask('session', 'say', other.id, 'hang');

  assert.notDeepEqual(processesNaming(marker), []);
  let last = '';
  for (let round = 0; round < 8 && !last.includes('bus/component-parked'); round += 1)
    last = await say('loop');
  assert.match(last, /^failed: .*\(bus\/component-parked\)/);
  assert.deepEqual(await component(), ['parked', 'sandbox/deadline']);
  // Nobody waits for a turn that cannot end: it ends with the problem, and the session goes on after a retry.
  const end = Date.now() + 10_000;
  while (processesNaming(marker).length > 0 && Date.now() < end) await setTimeout(20);
  assert.deepEqual(processesNaming(marker), [], 'what it ran is ended');
  const shown = await bench.ask<{ state: string; attached: boolean }>('session', 'show', other.id);
  assert.deepEqual([shown.state, shown.attached], ['idle', false]);
  const { stdout } = await bench.jupiter('session', 'transcript', other.id);
  assert.match(stdout, /the turn ended: the provider test\.wild:wild is parked \(sandbox\/deadline\)/);
  assert.match(
    (await bench.jupiter('status', '--events', '100')).stdout,
    /park +test\.wild:wild +sandbox\/deadline/,
  );
  await bench.ask('bundle', 'retry', 'test.wild:wild');
  assert.match(await say('answer'), /^end_turn/);
  assert.deepEqual(await component(), ['running', undefined]);
  assert.match(await say('count', other.id), /^started 2/, 'it begins as after a start');
});
