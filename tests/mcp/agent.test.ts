/** The tool `Skill`, as the real client of the SDK sees it over the real command line. */
import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test, { type TestContext } from 'node:test';
import { Client } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { skillInstructions } from '../../host/mcp/agent/tool.ts';
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
  '.jupiter/skills/deploy/SKILL.md': skill('deploy', `To $1 from \${JUPITER_SKILL_DIR}.`),
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
    // One that was added since is there at the next look.
    writeFiles(cwd, { '.jupiter/skills/later/SKILL.md': skill('later', 'Later.') });
    assert.equal((await call({ name: '/later' })).text, 'Later.\n');
  });
}

test('without a skill the instructions are absent, heading included', () => {
  assert.equal(skillInstructions([]), undefined);
});
