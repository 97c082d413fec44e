/** The conformance suite's scenarios for hosts of skills against the station: `skills add`, `approve`, `session create`. */
import assert from 'node:assert/strict';
import { join } from 'node:path';
import test from 'node:test';
import { checksOf } from './suite.ts';

/** Longest run of one scenario, ms: a station starts and stops in it. */
const scenarioMs = 100_000;

for (const [scenario, check] of [
  ['sep-2640-client-no-prefetch', 'sep-2640-host-no-prefetch'],
  ['sep-2640-client-verify-digest', 'sep-2640-host-verify-digest'],
  ['sep-2640-client-verify-size', 'sep-2640-host-size-mismatch-failure'],
  ['sep-2640-client-verify-frontmatter', 'sep-2640-host-frontmatter-comparison'],
] as const) {
  test(`${scenario} passes`, async (t) => {
    const command = `${process.execPath} ${join(import.meta.dirname, 'host.child.ts')}`;
    const args = ['client', '--command', command, '--scenario', scenario, '--timeout', `${scenarioMs}`];
    const { checks } = await checksOf(t, args, scenarioMs + 20_000);
    const own = checks.find(({ id }) => id === check);
    assert.equal(
      own?.status,
      'SUCCESS',
      JSON.stringify(
        checks.filter(({ status }) => status !== 'SUCCESS'),
        null,
        1,
      ),
    );
    const bad = checks.filter(({ status }) => status !== 'SUCCESS' && status !== 'INFO');
    assert.deepEqual(bad, []);
  });
}
