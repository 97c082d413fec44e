import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { describe, it } from 'node:test';
import { initialPolicy, type Policy, readPolicy } from '../../host/policy/index.ts';

const read = (text: string): Policy => readPolicy(new TextEncoder().encode(text), 'policy.jsonc');
const lines = ({ problems }: Policy): readonly string[] =>
  problems.map(({ code, subject, evidence }) => `${code} ${subject} ${evidence}`);
const empty = ({ grants, agents, programs, origins, servers }: Policy): boolean =>
  [grants, agents, programs, origins, servers].every(({ size }) => size === 0);

const whole = `{
  // comments are read
  "$schema": "./policy.schema.json",
  "grants": { "z.tools": ["store:own"], "a.tools": [] },
  "agents": { "two": { "program": "p" }, "one": { "program": "q", "provider": "e.x:y", "approve": "auto", "host": { "files": "write" } } },
  "programs": {
    "p": { "command": "cmd", "args": ["-x"], "inherit": ["PATH"], "trust": "full" },
    "q": { "command": "other", },
  },
  "origins": { "o": { "url": "https://host.example/mcp", "bearer": "TOKEN" }, "n": { "url": "http://h/" } },
  "servers": {
    "probe": {
      "transport": { "type": "stdio", "program": "p" },
      "consumers": { "sessions": ["one"] },
      "exposure": "direct",
      "tools": ["probe"],
    },
    "far": { "transport": { "type": "http", "origin": "gone" }, "consumers": { "sessions": [] }, "exposure": "gateway" },
  },
}`;

describe('a policy that can be read', () => {
  const policy = read(whole);
  it('reads comments and trailing commas, sorts aliases and fills defaults', () => {
    assert.deepEqual(policy.problems, []);
    assert.deepEqual([...policy.grants.keys()], ['a.tools', 'z.tools']);
    assert.deepEqual([...(policy.grants.get('z.tools') ?? [])], ['store:own']);
    assert.deepEqual(policy.agents.get('two'), {
      program: 'p',
      provider: 'bearpunch.adapter:adapter',
      approve: 'manual',
      host: { read: false, write: false, terminals: false },
    });
    assert.deepEqual(policy.agents.get('one'), {
      program: 'q',
      provider: 'e.x:y',
      approve: 'auto',
      host: { read: true, write: true, terminals: false },
    });
    assert.deepEqual([...policy.agents.keys()], ['one', 'two']);
    assert.deepEqual(policy.programs.get('q'), { command: 'other', args: [], inherit: [], trust: 'none' });
    assert.equal(policy.programs.get('p')?.trust, 'full');
    assert.deepEqual(policy.origins.get('n'), { url: 'http://h/' });
    assert.deepEqual(policy.servers.get('probe'), {
      transport: { type: 'stdio', program: 'p' },
      consumers: ['one'],
      exposure: 'direct',
      tools: ['probe'],
      elicitation: 'queue',
    });
  });
  it('an alias that refers to nothing is no problem of the policy', () => {
    assert.equal(policy.servers.get('far')?.transport.type, 'http');
  });
  it('has the digest of its bytes as revision', () => {
    assert.equal(policy.revision, createHash('sha256').update(whole).digest('hex'));
  });
  it('says where an entry stands', () => {
    assert.deepEqual(policy.place('servers.probe'), { line: 12, column: 5 });
    assert.deepEqual(policy.place('servers.probe.consumers.sessions[0]'), { line: 14, column: 35 });
    assert.deepEqual(policy.place('grants.z.tools'), { line: 4, column: 15 });
    assert.equal(policy.place('servers.none'), undefined);
  });
  it('an empty object is a policy that grants nothing', () => {
    assert.deepEqual(read('{}').problems, []);
  });
  it('names that mean something to the runtime are names like others', () => {
    const { problems, agents } = read('{"agents": {"constructor": {"program": "toString"}}}');
    assert.deepEqual(problems, []);
    assert.equal(agents.get('constructor')?.program, 'toString');
  });
});

const server = (over: string): string =>
  `{"servers": {"s": {"transport": {"type": "stdio", "program": "p"}, "consumers": {"sessions": []}, "exposure": "direct"${over}}}}`;

