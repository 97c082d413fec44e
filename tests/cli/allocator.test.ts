import assert from 'node:assert/strict';
import { test } from 'node:test';
import { allocatorSettings, dropAllocatorSettings } from '../../host/cli/allocator.ts';

test('the allocator is set where the operator did not, and what was set for the station alone is dropped', () => {
  const name = 'MALLOC_TRIM_THRESHOLD_';
  const rows = [
    [{ A: 'b' }, { [name]: '131072' }, { A: 'b' }],
    [{ A: 'b', [name]: '0' }, {}, { A: 'b', [name]: '0' }],
  ] as const;
  for (const [operators, added, left] of rows) {
    assert.deepEqual(allocatorSettings(operators), added);
    const env = { ...operators, ...allocatorSettings(operators) };
    dropAllocatorSettings(env);
    assert.deepEqual(env, left);
  }
});
