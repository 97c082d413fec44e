/** Sessions of a station with a hundred servers behind its gateway, ninety of them dead, beside one that has none. */
import { connectStation } from '../../host/cli/client.ts';
import { firstPartyGrants, fixtureAgent } from '../e2e/harness.ts';
import { benchHome } from './bench-home.ts';
import { type Measured, median } from './report.ts';

const opens = 60;
const live = 10;

const program = (args: readonly string[], command = process.execPath) => ({
  command,
  args,
  inherit: ['PATH'],
  trust: 'full',
});
const none = {
  grants: firstPartyGrants,
  agents: { plain: { program: 'plain-agent' } },
  programs: { 'plain-agent': program([fixtureAgent, 'plain']) },
};
const behind = (transport: unknown) => ({
  transport,
  consumers: { sessions: ['plain'] },
  exposure: 'gateway',
});
/** Half of the dead ones are programs that are not there, half addresses where nobody listens. */
const crowded = (server: string) => {
  const programs: Record<string, unknown> = { ...none.programs, live: program([server]) };
  const origins: Record<string, unknown> = {};
  const servers: Record<string, unknown> = {};
  for (let n = 0; n < 100; n += 1) {
    if (n < live) servers[`live-${n}`] = behind({ type: 'stdio', program: 'live' });
    else if (n % 2 === 0) {
      programs[`dead-${n}`] = program([], `/not/there/${n}`);
      servers[`dead-${n}`] = behind({ type: 'stdio', program: `dead-${n}` });
    } else {
      origins[`dead-${n}`] = { url: `http://127.0.0.1:${(n % 9) + 1}/mcp` };
      servers[`dead-${n}`] = behind({ type: 'http', origin: `dead-${n}` });
    }
  }
  return { ...none, programs, origins, servers };
};

const open = async (policy: unknown) => {
  const bench = benchHome(policy);
  bench.jupiter('up');
  const client = await connectStation(bench.home);
  if (!client.ok) throw new Error(client.problem.message);
  const { call } = client.value;
  return {
    create: async (): Promise<number> => {
      const began = performance.now();
      const made = await call('session.create', { agent: 'plain', cwd: bench.workspace });
      const took = performance.now() - began;
      if (!made.ok || made.value.state !== 'idle') throw new Error(JSON.stringify(made));
      await call('session.close', { id: made.value.id });
      return took;
    },
    connected: async (count: number): Promise<void> => {
      for (;;) {
        const listed = await call('mcp.list', {});
        if (!listed.ok) throw new Error(listed.problem.message);
        if (listed.value.servers.filter(({ status }) => status === 'connected').length >= count) return;
      }
    },
    end: () => {
      client.value.close();
      bench.end();
    },
  };
};

/** `server`: a file that is an MCP server over standard input and output. */
export const crowdedSessions = async (server: string): Promise<Measured> => {
  // The first session is created while components start, and ninety servers are being dialled in vain.
  const quiet = await open(none);
  const reference = await quiet.create();
  const crowd = await open(crowded(server));
  const first = { ours: await crowd.create(), reference };
  try {
    await crowd.connected(live);
    const found: { readonly ours: number[]; readonly reference: number[] } = { ours: [], reference: [] };
    for (let n = 0; n < opens; n += 1) {
      found.ours.push(await crowd.create());
      found.reference.push(await quiet.create());
    }
    return {
      what: 'session created with 100 servers behind the gateway, 90 of them dead',
      ours: median(found.ours),
      reference: median(found.reference),
      unit: 'ms',
      referenceIs: 'without servers',
      goal: { atMost: 1.1 },
      note: `the first one after \`up\`, while they are dialled, takes ${first.ours.toFixed(0)} ms; without servers ${first.reference.toFixed(0)} ms.`,
    };
  } finally {
    quiet.end();
    crowd.end();
  }
};
