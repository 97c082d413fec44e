/** What of a policy is shown. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { shownPolicy } from '../../host/policy/index.ts';

// Written so that nobody takes it for a template.
const variable = ['$', '{T}'].join('');

const table: readonly (readonly [string, string, string])[] = [
  [
    'a value of env',
    '{"mcpServers": {"a": {"command": "x", "env": {"K": "v1"}}}}',
    '{"mcpServers": {"a": {"command": "x", "env": {"K": "…"}}}}',
  ],
  [
    'a header, but for its variable',
    `{"mcpServers": {"a": {"headers": {"H": "Bearer ${variable} x"}}}}`,
    `{"mcpServers": {"a": {"headers": {"H": "…${variable}…"}}}}`,
  ],
  [
    'a variable alone',
    `{"mcpServers": {"a": {"env": {"H": "${variable}"}}}}`,
    `{"mcpServers": {"a": {"env": {"H": "${variable}"}}}}`,
  ],
  [
    'what is no text',
    '{"mcpServers": {"a": {"env": {"K": 12345678, "L": ["x"]}}}}',
    '{"mcpServers": {"a": {"env": {"K": "…", "L": "…"}}}}',
  ],
  [
    'nothing else',
    '{"mcpServers": {"a": {"command": "x", "args": ["env"], "cwd": "/e"}}, // kept\n "programs": {"env": {"command": "y"}}}',
    '{"mcpServers": {"a": {"command": "x", "args": ["env"], "cwd": "/e"}}, // kept\n "programs": {"env": {"command": "y"}}}',
  ],
  [
    'a text that cannot be read to its end',
    '{"mcpServers": {"a": {"env": {"K": "v1"}',
    '{"mcpServers": {"a": {"env": {"K": "…"}',
  ],
];
for (const [what, text, shown] of table)
  test(`shown without values: ${what}`, () => assert.equal(shownPolicy(text), shown));
