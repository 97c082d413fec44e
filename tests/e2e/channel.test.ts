import assert from 'node:assert/strict';
import { dirname, join } from 'node:path';
import test from 'node:test';
import { modernRequest, post, writeFiles } from '../mcp/published.ts';
import { everyFile, openBench, probePolicy, skillBundle, skillText } from './harness.ts';

interface Entries {
  readonly skills: readonly { readonly uri: string }[];
}
interface Status {
  readonly web?: { readonly port?: number; readonly problem?: { readonly code: string } };
}

const canary = 'canary-token-1b3d5f';

test('a station publishes what policy says, to whoever holds the token, and nothing else', async (t) => {
  const bench = openBench(t, { policy: probePolicy(), env: { CHANNEL_TOKEN: canary } });
  const folder = join(dirname(bench.workspace), 'published');
  writeFiles(folder, { 'acme/deploy/SKILL.md': skillText('deploy'), 'plain/SKILL.md': 'No frontmatter.\n' });
  const policy = (mcp: unknown) => bench.policy(JSON.stringify(probePolicy({ channel: { mcp } })));
  policy({ skills: ['bundles', folder], tokens: ['CHANNEL_TOKEN'] });
  const { port } = await bench.ask<{ port: number }>('up', '--port', '0');
  const bundle = await skillBundle(dirname(bench.workspace), 'test.skills', {
    review: { 'SKILL.md': skillText('review') },
  });
  await bench.ask('bundle', 'install', bundle);
  assert.equal((await bench.ask<Status>('status')).web?.port, port);

  const list = (token?: string) => {
    const sent = modernRequest('skills/list');
    const authorization = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return post(port, { ...sent, headers: { ...sent.headers, ...authorization } });
  };
  assert.equal((await list()).status, 401);
  assert.equal((await list('wrong')).status, 401);
  const listed = await list(canary);
  assert.equal(listed.status, 200, listed.text);
  assert.deepEqual(
    (listed.message.result as unknown as Entries).skills.map(({ uri }) => uri),
    ['skill://acme/deploy/SKILL.md', 'skill://test.skills/review/SKILL.md'],
  );

  // Policy as it is at each request.
  policy({ skills: 'none', tokens: ['CHANNEL_TOKEN'] });
  const later = async (): Promise<number> => {
    const { result } = (await list(canary)).message;
    return (result as unknown as Entries).skills.length;
  };
  const end = Date.now() + 20_000;
  while ((await later()) > 0 && Date.now() < end);
  assert.equal(await later(), 0);
  bench.policy(JSON.stringify(probePolicy()));
  assert.equal((await list(canary)).status, 404);

  const log = bench.home;
  await bench.ask('down');
  const written = everyFile(join(log, 'logs')).map(([, bytes]) => bytes.toString('utf8'));
  const reasons = written.join('\n').match(/it is a command here and is not published/g) ?? [];
  assert.equal(reasons.length, 1, 'the reason is logged once');
  assert.equal(written.join('\n').includes(canary), false);
});

test('nothing listens unless a port is named; a port that is taken is a problem with its number', async (t) => {
  const bench = openBench(t, { policy: probePolicy() });
  await bench.ask('up');
  assert.equal((await bench.ask<Status>('status')).web, undefined);
  await bench.ask('down');

  const first = await bench.ask<{ port: number }>('up', '--port', '0');
  const other = openBench(t, { policy: probePolicy({ channel: { port: first.port } }) });
  const refused = await other.jupiter('--json', 'up', '--port', String(first.port));
  assert.equal(refused.code, 1);
  assert.match(refused.stdout, /channel\/port/);
  // A port of the policy does not keep the station from its work.
  await other.ask('up');
  assert.equal((await other.ask<Status>('status')).web?.problem?.code, 'channel/port');
});
