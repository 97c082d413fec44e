import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { knownSinks, provisionFor, sinkFor } from '../../host/context/index.ts';
import { type Policy, readPolicy } from '../../host/policy/index.ts';

const policyOf = (value: unknown): Policy =>
  readPolicy(new TextEncoder().encode(JSON.stringify(value)), 'policy.jsonc');

const stdio = { type: 'stdio', program: 'tool' };
const listed = { sessions: ['one'] };
const base = {
  agents: {
    one: { program: 'claude-acp', approve: 'auto' },
    two: { program: 'codex', provider: 'bearpunch.echo:echo' },
  },
  programs: { tool: { command: 'tool', args: ['-v'], trust: 'full' }, loose: { command: 'loose' } },
  origins: { open: { url: 'https://h/mcp' }, guarded: { url: 'https://g/mcp', bearer: 'TOKEN' } },
};
const one = (server: object, agent = 'one') =>
  provisionFor(
    policyOf({ ...base, servers: { s: { exposure: 'direct', consumers: listed, ...server } } }),
    agent,
  );

describe('a server is offered to the agents its consumers name', () => {
  it('over stdio, with command and arguments as policy has them', () => {
    const { offered, withheld } = one({ transport: stdio });
    assert.deepEqual(withheld, []);
    assert.deepEqual(offered, [
      {
        name: 's',
        rule: 'servers.s.consumers',
        transport: { type: 'stdio', command: 'tool', args: ['-v'] },
      },
    ]);
  });
  it('over http, with the URL', () => {
    const { offered } = one({ transport: { type: 'http', origin: 'open' } });
    assert.deepEqual(offered[0]?.transport, { type: 'http', url: 'https://h/mcp' });
  });
});

describe('a server behind the gateway', () => {
  const by = { type: 'gateway', url: 'http://127.0.0.1:1/x', command: 'node', args: ['shim'] } as const;
  const policy = policyOf({
    ...base,
    servers: {
      s: { exposure: 'gateway', consumers: listed, transport: { type: 'http', origin: 'guarded' } },
      off: { exposure: 'direct', consumers: listed, transport: stdio },
    },
    disabledMcpServers: ['off'],
  });
  const reached = [
    { name: 's-1', place: 'servers.s', by },
    { name: 'any', place: 'mcpServers.any', by },
    { name: 'shut', place: '.jupiter/settings.jsonc:2:3', by: { reason: 'its project is not trusted' } },
  ];
  it('of the policy goes to its consumers under the name agents call it by, any other to every agent', () => {
    const found = provisionFor(policy, 'one', reached);
    assert.deepEqual(found.offered, [
      { name: 's-1', rule: 'servers.s.consumers', transport: by },
      { name: 'any', rule: 'mcpServers.any', transport: by },
    ]);
    assert.deepEqual(found.withheld, [
      { name: 'off', rule: 'disabledMcpServers', reason: 'the operator disabled it' },
      { name: 'shut', rule: '.jupiter/settings.jsonc:2:3', reason: 'its project is not trusted' },
    ]);
    const other = provisionFor(policy, 'two', reached);
    assert.deepEqual(
      other.offered.map(({ name }) => name),
      ['any'],
    );
    assert.deepEqual(
      other.withheld.filter(({ name }) => name === 's').map(({ rule }) => rule),
      ['servers.s.consumers'],
    );
  });
  it('that cannot be reached is withheld for the reason there is', () => {
    const { withheld } = provisionFor(policy, 'one', [
      { name: 's', place: 'servers.s', by: { reason: 'no port could be had' } },
    ]);
    assert.deepEqual(
      withheld.find(({ name }) => name === 's'),
      { name: 's', rule: 'servers.s', reason: 'no port could be had' },
    );
  });
});

