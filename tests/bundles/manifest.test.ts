import assert from 'node:assert/strict';
import { test } from 'node:test';
import { z } from 'zod';
import { manifestSchema } from '../../host/bundles/index.ts';
import { decodeManifest, manifestOf } from '../../host/bundles/manifest.ts';
import { sha256, topic } from './fixture.ts';

const bytes = (path: string) => ({ path, sha256: sha256('x'), size: 1 });
const component = {
  id: 'main',
  driver: 'wasm',
  entry: 'main.wasm',
  permissions: ['store:own'],
  handles: ['demo.ask'],
  subscribes: ['demo.told'],
  publishes: ['demo.told', 'bearpunch.agents.open.v2'],
};
const command = { id: 'demo.ask', kind: 'command', shape: { request: {}, reply: {} } };
const tool = { name: 'ask', description: 'Asks.', topic: 'demo.ask', approval: 'ask' };
const base = {
  manifest: 2,
  id: 'demo.bundle-1',
  version: '1.0.0',
  content: [bytes('main.wasm')],
  components: [component],
  topics: [command, topic('demo.told')],
  tools: [tool],
};
const withComponent = (more: object) => ({ ...base, components: [{ ...component, ...more }] });

test('a manifest that is right has no problem, and lists left out are empty', () => {
  assert.deepEqual(manifestOf(base).problems, []);
  const small = manifestOf({ manifest: 2, id: 'a', version: '0.1.0', content: [] });
  assert.deepEqual(small.problems, []);
  assert.deepEqual(small.manifest?.components, []);
  assert.deepEqual(small.manifest?.topics, []);
  assert.deepEqual(small.manifest?.tools, []);
});

const wrong: readonly (readonly [string, unknown, RegExp])[] = [
  ['not an object', [], /bundle\.json/],
  ['another manifest version', { ...base, manifest: 1 }, /manifest/],
  ['an unknown key', { ...base, skills: [] }, /skills/],
  ['an unknown key of content', { ...base, content: [{ ...bytes('a'), mode: 7 }] }, /content\[0\]/],
  ['an unknown key of a component', withComponent({ env: {} }), /components\[0\]/],
  ['an unknown key of a tool', { ...base, tools: [{ ...tool, x: 1 }] }, /tools\[0\]/],
  [
    'an unknown part of a shape',
    { ...base, topics: [{ ...topic('a'), shape: { event: {}, reply: {} } }] },
    /topics\[0\]/,
  ],
  ...[
    'Demo',
    'a..b',
    '-a',
    'a-',
    'a_b',
    '',
    'a/b',
    '../a',
    'con',
    'aux.demo',
    'station',
    `a${'b'.repeat(100)}`,
  ].map((id) => [`bundle ID "${id.slice(0, 20)}"`, { ...base, id }, /"id"/] as const),
  ['a version that is none', { ...base, version: 'latest' }, /version/],
  [
    'a digest in capitals',
    { ...base, content: [{ ...bytes('a'), sha256: sha256('x').toUpperCase() }] },
    /sha256/,
  ],
  ['a negative size', { ...base, content: [{ ...bytes('a'), size: -1 }] }, /size/],
  ['a size over the bound', { ...base, content: [{ ...bytes('a'), size: 32 * 1024 * 1024 + 1 }] }, /size/],
  ['a driver we do not have', withComponent({ driver: 'node' }), /driver/],
  ['an unknown permission', withComponent({ permissions: ['fs:read'] }), /permissions/],
  ['a topic handled twice', withComponent({ handles: ['demo.ask', 'demo.ask'] }), /handles/],
  ['a topic subscribed twice', withComponent({ subscribes: ['demo.told', 'demo.told'] }), /subscribes/],
  ['a topic published twice', withComponent({ publishes: ['demo.told', 'demo.told'] }), /publishes/],
  ['a topic ID that is none', withComponent({ publishes: ['Demo'] }), /publishes/],
  [
    'an entry that is no .wasm',
    { ...withComponent({ entry: 'main.js' }), content: [bytes('main.js')] },
    /entry.*\.wasm/,
  ],
  ['an entry that is not content', withComponent({ entry: 'other.wasm' }), /entry.*other\.wasm/],
  ['an event handled', withComponent({ handles: ['demo.ask', 'demo.told'] }), /handles.*demo\.told/],
  ['a command subscribed', withComponent({ subscribes: ['demo.ask'] }), /subscribes.*demo\.ask/],
  ['a station topic published', withComponent({ publishes: ['station.woke'] }), /station\.woke/],
  [
    'a station topic declared',
    { ...base, topics: [...base.topics, topic('station.woke')] },
    /topics\[2\]\.id/,
  ],
  ['a component ID twice', { ...base, components: [component, component] }, /"main" twice/],
  ['a topic ID twice', { ...base, topics: [command, command] }, /"demo\.ask" twice/],
  ['a tool name twice', { ...base, tools: [tool, tool] }, /"ask" twice/],
  ['a tool nobody handles', { ...base, tools: [{ ...tool, topic: 'demo.told' }] }, /tools\[0\]\.topic/],
  ['a tool name that is none', { ...base, tools: [{ ...tool, name: 'a b' }] }, /tools\[0\]\.name/],
  ['an approval we do not have', { ...base, tools: [{ ...tool, approval: 'auto' }] }, /approval/],
  ['a path twice', { ...base, content: [...base.content, bytes('main.wasm')] }, /main\.wasm/],
  [
    'a file that is also a folder',
    { ...base, content: [...base.content, bytes('a'), bytes('a/b')] },
    /"a" and "a\/b"/,
  ],
  ['the manifest as content', { ...base, content: [...base.content, bytes('bundle.json')] }, /bundle\.json/],
  [
    'the record of placed skills',
    { ...base, content: [...base.content, bytes('skills/a/.bearpunch-placed.json')] },
    /reserved/,
  ],
  [
    'the same in capitals',
    { ...base, content: [...base.content, bytes('skills/a/.Bearpunch-Placed.json')] },
    /reserved/,
  ],
  [
    'a path too deep',
    { ...base, content: [...base.content, bytes(`${'d/'.repeat(16)}f`)] },
    /17 path segments/,
  ],
  [
    'more bytes than the bound',
    {
      ...base,
      content: [
        ...base.content,
        ...['a', 'b', 'c'].map((path) => ({ ...bytes(path), size: 30 * 1024 * 1024 })),
      ],
    },
    /bytes of content in all/,
  ],
  [
    'too many files',
    { ...base, content: Array.from({ length: 4_097 }, (_, i) => bytes(`f${i}`)) },
    /content/,
  ],
];
for (const [name, value, said] of wrong)
  test(`a manifest is refused for ${name}`, () => {
    const { problems } = manifestOf(value);
    assert.ok(problems.length > 0);
    assert.match(problems.map((problem) => `${problem.subject}: ${problem.message}`).join('\n'), said);
  });

