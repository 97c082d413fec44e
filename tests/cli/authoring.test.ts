/** What an author of a bundle is told before anybody installs it. */
import assert from 'node:assert/strict';
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type TestContext, test } from 'node:test';
import { run, temporary } from './fixtures/command.ts';

const bundle = (t: TestContext, manifest: unknown, skills: Readonly<Record<string, string>> = {}): string => {
  const dir = join(temporary(t), 'my-bundle');
  mkdirSync(dir);
  writeFileSync(join(dir, 'bundle.json'), JSON.stringify(manifest));
  for (const [name, text] of Object.entries(skills)) {
    mkdirSync(join(dir, 'skills', name), { recursive: true });
    writeFileSync(join(dir, 'skills', name, 'SKILL.md'), text);
  }
  return dir;
};
const small = { manifest: 2, id: 'my.bundle', version: '0.1.0' };

const faults: readonly (readonly [what: unknown, says: RegExp])[] = [
  [{ ...small, manifest: 1 }, /"manifest" must be 2; found 1\.$/],
  [{ ...small, manifest: undefined }, /"manifest" must be 2; found nothing\.$/],
  [{ ...small, version: 1 }, /"version" must be a text; found 1\.$/],
  [{ ...small, id: 'My Bundle' }, /"id" must be lower-case .*; found "My Bundle"\.$/],
  [{ ...small, skills: [] }, /top level must have only known keys; found "skills"\.$/],
  [{ ...small, components: {} }, /"components" must be a list; found an object\.$/],
  [{ ...small, topics: [{ kind: 'x' }] }, /"topics\[0\]\.kind" must be "command" or "event"; found "x"\.$/],
];
test('bundle pack says what was expected and what was found', async (t) => {
  for (const [manifest, says] of faults) {
    const ran = await run(['--json', 'bundle', 'pack', bundle(t, manifest)]);
    const { problem } = JSON.parse(ran.out);
    assert.equal(problem.code, 'bundle/manifest-invalid');
    assert.match(problem.message, says);
  }
});

test('a bundle that was never packed is told to be packed', async (t) => {
  const ran = await run(['--json', 'bundle', 'diagnose', bundle(t, small)]);
  assert.match(ran.out, /not packed.*\n?.*bundle pack/s);
});

test('pack and diagnose warn of a skill that agents refuse or misread', async (t) => {
  const skills = {
    bare: '# Nothing\n',
    open: '---\nname: open\n',
    good: '---\nname: good\ndescription: Does it when it is asked for.\n---\nDo it.\n',
  };
  const dir = bundle(t, small, skills);
  const archive = `${dir}.tgz`;
  const looks = [
    ['pack', dir],
    ['diagnose', dir],
    ['pack', dir, '-o', archive],
    ['diagnose', archive],
  ];
  for (const look of looks) {
    const ran = await run(['--json', 'bundle', ...look]);
    assert.equal(ran.code, 0, ran.out);
    const warnings: { code: string; subject: string }[] = JSON.parse(ran.out).warnings;
    const subjects = warnings.filter(({ code }) => code === 'bundle/skill-finding').map((one) => one.subject);
    assert.ok(subjects.includes('skills/bare/SKILL.md:1'), ran.out);
    assert.ok(
      subjects.some((one) => one.startsWith('skills/open/SKILL.md:')),
      ran.out,
    );
    assert.ok(!subjects.some((one) => one.includes('good')), ran.out);
    assert.match((await run(['bundle', ...look])).out, /^warning: A skill that agents refuse: /m);
  }
});

test('a bundle of one file says "1 file"', async (t) => {
  const dir = bundle(t, small, { one: '---\nname: one\ndescription: It is one.\n---\nOne.\n' });
  assert.match((await run(['bundle', 'pack', dir])).out, / {2}1 file {2}/);
});
