/** Which servers there are, from which file, and what of them is a secret: tables. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import {
  allEntries,
  type EntrySources,
  readMcpConfig,
  readProjectSettings,
  type ServerEntry,
  secretsOf,
  serverEntries,
} from '../../host/mcp/index.ts';
import { type NamedEntry, type Policy, readPolicy, readServersFile } from '../../host/policy/index.ts';

const policyOf = (file: object): Policy => {
  const policy = readPolicy(Buffer.from(JSON.stringify(file)), 'policy.jsonc');
  assert.deepEqual(policy.problems, []);
  return policy;
};
const tempDir = (t: TestContext): string => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-entries-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  return dir;
};
/** What became of a text: the name of each server, with what it is or why not. */
const judged = (servers: readonly NamedEntry[] | undefined): Record<string, unknown> =>
  Object.fromEntries(
    (servers ?? []).map(({ name, entry }) => [name, entry.ok ? entry.value : entry.problem.evidence]),
  );

test('M14: comments and trailing commas are read; a bad entry among five is told by name, place and reason, the others work', () => {
  const text = `{
  // a comment
  "theme": "dark",
  "mcpServers": {
    "one": { "command": "a", "args": ["-x",], },
    "two": { "command": "b", "url": "http://127.0.0.1/" , "type": "stdio"},
    "three": { "type": "http", "url": "http://127.0.0.1/mcp", /* here */ "headers": { "X-Key": "top secret" } },
    "four": { "command": "c", "env": { "A": "1" }, "cwd": "/tmp" },
    "five": { "command": "d" },
  },
}`;
  const { servers, problems } = readServersFile(text, 'settings.jsonc');
  assert.deepEqual(problems, []);
  assert.deepEqual(judged(servers), {
    one: { type: 'stdio', command: 'a', args: ['-x'], env: {} },
    two: judged(servers)['two'],
    three: { type: 'http', url: 'http://127.0.0.1/mcp', headers: { 'X-Key': 'top secret' } },
    four: { type: 'stdio', command: 'c', args: [], env: { A: '1' }, cwd: '/tmp' },
    five: { type: 'stdio', command: 'd', args: [], env: {} },
  });
  assert.match(String(judged(servers)['two']), /settings\.jsonc:6:/);
  assert.deepEqual(
    servers?.map(({ place }) => place),
    ['5:5', '6:5', '7:5', '8:5', '9:5'].map((place) => `settings.jsonc:${place}`),
  );
});

test('M14: what is wrong with an entry is said of the kind it means to be, and no value is repeated', () => {
  const secret = 'hunter2-in-the-file';
  for (const [entry, reason] of [
    [{}, 'mcpServers.x.command: f:1:16: expected a text, found nothing'],
    [{ type: 'http' }, 'mcpServers.x.url: f:1:16: expected a text, found nothing'],
    [
      { type: 'http', url: 'http://h/', command: 'c' },
      'mcpServers.x.command: f:1:53: expected only known keys, found the key "command"',
    ],
    [
      { command: 'c', headers: { A: secret } },
      'mcpServers.x.headers: f:1:35: expected only known keys, found the key "headers"',
    ],
    [
      { command: 'c', shell: true },
      'mcpServers.x.shell: f:1:35: expected only known keys, found the key "shell"',
    ],
    [{ command: 'c', env: { TOKEN: 7 } }, 'mcpServers.x.env.TOKEN: f:1:42: expected a text, found a number'],
    [
      { command: 'c', env: { TOKEN: `\${${secret}` } },
      /^mcpServers\.x\.env\.TOKEN: f:1:42: expected "\$\{NAME\}" with .*, found a text of 21 characters$/,
    ],
    [
      { type: 'http', url: `http://me:${secret}@h/` },
      /expected an http or https URL without user and password, found a text of 32 characters$/,
    ],
    [{ type: 'sse', url: 'http://h/' }, /"sse"/],
    ['text', /expected an object, found a text of 4 characters/],
    [null, /expected an object, found null/],
  ] as const) {
    const { servers } = readServersFile(JSON.stringify({ mcpServers: { x: entry } }), 'f');
    const found = String(judged(servers)['x']);
    if (typeof reason === 'string') assert.equal(found, reason);
    else assert.match(found, reason);
    assert.ok(!found.includes(secret), found);
  }
});

