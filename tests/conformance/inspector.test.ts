/** The command line of the MCP Inspector reads files of every kind back byte for byte. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import test from 'node:test';
import { openDesk } from '../mcp/published.ts';
import { installed } from './installed.ts';
import { everyKind } from './skills-fixture.ts';

const run = (home: string, args: readonly string[]): Promise<string> =>
  new Promise((resolve, reject) => {
    const child = spawn(process.execPath, [...args], {
      env: { HOME: home, PATH: process.env['PATH'] ?? '' },
      stdio: ['ignore', 'pipe', 'ignore'],
      timeout: 60_000,
    });
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', reject);
    child.on('close', () => resolve(text));
  });

test('the Inspector reads every kind of file, one process each', { timeout: 170_000 }, async (t) => {
  const launcher = join(
    await installed('@modelcontextprotocol/inspector', '2.12.0'),
    ...['clients', 'launcher', 'build', 'index.js'],
  );
  const home = mkdtempSync(join(tmpdir(), 'jupiter-inspector-'));
  t.after(() => rmSync(home, { recursive: true, force: true }));
  const files = everyKind();
  const { url } = await openDesk(t, files);
  const ask = async (...args: string[]): Promise<Record<string, unknown>> =>
    JSON.parse(
      await run(home, [launcher, '--cli', url, '--transport', 'http', '--method', ...args]),
    ) as Record<string, unknown>;
  // Of the many that are alike, one; the completed SKILL.md is checked by the client of the SDK.
  const kinds = Object.entries(files).filter(
    ([path]) => !/^(?:many-[1-9]|at-limit\/files\/f[1-9]|completed\/)/.test(path),
  );
  assert.ok(kinds.length > 20);
  for (const [path, content] of kinds) {
    const uri = `skill://${path.split('/').map(encodeURIComponent).join('/')}`;
    const { contents } = await ask('resources/read', '--uri', uri);
    const [first] = (contents ?? []) as { text?: string; blob?: string }[];
    const read =
      first?.text === undefined ? Buffer.from(first?.blob ?? '', 'base64') : Buffer.from(first.text);
    const own = typeof content === 'string' ? Buffer.from(content) : Buffer.from(content);
    assert.ok(own.equals(read), path);
  }
});
