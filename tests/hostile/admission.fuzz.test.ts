/** Arbitrary and mutated bytes as a component: a named refusal or an admission, in bounded time, and nothing else. */
import assert from 'node:assert/strict';
import { readdirSync } from 'node:fs';
import { test } from 'node:test';
import { permissions } from '../../host/policy/index.ts';
import { registry } from '../../host/problems/index.ts';
import { inspectComponent } from '../../host/sandbox/admit.ts';
import { admitComponent, defaultLimits, startActivation } from '../../host/sandbox/index.ts';
import { quickJs, temporaryFolder, watGuest } from '../sandbox/guests.ts';
import { type Random, randomFrom, rounds, seed } from './random.ts';

/** Longest time one look at a component may take, ms; the largest one here is 1.2 MB. */
const lookMs = 1_000;

const preamble = [0x00, 0x61, 0x73, 0x6d, 0x0d, 0x00, 0x01, 0x00];
const telling = [0x00, 0x01, 0x7f, 0x80, 0xff, 0x22, 0x27, 0x5c, 0x0a, 0x2a];

const mutated = (random: Random, from: Uint8Array): Uint8Array => {
  let bytes = Buffer.from(from);
  for (let count = 1 + random.below(4); count > 0; count -= 1) {
    const at = random.below(bytes.length);
    const length = 1 + random.below(random.chance(0.2) ? 400 : 8);
    switch (random.below(6)) {
      case 0:
        bytes[at] = random.one(telling);
        break;
      case 1:
        bytes[at] = random.below(256);
        break;
      case 2:
        bytes = Buffer.concat([bytes.subarray(0, at), random.bytes(length), bytes.subarray(at)]);
        break;
      case 3:
        bytes = Buffer.concat([bytes.subarray(0, at), bytes.subarray(at + length)]);
        break;
      case 4: {
        const part = bytes.subarray(at, at + length);
        const to = random.below(bytes.length);
        bytes = Buffer.concat([bytes.subarray(0, to), part, bytes.subarray(to)]);
        break;
      }
      default:
        bytes = bytes.subarray(0, Math.max(9, at));
    }
  }
  return bytes;
};

const look = (bytes: Uint8Array, what: string): boolean => {
  const start = performance.now();
  const found = inspectComponent(bytes, permissions);
  const took = performance.now() - start;
  assert.ok(took < lookMs, `${what}: ${took} ms`);
  if (!found.ok) assert.ok(Object.hasOwn(registry, found.problem.code), `${what}: ${found.problem.code}`);
  return found.ok;
};

const originals = async (): Promise<readonly Uint8Array[]> => [
  await watGuest(),
  await watGuest({
    imports:
      '(import "bearpunch:station/store@0.1.0" (instance (export "get" (func (param "key" string) (result (option string))))))',
    core: '(table 3 funcref) (func (export "more") (param i32) (result i32) local.get 0)',
    extra: '(component (component (core module (memory 1 2) (func (export "deep")))))',
  }),
];

test('arbitrary bytes are refused by name', () => {
  const random = randomFrom(seed);
  for (let round = 0; round < rounds(4_000); round += 1) {
    const bytes = random.bytes(random.below(600));
    if (random.chance(0.8)) bytes.set(preamble.slice(0, bytes.length));
    look(bytes, `seed ${seed} round ${round}`);
  }
});

test('mutated components: each is refused by name or admitted, at once', async () => {
  const random = randomFrom(seed + 1);
  const small = await originals();
  let admitted = 0;
  for (let round = 0; round < rounds(6_000); round += 1)
    if (look(mutated(random, random.one(small)), `seed ${seed + 1} round ${round}`)) admitted += 1;
  assert.ok(admitted > 0, 'some mutations change nothing that is judged');
  const large = await quickJs('return [];');
  for (let round = 0; round < rounds(60); round += 1)
    look(mutated(random, large), `seed ${seed + 1} large round ${round}`);
});

test('mutated components that pass the look are transpiled and started under their limits, or refused by name', async (t) => {
  const random = randomFrom(seed + 2);
  const cache = temporaryFolder(t);
  const small = await originals();
  const limits = { ...defaultLimits, startDeadlineMs: 2_000 };
  let tried = 0;
  let ran = 0;
  for (let round = 0; tried < rounds(25) && round < rounds(20_000); round += 1) {
    const bytes = mutated(random, random.one(small));
    if (!inspectComponent(bytes, permissions).ok) continue;
    tried += 1;
    const admitted = await admitComponent(bytes, { cache, permissions, limits });
    if (!admitted.ok) {
      assert.ok(Object.hasOwn(registry, admitted.problem.code));
      continue;
    }
    const started = await startActivation(admitted.value, {
      limits,
      name: 'fuzz:fuzz',
      onCall: () => ({ ok: true, value: null }),
      onResult: () => undefined,
      onGone: () => undefined,
    });
    if (started.ok) {
      ran += 1;
      await started.value.stop();
    } else assert.match(started.problem.code, /^sandbox\//);
  }
  assert.ok(tried >= 20 && ran > 0, `${tried} tried, ${ran} ran`);
  for (const name of readdirSync(cache)) assert.match(name, /^[0-9a-f]{64}$/);
});