describe('a policy with a problem grants nothing and says where', () => {
  const wrong: readonly (readonly [string, string, string])[] = [
    ['', 'policy/syntax', 'policy.jsonc:1:1: expected a value, found the end of the file'],
    ['// only a comment', 'policy/syntax', 'policy.jsonc:1:18:'],
    ['{"grants": {}', 'policy/syntax', 'policy.jsonc:1:14: expected "}", found the end of the file'],
    ['{} {}', 'policy/syntax', 'policy.jsonc:1:4:'],
    ['[]', 'policy/wrong-type', 'policy.jsonc:1:1: expected an object, found a list'],
    ['{"a": 1}', 'policy/unknown-key', 'policy.jsonc:1:2: expected only known keys, found the key "a"'],
    ['{"agents": {},\n "agents": {}}', 'policy/duplicate-key', 'policy.jsonc:2:2: expected each key once'],
    ['{"agents": {"a": {"program": "p"}, "a": {"program": "q"}}}', 'policy/duplicate-key', ':1:36:'],
    ['{"agents": {"__proto__": {"program": "p"}}}', 'policy/wrong-name', 'found the name "__proto__"'],
    ['{"agents": {"a b": {"program": "p"}}}', 'policy/wrong-name', 'expected an agent ID'],
    ['{"agents": {"a": {}}}', 'policy/missing-key', ':1:13: expected a text, found nothing'],
    ['{"agents": {"a": {"program": 3}}}', 'policy/wrong-type', 'expected a text, found a number'],
    ['{"agents": {"a": {"program": "p", "approve": "yes"}}}', 'policy/wrong-value', 'found "yes"'],
    ['{"agents": {"a": {"program": "p", "provider": "x"}}}', 'policy/wrong-value', 'expected a component'],
    ['{"grants": {"a.b": ["store:all"]}}', 'policy/wrong-value', 'or "store:own", found "store:all"'],
    ['{"grants": {"A": []}}', 'policy/wrong-name', 'expected a bundle ID'],
    ['{"programs": {"p": {"command": ""}}}', 'policy/wrong-value', 'expected a command'],
    ['{"programs": {"p": {"command": "a\\u0000b"}}}', 'policy/wrong-value', 'without NUL'],
    ['{"programs": {"p": {"command": "c", "trust": "some"}}}', 'policy/wrong-value', 'expected "full"'],
    ['{"programs": {"p": {"command": "c", "inherit": ["A=b"]}}}', 'policy/wrong-value', 'the NAME of an'],
    ['{"programs": {"p": {"command": "c", "env": {}}}}', 'policy/unknown-key', 'found the key "env"'],
    ['{"origins": {"o": {"url": "ftp://h/"}}}', 'policy/wrong-value', 'expected an http or https URL'],
    ['{"origins": {"o": {"url": "https://u:p@h/"}}}', 'policy/wrong-value', 'without user, password'],
    ['{"origins": {"o": {"url": "https://h/", "bearer": "Bearer x"}}}', 'policy/wrong-value', 'the NAME of'],
    [
      '{"servers": {"Up": 1}}',
      'policy/wrong-name',
      'expected a name of a-z, 0-9 and "-", found the name "Up"',
    ],
    [
      server('').replace(', "exposure": "direct"', ''),
      'policy/missing-key',
      'expected "direct" or "gateway"',
    ],
    [server('').replace('stdio', 'sse'), 'policy/wrong-value', 'expected "stdio" with a program'],
    [server('').replace('"program"', '"origin"'), 'policy/missing-key', 'expected a text'],
    [
      server('').replace('{"sessions": []}', '["a"]'),
      'policy/wrong-type',
      'expected an object, found a list',
    ],
    [server(', "tools": "all"'), 'policy/wrong-type', 'expected a list, found a text'],
    [`${'['.repeat(100_000)}`, 'policy/syntax', 'expected at most 32 levels'],
    [`{"$schema": "${'x'.repeat(1024 * 1024)}"}`, 'policy/too-large', 'expected at most 1048576 bytes'],
  ];
  for (const [text, code, evidence] of wrong)
    it(`${code} in ${text.slice(0, 70)}`, () => {
      const policy = read(text);
      assert.ok(empty(policy), 'something was granted');
      assert.ok(
        policy.problems.some((found) => found.code === code && found.evidence?.includes(evidence)),
        `none of ${JSON.stringify(lines(policy))}`,
      );
      assert.ok(policy.problems.every(({ fix }) => fix !== undefined));
    });

  it('one wrong entry withdraws all the right ones', () => {
    const policy = read(whole.replace('"exposure": "gateway"', '"exposure": "both"'));
    assert.ok(empty(policy));
    assert.equal(policy.problems.length, 1);
  });
  it('bytes that are no UTF-8', () => {
    const policy = readPolicy(Buffer.from([0x7b, 0xff, 0x7d]), 'policy.jsonc');
    assert.equal(policy.problems[0]?.code, 'policy/not-text');
  });
  it('never repeats a value that may be a secret in the wrong place', () => {
    const secret = 'sk-canary-0123456789';
    const texts = [
      `{"origins": {"o": {"url": "https://u:${secret}@h/", "bearer": "${secret}"}}}`,
      `{"programs": {"p": {"command": "c", "inherit": ["KEY=${secret}"], "args": "${secret}"}}}`,
      `{"programs": {"p": {"command": "c", "env": {"KEY": "${secret}"}}}}`,
      `{"origins": {"o": "${secret}"}}`,
      `{"origins": {"o": {"url": "https://h/", "bearer": ${secret}}}}`,
    ];
    for (const text of texts) {
      const { problems } = read(text);
      assert.ok(problems.length > 0);
      assert.ok(!JSON.stringify(problems).includes('canary'), JSON.stringify(problems));
    }
  });
  it('names at most twenty problems', () => {
    const policy = read(`{${Array.from({ length: 50 }, (_, index) => `"k${index}": 1`).join(',')}}`);
    assert.equal(policy.problems.length, 20);
  });
});