test('M14: a file that is none, and names that are none', () => {
  for (const [text, evidence] of [
    ['{ "mcpServers": ', /^f:1:\d+: expected a value, found the end of the file/],
    ['', /^f:1:1: expected/],
    ['[]', 'f:1:1: expected an object, found something else'],
    ['{ "mcpServers": [] }', 'f:1:3: expected an object, found something else'],
    ['{ "disabledMcpServers": "x" }', 'f:1:3: expected a list of names, found something else'],
    [`{ "mcpServers": {} }${' '.repeat(1_048_576)}`, /at most 1048576 bytes/],
  ] as const) {
    const [found] = readServersFile(text, 'f').problems;
    assert.equal(found?.code, 'connections/file-unreadable');
    if (typeof evidence === 'string') assert.equal(found?.evidence, evidence);
    else assert.match(found?.evidence ?? '', evidence);
  }
  const odd =
    '{"mcpServers": {"a*": {"command": "c"}, "__proto__": {"command": "c"}, "b": {"command": "c"}, "b": {"command": "d"}}}';
  const names = judged(readServersFile(odd, 'f').servers);
  assert.deepEqual(Object.keys(names), ['a*', '__proto__', 'b']);
  assert.ok(Object.values(names).every((value) => typeof value === 'string'));
});

test('--mcp-config: a missing file and a missing key each say so; only the key is read', (t) => {
  const dir = tempDir(t);
  const file = join(dir, 'servers.json');
  const sentence = (): string => {
    const read = readMcpConfig(file);
    return read.ok ? '' : read.problem.message;
  };
  assert.equal(sentence(), 'The file of servers does not exist.');
  writeFileSync(file, '{ "servers": {} }');
  assert.equal(sentence(), 'The file has no key "mcpServers".');
  mkdirSync(join(dir, 'folder'));
  const folder = readMcpConfig(join(dir, 'folder'));
  assert.ok(!folder.ok && folder.problem.code === 'connections/file-unreadable');
  writeFileSync(file, '{ "mcpServers": ');
  assert.equal(sentence(), 'The file of servers cannot be read.');
  writeFileSync(
    file,
    '{ "mcpServers": { "x": { "command": "c" } }, "disabledMcpServers": ["x", 7], "permissions": 7 }',
  );
  const read = readMcpConfig(file);
  assert.ok(read.ok);
  assert.deepEqual(Object.keys(judged(read.value.servers)), ['x']);
  assert.equal(read.value.disabled.size, 0);
});

test('a project: the nearest settings on the way up', (t) => {
  const dir = tempDir(t);
  const deep = join(dir, 'a', 'b', 'c');
  mkdirSync(deep, { recursive: true });
  const write = (folder: string, name: string): void => {
    mkdirSync(join(folder, '.jupiter'), { recursive: true });
    writeFileSync(
      join(folder, '.jupiter', 'settings.jsonc'),
      `{ "mcpServers": { "${name}": { "command": "c" } }, "disabledMcpServers": ["off"] } // end`,
    );
  };
  write(dir, 'outer');
  assert.equal(readProjectSettings(deep)?.folder, dir);
  write(join(dir, 'a', 'b'), 'inner');
  const found = readProjectSettings(deep);
  assert.equal(found?.folder, join(dir, 'a', 'b'));
  assert.deepEqual(Object.keys(judged(found?.servers)), ['inner']);
  assert.deepEqual([...(found?.disabled ?? [])], ['off']);
  assert.equal(readProjectSettings(join(dir, 'not-there')), undefined);
});

const base = {
  programs: {
    probe: { command: 'probe', args: ['-x'], inherit: ['TOKEN'], trust: 'full' },
    stray: { command: 'stray' },
  },
  origins: { web: { url: 'http://127.0.0.1:1/mcp', bearer: 'WEB' } },
};
const server = (transport: object, exposure = 'gateway') => ({
  transport,
  consumers: { sessions: ['a'] },
  exposure,
});
const named = (servers: object): readonly NamedEntry[] =>
  readServersFile(JSON.stringify({ mcpServers: servers }), 'p').servers ?? [];
const project = (folder: string, servers: object, disabled: readonly string[] = []) => ({
  folder,
  file: `${folder}/.jupiter/settings.jsonc`,
  servers: named(servers),
  disabled: new Set(disabled),
  problems: [],
});
const shown = (sources: Omit<EntrySources, 'home' | 'realPath'>): Record<string, unknown> =>
  Object.fromEntries(
    serverEntries({ home: '/home', realPath: (folder) => folder, ...sources }).map(
      ({ key, transport, bearer, disabled, fault }) => [
        key,
        disabled ??
          (fault === undefined
            ? { ...transport, ...(bearer && { bearer }) }
            : `${fault.code}: ${fault.evidence}`),
      ],
    ),
  );

