import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import test, { type TestContext } from 'node:test';
import { Command } from 'commander';
import { lineOf } from '../../host/cli/skill-text.ts';
import { type RunSkills, registerSkills } from '../../host/cli/skills.ts';
import type { SkillSource } from '../../host/skills/index.ts';
import { openDesk, skillText } from '../skills/desk.ts';

/** The command line around `registerSkills`: what it printed, and its exit code. */
const bench = (t: TestContext, bundles: readonly SkillSource[] = []) => {
  const desk = openDesk(t);
  desk.write('home/.jupiter/skills/deploy/SKILL.md', skillText('deploy', 'To $1 with $ARGUMENTS.'));
  desk.write('repo/.jupiter/skills/deploy/SKILL.md', skillText('deploy'));
  desk.write('repo/.jupiter/skills/review/SKILL.md', skillText('review', '\u001b[31mRed'));
  const ask = async (...args: readonly string[]) => {
    let answer: Awaited<ReturnType<Parameters<RunSkills>[0]>> | undefined;
    const program = new Command('jupiter').exitOverride().configureOutput({ writeErr: () => {} });
    const run: RunSkills = async (act) => {
      answer = await act({ home: desk.at('home/.jupiter') });
    };
    registerSkills(program, run, {
      person: desk.at('home/.jupiter/skills'),
      shipped: desk.at('shipped'),
      bundles: async () => bundles,
    });
    for (const command of program.commands.flatMap((group) => group.commands)) command.exitOverride();
    await program.parseAsync(['skills', ...args], { from: 'user' });
    if (answer === undefined) throw new Error('nothing ran');
    return answer;
  };
  return { desk, ask };
};

test('skills list: names, sources, what is shadowed and why, as text and as one document', async (t) => {
  const { desk, ask } = bench(t);
  const answer = await ask('list', '--cwd', desk.at('repo'));
  assert.ok(answer.ok);
  assert.match(answer.value.plain, /^deploy {2}\[person\] {2}What deploy does\.\nreview {2}\[project .*\]/);
  assert.match(answer.value.plain, /shadowed: deploy in .*: the person's folder comes before/);
  const json = JSON.parse(JSON.stringify(answer.value.json));
  assert.deepEqual(
    json.skills.map(({ name }: { name: string }) => name),
    ['deploy', 'review'],
  );
  assert.equal(json.shadowed.length, 1);
});

test('skills render: the prompt of `/name args`; options of others are arguments', async (t) => {
  const { desk, ask } = bench(t);
  const answer = await ask('render', 'deploy', 'staging', '--force', '--cwd', desk.at('repo'));
  assert.ok(answer.ok);
  assert.equal(answer.value.plain, 'To staging with staging --force.\n');
  const red = await ask('render', '/review', '--cwd', desk.at('repo'));
  assert.ok(red.ok);
  assert.equal(red.value.plain, '[31mRed\n');
  assert.deepEqual(red.value.json, { name: 'review', text: '\u001b[31mRed\n' });
});

test('skills show: one skill with its files; an unknown name answers with those there are', async (t) => {
  const { desk, ask } = bench(t);
  const answer = await ask('show', 'deploy', '--cwd', desk.at('repo'));
  assert.ok(answer.ok);
  assert.match(answer.value.plain, /source: {2}person\n/);
  assert.match(answer.value.plain, /file: {4}SKILL\.md \(\d+ bytes\)/);
  const unknown = await ask('show', 'nothing', '--cwd', desk.at('repo'));
  assert.equal(unknown.ok ? '' : unknown.problem.code, 'skill/unknown');
  assert.equal(unknown.ok ? '' : unknown.problem.evidence, 'there are: deploy, review');
});

test('skills list shows installed bundles where the station can name them', async (t) => {
  const text = skillText('ship');
  const desk = openDesk(t);
  desk.write('package/skills/ship/SKILL.md', text);
  const sha256 = createHash('sha256').update(text).digest('hex');
  const files = [{ path: 'SKILL.md', sha256, size: Buffer.byteLength(text) }];
  const folder = desk.at('package/skills/ship');
  const { ask } = bench(t, [{ bundle: 'b.one', revision: '1', name: 'ship', folder, files }]);
  const answer = await ask('list', '--cwd', desk.dir);
  assert.ok(answer.ok);
  assert.match(answer.value.plain, /ship {4}\[bundle b\.one\]/);
});

test('skills check: exit 1 with a refusal, 0 with warnings; an unknown family is usage', async (t) => {
  const { desk, ask } = bench(t);
  const bad = await ask('check', desk.at('home/.jupiter/skills'));
  assert.ok(bad.ok);
  assert.equal(bad.value.exit, undefined);
  assert.match(bad.value.plain, /SKILL\.md:5: warning placeholder-counted/);
  desk.write('home/.jupiter/skills/deploy/SKILL.md', '# Nothing\n');
  const refused = await ask('check', desk.at('home/.jupiter/skills'), '--family', 'codex', 'claude');
  assert.equal(refused.ok && refused.value.exit, 1);
  assert.match(refused.ok ? refused.value.plain : '', /1 checked, 1 error, 0 warnings$/);
  const nothing = await ask('check', desk.at('nowhere'));
  assert.equal(nothing.ok ? '' : nothing.problem.code, 'skill/nothing-to-check');
  await assert.rejects(ask('check', desk.dir, '--family', 'nobody'), { code: 'commander.invalidArgument' });
});

test('skills list shows the hint of a skill where its arguments belong', async (t) => {
  const { desk, ask } = bench(t);
  desk.write(
    'repo/.jupiter/skills/ship/SKILL.md',
    skillText('ship', 'Go.', 'argument-hint: <where> [when]\n'),
  );
  const answer = await ask('list', '--cwd', desk.at('repo'));
  assert.ok(answer.ok);
  assert.match(answer.value.plain, /^ship <where> \[when\] {2}\[project/m);
});

test('skills complete: names with their hints, then what a hint offers at this place', async (t) => {
  const { desk, ask } = bench(t);
  const text = skillText('ship', 'Go.', 'argument-hint: <here|there> [when]\n');
  desk.write('repo/.jupiter/skills/ship/SKILL.md', text);
  const typed = async (prompt: string): Promise<string> => {
    const answer = await ask('complete', prompt, '--cwd', desk.at('repo'));
    return answer.ok ? answer.value.plain : answer.problem.code;
  };
  assert.equal(await typed('/sh'), '/ship <here|there> [when]');
  assert.equal(await typed('/ship '), '/ship here\n/ship there');
  assert.equal(await typed('/ship th'), '/ship there');
  assert.equal(await typed('/nothing x'), '');
});

test('a description that is too long for a listing ends in an ellipsis', () => {
  assert.equal(lineOf('a'.repeat(120)), 'a'.repeat(120));
  assert.equal(lineOf('a'.repeat(121)), `${'a'.repeat(119)}…`);
});