it('the policy of init is right and grants what first-party bundles need', () => {
  const policy = read(initialPolicy);
  assert.deepEqual(policy.problems, []);
  assert.deepEqual([...(policy.grants.get('bearpunch.adapter') ?? [])].sort(), [
    'bus:publish',
    'process:spawn',
    'store:own',
  ]);
  assert.equal(policy.agents.get('echo')?.provider, 'bearpunch.echo:echo');
  assert.equal(policy.servers.size, 0);
  const uncommented = initialPolicy
    .split('\n')
    .map((line) => line.replace(/^( {4})\/\/ ("| {2}|\})/, '$1$2'))
    .join('\n');
  const examples = read(uncommented);
  assert.deepEqual(examples.problems, []);
  assert.equal(examples.servers.size, 2);
});

describe('signatures that are required', () => {
  const key = `ed25519:${Buffer.alloc(32, 7).toString('base64')}`;
  it('names the key by its name; one that is not there fits nothing', () => {
    const policy = read(`{
      "keys": { "acme": "${key}" },
      "signatures": [{ "prefix": "acme", "key": "acme" }, { "prefix": "acme.notes", "key": "gone" }],
    }`);
    assert.deepEqual(policy.problems, []);
    assert.deepEqual(policy.signatures, [
      { prefix: 'acme', name: 'acme', key },
      { prefix: 'acme.notes', name: 'gone', key: undefined },
    ]);
    assert.deepEqual(read('{}').signatures, []);
  });
  const wrong: readonly (readonly [string, RegExp])[] = [
    [
      `{ "keys": { "a": "${key.slice(0, -4)}" } }`,
      /^policy\/wrong-value keys\.a .*:1:13: .*found a text of 48/,
    ],
    [
      '{ "keys": { "a": "-----BEGIN PRIVATE KEY-----" } }',
      /^policy\/wrong-value keys\.a .*found a text of 27/,
    ],
    ['{ "signatures": [{ "prefix": "Acme", "key": "a" }] }', /^policy\/wrong-value signatures\[0\]\.prefix /],
    [
      '{ "signatures": [{ "prefix": "acme." , "key": "a" }] }',
      /^policy\/wrong-value signatures\[0\]\.prefix /,
    ],
    ['{ "signatures": [{ "prefix": "acme" }] }', /^policy\/missing-key signatures\[0\]\.key /],
    ['{ "signatures": { "acme": "a" } }', /^policy\/wrong-type signatures /],
  ];
  for (const [text, expected] of wrong)
    it(`${text} is a problem with its place, its value not repeated`, () => {
      const [line = '', ...more] = lines(read(text));
      assert.deepEqual(more, []);
      assert.match(line, expected);
      assert.ok(!line.includes('PRIVATE'));
      assert.deepEqual(read(text).signatures, []);
    });
});
