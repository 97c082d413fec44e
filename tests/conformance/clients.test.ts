/** Clients of others read every fixture back byte for byte: the SDK v2 with its SkillsClient, and v1. */
import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { SkillsClient } from '@modelcontextprotocol/client/ext/skills';
import { Client as OlderClient } from '@modelcontextprotocol/sdk/client/index.js';
import { StreamableHTTPClientTransport as OlderTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import type { Transport as AnyTransport } from '@modelcontextprotocol/sdk/shared/transport.js';
import { z } from 'zod';
import { type Files, openDesk, skill } from '../mcp/published.ts';
import { everyKind } from './skills-fixture.ts';

const fixtures = (): Files => ({
  ...everyKind(),
  'acme/support/refunds/SKILL.md': skill('refunds', 'The same name elsewhere.'),
});
/** The only file that is not served as it stands. */
const completed = 'completed/SKILL.md';
const bytesOf = (content: string | Uint8Array): Buffer =>
  typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
const uriOf = (path: string): string => `skill://${path.split('/').map(encodeURIComponent).join('/')}`;

for (const mode of ['2026-07-28', 'legacy'] as const) {
  test(`the official client v2 lists, verifies and reads every file, at ${mode}`, async (t) => {
    const files = fixtures();
    const { url } = await openDesk(t, files, { tokens: ['a-token'] });
    const client = new Client(
      { name: 'test', version: '1' },
      { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } } },
    );
    t.after(() => client.close());
    const headers = { authorization: 'Bearer a-token' };
    await client.connect(new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers } }));
    const skills = new SkillsClient(client);
    assert.deepEqual([skills.supported, skills.directoryRead], [true, true]);
    const { skills: entries, invalid } = await skills.list();
    assert.deepEqual(invalid, []);
    const seen = new Set<string>();
    for (const entry of entries) {
      assert.deepEqual((await skills.get(entry.uri)).skill, entry);
      for (const { uri } of entry.resources === 'dynamic' ? [] : entry.resources) {
        // A nested skill's files are in its own entry and in the one around it.
        if (seen.has(uri)) continue;
        seen.add(uri);
        const read = await skills.read(entry, uri);
        assert.equal(read.verified, true);
        const path = Object.keys(files).find((one) => uriOf(one) === uri) ?? '';
        if (path === completed)
          assert.match(String(read.text), /^---\nname: "completed"\ndescription: "use it for X/);
        else assert.ok(bytesOf(files[path] ?? '').equals(read.bytes), uri);
      }
    }
    assert.deepEqual([...seen].sort(), Object.keys(files).map(uriOf).sort());

    const walked: string[] = [];
    const walk = async (uri: string): Promise<void> => {
      for (const child of (await skills.readDirectory(uri)).resources) {
        if (child.mimeType === 'inode/directory') await walk(child.uri);
        else walked.push(child.uri);
      }
    };
    const roots = entries.map(({ uri }) => uri.slice(0, -'/SKILL.md'.length));
    for (const root of roots.filter((one) => !roots.some((outer) => one.startsWith(`${outer}/`))))
      await walk(root);
    assert.deepEqual(walked.sort(), [...seen].sort());
  });
}

test('the older client v1 reads every file by its URI', async (t) => {
  const files = fixtures();
  const { url } = await openDesk(t, files);
  const client = new OlderClient({ name: 'test', version: '1' });
  t.after(() => client.close());
  await client.connect(new OlderTransport(new URL(url)) as unknown as AnyTransport);
  const listed: string[] = [];
  let cursor: string | undefined;
  do {
    const page = await client.listResources(cursor === undefined ? {} : { cursor });
    listed.push(...page.resources.map(({ uri }) => uri));
    cursor = page.nextCursor;
  } while (cursor !== undefined);
  const documents = Object.keys(files).filter((path) => path.endsWith('/SKILL.md'));
  assert.deepEqual(listed.sort(), documents.map(uriOf).sort());
  const { resourceTemplates } = await client.listResourceTemplates();
  assert.deepEqual(
    resourceTemplates.map(({ uriTemplate }) => uriTemplate),
    ['skill://{+path}'],
  );

  const entry = z.looseObject({
    uri: z.string(),
    resources: z.array(z.looseObject({ uri: z.string(), digest: z.string() })),
  });
  const digests = new Map<string, string>();
  for (const uri of listed) {
    const { skill: found } = (await client.request(
      { method: 'skills/get', params: { uri } } as never,
      z.looseObject({ skill: entry }) as never,
    )) as { skill: z.output<typeof entry> };
    for (const file of found.resources) digests.set(file.uri, file.digest);
  }
  for (const [path, content] of Object.entries(files)) {
    const uri = uriOf(path);
    const { contents } = await client.readResource({ uri });
    const [first] = contents as { text?: string; blob?: string }[];
    const read =
      first?.text === undefined ? Buffer.from(first?.blob ?? '', 'base64') : Buffer.from(first.text);
    assert.equal(`sha256:${createHash('sha256').update(read).digest('hex')}`, digests.get(uri), uri);
    if (path !== completed) assert.ok(bytesOf(content).equals(read), uri);
  }
});
