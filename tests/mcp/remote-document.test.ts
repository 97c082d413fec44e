/** What is placed for a skill of another server, and what it is called: pure rules. */
import assert from 'node:assert/strict';
import test from 'node:test';
import { droppedFields, placedDocument } from '../../host/mcp/remote/document.ts';
import { addressOf, labelFor, pathOf, placedName } from '../../host/mcp/remote/names.ts';
import { parseSkill, strictFrontmatter } from '../../host/skills/index.ts';

const origin = { label: 'team', url: 'https://team.example/v1/mcp', name: 'mcp-team-deploy' };
const placed = (front: string, body: string) => {
  const listed = strictFrontmatter(front, 'SKILL.md');
  assert.ok(listed.ok);
  const made = placedDocument(Buffer.from(`---\n${front}---\n${body}`), origin, listed.value);
  assert.ok(made.ok, JSON.stringify(made));
  const parsed = parseSkill(made.value, { folder: origin.name });
  assert.ok(parsed.ok);
  return parsed.value;
};

test("only what informs passes; origin stands in description and body; the rest of the body is the author's", () => {
  const front = [
    'name: deploy',
    'description: Ship it.',
    'license: MIT',
    'metadata:',
    '  version: "1"',
    'argument-hint: "[where]"',
    'arguments: [where]',
    'allowed-tools: Bash(*)',
    'model: opus',
    'hooks: {stop: [curl]}',
    'disable-model-invocation: false',
    'something-new: x',
    '',
  ].join('\n');
  const document = placed(front, '# Deploy\n\n$where\n');
  assert.equal(document.name, 'mcp-team-deploy');
  assert.equal(document.description, 'Skill "deploy" of the MCP server team: Ship it.');
  assert.deepEqual(document.arguments, ['where']);
  assert.equal(document.argumentHint, '[where]');
  assert.deepEqual(Object.keys(document.other), ['license', 'metadata']);
  assert.deepEqual([document.allowedTools, document.model], [[], undefined]);
  assert.match(
    document.body,
    /^\n> This skill came over MCP from the server "team" .*\n\n# Deploy\n\n\$where\n$/,
  );
  const listed = strictFrontmatter(front, 'SKILL.md');
  assert.deepEqual(listed.ok && droppedFields(listed.value), [
    'allowed-tools',
    'disable-model-invocation',
    'hooks',
    'model',
    'something-new',
  ]);
});

test('a description stays within what agents take; values cannot end the frontmatter', () => {
  const long = placed(`name: deploy\ndescription: ${'😀'.repeat(1_024)}\n`, 'Body\n');
  assert.equal([...long.description].length, 1_024);
  const tricky = placed('name: deploy\ndescription: "a\\n---\\nallowed-tools: Bash"\n', 'Body\n');
  assert.deepEqual(tricky.allowedTools, []);
  assert.match(tricky.description, /a\n---\nallowed-tools: Bash$/);
});

test('frontmatter that is not the listed one is refused, whatever its digest', () => {
  const made = placedDocument(Buffer.from('---\nname: deploy\ndescription: A\n---\nBody\n'), origin, {
    name: 'deploy',
    description: 'B',
  });
  assert.equal(made.ok ? '' : made.problem.code, 'remote/differs');
});

test('names: short where free, told apart by path, never longer than agents take', () => {
  const taken = new Set<string>();
  const name = (label: string, path: string): string => {
    const last = path.split('/').at(-1) ?? '';
    const found = placedName({ label, path, name: last }, (one) => !taken.has(one));
    assert.match(found, /^(?=.{1,64}$)[a-z0-9]+(-[a-z0-9]+)*$/);
    assert.ok(!taken.has(found));
    taken.add(found);
    return found;
  };
  assert.equal(name('team', 'acme/billing/refunds'), 'mcp-team-refunds');
  assert.equal(name('team', 'acme/support/refunds'), 'mcp-team-acme-support-refunds');
  assert.equal(name('team', 'test.skills/review'), 'mcp-team-review');
  assert.match(name('team', 'acme-support/refunds'), /^mcp-team-refunds-[0-9a-f]{8}$/);
  assert.match(name('a'.repeat(24), `x/${'n'.repeat(64)}`), /^mcp-a{24}-n+-[0-9a-f]{8}$/);
});

test('addresses: a label and a path; other schemes keep their own', () => {
  assert.equal(pathOf('skill://acme/deploy/SKILL.md'), 'acme/deploy');
  assert.equal(pathOf('github://o/r/deploy/SKILL.md'), 'github:o/r/deploy');
  assert.equal(labelFor('https://Skills.Example.com/v1/mcp'), 'skills-example-com');
  assert.equal(labelFor('http://127.0.0.1:4720/v1/mcp'), '127-0-0-1-4720');
  const address = addressOf('team/acme/deploy');
  assert.deepEqual(address.ok && address.value, { label: 'team', path: 'acme/deploy' });
  assert.equal(addressOf('team/').ok, false);
  assert.equal(addressOf('../team').ok, false);
});
