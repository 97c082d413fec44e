import assert from 'node:assert/strict';
import { test } from 'node:test';
import { editPolicy, limitNames, limitTable, readPolicy, usualLimits } from '../../host/policy/index.ts';

const read = (limits: unknown) =>
  readPolicy(Buffer.from(JSON.stringify({ limits: { 'test.tools': limits } })), 'policy.jsonc');

test('what policy sets is kept, the rest has its default', () => {
  const { limits, problems } = read({ inbox: 100, storeBytes: 5_000 });
  assert.deepEqual(problems, []);
  assert.deepEqual(limits.get('test.tools'), { ...usualLimits, inbox: 100, storeBytes: 5_000 });
  assert.equal(limits.get('test.other'), undefined);
});

test('each limit has a range, and a value outside it or of another type is named with its place', () => {
  for (const name of limitNames) {
    const { usual, least, most } = limitTable[name];
    assert.ok(least <= usual && usual <= most, name);
    for (const good of [least, usual, most]) assert.deepEqual(read({ [name]: good }).problems, [], name);
    for (const bad of [least - 1, most + 1, 1.5 * least + 0.25, '5', null, -1]) {
      const { problems, limits } = read({ [name]: bad });
      assert.equal(problems[0]?.subject, `limits.test.tools.${name}`, `${name} ${bad}`);
      assert.match(problems[0]?.evidence ?? '', /policy\.jsonc:1:\d+: expected/);
      assert.equal(limits.size, 0, 'a policy with a problem sets nothing');
    }
  }
  assert.equal(read({ memory: 1 }).problems[0]?.code, 'policy/unknown-key');
});

test('one limit is set by its path', () => {
  const edited = editPolicy('{}', 'limits.test.tools.inbox', 64);
  assert.ok(edited.ok, JSON.stringify(edited));
  assert.equal(readPolicy(Buffer.from(edited.value), 'p').limits.get('test.tools')?.inbox, 64);
});