test('servers of the policy: through the gateway, with the reasons they cannot be; direct ones are not dialled', () => {
  const policy = policyOf({
    ...base,
    servers: {
      probe: server({ type: 'stdio', program: 'probe' }),
      stray: server({ type: 'stdio', program: 'stray' }),
      gone: server({ type: 'stdio', program: 'gone' }),
      web: server({ type: 'http', origin: 'web' }),
      nowhere: server({ type: 'http', origin: 'nowhere' }),
      direct: server({ type: 'stdio', program: 'probe' }, 'direct'),
      skills: server({ type: 'station' }),
      off: server({ type: 'http', origin: 'web' }),
    },
    mcpServers: {
      'Internet Search': { command: './bin/search', cwd: 'sub' },
      probe: { command: 'other' },
    },
    disabledMcpServers: ['off'],
  });
  assert.deepEqual(shown({ policy }), {
    'policy/direct': "direct: the agent's own client connects",
    'policy/gone':
      'connections/no-transport: servers.gone.transport.program: the program "gone" is not in the policy',
    'policy/nowhere':
      'connections/no-transport: servers.nowhere.transport.origin: the origin "nowhere" is not in the policy',
    'policy/off': 'disabled by policy (disabledMcpServers)',
    'policy/probe': {
      type: 'stdio',
      command: 'probe',
      args: ['-x'],
      env: {},
      cwd: '/home',
      inherit: ['TOKEN'],
    },
    'policy/stray':
      'connections/no-transport: programs.stray: the program "stray" is not trusted ("trust": "full")',
    'policy/web': { type: 'http', url: 'http://127.0.0.1:1/mcp', headers: {}, bearer: 'WEB' },
    'policy/Internet Search': {
      type: 'stdio',
      command: '/home/bin/search',
      args: [],
      env: {},
      cwd: '/home/sub',
    },
    'policy/mcpServers/probe': 'connections/name-taken: mcpServers.probe; it is that of servers.probe',
  });
});

test('a project adds servers only where it is trusted, and takes over no name, however it is written', () => {
  const policy = policyOf({
    ...base,
    servers: { probe: server({ type: 'stdio', program: 'probe' }) },
    mcpServers: { Search: { command: 's' } },
    trustedProjects: ['/trusted'],
  });
  const servers = {
    own: { command: 'o' },
    probe: { command: 'evil' },
    search: { command: 'evil' },
    PROBE: { command: 'evil' },
    bad: {},
  };
  const trusted = shown({ policy, project: project('/trusted', servers) });
  assert.deepEqual(trusted['project:/trusted/own'], {
    type: 'stdio',
    command: 'o',
    args: [],
    env: {},
    cwd: '/trusted',
  });
  assert.match(String(trusted['project:/trusted/probe']), /^connections\/name-taken: .*servers\.probe$/);
  assert.match(String(trusted['project:/trusted/PROBE']), /^connections\/name-taken: .*servers\.probe$/);
  assert.match(String(trusted['project:/trusted/search']), /^connections\/name-taken: .*mcpServers\.Search$/);
  assert.match(String(trusted['project:/trusted/bad']), /^connections\/entry: /);
  assert.match(JSON.stringify(trusted['policy/probe']), /"command":"probe"/);

  const stranger = shown({ policy, project: project('/stranger', servers) });
  for (const name of Object.keys(servers))
    assert.equal(
      stranger[`project:/stranger/${name}`],
      `its project is not trusted; jupiter policy set trustedProjects '["/trusted","/stranger"]' trusts it`,
    );
  // A folder that only looks like a trusted one.
  const links = { '/trusted': '/elsewhere' } as Record<string, string>;
  const [own] = serverEntries({
    policy,
    home: '/home',
    project: project('/trusted', { own: { command: 'o' } }),
    realPath: (folder) => links[folder] ?? folder,
  }).slice(-1);
  assert.match(own?.disabled ?? '', /not trusted/);
});

