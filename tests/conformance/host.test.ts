/** The conformance suite's scenarios for hosts of skills against the station: `skills add`, `approve`, `session create`. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { globSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { installed } from './installed.ts';

interface Check {
  readonly id: string;
  readonly status: string;
  readonly errorMessage?: string;
}
/** Longest run of one scenario, ms: a station starts and stops in it. */
const scenarioMs = 100_000;

for (const [scenario, check] of [
  ['sep-2640-client-no-prefetch', 'sep-2640-host-no-prefetch'],
  ['sep-2640-client-verify-digest', 'sep-2640-host-verify-digest'],
  ['sep-2640-client-verify-size', 'sep-2640-host-size-mismatch-failure'],
  ['sep-2640-client-verify-frontmatter', 'sep-2640-host-frontmatter-comparison'],
] as const) {
  test(`${scenario} passes`, async (t) => {
    const suite = join(
      await installed('@modelcontextprotocol/conformance', '0.2.0-alpha.12'),
      'dist',
      'index.js',
    );
    const out = mkdtempSync(join(tmpdir(), 'jupiter-checks-'));
    t.after(() => rmSync(out, { recursive: true, force: true }));
    const command = `${process.execPath} ${join(import.meta.dirname, 'host.child.ts')}`;
    const args = [
      'client',
      '--command',
      command,
      '--scenario',
      scenario,
      '--timeout',
      `${scenarioMs}`,
      '-o',
      out,
    ];
    const child = spawn(process.execPath, [suite, ...args], {
      stdio: 'ignore',
      timeout: scenarioMs + 20_000,
    });
    await once(child, 'exit');
    const [file] = globSync(join(out, '**', 'checks.json'));
    assert.ok(file !== undefined, `${scenario} wrote no checks`);
    const checks = JSON.parse(readFileSync(file, 'utf8')) as Check[];
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
