/** What is known of agents: their modes, and the sign by which a tool call goes to a server. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { handApproval } from '../../components/adapter/approval.ts';
import { familyOf, serverOf } from '../../components/adapter/families.ts';
import { handOver } from '../../components/adapter/servers.ts';

test('a tool call goes to a server only by the sign of its agent', () => {
  const servers = ['probe', 'probehttp', 'probe-x', 'read'];
  const table: readonly (readonly [
    agent: string | undefined,
    call: Record<string, unknown>,
    server?: string,
  ])[] = [
    ['OpenCode', { title: 'probehttp_probe' }, 'probehttp'],
    ['OpenCode', { title: 'probe_probe' }, 'probe'],
    ['OpenCode', { title: 'bash' }],
    ['gemini-cli', { title: 'probe (probehttp MCP Server)' }, 'probehttp'],
    ['gemini-cli', { title: 'read_file' }],
    ['Copilot', { title: 'probe-probe' }, 'probe'],
    ['Copilot', { title: 'probe-x-tool' }, 'probe-x'],
    ['@agentclientprotocol/claude-agent-acp', { title: 'mcp__probe__probe' }, 'probe'],
    [
      '@agentclientprotocol/codex-acp',
      { title: 'mcp.probe.probe', rawInput: { server: 'probe', tool: 'x' } },
      'probe',
    ],
    ['@agentclientprotocol/codex-acp', { title: 'mcp.other.x', rawInput: { server: 'other', tool: 'x' } }],
    // Nothing is claimed of an agent that is not known.
    [undefined, { title: 'read_file' }],
    ['someone', { title: 'probe.probe' }],
    ['someone', {}],
  ];
  for (const [agent, call, server] of table)
    assert.equal(serverOf(agent, servers, call), server, JSON.stringify([agent, call]));
});

test('servers an agent drops without a word are skipped under any alias', () => {
  const servers = [
    { name: 'local', transport: { type: 'stdio' as const, command: 'x', args: [] } },
    { name: 'remote', transport: { type: 'http' as const, url: 'http://h' } },
  ];
  const { noStdio } = familyOf('Copilot');
  const { handedOver, skipped } = handOver(servers, 's-1', { http: true, noStdio });
  assert.deepEqual(handedOver, ['remote']);
  assert.deepEqual(skipped, [{ name: 'local', reason: noStdio }]);
});

test('the mode that asks is chosen by what the agent offers, and what cannot be handed over is said', () => {
  const modes = (current: string, ...ids: string[]) => ({
    modes: { currentModeId: current, availableModes: ids.map((id) => ({ id, name: id })) },
  });
  const option = (current: string, ...ids: string[]) => ({
    configOptions: [
      { id: 'mode', category: 'mode', currentValue: current, options: ids.map((value) => ({ value })) },
    ],
  });
  const setMode = (modeId: string) => [{ method: 'session/set_mode', params: { modeId } }];
  const setOption = (value: string) => [
    { method: 'session/set_config_option', params: { configId: 'mode', value } },
  ];
  const table: readonly (readonly [
    approve: 'manual' | 'auto' | 'workspace',
    session: Record<string, unknown>,
    steps: readonly unknown[],
    text: RegExp,
  ])[] = [
    ['manual', modes('auto', 'default', 'auto'), setMode('default'), /in its mode default/],
    ['auto', modes('auto', 'default', 'auto'), setMode('default'), /approval auto: .*default/],
    ['manual', modes('default', 'default', 'yolo'), [], /in its mode default/],
    ['manual', option('agent', 'read-only', 'workspace-write', 'agent'), setOption('read-only'), /read-only/],
    [
      'workspace',
      option('agent', 'read-only', 'workspace-write'),
      setOption('workspace-write'),
      /workspace-write/,
    ],
    [
      'manual',
      option('build', 'build', 'plan'),
      [],
      /none of the agent's modes \(build, plan\) is known to ask/,
    ],
    ['manual', {}, [], /offers no modes and decides by itself/],
    ['manual', { modes: null, configOptions: null }, [], /decides by itself/],
    [
      'manual',
      { configOptions: [{ id: 'allow_all', category: 'permissions', currentValue: 'on' }] },
      [{ method: 'session/set_config_option', params: { configId: 'allow_all', value: 'off' } }],
      /switched off/,
    ],
  ];
  for (const [approve, session, steps, text] of table) {
    const found = handApproval(approve, session);
    assert.deepEqual(found.steps, steps, JSON.stringify(session));
    assert.match(found.text, text);
  }
});
