/**
 * eve 0.80.1, which publishes skills over MCP too: fetched from npm, built with the skills of a folder, started. Its model
 * is its own mock and its telemetry is off, so nothing of it leaves this machine.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { cpSync, mkdirSync, symlinkSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { dirname, join } from 'node:path';
import { installed } from '../conformance/installed.ts';
import { writeFiles } from '../mcp/published.ts';

const version = '0.80.1';
const buildMs = 180_000;
const startMs = 30_000;
const env = { PATH: process.env['PATH'] ?? '', EVE_TELEMETRY_DISABLED: '1', NO_COLOR: '1' };

const ended = (child: ChildProcess, what: string): Promise<void> =>
  new Promise((resolve, reject) => {
    let said = '';
    for (const stream of [child.stdout, child.stderr]) {
      stream?.setEncoding('utf8').on('data', (text: string) => {
        said = (said + text).slice(-2_000);
      });
    }
    child.on('error', reject);
    child.on('close', (code) => (code === 0 ? resolve() : reject(new Error(`${what} → ${code}\n${said}`))));
  });

/** An application in `app` that publishes the skills of `folder` at `/v1/mcp`, built. */
export const buildEve = async (app: string, folder: string): Promise<void> => {
  const eve = await installed('eve', version);
  mkdirSync(app, { recursive: true });
  symlinkSync(dirname(eve), join(app, 'node_modules'));
  writeFiles(app, {
    'package.json': '{"private":true,"type":"module","dependencies":{"eve":"0.80.1"}}\n',
    'agent/instructions.md': 'You do nothing.\n',
    'agent/agent.ts':
      'import { defineAgent } from "eve";\nimport { mockModel } from "eve/evals";\nexport default defineAgent({ model: mockModel() });\n',
    'agent/channels/mcp.ts':
      'import { none } from "eve/channels/auth";\nimport { mcpChannel } from "eve/channels/mcp";\nexport default mcpChannel({ auth: none(), route: "/v1/mcp", skills: true });\n',
  });
  cpSync(folder, join(app, 'agent', 'skills'), { recursive: true });
  const home = join(app, 'home');
  mkdirSync(home);
  const args = [join(eve, 'bin', 'eve.js'), 'build', '--skip-sandbox-prewarm'];
  const options = { cwd: app, env: { ...env, HOME: home }, timeout: buildMs } as const;
  await ended(spawn(process.execPath, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] }), 'eve build');
};

const freePort = (): Promise<number> =>
  new Promise((resolve) => {
    const server = createServer();
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo;
      server.close(() => resolve(port));
    });
  });

export const startEve = async (app: string): Promise<{ port: number; child: ChildProcess }> => {
  const port = await freePort();
  const child = spawn(process.execPath, [join(app, '.output', 'server', 'index.mjs')], {
    cwd: app,
    env: { ...env, HOME: join(app, 'home'), PORT: String(port), HOST: '127.0.0.1', NODE_ENV: 'production' },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  await new Promise<void>((resolve, reject) => {
    const late = setTimeout(() => reject(new Error('eve does not listen')), startMs);
    const done = (): void => {
      clearTimeout(late);
      resolve();
    };
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (text: string) => text.includes('istening') && done());
    child.on('close', (code) => reject(new Error(`eve ended: ${code}`)));
  });
  return { port, child };
};
