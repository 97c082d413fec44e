/**
 * The client the conformance suite tests: `host.child.ts URL`. A station in a home of its own adds the server and approves
 * every skill; unless the scenario is about what is not retrieved before that, a session is created, which places them.
 */
import { spawn } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { probePolicy, repository } from '../e2e/harness.ts';

const url = process.argv.at(-1) ?? '';
const scenario = process.env['MCP_CONFORMANCE_SCENARIO'] ?? '';
const dir = mkdtempSync(join(tmpdir(), 'jupiter-host-'));
const home = join(dir, 'home');
const workspace = join(dir, 'workspace');
mkdirSync(home, { mode: 0o700 });
mkdirSync(workspace);
writeFileSync(join(home, 'policy.jsonc'), JSON.stringify(probePolicy()));

const jupiter = (...args: readonly string[]): Promise<Record<string, unknown>> =>
  new Promise((resolve, reject) => {
    const child = spawn(
      process.execPath,
      [join(repository, 'bin', 'jupiter.mjs'), '--home', home, '--json', ...args],
      { env: { PATH: process.env['PATH'] ?? '', HOME: dir }, stdio: ['ignore', 'pipe', 'inherit'] },
    );
    let text = '';
    child.stdout.setEncoding('utf8').on('data', (part: string) => {
      text += part;
    });
    child.on('error', reject);
    child.on('close', () => {
      console.log(`jupiter ${args.join(' ')}\n${text}`);
      resolve(JSON.parse(text === '' ? '{}' : text) as Record<string, unknown>);
    });
  });

try {
  await jupiter('up');
  const added = (await jupiter('skills', 'add', url, '--as', 'suite')) as {
    skills?: { address: string; digest: string }[];
  };
  for (const { address, digest } of added.skills ?? []) await jupiter('skills', 'approve', address, digest);
  if (scenario !== 'sep-2640-client-no-prefetch')
    await jupiter('session', 'create', '--agent', 'listed', '--cwd', workspace);
} finally {
  await jupiter('down');
  rmSync(dir, { recursive: true, force: true, maxRetries: 3 });
}
