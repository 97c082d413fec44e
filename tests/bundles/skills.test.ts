import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from 'node:test';
import { packBundle, readBundle, skillsOf } from '../../host/bundles/index.ts';
import { skillFaults } from '../../host/bundles/skills.ts';
import { authored, codeOf, packedBundle, sha256, temporary, write } from './fixture.ts';

test('each skills/<name>/SKILL.md makes a skill with all files below its folder', async (t) => {
  const bundle = await packedBundle(temporary(t), 'demo', {
    'bundle.json': authored(),
    'skills/b/SKILL.md': 'b',
    'skills/b/deep/er/file.txt': 'x',
    'skills/a-1/SKILL.md': 'a',
    'skills/no-skill/readme.md': 'x',
    'skills/nested/inner/SKILL.md': 'x',
    'skills/loose.md': 'x',
    'docs/skills/c/SKILL.md': 'x',
  });
  const skills = skillsOf(bundle);
  assert.deepEqual(
    skills.map(({ name, files }) => [name, files.map((file) => file.path)]),
    [
      ['a-1', ['SKILL.md']],
      ['b', ['SKILL.md', 'deep/er/file.txt']],
    ],
  );
  assert.deepEqual(skills[1], {
    bundle: 'demo.bundle',
    revision: bundle.identity,
    name: 'b',
    folder: join(bundle.folder, 'skills', 'b'),
    files: [
      { path: 'SKILL.md', sha256: sha256('b'), size: 1 },
      { path: 'deep/er/file.txt', sha256: sha256('x'), size: 1 },
    ],
  });
});

test('S16: what SKILL.md calls itself builds no path: the folder is the name', async (t) => {
  for (const name of ['../../evil', 'a/b', 'CON']) {
    const bundle = await packedBundle(temporary(t), 'demo', {
      'bundle.json': authored(),
      'skills/good/SKILL.md': `---\nname: ${name}\ndescription: x\n---\n`,
    });
    assert.deepEqual(
      skillsOf(bundle).map((skill) => [skill.name, skill.folder]),
      [['good', join(bundle.folder, 'skills', 'good')]],
    );
  }
});

test('S16: a skill folder with a name no skill can have is refused at pack and at admission', async (t) => {
  for (const name of ['Evil', 'a b', 'a_b', '-a', 'a-', 'a--b', 'ä', 'x'.repeat(65), 'a.b', 'CON']) {
    const folder = join(temporary(t), 'demo');
    const path = `skills/${name}/SKILL.md`;
    write(folder, { 'bundle.json': authored(), [path]: 'x' });
    const code = name === 'CON' ? 'paths/unsafe' : 'bundle/skill-name';
    assert.equal(codeOf(await packBundle(folder)), code, name);
    writeFileSync(
      join(folder, 'bundle.json'),
      authored({ content: [{ path, sha256: sha256('x'), size: 1 }] }),
    );
    assert.equal(codeOf(await readBundle(folder)), code, name);
  }
});

test('skill names at the edges of the rule', () => {
  for (const name of ['a', '0', 'a-b-c', 'x'.repeat(64)])
    assert.deepEqual(skillFaults([`skills/${name}/SKILL.md`]), []);
});
