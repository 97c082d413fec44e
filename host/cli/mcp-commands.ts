/** `mcp …`: the servers the station reaches itself; everything about them is the station's, this only asks and shows. */
import type { Command } from 'commander';
import { failed, ok } from '../problems/index.ts';
import type { MethodResult } from '../station/index.ts';
import { jsonObject, type Run, shownText, table } from './output.ts';
import { example, group } from './usage.ts';
import { answer, ask } from './with-station.ts';

type Server = MethodResult<'mcp.list'>['servers'][number];

/** The status as a call would meet it: `failed: why`. */
const statusText = ({ status, problem, reason }: Server): string => {
  const why =
    problem === undefined
      ? reason
      : `${problem.message}${problem.evidence === undefined ? '' : ` (${problem.evidence})`}`;
  return why === undefined ? status : `${status}: ${why}`;
};

const toolsText = (count: number): string => (count === 1 ? '1 tool' : `${count} tools`);

const serverRow = (server: Server, named: boolean): readonly string[] => [
  named ? server.name : server.key,
  toolsText(server.tools),
  statusText(server),
];

const listText = (servers: readonly Server[]): string => {
  if (servers.length === 0) return 'no servers';
  const times = (name: string): number => servers.filter((one) => one.name === name).length;
  return table(servers.map((one) => serverRow(one, times(one.name) === 1)));
};

const toolsOf = ({ server, tools }: MethodResult<'mcp.tools'>): string =>
  [
    `${server.name}: ${statusText(server)}`,
    table(
      tools.map(({ name, as, decision, rule, description = '' }) => [
        name === as.split('__').slice(2).join('__') ? as : `${as} (${name})`,
        decision,
        rule,
        description.split('\n', 1)[0]?.slice(0, 80),
      ]),
      '  ',
    ),
  ]
    .filter((part) => part.trim() !== '')
    .join('\n');

interface Content {
  readonly type?: string;
  readonly text?: string;
  readonly mimeType?: string;
  readonly uri?: string;
}
const contentText = ({ type = 'content', text, mimeType, uri }: Content): string =>
  text === undefined
    ? `[${[type, mimeType, uri].filter((part) => part !== undefined).join(' ')}]`
    : shownText(text);

const resultText = (result: Readonly<Record<string, unknown>>): string => {
  const { content, structuredContent } = result;
  if (Array.isArray(content) && content.length > 0) return content.map(contentText).join('\n');
  return JSON.stringify(structuredContent ?? result, null, 2);
};

export const addMcpCommands = (program: Command, run: Run): void => {
  const mcp = group(program, 'mcp', 'MCP servers the station reaches', 'mcp list');
  const one = (name: string, description: string): Command =>
    example(
      mcp
        .command(name)
        .argument('<server>', 'its name, or its key where several have the name')
        .description(description),
      `mcp ${name} probe`,
    );
  example(
    mcp.command('list').description('every server, its tools, and what a call would meet'),
    'mcp list',
  ).action(() => run((io) => answer(io, 'mcp.list', {}, ({ servers }) => listText(servers))));
  one('tools', 'its tools, what agents call them, and what the gate does with a call').action(
    (server: string) => run((io) => answer(io, 'mcp.tools', { server }, toolsOf)),
  );
  example(
    mcp
      .command('call')
      .argument('<server>', 'its name, or its key where several have the name')
      .argument('<tool>', "the tool, by the server's own name or the one agents call it by")
      .argument('[json]', 'its arguments, a JSON object', '{}')
      .description(
        'call a tool; what policy denies or does not offer is refused here too; exit 1 when the tool failed',
      ),
    'mcp call probe probe \'{"text": "hello"}\'',
  ).action((server: string, tool: string, json: string) =>
    run(async (io) => {
      const args = jsonObject(json);
      if (!args.ok) return args;
      const called = await ask(io, 'mcp.call', { server, tool, args: args.value });
      if (!called.ok) return failed(called.problem);
      const { result } = called.value;
      return ok({
        json: result,
        plain: resultText(result),
        ...(result['isError'] === true ? { exit: 1 } : {}),
      });
    }),
  );
  one('reconnect', 'dial it again; answers when dialling has begun').action((server: string) =>
    run((io) => answer(io, 'mcp.reconnect', { server }, (found) => `${found.name}  ${statusText(found)}`)),
  );
  one('enable', 'take it off `disabledMcpServers` in policy, and dial it').action((server: string) =>
    run((io) => answer(io, 'mcp.enable', { server }, (found) => `${found.name}  ${statusText(found)}`)),
  );
  one('disable', 'put it on `disabledMcpServers` in policy: nothing is called there any more').action(
    (server: string) =>
      run((io) => answer(io, 'mcp.disable', { server }, (found) => `${found.name}  ${statusText(found)}`)),
  );
};
