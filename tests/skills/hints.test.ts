/** What a person is shown behind a skill's name. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { argumentSuggestions, hintOf, nameSuggestions } from '../../host/skills/index.ts';

const skill = (argumentHint?: string, names: readonly string[] = []) => ({
  name: 'deploy',
  arguments: names,
  ...(argumentHint === undefined ? {} : { argumentHint }),
});

for (const [hint, typed, suggested] of [
  ['<staging|production> [when]', '', ['staging', 'production']],
  ['<staging|production> [when]', 'st', ['staging']],
  ['<staging|production> [when]', 'x', []],
  ['<staging|production> [when]', 'staging ', ['staging [when]']],
  ['<staging|production> [when]', 'staging now', []],
  ['<staging|production> [when]', 'staging now and', []],
  ['[action] [args]', '', ['[action]']],
  ['add|remove <name of it>', 'add ', ['add <name of it>']],
  ['', '', []],
] as const) {
  test(`argument hint ${JSON.stringify(hint)} behind ${JSON.stringify(typed)}`, () => {
    assert.deepEqual(argumentSuggestions(skill(hint), typed), suggested);
  });
}

test('without a hint the declared names stand in; names are found by their beginning, in any case', () => {
  assert.equal(hintOf(skill(undefined, ['where', '', 'when'])), '<where> <when>');
  assert.deepEqual(argumentSuggestions(skill(undefined, ['where']), ''), ['<where>']);
  const skills = ['Deploy', 'describe', 'review'].map((name) => ({ ...skill(), name }));
  assert.deepEqual(
    nameSuggestions(skills, '/DE').map(({ name }) => name),
    ['Deploy', 'describe'],
  );
});
