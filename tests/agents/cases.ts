/**
 * The agents under test: how each is started against a model on loopback, with a home of its own and no account.
 * Pinned; a new version is tried by changing its number here.
 */
import { join } from 'node:path';
import type { Pinned } from './install.ts';

export interface AgentCase {
  readonly agent: Pinned;
  /** Its alias under `programs`: the name of its family. */
  readonly program: string;
  readonly args: readonly string[];
  /** Its executable is a program of its own, not a script for Node. */
  readonly native?: boolean;
  readonly env: (model: string) => Readonly<Record<string, string>>;
  /** Files in its home before it starts, by path. */
  readonly files?: (model: string, workspace: string) => Readonly<Record<string, string>>;
  /** What the model calls the tool `probe` of the servers `probe` and `probehttp`. */
  readonly tools: { readonly stdio: string; readonly http: string };
  readonly sink: string;
  /** A session of an earlier process can be taken up again. */
  readonly loads: boolean;
}

const provider = (model: string) => ({
  provider: {
    local: {
      npm: '@ai-sdk/openai-compatible',
      name: 'Local',
      options: { baseURL: `${model}/v1`, apiKey: 'dummy' },
      models: { 'test-model': { tool_call: true, limit: { context: 100_000, output: 4_096 } } },
    },
  },
  model: 'local/test-model',
  small_model: 'local/test-model',
  enabled_providers: ['local'],
  permission: { '*': 'ask' },
});

export const opencode: AgentCase = {
  agent: { package: 'opencode-ai', version: '1.18.33', bin: 'opencode', scripts: true },
  program: 'opencode',
  args: ['acp'],
  native: true,
  env: (model) => ({
    OPENCODE_CONFIG_CONTENT: JSON.stringify(provider(model)),
    OPENCODE_DISABLE_MODELS_FETCH: '1',
    OPENCODE_DISABLE_AUTOUPDATE: '1',
  }),
  tools: { stdio: 'probe_probe', http: 'probehttp_probe' },
  sink: '.opencode/skills',
  loads: true,
};

export const claude: AgentCase = {
  agent: { package: '@agentclientprotocol/claude-agent-acp', version: '0.101.0', bin: 'claude-agent-acp' },
  program: 'claude-acp',
  args: [],
  env: (model) => ({
    ANTHROPIC_BASE_URL: model,
    ANTHROPIC_API_KEY: 'dummy',
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
    DISABLE_AUTOUPDATER: '1',
    ENABLE_TOOL_SEARCH: 'false',
  }),
  tools: { stdio: 'mcp__probe__probe', http: 'mcp__probehttp__probe' },
  sink: '.claude/skills',
  loads: true,
};

export const codex: AgentCase = {
  agent: { package: '@agentclientprotocol/codex-acp', version: '2.6.0', bin: 'codex-acp' },
  program: 'codex-acp',
  args: [],
  env: () => ({ LOCAL_KEY: 'dummy' }),
  files: (model, workspace) => ({
    [join('.codex', 'config.toml')]: [
      'model = "test-model"',
      'model_provider = "local"',
      '[model_providers.local]',
      'name = "Local"',
      `base_url = "${model}/v1"`,
      'env_key = "LOCAL_KEY"',
      'wire_api = "responses"',
      `[projects.${JSON.stringify(workspace)}]`,
      'trust_level = "trusted"',
      '',
    ].join('\n'),
  }),
  tools: { stdio: 'mcp__probe__probe', http: 'mcp__probehttp__probe' },
  sink: '.agents/skills',
  loads: true,
};

export const gemini: AgentCase = {
  agent: { package: '@google/gemini-cli', version: '0.61.0', bin: 'gemini' },
  program: 'gemini',
  args: ['--acp'],
  env: (model) => ({
    GEMINI_API_KEY: 'dummy',
    GOOGLE_GEMINI_BASE_URL: model,
    GEMINI_MODEL: 'gemini-2.5-flash',
    GEMINI_CLI_TRUST_WORKSPACE: 'true',
  }),
  files: () => ({
    [join('.gemini', 'settings.json')]: JSON.stringify({
      security: { auth: { selectedType: 'gemini-api-key' } },
      privacy: { usageStatisticsEnabled: false },
    }),
  }),
  tools: { stdio: 'mcp_probe_probe', http: 'mcp_probehttp_probe' },
  sink: '.gemini/skills',
  loads: false,
};
