// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of a skill look like those of a template
import assert from 'node:assert/strict';
import { truncateSync } from 'node:fs';
import test from 'node:test';
import { lintSkills } from '../../host/skills/index.ts';
import { got, openDesk, refused, skillText } from './desk.ts';

const brief = (report: ReturnType<typeof lintSkills>, dir: string) =>
  got(report).findings.map(({ file, line, rule, level, families }) =>
    `${file.slice(dir.length + 1)}:${line} ${level} ${rule} ${families.join(',')}`.trimEnd(),
  );

test('S7: a folded description of 1,086 characters is named for the families that refuse it', (t) => {
  const desk = openDesk(t);
  const words = `${'word '.repeat(216)}words.`;
  const folded = words
    .match(/.{1,75}(?:\s|$)/g)
    ?.map((line) => `  ${line.trim()}`)
    .join('\n');
  desk.write('long/SKILL.md', `---\nname: long\ndescription: >-\n${folded}\n---\nBody\n`);
  assert.equal(words.length, 1_086);
  const report = lintSkills([desk.at('long')]);
  assert.deepEqual(brief(report, desk.dir), ['long/SKILL.md:3 error description-too-long agentskills,codex']);
  assert.match(got(report).findings[0]?.message ?? '', /1086 characters; refused beyond 1024 by .*Codex/);
  assert.deepEqual(brief(lintSkills([desk.at('long')], ['claude', 'opencode']), desk.dir), []);
  desk.write('long/SKILL.md', `---\nname: long\ndescription: ${'x'.repeat(1_600)}\n---\nBody\n`);
  assert.deepEqual(brief(lintSkills([desk.at('long')], ['claude']), desk.dir), [
    'long/SKILL.md:3 warning description-cut claude',
  ]);
  desk.write('long/SKILL.md', `---\nname: long\ndescription: ${'😀'.repeat(1_024)}\n---\nBody\n`);
  assert.deepEqual(brief(lintSkills([desk.at('long')]), desk.dir), []);
});

test("S8: 120 skills are a warning with the sum against each family's listing budget", (t) => {
  const desk = openDesk(t);
  for (let index = 100; index < 220; index += 1) {
    desk.write(`all/s${index}/SKILL.md`, `---\nname: s${index}\ndescription: ${'x'.repeat(96)}\n---\n`);
  }
  const report = got(lintSkills([desk.at('all')]));
  assert.equal(report.skills.length, 120);
  assert.deepEqual(
    report.findings.map(({ rule, level, families, line }) => [rule, level, families, line]),
    [
      ['listing-budget', 'warning', ['claude'], 1],
      ['listing-budget', 'warning', ['codex'], 1],
    ],
  );
  assert.match(report.findings[0]?.message ?? '', /120 skills take at least 12000 characters .* has 8000/);
});

test('A1: placeholders in code are named with their line, and so is all that looks like one', (t) => {
  const desk = openDesk(t);
  const body = [
    "Run `awk '{print $1}'` on $target.", // 6
    '',
    '```sh', // 8
    'echo "$2" $HOME $(x)', // 9
    '```',
    '- item', // 11
    '  ~~~', // 12
    '  ls ${JUPITER_SKILL_DIR} $ARGUMENTS', // 13
    '  ~~~',
    'It costs $1,000 or \\$3.', // 15
    'Not code: ` and $ARGUMENTS.', // 16
    'Foreign: $0 and $ARGUMENTS[1].', // 17
  ].join('\n');
  desk.write('code/SKILL.md', skillText('code', body, 'arguments: target\n'));
  assert.deepEqual(brief(lintSkills([desk.at('code')], ['claude']), desk.dir), [
    'code/SKILL.md:6 warning placeholder-in-code',
    'code/SKILL.md:6 warning placeholder-counted claude',
    'code/SKILL.md:9 warning placeholder-in-code',
    'code/SKILL.md:13 warning placeholder-in-code',
    'code/SKILL.md:15 warning placeholder-in-amount',
    'code/SKILL.md:15 warning placeholder-escaped claude',
    'code/SKILL.md:17 warning placeholder-foreign claude',
    'code/SKILL.md:17 warning placeholder-foreign claude',
  ]);
});

test('names, missing fields and broken YAML are named for the families that mind', (t) => {
  const desk = openDesk(t);
  const table: readonly (readonly [string, string, readonly string[]])[] = [
    ['plain', '# No frontmatter\n', ['1 error frontmatter-missing agentskills,codex,opencode,gemini,qwen']],
    [
      'empty',
      '---\nlicense: MIT\n---\nBody\n',
      [
        '1 error name-missing agentskills,opencode,gemini,qwen',
        '1 error description-missing agentskills,opencode,gemini,qwen',
      ],
    ],
    [
      'other',
      '---\nname: Other_One\ndescription: x\n---\n',
      ['2 error name-format agentskills', '2 error name-not-folder agentskills'],
    ],
    ['n'.repeat(65), skillText('n'.repeat(65)), ['2 error name-too-long agentskills,codex']],
    ['colon', '---\nname: colon\ndescription: a: b\n---\n', ['3 error read-as-text agentskills,codex']],
    ['hash', '---\nname: hash\ndescription: a # b\n---\n', ['3 warning cut-by-comment']],
    ['evil', '---\ndescription: x\nname: ../evil\n---\n', ['3 error skill/name-invalid']],
  ];
  for (const [folder, text, expected] of table) {
    desk.write(`${folder}/SKILL.md`, text);
    const found = brief(lintSkills([desk.at(folder)]), desk.dir);
    assert.deepEqual(
      found,
      expected.map((rest) => `${folder}/SKILL.md:${rest}`),
    );
  }
});

test('S15: a file no skill may hold is named as the file', (t) => {
  const desk = openDesk(t);
  desk.write('large/SKILL.md', skillText('large'));
  truncateSync(desk.write('large/assets/video.bin', ''), 20_000_000);
  const report = lintSkills([desk.at('large/SKILL.md')]);
  assert.deepEqual(brief(report, desk.dir), ['large/assets/video.bin:1 error skill/file-too-large']);
  assert.match(got(report).findings[0]?.message ?? '', /20000000 bytes; at most 16777216/);
});

test('skills are found below a folder; a path without any is a problem', (t) => {
  const desk = openDesk(t);
  desk.write('repo/plugins/a/skills/one/SKILL.md', skillText('one'));
  desk.write('repo/plugins/a/skills/one/nested/SKILL.md', skillText('nested'));
  desk.write('repo/node_modules/x/SKILL.md', skillText('x'));
  desk.write('repo/README.md', '');
  const report = got(lintSkills([desk.at('repo'), desk.at('repo/plugins/a/skills/one')]));
  assert.deepEqual(report.skills, [desk.at('repo/plugins/a/skills/one')]);
  for (const path of ['nowhere', 'repo/README.md', 'repo/node_modules/y']) {
    assert.equal(refused(lintSkills([desk.at(path)])).code, 'skill/nothing-to-check');
  }
});

test('a body of backticks, fences and dollars costs little', (t) => {
  const desk = openDesk(t);
  const bodies = [
    '` `` '.repeat(60_000),
    '$1 `'.repeat(60_000),
    '```\n'.repeat(80_000),
    '> '.repeat(100_000),
  ];
  const began = performance.now();
  for (const body of bodies) {
    desk.write('big/SKILL.md', skillText('big', body));
    lintSkills([desk.at('big')], ['codex']);
  }
  assert.ok(performance.now() - began < 5_000);
});
