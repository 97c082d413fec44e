/**
 * The conformance suite of the protocol against what the station publishes. Checks that need a tool or a prompt cannot
 * be passed by a server that has none: they are named here, and nothing else may fail.
 */
import assert from 'node:assert/strict';
import test, { type TestContext } from 'node:test';
import { openDesk } from '../mcp/published.ts';
import { everyKind } from './skills-fixture.ts';
import { type Check, checksOf } from './suite.ts';

const checksAt = async (
  t: TestContext,
  url: string,
  scenario: string,
  version?: string,
): Promise<readonly Check[]> => {
  const more = version === undefined ? [] : ['--spec-version', version];
  return (await checksOf(t, ['server', '--url', url, '--scenario', scenario, ...more])).checks;
};
const not = (checks: readonly Check[], ...good: readonly Check['status'][]): readonly string[] =>
  checks.filter(({ status }) => !good.includes(status)).map(({ id, status }) => `${status} ${id}`);

for (const [scenario, least] of [
  ['sep-2640-skills-enumeration', 32],
  ['sep-2640-skills-manifest', 6],
  ['sep-2640-skills-directory', 7],
] as const) {
  test(`${scenario}: every check, on nested, large and odd skills, without a warning`, async (t) => {
    const { url, left } = await openDesk(t, everyKind());
    const checks = await checksAt(t, url, scenario);
    assert.deepEqual(not(checks, 'SUCCESS', 'INFO'), []);
    assert.ok(checks.length >= least, `${checks.length} checks`);
    assert.deepEqual(left, []);
  });
}

for (const version of ['2026-07-28', '2025-11-25']) {
  test(`dns-rebinding-protection at ${version}`, async (t) => {
    const { url } = await openDesk(t, everyKind());
    assert.deepEqual(not(await checksAt(t, url, 'dns-rebinding-protection', version), 'SUCCESS'), []);
  });
}

/** Checks that call a tool or list prompts; the same list stands in docs/channel.md. */
const needTools: Readonly<Record<string, readonly string[]>> = {
  'server-stateless': [
    'sep-2575-server-rejects-undeclared-capability',
    'sep-2575-missing-capability-http-400',
    'sep-2575-http-server-no-independent-requests-on-stream',
    'sep-2575-server-no-log-without-loglevel',
  ],
  'http-header-validation': [
    'sep-2243-server-standard-setup',
    'sep-2243-server-reject-invalid-headers',
    'sep-2243-server-accepts-whitespace-header-value',
  ],
  caching: ['sep-2549-tools-list-caching-hints', 'sep-2549-prompts-list-caching-hints'],
  'resources-list': [],
  'sep-2164-resource-not-found': [],
};
for (const [scenario, known] of Object.entries(needTools)) {
  test(`${scenario}: every check that a server without tools and prompts can pass`, async (t) => {
    const { url } = await openDesk(t, everyKind());
    const checks = await checksAt(t, url, scenario, '2026-07-28');
    const failing = checks.filter(({ status }) => status === 'FAILURE' || status === 'WARNING');
    assert.deepEqual(
      failing.filter(({ id }) => !known.includes(id)),
      [],
    );
    assert.ok(checks.some(({ status }) => status === 'SUCCESS'));
  });
}
