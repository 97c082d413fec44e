// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the placeholders of a skill look like those of a template
import assert from 'node:assert/strict';
import test from 'node:test';
import { catalogueLines, renderSkill } from '../../host/skills/index.ts';

const dir = '/skills/deploy';
const render = (body: string, args = '', names: readonly string[] = []) =>
  renderSkill({ document: { body, arguments: names }, dir }, args);

const table: readonly (readonly [string, string, string, string])[] = [
  // case, body, arguments, prompt
  ['A1', "awk '{print $1}'", 'a', "awk '{print a}'"],
  ['A1', '$1,000', 'a', 'a,000'],
  ['A1', '$(x) $1', 'a', '$(x) a'],
  ['A1', '\\$1', 'a', '\\a'],
  ['A2', '$ARGUMENTS', '$2 $ARGUMENTS ${JUPITER_SKILL_DIR}', '$2 $ARGUMENTS ${JUPITER_SKILL_DIR}'],
  ['A2', '$1|$2|$3', '$2 $ARGUMENTS ${JUPITER_SKILL_DIR}', '$2|$ARGUMENTS|${JUPITER_SKILL_DIR}'],
  ['A2', '$1$1', '$& $$', '$&$&\n\nARGUMENTS: $$'],
  ['A3', 'x $ARGUMENTS y $1', '', 'x  y $1'],
  ['A3', '[$env]', '', '[]'],
  ['A3', '[$env] [$2]', 'a', '[a] [$2]'],
  ['A4', 'Do it.\n', 'staging now', 'Do it.\n\nARGUMENTS: staging now'],
  ['A4', 'Do it.', '  "a b"\nc  ', 'Do it.\n\nARGUMENTS: "a b"\nc'],
  ['A4', 'Do $2.', 'only', 'Do $2.\n\nARGUMENTS: only'],
  ['A4', 'Do $1.', 'this but gently', 'Do this.\n\nARGUMENTS: but gently'],
  ['A4', 'Do it.', '   ', 'Do it.'],
  ['A4', '${JUPITER_SKILL_DIR}', 'a', '/skills/deploy\n\nARGUMENTS: a'],
  ['A5', '$ARGUMENTS[0] $1', 'a', '$ARGUMENTS[0] a'],
  ['A5', '$10 $1', 'a', '$10 a'],
  ['A5', '$env_longer $env', 'a', '$env_longer a'],
  ['A5', '$envé $1st $1é $ARGUMENTSX $env', 'a', '$envé $1st $1é $ARGUMENTSX a'],
  ['A5', '$0 ${1} ${env} $HOME $', 'a', '$0 ${1} ${env} $HOME $\n\nARGUMENTS: a'],
  ['A5', '$env-$tier.', 'a b', 'a-b.'],
  ['A5', '$$1', 'a', '$a'],
  ['A5', '$ARGUMENTS[', 'a', '$ARGUMENTS[\n\nARGUMENTS: a'],
  ['words', '$1|$2|$3', "\"two words\"  'x y' it's", "two words|x y|it's"],
  ['words', '$1|$2', '"open word', '"open|word'],
  ['words', '$1|$2|$3', 'a\tb\nc', 'a|b|c'],
  ['words', '$9', '1 2 3 4 5 6 7 8 nine', 'nine\n\nARGUMENTS: 1 2 3 4 5 6 7 8'],
];
for (const [id, body, args, prompt] of table) {
  test(`${id}: ${JSON.stringify(body)} with ${JSON.stringify(args)}`, () => {
    assert.equal(render(body, args, ['env', 'tier']), prompt);
  });
}

test('the first of two equal argument names counts, and an empty place is nobody', () => {
  assert.equal(render('$a $b', '1 2 3', ['a', '', 'a', 'b'].slice(0, 3)), '1 $b\n\nARGUMENTS: 2 3');
});

test('many quotation marks without a partner cost little', () => {
  const began = performance.now();
  render('$1', '"a '.repeat(40_000));
  render('$1', `${"'x".repeat(40_000)}`);
  assert.ok(performance.now() - began < 1_000);
});

test('the catalogue: one line a skill, cut at 250 characters between code points, nothing without skills', () => {
  assert.deepEqual(catalogueLines([]), []);
  const long = '😀'.repeat(251);
  assert.deepEqual(
    catalogueLines([
      { name: 'a', description: 'One\n  two\tthree. ' },
      { name: 'b', description: '' },
      { name: 'c', description: long },
      { name: 'd', description: 'x'.repeat(250) },
      { name: 'e', description: 'x'.repeat(251) },
    ]),
    [
      '- a — One two three.',
      '- b',
      `- c — ${'😀'.repeat(250)}`,
      `- d — ${'x'.repeat(250)}`,
      `- e — ${'x'.repeat(250)}`,
    ],
  );
});
