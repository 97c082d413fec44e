/** The way past the SDK answers as the SDK does. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { modernRequest, olderRequest, openDesk, post, type Sent, skill } from './published.ts';

const files: Record<string, string | Uint8Array> = {
  'deploy/SKILL.md': skill('deploy'),
  'deploy/scripts/run.sh': 'echo run\n',
  'deploy/assets/logo.png': new Uint8Array([0x89, 0x50, 0x4e, 0x47, 0, 255]),
  'acme/billing/refunds/SKILL.md': skill(
    'refunds',
    'Refund.',
    'license: MIT\nmetadata:\n  version: "2.1.0"\n',
  ),
  'acme/billing/refunds/deep/er/x y#?.md': 'deep\r\n',
  'acme/billing/refunds/inner/SKILL.md': skill('inner'),
  'odd/SKILL.md': '---\nname: other\ndescription: use it for X. Triggers: a, b\n---\nBody\n',
};
for (let n = 0; n < 110; n += 1) files[`many-${n}/SKILL.md`] = skill(`many-${n}`);

const methods = [
  'skills/list',
  'skills/get',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/directory/read',
] as const;
const uris = [
  'skill://deploy/SKILL.md',
  'skill://deploy/scripts/run.sh',
  'skill://deploy/assets/logo.png',
  'skill://deploy',
  'skill://deploy/scripts',
  'skill://deploy/',
  'skill://acme/billing/refunds/SKILL.md',
  'skill://acme/billing/refunds/inner/SKILL.md',
  'skill://acme/billing/refunds/deep/er/x%20y%23%3F.md',
  'skill://acme/billing/refunds/deep/er/x y#?.md',
  'skill://acme',
  'skill://odd/SKILL.md',
  'skill://gone/SKILL.md',
  'skill://a/../deploy/SKILL.md',
  'SKILL://deploy/SKILL.md',
  'nonsense',
  '',
];
const cursor = (uri: string): string => Buffer.from(`after:${uri}`).toString('base64url');
const cursors = [cursor('skill://many-100/SKILL.md'), cursor('skill://deploy'), cursor('http://x'), 'zz', ''];
const ids = [1, 'a "quoted" id', 0, -5, 2 ** 40];

/** A thousand requests, good and bad, the same ones each time. */
const requests = (): readonly Sent[] => {
  const found: Sent[] = [];
  let seed = 7;
  const pick = <T>(list: readonly T[]): T => {
    seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
    return list[Math.floor((seed / 2_147_483_648) * list.length)] as T;
  };
  while (found.length < 1_000) {
    const method = pick([...methods, ...methods, 'skills/unknown', 'server/discover', 'ping']);
    const params: Record<string, unknown> = {};
    if (/get|read/.test(method) || pick([true, false, false])) params['uri'] = pick(uris);
    if (pick([true, false, false])) params['cursor'] = pick(cursors);
    if (pick([true, ...Array<false>(9).fill(false)])) params['extra'] = pick([1, null, 'x']);
    if (pick([true, ...Array<false>(9).fill(false)])) params[pick(['uri', 'cursor'])] = pick([5, null, {}]);
    const sent = pick([modernRequest, modernRequest, olderRequest])(method, params, pick(ids));
    const body = JSON.parse(String(sent.body)) as Record<string, unknown>;
    const headers = { ...sent.headers };
    const fault = pick([
      'none',
      'none',
      'none',
      'none',
      'none',
      'method',
      'name',
      'version',
      'meta',
      'key',
      'id',
      'accept',
    ]);
    if (fault === 'method') headers['mcp-method'] = 'skills/list';
    if (fault === 'name') headers['mcp-name'] = 'skill://other/SKILL.md';
    if (fault === 'version')
      headers['mcp-protocol-version'] = pick(['2026-07-28', '2024-11-05', '2025-06-18', '1999-01-01']);
    if (fault === 'meta')
      (body['params'] as Record<string, unknown>)['_meta'] = pick([{}, { progressToken: 5 }, 7]);
    if (fault === 'key') body['more'] = true;
    if (fault === 'id') body['id'] = pick([1.5, true, null, {}]);
    if (fault === 'accept') headers['accept'] = pick(['*/*', 'application/json', 'text/html']);
    found.push({ body: JSON.stringify(body), headers });
  }
  return found;
};

test('a thousand requests, good and bad, are answered the same through the SDK and past it', async (t) => {
  const past = await openDesk(t, files);
  const through = await openDesk(t, files, { onlySdk: true });
  let errors = 0;
  const all = requests();
  for (let at = 0; at < all.length; at += 20) {
    await Promise.all(
      all.slice(at, at + 20).map(async (sent) => {
        const [a, b] = await Promise.all([post(past.port, sent), post(through.port, sent)]);
        const told = `${JSON.stringify(sent.headers)} ${sent.body}\n${a.text}\n${b.text}`;
        assert.equal(a.status, b.status, told);
        assert.equal(a.headers['content-type'], b.headers['content-type'], told);
        assert.deepEqual(a.message, b.message, told);
        if (a.message.error !== undefined) errors += 1;
      }),
    );
  }
  assert.ok(errors > 200 && errors < 800, `${errors} of 1,000 were errors`);
});
