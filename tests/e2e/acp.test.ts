/**
 * Agents that misbehave, each through the station's command line: one station, an agent for every way. What belongs
 * to processes alone (C5, C6, C15) stands in processes.test.ts.
 */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import type { TranscriptEntry } from '../../contracts/transcript.ts';
import { fixtureAgent, looked, openBench, probePolicy, processesNaming } from './harness.ts';

interface Shown {
  readonly id: string;
  readonly state: string;
  readonly reason?: string;
  readonly approval?: string;
  readonly usage: unknown;
  readonly mode?: { readonly id: string };
  readonly commands: readonly { readonly name: string }[];
  readonly pending: readonly { readonly request: string; readonly at: number }[];
  readonly provisioning: { readonly servers: readonly { readonly stage?: string }[] };
}
interface Said {
  readonly stopReason?: string;
  readonly state?: string;
  readonly entries: readonly TranscriptEntry[];
}

/** Agent ID → mode and detail of the fixture. */
const agents: Readonly<Record<string, readonly string[]>> = {
  plain: ['plain'],
  noise: ['noise'],
  glued: ['glued'],
  big: ['big', '5000000'],
  line: ['line', '100000000'],
  exit0: ['exit0'],
  mute: ['mute'],
  ask: ['ask'],
  asktwice: ['asktwice'],
  askafter: ['askafter'],
  askother: ['askother'],
  inside: ['askpath', 'src/a.ts'],
  outside: ['askpath', '/etc/passwd'],
  command: ['askrun', 'src/a.ts'],
  loose: ['loose'],
  wants: ['wants'],
  auth: ['auth'],
  version: ['version', '9'],
  disorder: ['disorder'],
  none: ['usage', 'none'],
  zero: ['usage', 'zero'],
  update: ['usage', 'update'],
  quota: ['usage', 'quota'],
  modes: ['modes'],
  rich: ['rich'],
  titles: ['titles'],
  late: ['late'],
  polite: ['polite'],
};
const marker = `acp-test-${process.pid}`;
const alias = (id: string) => `fixture-${id}`;

const policy = () => {
  const base = probePolicy();
  const entries = Object.entries(agents);
  return {
    ...base,
    agents: Object.fromEntries(entries.map(([id]) => [id, { program: alias(id) }])),
    programs: {
      ...base.programs,
      ...Object.fromEntries(
        entries.map(([id, [mode = '', detail = '-']]) => [
          alias(id),
          {
            command: process.execPath,
            args: [fixtureAgent, mode, detail, marker],
            inherit: ['PATH'],
            trust: 'full',
          },
        ]),
      ),
    },
    servers: { probe: { ...base.servers.probe, consumers: { sessions: entries.map(([id]) => id) } } },
  };
};

const residentMb = (pid: number): number =>
  Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0) / 1_024;

