import assert from 'node:assert/strict';
import { existsSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { permissions } from '../../host/policy/index.ts';
import { admitComponent, defaultLimits } from '../../host/sandbox/index.ts';
import { codeOf, quickJs, temporaryFolder, wat, watGuest } from './guests.ts';

const verdict = async (bytes: Uint8Array, cache: string, granted: readonly string[] = permissions) =>
  admitComponent(bytes, { cache, permissions: granted, limits: defaultLimits });

/** Refused, with nothing written: no generated code exists. */
const refused = async (bytes: Uint8Array, cache: string, granted?: readonly string[]) => {
  const result = await verdict(bytes, cache, granted);
  assert.ok(!result.ok, 'admitted');
  assert.deepEqual(existsSync(cache) ? readdirSync(cache) : [], []);
  return result.problem;
};

test('control: a small component and a QuickJS guest are admitted', async (t) => {
  const cache = temporaryFolder(t);
  const small = await verdict(await watGuest(), cache);
  assert.equal(codeOf(small), 'ok', JSON.stringify(small));
  const guest = await verdict(await quickJs('return batch.map(() => ({ tag: "done" }));'), cache);
  assert.ok(guest.ok);
  assert.deepEqual(guest.value.imports, [
    'bus',
    'clock',
    'log',
    'process',
    'random',
    'session-context',
    'store',
  ]);
  assert.equal(guest.value.wit, '0.1.0');
});

const hostileNames: readonly (readonly [string, string])[] = [
  ['single quote', "a'b"],
  ['double quote', 'a\\22b'],
  ['backslash', 'a\\\\b'],
  ['newline', 'a\\nb'],
  ['carriage return', 'a\\rb'],
  ['NUL', 'a\\00b'],
  ['comment end', 'a*/b'],
  ['comment start', 'a/*b'],
  ['backtick', 'a`b'],
  ['template', 'a${b'],
  ['space', 'a b'],
  ['parenthesis', 'a)b'],
  ['semicolon', 'a;b'],
  ['line separator', 'a\\e2\\80\\a8b'],
  ['non-ASCII', 'n\\c3\\a4me'],
  ['prototype', '__proto__'],
  ['very long', 'x'.repeat(300)],
];

test('W1: hostile names are refused before any generated code exists', async (t) => {
  const cache = temporaryFolder(t);
  for (const [kind, name] of hostileNames) {
    const places: Record<string, Promise<Uint8Array>> = {
      export: watGuest({ core: `(func (export "${name}"))` }),
      import: watGuest({
        core: '',
        extra: `(core module $n (import "${name}" "f" (func)))`,
      }),
      'import field': watGuest({ extra: `(core module $n (import "m" "${name}" (func)))` }),
      nested: watGuest({ extra: `(component (component (core module (func (export "${name}")))))` }),
      'inline instance': watGuest({
        extra: `(alias core export $i "handle" (core func $hh)) (core instance (export "${name}" (func $hh)))`,
      }),
      argument: watGuest({
        extra: `(core module $n (import "${name}" "handle" (func (param i32 i32) (result i32)))) (core instance (instantiate $n (with "${name}" (instance $i))))`,
      }),
    };
    for (const [place, bytes] of Object.entries(places)) {
      await t.test(`${kind} as ${place}`, async () => {
        assert.equal((await refused(await bytes, cache)).code, 'sandbox/name-refused');
      });
    }
  }
});

test('W1: a name that is not UTF-8 is refused', async (t) => {
  const bytes = await watGuest({ core: '(func (export "spoiled"))' });
  const at = Buffer.from(bytes).indexOf('spoiled');
  const spoiled = Uint8Array.from(bytes);
  spoiled[at] = 0xff;
  assert.equal((await refused(spoiled, temporaryFolder(t))).code, 'sandbox/name-refused');
});

test('what is no binary component is refused, WAT text included', async (t) => {
  const cache = temporaryFolder(t);
  const bytes = await watGuest();
  const module = await wat('(module (func (export "handle")))');
  const cases: Record<string, Uint8Array> = {
    'WAT text': Buffer.from('(component)'),
    'WAT text with a blank': Buffer.from('  (component)'),
    'a core module': module,
    nothing: new Uint8Array(),
    magic: bytes.slice(0, 4),
  };
  for (const [kind, hostile] of Object.entries(cases)) {
    assert.equal((await refused(hostile, cache)).code, 'sandbox/not-a-component', kind);
  }
  for (let length = 9; length < bytes.length; length += 7) {
    assert.notEqual(codeOf(await verdict(bytes.slice(0, length), cache)), 'ok', `${length} bytes`);
  }
});

type Refusal = readonly [name: string, fields: string, code: string, granted?: readonly string[]];

const logImport = (name: string, fields: string): string => `(import "${name}" (instance ${fields}))`;
const level = '(type $l (enum "debug" "info" "warn" "error")) (export "level" (type $le (eq $l)))';

test('W2: imports outside the world are refused, each by name', async (t) => {
  const cache = temporaryFolder(t);
  const table: readonly Refusal[] = [
    [
      'wasi:cli/environment@0.2.3',
      '(export "get-environment" (func (result (list (tuple string string)))))',
      'sandbox/wasi-refused',
    ],
    ['wasi:cli/exit@0.2.3', '(export "exit" (func (param "status" (result))))', 'sandbox/wasi-refused'],
    ['wasi:filesystem/preopens@0.2.3', '(export "x" (func))', 'sandbox/wasi-refused'],
    ['wasi:sockets/network@0.2.3', '(export "network" (type (sub resource)))', 'sandbox/wasi-refused'],
    ['wasi:http/outgoing-handler@0.2.3', '(export "handle" (func))', 'sandbox/wasi-refused'],
    ['wasi:clocks/wall-clock@0.3.0', '(export "now" (func (result u64)))', 'sandbox/wasi-refused'],
    [
      'wasi:clocks/monotonic-clock@0.2.3',
      '(export "wait-for" (func (param "how-long" u64)))',
      'sandbox/function-unknown',
    ],
    ['wasi:random/random@0.2.3', '(export "get-random-u64" (func (result u32)))', 'sandbox/import-type'],
    ['bearpunch:station/log@9.9.9', '(export "x" (func))', 'sandbox/release-unknown'],
    ['bearpunch:station/shell@0.1.0', '(export "x" (func))', 'sandbox/import-unknown'],
    ['plain', '(export "x" (func))', 'sandbox/import-unknown'],
    ['other:station/log@0.1.0', '(export "x" (func))', 'sandbox/import-unknown'],
    ['bearpunch:station/log@0.1.0', '(export "erase" (func))', 'sandbox/function-unknown'],
    [
      'bearpunch:station/store@0.1.0',
      '(export "get" (func (param "key" string) (result (option string))))',
      'sandbox/permission-missing',
      [],
    ],
    [
      'bearpunch:station/process@0.1.0',
      '(export "kill" (func (param "process" string)))',
      'sandbox/permission-missing',
      ['store:own'],
    ],
  ];
  for (const [name, fields, code, granted] of table) {
    await t.test(`${name} ${code}`, async () => {
      const found = await refused(await watGuest({ imports: logImport(name, fields) }), cache, granted);
      assert.equal(found.code, code);
      assert.ok(found.subject?.startsWith(name), `${found.subject} names it`);
    });
  }
  await t.test('controls are admitted', async () => {
    const good: readonly (readonly [string, string])[] = [
      ['wasi:random/random@0.2.3', '(export "get-random-u64" (func (result u64)))'],
      [
        'bearpunch:station/store@0.1.0',
        '(export "get" (func (param "key" string) (result (option string))))',
      ],
    ];
    for (const [name, fields] of good) {
      const own = temporaryFolder(t);
      const result = await verdict(await watGuest({ imports: logImport(name, fields) }), own, ['store:own']);
      assert.equal(codeOf(result), 'ok', JSON.stringify(result));
    }
  });
});

test('W3: a platform interface with other types is refused, naming the function', async (t) => {
  const cache = temporaryFolder(t);
  const table: readonly (readonly [string, string, string])[] = [
    ['log', `${level} (export "write" (func (param "level" $le) (param "text" (list u8))))`, 'write'],
    ['log', '(export "write" (func (param "level" u8) (param "text" string)))', 'write'],
    ['log', '(type $l (enum "debug" "info")) (export "level" (type (eq $l)))', 'level'],
    ['clock', '(export "now" (func (result s64)))', 'now'],
    ['clock', '(export "wake" (func (param "token" string) (param "after-ms" u64)))', 'wake'],
    ['clock', '(export "wake" (func (param "name" string) (param "after-ms" u32)))', 'wake'],
    ['store', '(export "get" (func (param "key" string) (result string)))', 'get'],
    ['random', '(export "bytes" (func (param "count" u32) (result (list u16))))', 'bytes'],
  ];
  for (const [name, fields, about] of table) {
    await t.test(`${name}.${about}: ${fields}`, async () => {
      const whole = `bearpunch:station/${name}@0.1.0`;
      const found = await refused(await watGuest({ imports: logImport(whole, fields) }), cache);
      assert.equal(found.code, 'sandbox/import-type');
      assert.equal(found.subject, `${whole}#${about}`);
    });
  }
});

test('exports: other types, nothing, or more than the platform knows', async (t) => {
  const cache = temporaryFolder(t);
  assert.equal((await refused(await wat('(component)'), cache)).code, 'sandbox/export-missing');
  const more = await watGuest({
    extra: '(export "more" (instance $c))',
  });
  assert.equal((await refused(more, cache)).code, 'sandbox/export-unknown');
  const empty = await wat(
    '(component (instance $c) (export "bearpunch:station/component@0.1.0" (instance $c)))',
  );
  assert.equal((await refused(empty, cache)).code, 'sandbox/export-missing');
});

test('W11: types that double are refused while they are written out', async (t) => {
  const doubling = Array.from({ length: 40 }, (_, n) => `(type $t${n + 1} (tuple $t${n} $t${n}))`).join(' ');
  const bytes = await watGuest({ extra: `(type $t0 (list string)) ${doubling}` });
  assert.ok(bytes.length < 3_000);
  assert.equal((await refused(bytes, temporaryFolder(t))).code, 'sandbox/type-too-large');
});

test('W6: a memory or table that starts over its cap, shared and 64-bit memories', async (t) => {
  const cache = temporaryFolder(t);
  const table: readonly (readonly [string, Promise<Uint8Array>])[] = [
    ['sandbox/memory-minimum', watGuest({ memory: '1025' })],
    [
      'sandbox/memory-minimum',
      watGuest({ memory: '600', extra: '(core module $n (memory 600)) (core instance (instantiate $n))' }),
    ],
    ['sandbox/table-minimum', watGuest({ core: '(table 20001 funcref)' })],
    ['sandbox/unsupported', watGuest({ extra: '(core module (memory 1 2 shared))' })],
    ['sandbox/unsupported', watGuest({ extra: '(core module (memory i64 1))' })],
    ['sandbox/unsupported', watGuest({ extra: '(core module (import "m" "m" (memory i64 1)))' })],
  ];
  for (const [code, bytes] of table) assert.equal((await refused(await bytes, cache)).code, code);
  assert.ok(!existsSync(join(cache, 'files.json')));
});