test('every rule a manifest breaks is told at once', () => {
  const { problems } = manifestOf({
    ...base,
    id: 'X',
    version: 'y',
    extra: 1,
    tools: [{ ...tool, approval: 'z' }],
  });
  assert.equal(problems.length, 4);
});

const unreadable: readonly (readonly [string, string | Uint8Array, RegExp])[] = [
  ['no JSON', '{', /not JSON/],
  ['comments', '{} // x', /not JSON/],
  ['a byte order mark', '\ufeff{}', /not JSON/],
  ['not UTF-8', Uint8Array.of(0x22, 0xff, 0x22), /not UTF-8/],
  ['a key twice', '{"id": "a", "id": "b"}', /"id" twice/],
  ['a key twice, written differently', '{"id": "a", "\\u0069d": "b"}', /"id" twice/],
  ['a key twice, deep', '{"a": [{"b": {"c": 1, "c": 2}}]}', /"c" twice/],
  ['__proto__', '{"__proto__": {"id": "a"}}', /__proto__/],
  ['deep nesting', '['.repeat(65) + ']'.repeat(65), /nested deeper than 64/],
  ['very deep nesting', '['.repeat(400_000) + ']'.repeat(400_000), /nested deeper than 64/],
];
for (const [name, text, said] of unreadable)
  test(`manifest bytes are refused for ${name}`, () => {
    const result = decodeManifest(Buffer.from(text));
    assert.equal(result.ok ? 'ok' : result.problem.code, 'bundle/manifest-unreadable');
    assert.match(result.ok ? '' : result.problem.message, said);
  });

test('keys that only look alike are not the same, and long texts are read', () => {
  for (const text of [
    '{"a": {"x": 1}, "b": {"x": "x"}, "c": ["x", "x"], "d": "\\"x\\": {"}',
    JSON.stringify({ a: '\\"'.repeat(100_000), b: 'x'.repeat(400_000) }),
  ])
    assert.deepEqual(decodeManifest(Buffer.from(text)), { ok: true, value: JSON.parse(text) });
});

test('the schema can be shipped as JSON Schema', () => {
  const json = z.toJSONSchema(manifestSchema, { io: 'input' });
  assert.deepEqual(json.required, ['manifest', 'id', 'version', 'content']);
});
