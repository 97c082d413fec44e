/** The tool `Skill`, as the real client of the SDK sees it over the real command line. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client, InMemoryTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { skillInstructions } from '../../host/mcp/agent/tool.ts';
import { buildSkillServer, mountSkills } from '../../host/mcp/index.ts';
import { problem } from '../../host/problems/index.ts';
import { openSkillLibrary } from '../../host/skills/index.ts';
import { skill, writeFiles } from './published.ts';

const repository = join(import.meta.dirname, '..', '..');

const open = async (t: TestContext, mode: 'legacy' | '2026-07-28', files: Record<string, string>) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-agent-')));
  const cwd = join(dir, 'repo');
  mkdirSync(cwd);
  writeFiles(cwd, files);
  const client = new Client(
    { name: 'test', version: '1' },
    { versionNegotiation: { mode: mode === 'legacy' ? 'legacy' : { pin: mode } } },
  );
  t.after(async () => {
    await client.close();
    rmSync(dir, { recursive: true, force: true });
  });
  await client.connect(
    new StdioClientTransport({
      command: process.execPath,
      args: [join(repository, 'bin', 'jupiter.mjs'), '--home', join(dir, 'home'), 'skills', 'serve'],
      cwd,
      env: { HOME: dir, PATH: process.env['PATH'] ?? '' },
    }),
  );
  const call = async (args: Record<string, unknown>) => {
    const { content, isError } = await client.callTool({ name: 'Skill', arguments: args });
    const [first] = content as { text: string }[];
    return { text: first?.text ?? '', isError: isError === true };
  };
  return { cwd, client, call };
};

const files = {
  '.jupiter/skills/deploy/SKILL.md': skill(
    'deploy',
    `To $1 from \${JUPITER_SKILL_DIR}.`,
    'argument-hint: <staging|production> [when]\n',
  ),
  '.jupiter/skills/long/SKILL.md': `---\nname: long\ndescription: ${'x'.repeat(300)}\n---\nBody\n`,
};

for (const mode of ['legacy', '2026-07-28'] as const) {
  test(`the tool Skill returns the expanded body, at ${mode}`, async (t) => {
    const { cwd, client, call } = await open(t, mode, files);
    const { tools } = await client.listTools();
    assert.deepEqual(
      tools.map(({ name }) => name),
      ['Skill'],
    );
    assert.equal(tools[0]?.annotations?.readOnlyHint, true);
    const lines = client.getInstructions()?.split('\n') ?? [];
    assert.ok(lines.includes('- deploy — What deploy is for.'));
    assert.ok(lines.includes(`- long — ${'x'.repeat(250)}`));

    const dir = join(cwd, '.jupiter/skills/deploy');
    assert.deepEqual(await call({ name: 'deploy', arguments: 'staging' }), {
      text: `To staging from ${dir}.\n`,
      isError: false,
    });
    const unknown = await call({ name: 'nothing' });
    assert.equal(unknown.isError, true);
    assert.match(unknown.text, /There are: deploy, .*long/);
    // As a prompt for people, completed from names and from what the skill hints at.
    const complete = async (argument: 'name' | 'arguments', value: string) => {
      const found = await client.complete({
        ref: { type: 'ref/prompt', name: 'Skill' },
        argument: { name: argument, value },
        ...(argument === 'name' ? {} : { context: { arguments: { name: 'deploy' } } }),
      });
      return found.completion.values;
    };
    assert.deepEqual(await complete('name', 'de'), ['deploy']);
    assert.deepEqual(await complete('arguments', ''), ['staging', 'production']);
    assert.deepEqual(await complete('arguments', 'pro'), ['production']);
    assert.deepEqual(await complete('arguments', 'staging '), ['staging [when]']);
    const prompt = await client.getPrompt({ name: 'Skill', arguments: { name: 'deploy', arguments: 'x' } });
    assert.deepEqual(prompt.messages[0]?.content, { type: 'text', text: `To x from ${dir}.\n` });
    await assert.rejects(client.getPrompt({ name: 'Skill', arguments: { name: 'nothing' } }), /There are:/);
    // One that was added since is there at the next look.
    writeFiles(cwd, { '.jupiter/skills/later/SKILL.md': skill('later', 'Later.') });
    assert.equal((await call({ name: '/later' })).text, 'Later.\n');
  });
}

test('without a skill the instructions are absent, heading included', () => {
  assert.equal(skillInstructions([]), undefined);
});

test('a mounted server asks its rules by the name of the skill, for the tool and the prompt alike', async (t) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-agent-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFiles(dir, { ...files, '.jupiter/skills/review/SKILL.md': skill('review', 'Review.') });
  const asked: string[] = [];
  const mcp = await buildSkillServer({
    server: { name: 'jupiter-skills', version: '0' },
    library: openSkillLibrary({}),
    cwd: dir,
    decide: (name) => {
      asked.push(name);
      return name === 'deploy'
        ? problem('skill/unknown', { message: 'A rule denies Skill(deploy).' })
        : undefined;
    },
  });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  await Promise.all([mcp.connect(ours), client.connect(theirs)]);
  const call = async (name: string) => {
    const { content, isError } = await client.callTool({ name: 'Skill', arguments: { name } });
    return [isError === true, (content as { text: string }[])[0]?.text];
  };
  const [denied, why] = await call('/deploy');
  assert.equal(denied, true);
  assert.match(String(why), /A rule denies Skill\(deploy\)/);
  assert.deepEqual(await call('review'), [false, 'Review.\n']);
  await assert.rejects(client.getPrompt({ name: 'Skill', arguments: { name: 'deploy' } }), /A rule denies/);
  assert.deepEqual(asked, ['deploy', 'review', 'deploy']);
});

test('the same as data: what tools/list and tools/call of the built server answer', async (t) => {
  const dir = realpathSync(mkdtempSync(join(tmpdir(), 'jupiter-agent-')));
  t.after(() => rmSync(dir, { recursive: true, force: true }));
  writeFiles(dir, files);
  const options = { library: openSkillLibrary({}), cwd: dir, decide: () => undefined };
  const mounted = await mountSkills(options);
  const mcp = await buildSkillServer({ ...options, server: { name: 'jupiter-skills', version: '0' } });
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  const client = new Client({ name: 'test', version: '1' });
  t.after(() => client.close());
  await Promise.all([mcp.connect(ours), client.connect(theirs)]);
  assert.equal(mounted.instructions, client.getInstructions());
  const [tool] = (await client.listTools()).tools;
  assert.deepEqual(
    JSON.parse(JSON.stringify(mounted.tools)).map((one: { inputSchema: object }) => one.inputSchema),
    [tool?.inputSchema],
  );
  for (const args of [{ name: 'deploy', arguments: 'x' }, { name: 'nothing' }]) {
    const { content, isError } = await client.callTool({ name: 'Skill', arguments: args });
    const here = await mounted.call('Skill', args);
    assert.deepEqual([here['content'], here['isError']], [content, isError]);
  }
  assert.equal((await mounted.call('Skill', { name: 7 }))['isError'], true);
  assert.equal((await mounted.call('Other', {}))['isError'], true);
});