describe('a server is withheld with its reason', () => {
  const rows: readonly (readonly [string, object, string, RegExp, string?])[] = [
    [
      'from an agent its consumers do not name',
      { transport: stdio },
      'servers.s.consumers',
      /"two" is not among/,
      'two',
    ],
    [
      'from every agent where nobody is named',
      { transport: stdio, consumers: { sessions: [] } },
      'servers.s.consumers',
      /"one" is not among/,
    ],
    [
      'from an agent policy does not know',
      { transport: stdio, consumers: { sessions: ['x'] } },
      'agents',
      /"x" is not in/,
      'x',
    ],
    [
      'for a program that is missing',
      { transport: { ...stdio, program: 'gone' } },
      'servers.s.transport.program',
      /"gone"/,
    ],
    [
      'for a program that is not trusted',
      { transport: { ...stdio, program: 'loose' } },
      'programs.loose',
      /not trusted/,
    ],
    [
      'for an origin that is missing',
      { transport: { type: 'http', origin: 'gone' } },
      'servers.s.transport.origin',
      /"gone"/,
    ],
    [
      'for an origin that needs a bearer',
      { transport: { type: 'http', origin: 'guarded' } },
      'origins.guarded.bearer',
      /bearer/,
    ],
    ['for exposure gateway', { transport: stdio, exposure: 'gateway' }, 'servers.s.exposure', /gateway/],
    [
      'for exposure gateway with a bearer',
      { transport: { type: 'http', origin: 'guarded' }, exposure: 'gateway' },
      'servers.s.exposure',
      /gateway/,
    ],
  ];
  for (const [title, server, rule, reason, agent] of rows)
    it(title, () => {
      const { offered, withheld } = one(server, agent);
      assert.deepEqual(offered, []);
      assert.equal(withheld.length, 1);
      assert.equal(withheld[0]?.rule, rule);
      assert.match(withheld[0]?.reason ?? '', reason);
    });
});

describe('what else policy says about an agent', () => {
  const policy = policyOf({ ...base, servers: {} });
  it('its program, provider, approval and sink', () => {
    assert.deepEqual(provisionFor(policy, 'one'), {
      policyRevision: policy.revision,
      program: 'claude-acp',
      provider: 'bearpunch.adapter:adapter',
      approve: 'auto',
      sink: '.claude/skills',
      offered: [],
      withheld: [],
    });
    assert.equal(provisionFor(policy, 'two').provider, 'bearpunch.echo:echo');
  });
  it('nothing for an agent it does not know', () => {
    const { program, provider, approve, sink } = provisionFor(policy, 'claude');
    assert.deepEqual([program, provider, approve, sink], [null, null, 'manual', null]);
  });
  it('nothing while the policy has a problem', () => {
    const broken = policyOf({
      ...base,
      servers: { s: { transport: stdio, consumers: listed, exposure: 'x' } },
    });
    const { offered, withheld, program } = provisionFor(broken, 'one');
    assert.deepEqual([offered, withheld, program], [[], [], null]);
  });
});

describe('what an agent is known to drop without a word', () => {
  const policy = policyOf({
    ...base,
    agents: { one: { program: 'copilot' } },
    servers: {
      local: { exposure: 'direct', consumers: listed, transport: stdio },
      remote: { exposure: 'direct', consumers: listed, transport: { type: 'http', origin: 'open' } },
    },
  });
  it('is withheld before its session opens', () => {
    const { offered, withheld } = provisionFor(policy, 'one');
    assert.deepEqual(
      offered.map(({ name }) => name),
      ['remote'],
    );
    assert.deepEqual(
      withheld.map(({ name, rule }) => [name, rule]),
      [['local', 'agents.one.program']],
    );
    assert.match(withheld[0]?.reason ?? '', /Copilot drops/);
  });
});

describe('sinks by program family', () => {
  const rows: readonly (readonly [string, string | undefined])[] = [
    ['claude', '.claude/skills'],
    ['claude-acp', '.claude/skills'],
    ['codex', '.agents/skills'],
    ['codex-acp', '.agents/skills'],
    ['opencode', '.opencode/skills'],
    ['opencode-acp', '.opencode/skills'],
    ['opencode-omni', '.opencode/skills'],
    ['gemini', '.gemini/skills'],
    ['qwen-code', '.qwen/skills'],
    ['copilot', '.agents/skills'],
    ['claude-next', undefined],
    ['constructor', undefined],
    ['', undefined],
  ];
  for (const [program, sink] of rows) it(`${program} → ${sink}`, () => assert.equal(sinkFor(program), sink));
  it('every one is known to verify', () => {
    assert.deepEqual(knownSinks, [
      '.agents/skills',
      '.claude/skills',
      '.gemini/skills',
      '.opencode/skills',
      '.qwen/skills',
    ]);
  });
});
