/**
 * One server of the channel benchmark in a process of its own: `channel.child.ts ours|sdk|floor|memory PLACE`. `sdk` is the
 * official handler with the official catalog, `floor` answers every request with the bytes of a file and does nothing
 * else, `memory` reads every published file once and prints the bytes it holds then. Tells its port on standard output and ends with its standard input.
 */
import { readFileSync } from 'node:fs';
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setImmediate } from 'node:timers/promises';
import { readResource } from '../../host/mcp/channel/answers.ts';
import { openCatalog } from '../../host/mcp/channel/catalog.ts';
import { openChannel } from '../../host/mcp/index.ts';
import { openWeb } from '../../host/web/index.ts';

const [mode = '', place = ''] = process.argv.slice(2);

const listen = (listener: RequestListener): void => {
  const server = createServer(listener);
  server.listen(0, '127.0.0.1', () => console.log((server.address() as AddressInfo).port));
};

if (mode === 'memory') {
  const catalog = openCatalog({
    sources: () => ({ bundles: [], folders: [place], frontmatter: 'complete' }),
    report: ({ where }) => console.error(where),
  });
  const published = await catalog.look();
  for (const uri of published.files.keys()) {
    const answered = readResource(published, uri);
    if ('error' in answered) throw new Error(uri);
  }
  // What a collection lets go is freed by the next one.
  for (let round = 0; round < 4; round += 1) {
    await setImmediate();
    globalThis.gc?.();
  }
  const { heapUsed, external } = process.memoryUsage();
  console.log(heapUsed + external);
  process.exit(0);
}
process.stdin.on('end', () => process.exit(0)).resume();
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
