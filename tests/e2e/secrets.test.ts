import assert from 'node:assert/strict';
import { dirname } from 'node:path';
import test from 'node:test';
import { demoAgent, everyFile, openBench, probePolicy } from './harness.ts';

/** A server that answers with what its environment holds: it proves that the credential arrived. */
const envServer = `
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { createHash } from 'node:crypto';
const server = new McpServer({ name: 'env', version: '1.0.0' });
server.registerTool('canary', { description: 'What the environment holds' }, async () => {
  const value = process.env.CANARY_TOKEN ?? 'nothing';
  const digest = createHash('sha256').update(value).digest('hex');
  return { content: [{ type: 'text', text: 'digest ' + digest + ' value ' + value }] };
});
process.stderr.write('starting with ' + process.env.CANARY_TOKEN + '\\n');
await server.connect(new StdioServerTransport());
`;

test('M12/M13 seed: a credential reaches the server through the agent and appears in no record, log, file or output', async (t) => {
  const { createHash } = await import('node:crypto');
  const { mkdirSync, rmSync, writeFileSync } = await import('node:fs');
  const { join } = await import('node:path');
  const { repository } = await import('./harness.ts');
  // Inside the checkout, so that the server finds the SDK; ignored by git.
  const folder = join(repository, '.cache', `env-server-${process.pid}`);
  mkdirSync(folder, { recursive: true });
  t.after(() => rmSync(folder, { recursive: true, force: true }));
  writeFileSync(join(folder, 'server.mjs'), envServer);
  const canary = `canary-${process.pid}-"q"-${Math.random().toString(36).slice(2)}`;
  const policy = probePolicy();
  const bench = openBench(t, {
    env: { CANARY_TOKEN: canary },
    policy: {
      ...policy,
      programs: {
        ...policy.programs,
        'claude-acp': {
          command: process.execPath,
          args: [demoAgent],
          inherit: ['PATH', 'CANARY_TOKEN'],
          trust: 'full',
        },
        probe: { command: process.execPath, args: [join(folder, 'server.mjs')], trust: 'full' },
      },
    },
  });
  await bench.ask('up');
  const session = await bench.ask<{ id: string }>(
    'session',
    'create',
    '--agent',
    'listed',
    '--cwd',
    bench.workspace,
  );
  const said = await bench.jupiter('session', 'say', session.id, `please repeat ${canary}`, '--wait');
  const transcript = await bench.jupiter('--json', 'session', 'transcript', session.id);
  const digest = createHash('sha256').update(canary).digest('hex');
  assert.ok(transcript.stdout.includes(digest), 'the credential reached the server');
  await bench.ask('session', 'show', session.id);
  await bench.ask('session', 'close', session.id);
  await bench.jupiter('down');

  const forms = [
    canary,
    JSON.stringify(canary).slice(1, -1),
    Buffer.from(canary).toString('base64').slice(0, 20),
  ];
  const texts: (readonly [string, Buffer])[] = [
    ['say', Buffer.from(said.stdout + said.stderr)],
    ['transcript', Buffer.from(transcript.stdout)],
    ...everyFile(dirname(bench.home)),
  ];
  for (const [where, bytes] of texts) {
    for (const form of forms)
      assert.ok(!bytes.includes(form), `${where} holds the credential as ${form.slice(0, 12)}…`);
  }
});
