// Imports run downward only (docs/architecture.md). A room's inside is its own: others import its index.ts.
const tiers = [
  ['cli', 'web'],
  ['station'],
  ['bundles', 'context', 'mcp'],
  ['bus', 'skills', 'contracts'],
  ['sandbox', 'capabilities', 'processes'],
  ['policy', 'state'],
  ['paths', 'http'],
  ['problems'],
];
const upward = tiers.flatMap((tier, level) =>
  tier.map((room) => ({
    name: `${room}-imports-downward`,
    severity: 'error',
    comment: 'imports run downward only',
    from: { path: `^host/${room}/` },
    to: { path: `^host/(${tiers.slice(0, level).flat().concat('no-such-room').join('|')})/` },
  })),
);
module.exports = {
  forbidden: [
    ...upward,
    {
      name: 'rooms-by-their-door',
      severity: 'error',
      comment: 'import another room from its index.ts, never from inside it',
      from: { path: '^host/([^/]+)/' },
      to: { path: '^host/([^/]+)/', pathNot: ['^host/$1/', '^host/[^/]+/index\\.ts$'] },
    },
    {
      name: 'sandbox-knows-no-topic',
      severity: 'error',
      from: { path: '^host/(sandbox|processes|capabilities|state)/' },
      to: { path: '^contracts/' },
    },
    {
      name: 'skills-know-no-mcp',
      severity: 'error',
      from: { path: '^host/skills/' },
      to: { path: '(^host/mcp/|node_modules/@modelcontextprotocol/)' },
    },
    {
      name: 'contracts-run-without-a-station',
      severity: 'error',
      from: { path: '^host/contracts/' },
      to: { path: '^host/(?!contracts/|problems/)' },
    },
    {
      name: 'guests-are-strangers',
      severity: 'error',
      comment: 'a guest sees the SDK and the contracts, never the host',
      from: { path: '^components/' },
      to: { path: '^host/' },
    },
    {
      name: 'host-knows-no-guest',
      severity: 'error',
      comment: 'the build tool of the SDK runs on Node and is no guest',
      from: { path: '^host/' },
      to: { path: '^components/', pathNot: '^components/guest/build\\.ts$' },
    },
    { name: 'no-circular', severity: 'error', from: {}, to: { circular: true } },
  ],
  options: {
    doNotFollow: { path: 'node_modules' },
    tsPreCompilationDeps: true,
    parser: 'swc',
    tsConfig: { fileName: 'tsconfig.json' },
    enhancedResolveOptions: { extensions: ['.ts', '.mjs', '.js'] },
  },
};