test('agents that misbehave', async (t) => {
  const bench = openBench(t, { policy: policy() });
  await bench.ask('up');
  const create = (agent: string, ...more: string[]) =>
    bench.document<Shown>('session', 'create', '--agent', agent, '--cwd', bench.workspace, ...more);
  const say = (id: string, text = 'hello') => bench.document<Said>('session', 'say', id, text, '--wait');
  const show = (id: string) => bench.ask<Shown>('session', 'show', id);
  const respond = (id: string, request: string, answer: string) =>
    bench.ask('session', 'respond', id, request, answer);
  /** A session of this agent after one turn, with what was seen of it. */
  const turn = async (agent: string, ...more: string[]) => {
    const { id } = await create(agent, ...more);
    const said = await say(id);
    return { id, said, shown: await show(id) };
  };
  const told = ({ entries }: Said, role = 'agent') =>
    entries.filter((entry) => entry.role === role).map(({ text }) => text);
  const pending = (id: string, count = 1): Promise<Shown['pending']> =>
    looked(async () => {
      const shown = await show(id);
      return shown.pending.length >= count ? shown.pending : undefined;
    });
  const log = () => {
    const folder = join(bench.home, 'logs');
    return readdirSync(folder)
      .map((name) => readFileSync(join(folder, name), 'utf8'))
      .join('');
  };

  // Takes the five seconds a cancel is given: looked at in the end.
  const givenUp = (async () => {
    const { id } = await create('late');
    const said = say(id);
    await looked(async () => ((await show(id)).state === 'running' ? true : undefined));
    await bench.ask('session', 'cancel', id);
    await said;
    return id;
  })();

  await t.test('C1: noise goes to the log, frames are read', async () => {
    const { said } = await turn('noise');
    assert.deepEqual(told(said), ['hello']);
    assert.match(log(), /starting up…/);
  });
  await t.test('C2: frames glued behind titles and banners are read', async () => {
    assert.deepEqual(told((await turn('glued')).said), ['hello']);
  });
  await t.test('C3: one frame of 5 MB in letters of three bytes', async () => {
    const [text = ''] = told((await turn('big')).said);
    assert.match(text, /^€{262144}\n\[cut: 1404522 of 1666666 characters\]$/);
  });
  await t.test('C4: no newline for ever: stopped at the cap with a named cause, memory bounded', async () => {
    const { pid } = await bench.ask<{ pid: number }>('status');
    const { id } = await create('line');
    const before = residentMb(pid);
    const said = await say(id);
    assert.equal(said.state, 'ended');
    assert.match((await show(id)).reason ?? '', /process\/line-too-long/);
    assert.ok(residentMb(pid) - before < 120, `${before} → ${residentMb(pid)} MB`);
  });
  await t.test(
    'C5: exits 0 and closes its output in a turn: the turn and the session end at once',
    async () => {
      for (const agent of ['exit0', 'mute']) {
        const { said, shown } = await turn(agent);
        assert.deepEqual([said.stopReason, shown.state], ['ended', 'ended'], agent);
        assert.match(shown.reason ?? '', /agent\/exited/);
      }
    },
  );
  await t.test('C7: asks while nobody watches: it waits with the time it asked', async () => {
    const { id } = await create('ask');
    const before = Date.now();
    await bench.ask('session', 'say', id, 'go');
    const [request] = await pending(id);
    assert.ok((request?.at ?? 0) >= before && (request?.at ?? 0) <= Date.now());
    await respond(id, request?.request ?? '', '--allow');
    assert.deepEqual(await pending(id, 0), []);
  });
  await t.test('C7: asks twice: both are answered', async () => {
    const { id } = await create('asktwice');
    const said = say(id);
    const [first, second] = await pending(id, 2);
    await respond(id, second?.request ?? '', '--deny');
    await respond(id, first?.request ?? '', '--allow');
    assert.deepEqual(told(await said), ['answered never and once']);
  });
  await t.test(
    'C7: asks for a session it was not given, and after its turn: denied and recorded',
    async () => {
      const other = await turn('askother');
      assert.deepEqual(told(other.said), ['answered never']);
      const entry = other.said.entries.findLast(({ role }) => role === 'permission');
      assert.equal(entry?.state, 'denied');
      assert.match(entry?.text ?? '', /session it was not given/);
      const late = await create('askafter');
      await say(late.id);
      const { entries } = await bench.ask<Said>('session', 'transcript', late.id);
      assert.ok(entries.some(({ role, state }) => role === 'permission' && state === 'denied'));
    },
  );
  await t.test('C7: nobody answers: a reject option is chosen when the time is over', async () => {
    const { id } = await create('ask', '--answer-within', '0.3');
    assert.deepEqual(told(await say(id)), ['answered never']);
    const { entries } = await bench.ask<Said>('session', 'transcript', id);
    const entry = entries.find(({ role }) => role === 'permission');
    assert.equal(entry?.state, 'denied');
    assert.match(entry?.text ?? '', /nobody answered within 300 ms/);
  });
  await t.test('auto answers and says so; workspace answers only what lies inside it', async () => {
    const auto = await turn('ask', '--approve', 'auto');
    assert.deepEqual(told(auto.said), ['answered once']);
    assert.match(told(auto.said, 'permission').join(), /by the approval setting auto/);
    const inside = await turn('inside', '--approve', 'workspace');
    assert.deepEqual(told(inside.said), ['answered once']);
    assert.match(told(inside.said, 'permission').join(), /every path lies inside/);
    for (const agent of ['outside', 'command', 'ask']) {
      const { id } = await create(agent, '--approve', 'workspace');
      const said = say(id);
      const [request] = await pending(id);
      await respond(id, request?.request ?? '', '--deny');
      assert.deepEqual(told(await said), ['answered never'], agent);
    }
  });
  await t.test(
    'C8: what is left out, null, text for a number, or unknown costs its neighbours nothing',
    async () => {
      const { said, shown } = await turn('loose');
      assert.deepEqual(told(said), ['neighbours kept']);
      assert.match(told(said, 'note').join(), /invented_kind/);
      assert.equal(shown.usage, null);
    },
  );
  await t.test(
    'what it asks of the host is refused by the protocol’s error; notifications are kept in the log',
    async () => {
      const { said } = await turn('wants');
      assert.deepEqual(told(said), [
        'fs/read_text_file -32601, fs/write_text_file -32601, terminal/create -32601, _vendor/unknown -32601',
      ]);
      assert.match(log(), /unknown-notification/);
    },
  );
  await t.test('C10: servers an agent ignores are handed over, not connected', async () => {
    const { shown } = await turn('plain');
    assert.deepEqual(
      shown.provisioning.servers.map(({ stage }) => stage),
      ['handed-over'],
    );
  });
  await t.test('a slash command is passed through as it was typed', async () => {
    const { id } = await create('plain');
    assert.deepEqual(told(await say(id, '/deploy to production')), ['/deploy to production']);
  });
  await t.test('C11: authentication is a named state with the methods it offers', async () => {
    const { state, reason } = await create('auth');
    assert.equal(state, 'ended');
    assert.match(reason ?? '', /API key, Browser login.*agent\/auth-required/);
  });
  await t.test('C12: a protocol version we do not speak is said with both', async () => {
    const { state, reason } = await create('version');
    assert.equal(state, 'ended');
    assert.match(reason ?? '', /version 9 .*version 1/);
  });
  await t.test('C13: one entry a call, the first title, the furthest state, the text that came', async () => {
    const { id } = await turn('disorder');
    const { entries } = await bench.ask<Said>('session', 'transcript', id);
    const calls = entries.filter(({ role }) => role === 'tool');
    assert.deepEqual(
      calls.map(({ id: call, state, text }) => ({ call, state, text })),
      [{ call: 'c1', state: 'completed', text: 'first title: the result' }],
    );
  });
  await t.test('C14: not reported, zero, and reported elsewhere are told apart', async () => {
    const expected = {
      none: null,
      zero: { totalTokens: 0 },
      update: { used: 5, size: 100 },
      quota: { token_count: 9 },
    };
    for (const [agent, usage] of Object.entries(expected))
      assert.deepEqual((await turn(agent)).shown.usage, usage, agent);
  });
  await t.test(
    'an agent that offers a mode that asks is put into it; one that offers none decides by itself',
    async () => {
      const { said, shown } = await turn('modes');
      assert.deepEqual(told(said), ['mode default']);
      assert.match(shown.approval ?? '', /in its mode default \(Asks before changes\)/);
      assert.match((await create('plain')).approval ?? '', /decides by itself/);
    },
  );
  await t.test('the agent names its session; a name a person gave stays', async () => {
    const { id } = await create('titles');
    const named = await create('titles', '--title', 'by a person');
    const titles = async () => {
      const { sessions } = await bench.ask<{ sessions: { id: string; title?: string }[] }>('session', 'list');
      return [id, named.id].map((each) => sessions.find((one) => one.id === each)?.title);
    };
    for (const each of [id, named.id]) await say(each, 'about the station');
    assert.deepEqual(await titles(), ['about the station', 'by a person']);
    await say(id, 'another');
    assert.equal((await bench.ask<{ title?: string }>('session', 'show', id)).title, 'another');
    await say(id, 'none');
    assert.deepEqual(await titles(), [undefined, 'by a person']);
  });
  await t.test(
    'an agent is asked to close its session; without the grant to write it is ended all the same',
    async () => {
      const heard = () => {
        const lines = bench.read('heard').split('\n');
        rmSync(join(bench.workspace, 'heard'));
        return lines;
      };
      await bench.ask('session', 'close', (await create('polite')).id);
      assert.equal(heard().at(-1), 'session/close');
      const [{ id }, plain] = [await create('polite'), await create('plain')];
      const revoked = policy();
      bench.policy(
        JSON.stringify({
          ...revoked,
          grants: { ...revoked.grants, 'bearpunch.adapter': ['store:own', 'bus:publish'] },
        }),
      );
      for (const each of [id, plain.id])
        assert.equal((await bench.ask<Shown>('session', 'close', each)).state, 'closed');
      assert.equal(heard().includes('session/close'), false);
      assert.deepEqual(processesNaming(`polite - ${marker}`), []);
      bench.policy(JSON.stringify(policy()));
    },
  );
  await t.test('C7: what an agent asks after the station gave it up is denied, and recorded', async () => {
    const id = await givenUp;
    assert.match((await show(id)).reason ?? '', /agent\/cancel-ignored/);
    const end = performance.now() + 10_000;
    while (!existsSync(join(bench.workspace, 'late'))) {
      assert.ok(performance.now() < end, 'it is answered');
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
    assert.equal(bench.read('late'), 'file -32603\npermission never');
    const { entries } = await bench.ask<Said>('session', 'transcript', id);
    const entry = entries.findLast(({ role }) => role === 'permission');
    assert.equal(entry?.state, 'denied');
    assert.match(entry?.text ?? '', /after the station had given it up/);
  });
  await t.test('plan, thought, image, diff, usage and commands, for a person and for a program', async () => {
    const { id, said, shown } = await turn('rich');
    const text = said.entries.map((entry) => `${entry.role}: ${entry.text}`).join('\n');
    for (const line of [
      /^commands: \/deploy$/m,
      /^plan: \[completed\] look$/m,
      /^thought: let me see$/m,
      /^agent: \[image image\/png, about 6 bytes\]$/m,
      /^tool: edit a\.ts: \[changed a\.ts: 1 line, now 2\]$/m,
      /^usage: context 5 of 100 tokens$/m,
      /^note: .*invented_kind/m,
    ])
      assert.match(text, line);
    const data = Object.fromEntries(said.entries.map((entry) => [entry.role, entry.data]));
    assert.deepEqual(data['agent'], { images: [{ mimeType: 'image/png', data: 'iVBORw==' }] });
    assert.deepEqual(data['plan'], { entries: [{ content: 'look', status: 'completed', priority: 'high' }] });
    assert.deepEqual(data['tool'], {
      kind: 'edit',
      locations: [{ path: 'a.ts', line: 1 }],
      diffs: [{ path: 'a.ts', oldText: 'a\n', newText: 'b\nc\n' }],
    });
    assert.deepEqual(shown.commands, [{ name: 'deploy', description: 'Deploys', hint: 'where' }]);
    const plain = await bench.jupiter('session', 'show', id);
    assert.match(plain.stdout, /\/deploy/);
  });
  await bench.ask('down');
  assert.deepEqual(processesNaming(marker), [], 'no process is left');
});
