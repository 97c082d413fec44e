/** A limit that is reached, from outside: in the session it hit, in `bundle list`, in the ledger; and the way back. */
import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import test from 'node:test';
import { openBench, probePolicy } from './harness.ts';
import { writtenBundle } from './trusting.ts';

const permissions = ['bus:publish', 'store:own'];
const agents = (name: string) => `bearpunch.agents.${name}`;

/** An agent provider that opens anything and does what a prompt says: loop, flood its log, or answer. */
const wildProvider = (dir: string): Promise<string> =>
  writtenBundle(
    dir,
    'wild',
    `{
       handles: {
         'bearpunch.agents.open.v2': ({ payload: { session } }, station) => {
           station.bus.event('bearpunch.agents.opened', {
             session, agentSession: session, capabilities: {}, handedOver: [], skipped: [], resumable: true, approval: 'none',
           });
         },
         'bearpunch.agents.prompt': ({ payload: { session, turn, text } }, station) => {
           if (text === 'loop') for (;;);
           if (text === 'log') for (let line = 0; line < 100; line += 1) station.log.info('again');
           station.bus.event('bearpunch.agents.settled', { session, turn, stopReason: 'end_turn' });
         },
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
  const bench = openBench(t, {
    policy: {
      ...policy,
      grants: { ...policy.grants, 'test.wild': permissions },
      agents: { ...policy.agents, wild: { program: 'wild', provider: 'test.wild:wild' } },
      limits: { 'test.wild': { callDeadlineMs: 500, logLinesPerMinute: 50 } },
    },
  });
  await bench.ask('up');
  await bench.ask('bundle', 'install', await wildProvider(dirname(bench.workspace)));
  const { id } = await bench.ask<{ id: string }>(
    'session',
    'create',
    '--agent',
    'wild',
    '--cwd',
    bench.workspace,
  );
  const say = async (text: string) => {
    const said = await bench.document<{ stopReason?: string; entries: readonly { text: string }[] }>(
      'session',
      'say',
      id,
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
  assert.match(await say('answer'), /^end_turn/);
  assert.match(await say('log'), /^failed: .*\(bus\/log-rate\)/);
  assert.equal((await component())[1], 'bus/log-rate');
  assert.match(await say('answer'), /^end_turn/);

  assert.match(await say('loop'), /^failed: .*\(sandbox\/deadline\)/);
  assert.equal((await component())[1], 'sandbox/deadline');
  const plain = await bench.jupiter('status', '--events', '100');
  assert.match(plain.stdout, /fail +test\.wild:wild +bus\/log-rate/);
  assert.match(plain.stdout, /kill +test\.wild:wild +sandbox\/deadline/);
  assert.match(await say('answer'), /^end_turn/);

  let last = '';
  for (let round = 0; round < 8 && !last.includes('bus/component-parked'); round += 1)
    last = await say('loop');
  assert.match(last, /^failed: .*\(bus\/component-parked\)/);
  assert.deepEqual(await component(), ['parked', 'sandbox/deadline']);
  await bench.ask('bundle', 'retry', 'test.wild:wild');
  assert.match(await say('answer'), /^end_turn/);
  assert.deepEqual(await component(), ['running', undefined]);
});
