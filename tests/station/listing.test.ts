/** S8: many skills for one agent. */
import assert from 'node:assert/strict';
import { hash } from 'node:crypto';
import { join } from 'node:path';
import test from 'node:test';
import { openListingWatch } from '../../host/station/listing.ts';
import { writeFiles } from '../mcp/published.ts';
import { temporary } from '../state/fixture.ts';

test("S8: 120 skills placed for one agent: a warning with the sum against that agent's budget, once", async (t) => {
  const dir = temporary(t);
  const sources = Array.from({ length: 120 }, (_, index) => {
    const name = `s${index + 100}`;
    const text = `---\nname: ${name}\ndescription: ${'x'.repeat(96)}\n---\n`;
    writeFiles(join(dir, name), { 'SKILL.md': text });
    const files = [{ path: 'SKILL.md', sha256: hash('sha256', text, 'hex'), size: text.length }];
    return { bundle: 'b.one', revision: '1', name, folder: join(dir, name), files };
  });
  const told: string[] = [];
  const watch = openListingWatch((subject, { code, evidence }) =>
    told.push(`${subject} ${code} ${evidence}`),
  );
  await watch.placed('.claude/skills', sources.slice(0, 10));
  await watch.placed('.opencode/skills', sources);
  assert.deepEqual(told, []);
  await watch.placed('.claude/skills', sources);
  await watch.placed('.claude/skills', sources);
  assert.equal(told.length, 1);
  assert.match(
    told[0] ?? '',
    /^\.claude\/skills context\/listing-budget 120 skills take at least 12000 .* has 8000$/,
  );
});
