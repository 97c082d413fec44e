/**
 * A small MCP server over standard input and output. Its one tool, `probe`, answers `probe answered`. Asked with
 * `has: NAME` it also says whether it was started with that environment variable, never the value.
 */
import { McpServer } from '@modelcontextprotocol/server';
import { StdioServerTransport } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';

const server = new McpServer({ name: 'probe', version: '0.1.0' });
server.registerTool(
  'probe',
  {
    description: 'Answers, so that one can see that it was called.',
    inputSchema: z.object({ has: z.string().max(200).optional() }),
  },
  ({ has }) => {
    const about =
      has === undefined ? '' : `: ${has} is ${process.env[has] === undefined ? 'not set' : 'set'}`;
    return { content: [{ type: 'text', text: `probe answered${about}` }] };
  },
);
await server.connect(new StdioServerTransport());
