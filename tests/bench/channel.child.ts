/**
 * One server of the channel benchmark in a process of its own: `channel.child.ts ours|sdk|floor PLACE`. `sdk` is the
 * official handler with the official catalog, `floor` answers every request with the bytes of a file and does nothing
 * else. Tells its port on standard output and ends with its standard input.
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { openChannel } from '../../host/mcp/index.ts';
import { openWeb } from '../../host/web/index.ts';

const [mode = '', place = ''] = process.argv.slice(2);
process.stdin.on('end', () => process.exit(0)).resume();

const listen = (listener: RequestListener): void => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
};

if (mode === 'ours') {
  const channel = openChannel({
    server: { name: 'bench', version: '0' },
    sources: () => ({ bundles: [], folders: [place], frontmatter: 'complete' }),
    report: ({ where, problem }) => console.error(where, problem.code),
  });
  const web = await openWeb({ port: 0, tokens: () => 'none', channel });
  if (web.ok) console.log(web.value.port);
} else if (mode === 'sdk') {
  const { createMcpHandler, McpServer } = await import('@modelcontextprotocol/server');
  const { loadSkills } = await import('@modelcontextprotocol/server/ext/skills/node');
  const skills = await loadSkills(place);
  const handler = createMcpHandler(() => {
    const mcp = new McpServer({ name: 'bench', version: '0' });
    skills.attach(mcp);
    return mcp;
  });
  listen(async (request, response) => {
    const parts: Buffer[] = [];
    for await (const part of request) parts.push(part as Buffer);
    const headers = Object.entries(request.headers).map(([name, value]): [string, string] => [
      name,
      String(value),
    ]);
    const asked = new Request('http://localhost/v1/mcp', {
      method: 'POST',
      headers,
      body: Buffer.concat(parts),
    });
    const answer = await handler.fetch(asked);
    const bytes = Buffer.from(await answer.arrayBuffer());
    response.writeHead(answer.status, {
      ...Object.fromEntries(answer.headers),
      'content-length': bytes.length,
    });
    response.end(bytes);
  });
} else {
  const bytes = readFileSync(place);
  listen((request, response) => {
    request.resume().on('end', () => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': bytes.length });
      response.end(bytes);
    });
  });
}
