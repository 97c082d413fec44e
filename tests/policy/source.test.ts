import assert from 'node:assert/strict';
import { mkdtempSync, renameSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { openPolicySource } from '../../host/policy/index.ts';
import { settled } from '../../host/policy/source.ts';

const home = (t: TestContext): string => {
  const path = mkdtempSync(join(tmpdir(), 'policy-'));
  t.after(() => rmSync(path, { recursive: true, force: true }));
  return path;
};
const text = (program: string): string => `{"agents": {"a": {"program": "${program}"}}}`;

it('the policy is the one in the file now, at every call', (t) => {
  const file = join(home(t), 'policy.jsonc');
  const source = openPolicySource(file);
  assert.equal(source.current().problems[0]?.code, 'policy/missing');
  assert.equal(source.current().revision, 'none');
  // The same length each time: only times and inode tell.
  for (let round = 0; round < 200; round += 1) {
    const name = `p${round % 10}`;
    if (round % 2 === 0) writeFileSync(file, text(name));
    else {
      writeFileSync(`${file}.new`, text(name));
      renameSync(`${file}.new`, file);
    }
    assert.equal(source.current().agents.get('a')?.program, name);
  }
  unlinkSync(file);
  assert.equal(source.current().agents.size, 0);
});

it('an unchanged file is not read again once its times have settled', (t) => {
  const file = join(home(t), 'policy.jsonc');
  writeFileSync(file, text('p'));
  const source = openPolicySource(file, () => Date.now() + 10_000);
  const first = source.current();
  assert.equal(source.current(), first);
  writeFileSync(file, `${text('p')}\n`);
  assert.notEqual(source.current(), first);
});

it('a folder in the place of the policy grants nothing', (t) => {
  const policy = openPolicySource(home(t)).current();
  assert.equal(policy.problems[0]?.code, 'policy/unreadable');
  assert.equal(policy.grants.size, 0);
});

it('a wrong edit withdraws what was granted, and a right one gives it back', (t) => {
  const file = join(home(t), 'policy.jsonc');
  writeFileSync(file, text('p'));
  const source = openPolicySource(file);
  assert.equal(source.current().agents.size, 1);
  writeFileSync(file, '{"agents": ');
  assert.equal(source.current().agents.size, 0);
  writeFileSync(file, text('p'));
  assert.equal(source.current().agents.size, 1);
});

it('a reading is final once both times are a tenth of a second old', () => {
  const at = (mtimeMs: number, ctimeMs: number): boolean =>
    settled({ mtimeNs: BigInt(mtimeMs) * 1_000_000n, ctimeNs: BigInt(ctimeMs) * 1_000_000n }, 1_000);
  assert.deepEqual([at(800, 800), at(950, 800), at(800, 950), at(2_000, 2_000)], [true, false, false, false]);
});
