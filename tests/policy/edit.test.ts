import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { editPolicy, initialPolicy, policySchema, readPolicy } from '../../host/policy/index.ts';

const text = `// top
{
  "agents": {
    "a": { "program": "p" }, // about a
    // about b
    "b": { "program": "q", "approve": "auto" } // bb
    // after
  },
  "programs": {},
  "servers": {
    // none yet
  },
  "grants": { "x.y": ["store:own"] },
}
`;
const comments = (of: string): readonly string[] => of.match(/(?<!:)\/\/.*/g) ?? [];
const server = {
  transport: { type: 'stdio', program: 'p' },
  consumers: { sessions: ['a'] },
  exposure: 'direct',
};
const done = (from: string, path: string, value: unknown): string => {
  const result = editPolicy(from, path, value);
  assert.ok(result.ok, JSON.stringify(result));
  return result.value;
};

describe('an edit changes one entry and keeps every comment', () => {
  const edits: readonly (readonly [string, unknown, string])[] = [
    ['agents.a', undefined, '  "agents": {\n    // about a\n    // about b\n    "b"'],
    [
      'agents.b',
      undefined,
      '    "a": { "program": "p" } // about a\n    // about b\n    // bb\n    // after\n  }',
    ],
    ['agents.b.approve', 'manual', '"b": { "program": "q", "approve": "manual" } // bb'],
    ['agents.b.approve', undefined, '"b": { "program": "q" } // bb'],
    ['agents.a.approve', 'auto', '"a": { "program": "p", "approve": "auto" }, // about a'],
    ['agents.m-5.1', { program: 'p' }, '"auto" }, // bb\n    // after\n    "m-5.1": { "program": "p" }\n  }'],
    ['agents.m-5.1.program', 'p', '    "m-5.1": { "program": "p" }\n'],
    [
      'programs.p',
      { command: 'c', args: ['1'] },
      '"programs": {\n    "p": { "command": "c", "args": ["1"] }\n  },',
    ],
    [
      'servers.n',
      server,
      '    // none yet\n    "n": {\n      "transport": { "type": "stdio", "program": "p" },\n',
    ],
    ['origins.o.url', 'https://h/', '  "origins": { "o": { "url": "https://h/" } },\n}'],
    ['grants.x.y', ['bus:publish'], '"grants": { "x.y": ["bus:publish"] },'],
    ['grants.x.y[0]', 'bus:publish', '"grants": { "x.y": ["bus:publish"] },'],
    ['grants.x.y[1]', 'bus:publish', '"grants": { "x.y": ["store:own", "bus:publish"] },'],
    ['grants.z', [], '"grants": { "x.y": ["store:own"], "z": [] },'],
    ['servers', undefined, '  "programs": {},\n'],
  ];
  for (const [path, value, expected] of edits)
    it(`${value === undefined ? 'unset' : 'set'} ${path}`, () => {
      const after = done(text, path, value);
      assert.ok(after.includes(expected), after);
      const lost = path === 'servers' ? ['// none yet'] : [];
      assert.deepEqual(
        comments(after),
        comments(text).filter((comment) => !lost.includes(comment)),
      );
      assert.deepEqual(readPolicy(new TextEncoder().encode(after), 'p').problems, []);
    });

  it('what was set and unset again leaves the text as it was', () => {
    assert.equal(done(done(initialPolicy, 'servers.n', server), 'servers.n', undefined), initialPolicy);
  });
  it('keeps Windows line ends', () => {
    const after = done(text.replaceAll('\n', '\r\n'), 'servers.n', server);
    assert.ok(!/[^\r]\n/.test(after));
  });
  it('an empty object gets lines', () => {
    assert.equal(
      done('{}', 'origins.o.url', 'http://h/'),
      '{\n  "origins": { "o": { "url": "http://h/" } }\n}',
    );
  });
});

describe('a wrong edit is refused', () => {
  const wrong: readonly (readonly [string, unknown, string])[] = [
    ['grants.z', 'nope', 'policy/wrong-type'],
    ['grants.z', ['all'], 'policy/wrong-value'],
    ['agents.b.approve', 'always', 'policy/wrong-value'],
    ['servers.n.exposure', 'direct', 'policy/missing-key'],
    ['servers.n', { ...server, extra: 1 }, 'policy/unknown-key'],
    ['agents.b.program', undefined, 'policy/missing-key'],
    ['agents.c', undefined, 'policy/no-such-entry'],
    ['grants.x.y[5]', 'bus:publish', 'policy/no-such-entry'],
    ['wrong.x', 1, 'policy/wrong-path'],
    ['agents..program', 'p', 'policy/wrong-path'],
    ['', 1, 'policy/wrong-path'],
  ];
  for (const [path, value, code] of wrong)
    it(`${code} for ${path} ${JSON.stringify(value)}`, () => {
      const result = editPolicy(text, path, value);
      assert.equal(result.ok ? 'done' : result.problem.code, code);
    });
  it('in a text that cannot be read', () => {
    const result = editPolicy('{"agents": {', 'agents.a.program', 'p');
    assert.equal(result.ok ? 'done' : result.problem.code, 'policy/syntax');
  });
  it('but a policy with two problems may be repaired one by one', () => {
    const after = done('{"agents": {"a": {}, "b": {}}}', 'agents.a.program', 'p');
    assert.equal(readPolicy(new TextEncoder().encode(after), 'p').problems.length, 1);
  });
});

it('the schema for editors is JSON Schema 2020-12 and refuses unknown keys', () => {
  const schema = policySchema();
  assert.equal(schema.$schema, 'https://json-schema.org/draft/2020-12/schema');
  assert.equal(schema.additionalProperties, false);
  assert.deepEqual(Object.keys(schema.properties as object), [
    '$schema',
    'grants',
    'limits',
    'agents',
    'programs',
    'origins',
    'servers',
    'mcpServers',
    'disabledMcpServers',
    'trustedProjects',
    'permissions',
    'channel',
    'keys',
    'signatures',
  ]);
});

it('an entry of a list of names is set, added and taken away by its index', () => {
  const before = '{ "disabledMcpServers": ["a"], "permissions": { "deny": ["mcp__a"] } }';
  assert.match(done(before, 'disabledMcpServers[1]', 'b'), /"disabledMcpServers": \["a", "b"\]/);
  assert.match(done(before, 'disabledMcpServers[0]', undefined), /"disabledMcpServers": \[\]/);
  assert.match(done(before, 'trustedProjects', ['/w']), /"trustedProjects": \["\/w"\]/);
  assert.match(done(before, 'permissions.deny[1]', 'Skill(x)'), /"deny": \["mcp__a", "Skill\(x\)"\]/);
});

describe('an edit of signatures', () => {
  const before = `{
  "keys": { "acme": "ed25519:${Buffer.alloc(32, 7).toString('base64')}" },
  "signatures": [
    { "prefix": "acme", "key": "acme" }, // hers
  ],
}
`;
  it('reaches one rule of the list, adds one, and takes one away', () => {
    const named = done(before, 'signatures[0].prefix', 'acme.tools');
    assert.ok(named.includes('{ "prefix": "acme.tools", "key": "acme" }, // hers'), named);
    const two = done(before, 'signatures[1]', { prefix: 'zoo', key: 'acme' });
    assert.ok(two.includes('// hers\n    { "prefix": "zoo", "key": "acme" },'), two);
    assert.deepEqual(
      readPolicy(Buffer.from(done(two, 'signatures[0]', undefined)), 'p').signatures.length,
      1,
    );
  });
});
