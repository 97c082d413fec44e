/**
 * Arbitrary bytes as archive and as manifest: never a crash, never a hang, always a named problem or a bundle that
 * verifies. Seeded: a failure names its round, and the same round is the same bytes.
 */
import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { gunzipSync, gzipSync } from 'node:zlib';
import { diagnoseBundle, packBundle } from '../../host/bundles/index.ts';
import { decodeManifest, manifestOf } from '../../host/bundles/manifest.ts';
import type { Problem } from '../../host/problems/index.ts';
import { authored, packedBundle, temporary, topic, value } from './fixture.ts';

/** A small generator of numbers below `most` (mulberry32). */
const numbers = (seed: number) => {
  let state = seed;
  return (most: number): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % most;
  };
};

/** Bytes changed, cut, doubled or replaced in a few places. */
const mangled = (bytes: Buffer, next: (most: number) => number): Buffer => {
  let out = Buffer.from(bytes);
  for (let count = 1 + next(6); count > 0 && out.length > 0; count -= 1) {
    const at = next(out.length);
    const length = next(Math.min(600, out.length - at) + 1);
    const kind = next(5);
    if (kind === 0) out[at] = next(256);
    else if (kind === 1) out = Buffer.concat([out.subarray(0, at), out.subarray(at + length)]);
    else if (kind === 2)
      out = Buffer.concat([out.subarray(0, at), out.subarray(at, at + length), out.subarray(at)]);
    else if (kind === 3) out = out.subarray(0, at);
    else for (let byte = at; byte < at + length; byte += 1) out[byte] = next(256);
  }
  return out;
};

/** Header checksums made right again, so that the fuzz reaches what is behind them. */
const checked = (tar: Buffer): Buffer => {
  const out = Buffer.from(tar);
  for (let at = 0; at + 512 <= out.length; at += 512) {
    if (out.subarray(at + 257, at + 262).toString('latin1') !== 'ustar') continue;
    out.fill(' ', at + 148, at + 156);
    const sum = out.subarray(at, at + 512).reduce((total, byte) => total + byte, 0);
    out.write(`${sum.toString(8).padStart(6, '0')}\0 `, at + 148, 'latin1');
  }
  return out;
};

const named = (problems: readonly Problem[], round: string): void => {
  for (const { code, message } of problems) {
    assert.match(code, /^(bundle|paths)\/[a-z-]+$/, round);
    assert.ok(message.length > 0, round);
  }
};

test('fuzz: arbitrary bytes as an archive are a named problem or a whole bundle, within seconds', {
  timeout: 120_000,
}, async (t) => {
  const root = temporary(t);
  await packedBundle(root, 'demo', {
    'bundle.json': authored({ topics: [topic('demo.said')] }),
    'skills/greet/SKILL.md': 'Say hello.\n',
    [`${'long/'.repeat(15)}${'x'.repeat(60)}`]: 'deep',
  });
  value(await packBundle(join(root, 'demo'), join(root, 'demo.tgz')));
  const honest = readFileSync(join(root, 'demo.tgz'));
  const tar = gunzipSync(honest);
  const file = join(root, 'fuzz.tgz');
  let whole = 0;
  for (let seed = 1; seed <= 400; seed += 1) {
    const next = numbers(seed);
    const kind = next(4);
    const bytes =
      kind === 0
        ? mangled(honest, next)
        : kind === 1
          ? gzipSync(mangled(tar, next))
          : kind === 2
            ? gzipSync(checked(mangled(tar, next)))
            : Buffer.from(Array.from({ length: next(2_000) }, () => next(256)));
    writeFileSync(file, bytes);
    const found = await diagnoseBundle(file);
    named(found.problems, `round ${seed}`);
    assert.equal(found.bundle === undefined, found.problems.length > 0, `round ${seed}`);
    whole += found.bundle === undefined ? 0 : 1;
  }
  // Mostly damaged, or the rounds test nothing.
  assert.ok(whole < 100, `${whole} whole`);
  assert.deepEqual(readdirSync(root).sort(), ['demo', 'demo.tgz', 'fuzz.tgz']);
});

test('fuzz: arbitrary bytes and arbitrary JSON as a manifest are a manifest or named problems', {
  timeout: 120_000,
}, async (t) => {
  const root = temporary(t);
  const { manifest } = await packedBundle(root, 'demo', {
    'bundle.json': authored({ topics: [topic('demo.said')] }),
    'skills/greet/SKILL.md': 'Say hello.\n',
  });
  const honest = Buffer.from(JSON.stringify(manifest));
  const odd: readonly unknown[] = [
    null,
    -1,
    1e308,
    '',
    'x'.repeat(5_000),
    '__proto__',
    [],
    {},
    [[[[]]]],
    '../x',
    true,
  ];
  const grown = (next: (most: number) => number, depth: number): unknown => {
    if (depth === 0 || next(3) === 0) return odd[next(odd.length)];
    const keys = [
      'manifest',
      'id',
      'content',
      'topics',
      'shape',
      'event',
      '$ref',
      'allOf',
      'pattern',
      'path',
      'kind',
    ];
    if (next(2) === 0) return Array.from({ length: next(4) }, () => grown(next, depth - 1));
    return Object.fromEntries(
      Array.from({ length: next(5) }, () => [keys[next(keys.length)] ?? '', grown(next, depth - 1)]),
    );
  };
  for (let seed = 1; seed <= 3_000; seed += 1) {
    const next = numbers(seed);
    const kind = next(3);
    const whole = { ...manifest } as Record<string, unknown>;
    const fields = Object.keys(whole);
    if (kind === 1) whole[fields[next(fields.length)] ?? 'id'] = grown(next, 5);
    const bytes =
      kind === 0 ? mangled(honest, next) : Buffer.from(JSON.stringify(kind === 1 ? whole : grown(next, 8)));
    const decoded = decodeManifest(bytes);
    if (!decoded.ok) {
      named([decoded.problem], `round ${seed}`);
      continue;
    }
    const read = manifestOf(decoded.value);
    named(read.problems, `round ${seed}`);
    assert.ok(read.manifest !== undefined || read.problems.length > 0, `round ${seed}`);
  }
});
