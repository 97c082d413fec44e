/** The policy `jupiter init` writes: first-party bundles may do their work, and one agent that needs nothing. */
export const initialPolicy = `// What this station allows. What is not written here is not allowed.
// Check it with \`jupiter policy check\`, see what an agent gets with \`jupiter policy explain --agent NAME\`.
{
  // Permissions of each bundle. A bundle that is not named may do nothing.
  "grants": {
    "bearpunch.sessions": ["store:own", "bus:publish", "session-context:provision"],
    "bearpunch.adapter": ["store:own", "bus:publish", "process:spawn"],
    "bearpunch.echo": ["store:own", "bus:publish"],
  },

  // What a session can be created for. "provider" opens it; the adapter does unless another is named.
  "agents": {
    "echo": { "program": "echo", "provider": "bearpunch.echo:echo" },
    // "claude": { "program": "claude-acp" },
    // What it may ask of the station beside its own tools is "host"; without it, nothing.
    // "other": { "program": "other-acp", "host": { "files": "write", "terminals": true } },
  },

  // Executables. "inherit" holds NAMES of environment variables, never values. A program that serves an agent
  // its tools must be trusted.
  "programs": {
    // "claude-acp": { "command": "claude-agent-acp", "inherit": ["HOME", "PATH", "ANTHROPIC_API_KEY"], "trust": "full" },
    // "skills": { "command": "jupiter", "args": ["skills", "serve"], "inherit": ["HOME", "PATH"], "trust": "full" },
    // "notes-server": { "command": "notes-mcp", "args": ["--stdio"], "inherit": ["PATH"], "trust": "full" },
  },

  // HTTP endpoints. "bearer" is the NAME of the variable that holds the token.
  "origins": {
    // "tracker": { "url": "https://tracker.example/mcp" },
  },

  // MCP servers, and the agents that get them. Nobody else does.
  "servers": {
    // "notes": {
    //   "transport": { "type": "stdio", "program": "notes-server" },
    //   "consumers": { "sessions": ["claude"] },
    //   "exposure": "direct",
    // },
    // "tracker": {
    //   "transport": { "type": "http", "origin": "tracker" },
    //   "consumers": { "sessions": ["claude"] },
    //   "exposure": "direct",
    //   "tools": ["search"],
    // },
  },

  // What this station publishes itself, over HTTP on this machine only. "tokens" holds NAMES of variables.
  // "channel": {
  //   "port": 4720,
  //   "mcp": { "skills": ["bundles"], "tokens": ["JUPITER_CHANNEL_TOKEN"] },
  // },

  // Public keys of people whose bundles you install, and the bundles that must carry their signature.
  // "keys": { "acme": "ed25519:…" },
  // "signatures": [{ "prefix": "acme", "key": "acme" }],
}
`;
