import { codes } from './codes.ts';

/** MCP servers as the station and its command line have them. */
export const mcp = codes({
  'mcp/ambiguous': {
    message: 'Several servers have this name.',
    fix: 'Say which one by its key, as `jupiter mcp list` shows it.',
  },
  'mcp/form-unfit': {
    message: 'The answer does not fit the form; the evidence says what it wants.',
    fix: "Answer with `--allow --content '{…}'`.",
  },
  'mcp/denied': {
    message: "Policy denies this call; the evidence is the rule's place.",
    fix: 'Look at `permissions` in policy.jsonc.',
  },
  'mcp/disabled-elsewhere': {
    message: 'The server is disabled, and not by `disabledMcpServers` of the policy.',
    fix: 'Change what the evidence names: `jupiter mcp enable` only takes a server off that list.',
  },
  'mcp/not-its-session': { message: 'Another component asked for what this session gets.' },
  'mcp/not-open': { message: 'The station is still starting.', fix: 'Ask again.' },
  'mcp/server-unknown': {
    message: 'No MCP server of this station has this name.',
    fix: 'List them with `jupiter mcp list`.',
  },
  'mcp/too-many-sessions': {
    message: 'The component has more sessions open than the station keeps servers for.',
    fix: 'Close some.',
  },
  'mcp/tool-unknown': {
    message: 'The server offers no tool of this name.',
    fix: 'List them with `jupiter mcp tools SERVER`.',
  },
  'mcp/call-failed': {
    message: 'The server answered the call with an error.',
    fix: 'The evidence is what it said; `jupiter mcp tools SERVER` shows what each tool takes.',
  },
});
