import assert from 'node:assert/strict';
import test from 'node:test';
import { readPolicy } from '../../host/policy/index.ts';

const read = (channel: unknown) => readPolicy(Buffer.from(JSON.stringify({ channel })), 'policy.jsonc');

test('channel: what is published, to whom, and where; absent is nothing', () => {
  assert.equal(readPolicy(Buffer.from('{}'), 'policy.jsonc').channel, undefined);
  assert.deepEqual(read({ port: 4720 }).channel, { port: 4720 });
  assert.deepEqual(
    read({ mcp: { skills: ['/srv/skills', 'bundles', '/srv/skills'], tokens: ['A_TOKEN'] } }).channel,
    {
      mcp: { bundles: true, folders: ['/srv/skills'], frontmatter: 'complete', tokens: ['A_TOKEN'] },
    },
  );
  assert.deepEqual(read({ mcp: { skills: 'none', tokens: 'none', frontmatter: 'authored' } }).channel, {
    mcp: { bundles: false, folders: [], frontmatter: 'authored', tokens: 'none' },
  });
});

test('channel: a wrong entry is a problem, and nothing is published', () => {
  for (const [channel, expected] of [
    [{ port: 0 }, 'channel.port'],
    [{ port: 4720.5 }, 'channel.port'],
    [{ mcp: { skills: ['bundles'] } }, 'channel.mcp.tokens'],
    [{ mcp: { tokens: 'none' } }, 'channel.mcp.skills'],
    [{ mcp: { skills: 'all', tokens: 'none' } }, 'channel.mcp.skills'],
    [{ mcp: { skills: ['./skills'], tokens: 'none' } }, 'channel.mcp.skills'],
    [{ mcp: { skills: [], tokens: [] } }, 'channel.mcp.tokens'],
    [{ mcp: { skills: [], tokens: ['a token'] } }, 'channel.mcp.tokens'],
    [{ mcp: { skills: [], tokens: 'none', more: 1 } }, 'channel.mcp.more'],
  ] as const) {
    const policy = read(channel);
    assert.equal(policy.channel, undefined);
    assert.ok(policy.problems[0]?.subject?.startsWith(expected), JSON.stringify(policy.problems));
  }
});

test('channel: a token pasted where its name belongs is never repeated', () => {
  const secret = 'sk-live 0123456789';
  assert.equal(
    JSON.stringify(read({ mcp: { skills: [], tokens: [secret] } }).problems).includes(secret),
    false,
  );
});
