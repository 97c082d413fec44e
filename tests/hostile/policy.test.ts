/** A policy file that is no file, or too much of one: the station answers at once, and nothing is granted. */
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdirSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import test from 'node:test';
import { openBench, probePolicy } from '../e2e/harness.ts';

const onUnix = { skip: process.platform === 'win32' };

test(
  'a policy replaced by a pipe, a folder, a link that leads nowhere, or by far too much',
  onUnix,
  async (t) => {
    const bench = openBench(t, { policy: probePolicy() });
    const file = join(bench.home, 'policy.jsonc');
    await bench.ask('up');
    const rows: readonly (readonly [string, () => void, string])[] = [
      ['a pipe', () => execFileSync('mkfifo', [file]), 'policy/unreadable'],
      ['a folder', () => mkdirSync(file), 'policy/unreadable'],
      ['a link to itself', () => symlinkSync(file, file), 'policy/unreadable'],
      ['a device', () => symlinkSync('/dev/zero', file), 'policy/unreadable'],
      ['nothing', () => undefined, 'policy/missing'],
      ['10 MB', () => writeFileSync(file, ' '.repeat(10_000_000)), 'policy/too-large'],
      [
        'a terabyte of holes',
        () => {
          writeFileSync(file, '');
          truncateSync(file, 2 ** 40);
        },
        'policy/too-large',
      ],
    ];
    for (const [name, make, code] of rows) {
      rmSync(file, { recursive: true, force: true });
      make();
      const shown = await bench.jupiter('--json', 'policy', 'show');
      const { problems, problem } = shown.json() as {
        problems?: { code: string }[];
        problem?: { code: string };
      };
      // What has no text cannot be shown; what is too much of one is shown to have that problem.
      assert.equal(problem?.code ?? problems?.[0]?.code, code, `${name}: ${shown.stdout.slice(0, 500)}`);
      const created = await bench.jupiter(
        '--json',
        'session',
        'create',
        '--agent',
        'listed',
        '--cwd',
        bench.workspace,
      );
      assert.equal(created.code, 1, name);
      const set = await bench.jupiter('--json', 'policy', 'set', 'agents.listed.approve', 'auto');
      assert.equal((set.json() as { problem?: { code: string } }).problem?.code, code, name);
      const checked = await bench.jupiter('--json', 'policy', 'check');
      assert.equal((checked.json() as { problems: { code: string }[] }).problems[0]?.code, code, name);
      const status = await bench.ask<{ policyProblems: { code: string }[] }>('status');
      assert.equal(status.policyProblems[0]?.code, code, name);
    }
    rmSync(file, { force: true });
    bench.policy(JSON.stringify(probePolicy()));
    const created = await bench.ask<{ state: string }>(
      'session',
      'create',
      '--agent',
      'listed',
      '--cwd',
      bench.workspace,
    );
    assert.equal(created.state, 'idle', 'and is as it was once the policy is');
  },
);