test('servers of a session: innermost, in its folder; what any layer disables is not dialled', () => {
  const policy = policyOf({
    ...base,
    mcpServers: { a: { command: 'a' } },
    trustedProjects: ['/p'],
    disabledMcpServers: ['one'],
  });
  const found = shown({
    policy,
    project: project('/p', { b: { command: 'b' } }, ['two', 'a']),
    session: {
      id: 's1',
      cwd: '/work',
      servers: named({
        a: { command: 'x' },
        b: { command: 'x' },
        one: { command: 'x' },
        two: { command: 'x' },
        three: { command: 'x' },
      }),
    },
  });
  assert.equal(found['policy/a'], 'disabled by /p/.jupiter/settings.jsonc');
  assert.match(JSON.stringify(found['project:/p/b']), /"cwd":"\/p"/);
  assert.match(String(found['session:s1/b']), /name-taken/);
  assert.equal(found['session:s1/one'], 'disabled by policy (disabledMcpServers)');
  assert.equal(found['session:s1/two'], 'disabled by /p/.jupiter/settings.jsonc');
  assert.match(JSON.stringify(found['session:s1/three']), /"cwd":"\/work"/);
  // What one project disables is dialled for the others.
  const view = (sources: Omit<EntrySources, 'home'>) => serverEntries({ home: '/home', ...sources });
  const off = view({ policy, project: project('/q', {}, ['a']) });
  const all = allEntries([off, view({ policy })]);
  assert.deepEqual(
    all.map(({ key, disabled }) => [key, disabled]),
    [['policy/a', undefined]],
  );
});

test('M13: secrets are the variables that are named, and texts that stand in their place', () => {
  const entry = (transport: ServerEntry['transport'], more: Partial<ServerEntry> = {}): ServerEntry => ({
    key: 'policy/x',
    name: 'x',
    place: 'x',
    transport,
    ...more,
  });
  // biome-ignore-start lint/suspicious/noTemplateCurlyInString: this is how variables are written
  const { names, literals } = secretsOf([
    entry(
      {
        type: 'http',
        url: 'https://h/${PATH_KEY}/v1/mcp/Zk4r81pQx0TbN72mWc9L?api_key=in-a-query&session=a1b2c3d4e5f6a7b8&lang=english#x',
        headers: {
          Authorization: 'Bearer abcdef-123',
          Other: 'Basic bWU6b3Blbi1zZXNhbWU=',
          'X-Both': 'pre-fix-${ONE}',
          Accept: 'text/html',
        },
      },
      { bearer: 'BEARER' },
    ),
    entry({
      type: 'stdio',
      command: '${BIN}/x',
      args: [
        '--key=${TWO}',
        '--api-key=in-an-option',
        '--token',
        'in-an-argument',
        '--verbose',
        '@scope/server-everything@2026.1.2',
        'server-everything-2026.12.31',
        'AUTH=in-a-pair',
        '--db',
        'postgres://me:pass-of-db@db/x',
        'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
        '--header',
        'Authorization: Bearer of-a-header',
        '--header=X-Api-Key:of-another',
        'Accept: text/html',
        '--token',
        'with:a-colon',
      ],
      env: {
        API_KEY: 'plainly a secret',
        NODE_ENV: 'production',
        HOME: '/home/somebody/of/length1',
        MADE: 'x8Jq2LmPz0Rt5Vw9',
        URL: 'postgres://me:pass-word@db/x',
        REF: '${THREE}',
        SHORT: 'abc',
        TOKEN_SHORT: 'abc',
      },
      inherit: ['FOUR'],
    }),
  ]);
  // biome-ignore-end lint/suspicious/noTemplateCurlyInString: this is how variables are written
  assert.deepEqual([...names].sort(), ['BEARER', 'BIN', 'FOUR', 'ONE', 'PATH_KEY', 'THREE', 'TWO']);
  assert.deepEqual(Object.fromEntries(literals), {
    'x.headers.Authorization': 'abcdef-123',
    'x.headers.Other': 'bWU6b3Blbi1zZXNhbWU=',
    'x.headers.X-Both': 'pre-fix-',
    'x.url': 'in-a-query',
    'x.url (1)': 'a1b2c3d4e5f6a7b8',
    'x.url (2)': 'Zk4r81pQx0TbN72mWc9L',
    'x.args': 'in-an-option',
    'x.args (7)': 'in-an-argument',
    'x.args (8)': 'in-a-pair',
    'x.args (9)': 'pass-of-db',
    'x.args (10)': 'ghp_16C7e42F292c6912E7710c838347Ae178B4a',
    'x.args (11)': 'of-a-header',
    'x.args (12)': 'of-another',
    'x.args (13)': 'with:a-colon',
    'x.env.API_KEY': 'plainly a secret',
    'x.env.MADE': 'x8Jq2LmPz0Rt5Vw9',
    'x.env.URL': 'pass-word',
  });
});
