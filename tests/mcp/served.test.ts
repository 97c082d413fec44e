/** Which skills are served, and as what; which are not, and why: every one a row. */
import assert from 'node:assert/strict';
import { chmodSync, symlinkSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { skillEntry } from '@modelcontextprotocol/server/ext/skills';
import { mendedBytes, servedDocument } from '../../host/mcp/channel/served.ts';
import { parseSkill } from '../../host/skills/index.ts';
import { openDesk, skill, skillsIn, writeFiles } from './published.ts';

const bytes = (text: string): Uint8Array => Buffer.from(text);
const serve = (name: string, content: string | Uint8Array) => {
  const document = parseSkill(typeof content === 'string' ? bytes(content) : content, { folder: name });
  if (!document.ok) return { code: document.problem.code };
  const served = servedDocument(document.value, name);
  if (!served.ok) return { code: served.problem.code };
  const sent = served.value.mended ? mendedBytes(document.value, name) : Buffer.from(document.value.raw);
  assert.equal(sent.length, served.value.size);
  return { ...served.value, text: sent.toString('utf8'), bytes: sent };
};

const asAuthored: readonly (readonly [string, string])[] = [
  ['name and description', skill('deploy')],
  ['CRLF', skill('deploy').replaceAll('\n', '\r\n')],
  ['a byte order mark', `\ufeff${skill('deploy')}`],
  ['no final newline', '---\nname: deploy\ndescription: d\n---'],
  ['quoted, a comment behind', "---\n# why\nname: \"deploy\" # it\ndescription: 'it''s'\n---\nx"],
  ['folded over lines', '---\nname: deploy\ndescription: >-\n  one\n  two\n---\nx'],
  [
    'other fields and a date',
    skill('deploy', 'x', 'license: MIT\nwhen: 2026-01-01\nmetadata:\n  a: "1"\nn: [1, true, null]\n'),
  ],
  ['1,024 characters', `---\nname: deploy\ndescription: ${'é'.repeat(1024)}\n---\n`],
];
for (const [what, text] of asAuthored) {
  test(`served as authored: ${what}`, async () => {
    const served = serve('deploy', text);
    assert.ok('text' in served, JSON.stringify(served));
    assert.equal(served.mended, false);
    assert.equal(served.text, text);
    // The SDK reads the same out of the same bytes.
    const entry = await skillEntry('deploy', { 'SKILL.md': served.bytes });
    assert.deepEqual(entry.frontmatter, served.frontmatter);
    assert.deepEqual(entry.resources, [
      { uri: 'skill://deploy/SKILL.md', digest: `sha256:${served.sha256}`, size: served.size },
    ]);
  });
}

const front = 'name: "deploy"\ndescription: ';
const completed: readonly (readonly [string, string, string])[] = [
  ['no name', '---\ndescription: d\n---\nx', `---\n${front}"d"\n---\nx`],
  [
    'another name',
    '---\nname: other\ndescription: d\nlicense: MIT\n---\nx',
    `---\n${front}"d"\nlicense: MIT\n---\nx`,
  ],
  ['no description', '---\nname: deploy\n---\n# Ship it\nx', `---\n${front}"Ship it"\n---\n# Ship it\nx`],
  [
    'S3: an unquoted colon',
    '---\nname: deploy\ndescription: for X. Triggers: a, b\n---\n',
    `---\n${front}"for X. Triggers: a, b"\n---\n`,
  ],
  ['a name that is no string', '---\nname: 5\ndescription: d\n---\n', `---\n${front}"d"\n---\n`],
  [
    'a description of several lines',
    '---\nname: x\ndescription: |\n  a "b"\n\n  c\n# stays\nother: 1\n---\n',
    `---\n${front}"a \\"b\\"\\n\\nc"\n# stays\nother: 1\n---\n`,
  ],
  [
    'CRLF and a byte order mark',
    '\ufeff---\r\nname: x\r\ndescription: d\r\n---\r\nb\r\n',
    `\ufeff---\r\n${front.replace('\n', '\r\n')}"d"\r\n---\r\nb\r\n`,
  ],
  ['spaces behind the first line', '---  \nname: deploy\ndescription: d\n---\n', `---\n${front}"d"\n---\n`],
  ['an empty frontmatter', '---\n---\nbody\n', `---\n${front}"body"\n---\nbody\n`],
];
for (const [what, text, wanted] of completed) {
  test(`served with name and description in front: ${what}`, async () => {
    const served = serve('deploy', text);
    assert.ok('text' in served, JSON.stringify(served));
    assert.equal(served.mended, true);
    assert.equal(served.text, wanted);
    const entry = await skillEntry('deploy', { 'SKILL.md': served.bytes });
    assert.deepEqual(entry.frontmatter, served.frontmatter);
  });
}

const refusedDocuments: readonly (readonly [string, string, string | Uint8Array, string])[] = [
  ['S4: no frontmatter', 'deploy', 'Just text.\n', 'channel/no-frontmatter'],
  ['an unclosed frontmatter', 'deploy', '---\nname: deploy\n', 'skill/frontmatter-unclosed'],
  ['Latin-1', 'deploy', new Uint8Array([0x2d, 0x2d, 0x2d, 0x0a, 0xe9]), 'skill/not-text'],
  ['nothing to describe it', 'deploy', '---\nname: deploy\n---\n', 'channel/no-description'],
  [
    '1,025 characters',
    'deploy',
    `---\nname: deploy\ndescription: ${'x'.repeat(1025)}\n---\n`,
    'channel/description-too-long',
  ],
  ['a name with capitals', 'Deploy', skill('Deploy'), 'channel/name'],
  ['a name of 65 characters', 'a'.repeat(65), skill('a'.repeat(65)), 'channel/name'],
  ['a doubled hyphen', 'a--b', skill('a--b'), 'channel/name'],
  ['metadata with a number', 'deploy', skill('deploy', 'x', 'metadata:\n  a: 1\n'), 'channel/frontmatter'],
  [
    'a long compatibility',
    'deploy',
    skill('deploy', 'x', `compatibility: ${'x'.repeat(501)}\n`),
    'channel/frontmatter',
  ],
  ['an alias', 'deploy', skill('deploy', 'x', 'a: &a [1]\nb: *a\n'), 'skill/frontmatter-not-strict'],
  ['a tag', 'deploy', skill('deploy', 'x', 'a: !!binary aGk=\n'), 'skill/frontmatter-not-strict'],
  [
    'a key that is there twice',
    'deploy',
    skill('deploy', 'x', 'a: 1\na: 2\n'),
    'skill/frontmatter-not-strict',
  ],
  ['a key that is no string', 'deploy', skill('deploy', 'x', '? [a]\n: 1\n'), 'skill/frontmatter-not-strict'],
  ['a number that JSON has not', 'deploy', skill('deploy', 'x', 'n: .inf\n'), 'skill/frontmatter-not-strict'],
  ['bare CR', 'deploy', skill('deploy').replaceAll('\n', '\r'), 'skill/frontmatter-not-strict'],
  ['__proto__', 'deploy', skill('deploy', 'x', '__proto__: 1\n'), 'skill/frontmatter-not-strict'],
];
for (const [what, name, content, code] of refusedDocuments) {
  test(`not served: ${what}`, () => assert.deepEqual(serve(name, content), { code }));
}

test('policy "authored" leaves out what "complete" would serve with name and description', async (t) => {
  const files = { 'a/SKILL.md': skill('a'), 'b/SKILL.md': skill('other') };
  const complete = await openDesk(t, files);
  const listed = async (desk: typeof complete) =>
    skillsIn(await desk.ask('skills/list')).map(({ uri }) => uri);
  assert.deepEqual(await listed(complete), ['skill://a/SKILL.md', 'skill://b/SKILL.md']);
  const authored = await openDesk(t, files, { frontmatter: 'authored' });
  assert.deepEqual(await listed(authored), ['skill://a/SKILL.md']);
  assert.deepEqual(
    authored.left.map(({ problem }) => problem.code),
    ['channel/frontmatter-incomplete'],
  );
});

test('S4: a skill is published whole or not at all, each reason is told once, and the good ones are there', async (t) => {
  const many = Object.fromEntries(Array.from({ length: 512 }, (_, n) => [`too-many/f${n}.md`, '']));
  const full = Object.fromEntries(Array.from({ length: 511 }, (_, n) => [`at-limit/f${n}.md`, '']));
  const document = skill('at-size');
  const desk = await openDesk(t, {
    ...many,
    ...full,
    'too-many/SKILL.md': skill('too-many'),
    'at-limit/SKILL.md': skill('at-limit'),
    'at-size/SKILL.md': document,
    'at-size/big.bin': new Uint8Array(16 * 1024 * 1024 - document.length),
    'over-size/SKILL.md': skill('over-size'),
    'over-size/big.bin': new Uint8Array(16 * 1024 * 1024 - 10),
    // At the limit as it stands, beyond it with the name and description that are put in front.
    'grown/SKILL.md': '---\n---\nbody\n',
    'grown/big.bin': new Uint8Array(16 * 1024 * 1024 - 13),
    'plain/SKILL.md': 'No frontmatter.\n',
    'linked/SKILL.md': skill('linked'),
    'locked/SKILL.md': skill('locked'),
    'locked/secret.md': 'x',
    'good/SKILL.md': skill('good'),
  });
  symlinkSync('/etc/hostname', join(desk.dir, 'linked', 'x.md'));
  chmodSync(join(desk.dir, 'locked', 'secret.md'), 0);
  const uris = async () => skillsIn(await desk.ask('skills/list')).map(({ uri }) => uri);
  const readable = process.getuid?.() === 0 ? ['skill://locked/SKILL.md'] : [];
  const expected = [
    'skill://at-limit/SKILL.md',
    'skill://at-size/SKILL.md',
    'skill://good/SKILL.md',
    ...readable,
  ];
  assert.deepEqual(await uris(), expected);
  writeFiles(desk.dir, { 'good/more.md': 'x' });
  await desk.ask('resources/read', { uri: 'skill://good/SKILL.md' });
  assert.deepEqual(await uris(), expected);
  const told = desk.left.map(({ where, problem }) => `${where.slice(desk.dir.length + 1)} ${problem.code}`);
  assert.deepEqual(told.sort(), [
    'grown skill/too-large',
    'linked skill/link',
    ...(readable.length > 0 ? [] : ['locked skill/unreadable']),
    'over-size skill/too-large',
    'plain channel/no-frontmatter',
    'too-many skill/too-many-files',
  ]);
});

test('skills at any depth, inside each other, and two sources at one place', async (t) => {
  const desk = await openDesk(
    t,
    {
      'one/acme/billing/refunds/SKILL.md': skill('refunds'),
      'one/acme/billing/refunds/inner/SKILL.md': skill('other'),
      'one/acme/billing/refunds/inner/x.md': 'x',
      'one/acme/support/refunds/SKILL.md': skill('refunds'),
      'two/acme/SKILL.md': skill('acme'),
      'two/solo/SKILL.md': skill('solo'),
    },
    { sources: (dir) => ({ folders: [join(dir, 'one'), join(dir, 'two'), join(dir, 'gone')] }) },
  );
  const entries = (await desk.ask('skills/list')).message.result?.['skills'] as {
    uri: string;
    resources: { uri: string; digest: string }[];
  }[];
  assert.deepEqual(
    entries.map(({ uri, resources }) => [uri, resources.length]),
    [
      ['skill://acme/billing/refunds/SKILL.md', 3],
      ['skill://acme/billing/refunds/inner/SKILL.md', 2],
      ['skill://acme/support/refunds/SKILL.md', 1],
      ['skill://solo/SKILL.md', 1],
    ],
  );
  // The inner SKILL.md is served completed, and the outer skill lists what is served.
  const inner = 'skill://acme/billing/refunds/inner/SKILL.md';
  const digests = entries.flatMap(({ resources }) => resources).filter(({ uri }) => uri === inner);
  assert.equal(digests.length, 2);
  assert.equal(digests[0]?.digest, digests[1]?.digest);
  assert.deepEqual(desk.left.map(({ problem }) => problem.code).sort(), ['channel/folder', 'channel/taken']);
});
