/** Names of a policy that lead nowhere, as warnings with their place; and what is none. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { policyWarnings, readPolicy } from '../../host/policy/index.ts';

const warnings = (policy: Record<string, unknown>): readonly string[] =>
  policyWarnings(readPolicy(new TextEncoder().encode(JSON.stringify(policy)), 'p'), 'p').map(
    ({ code, subject, evidence }) => `${code} ${subject} ${evidence}`,
  );
const program = { command: 'c', trust: 'full' };
const server = (transport: unknown, ...sessions: string[]) => ({
  s: { transport, consumers: { sessions }, exposure: 'gateway' },
});
const key = `ed25519:${'A'.repeat(43)}=`;

const rows: readonly (readonly [what: string, policy: Record<string, unknown>, says: readonly RegExp[]])[] = [
  ['nothing', {}, []],
  [
    "an agent's program",
    { agents: { a: { program: 'slip' } }, programs: { p: program } },
    [
      /^policy\/unknown-alias agents\.a\.program p:1:\d+: expected a name under `programs` \(p\), found "slip"$/,
    ],
  ],
  ['… whose provider is another', { agents: { a: { program: 'x', provider: 'my.bundle:one' } } }, []],
  ['… that is there', { agents: { a: { program: 'p' } }, programs: { p: program } }, []],
  [
    '… that is not trusted',
    { agents: { a: { program: 'p' } }, programs: { p: { command: 'c' }, unused: { command: 'c' } } },
    [/^process\/not-trusted programs\.p p:1:\d+: expected "trust": "full", found no trust$/],
  ],
  [
    "a server's program",
    { servers: server({ type: 'stdio', program: 'slip' }) },
    [/^policy\/unknown-alias servers\.s\.transport\.program .*\(there is none\), found "slip"$/],
  ],
  [
    '… that is not trusted',
    { servers: server({ type: 'stdio', program: 'p' }), programs: { p: { command: 'c' } } },
    [/^process\/not-trusted programs\.p /],
  ],
  [
    "a server's origin",
    { servers: server({ type: 'http', origin: 'slip' }), origins: { o: { url: 'http://h/' } } },
    [/^policy\/unknown-alias servers\.s\.transport\.origin .*`origins` \(o\), found "slip"$/],
  ],
  [
    'a consumer',
    {
      agents: { a: { program: 'p' } },
      programs: { p: program },
      servers: server({ type: 'station' }, 'a', 'ghost'),
    },
    [/^policy\/unknown-alias servers\.s\.consumers\.sessions\[1\] p:1:\d+: .*`agents` \(a\), found "ghost"$/],
  ],
  [
    'a key that must have signed',
    {
      signatures: [
        { prefix: 'team', key: 'k' },
        { prefix: 'other', key: 'slip' },
      ],
      keys: { k: key },
    },
    [/^policy\/unknown-alias signatures\[1\]\.key p:1:\d+: expected a name under `keys`, found "slip"$/],
  ],
  ['a policy with a problem: that comes first', { agents: { a: { program: 'x' } }, wrong: 1 }, []],
];
for (const [what, policy, says] of rows)
  test(`warned of: ${what}`, () => {
    const found = warnings(policy);
    assert.equal(found.length, says.length, found.join('\n'));
    for (const [at, one] of says.entries()) assert.match(found[at] ?? '', one);
  });
