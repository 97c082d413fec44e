/**
 * What is known of agents by the name they give themselves and was seen with the real ones (decision 11): servers
 * they drop without a word, sessions they cannot take up though they say so, and by which sign a tool call of theirs
 * is one of a server they were handed. An agent that is not here is believed, and claimed nothing about.
 */
import { textOf } from './blocks.ts';
import { isRecord } from './frames.ts';

type Fields = Readonly<Record<string, unknown>>;
/** Whether this call goes to this server, by the agent's own way of naming. */
type Sign = (call: Fields, server: string) => boolean;

export interface Family {
  /** Why a server over standard input and output is not handed over. */
  readonly noStdio?: string;
  /** Why a session is not taken up again, whatever the agent declares. */
  readonly noResume?: string;
  readonly sign: Sign;
}

const titled =
  (matches: (title: string, server: string) => boolean): Sign =>
  (call, server) => {
    const title = textOf(call.title);
    return title !== undefined && matches(title, server);
  };

/** `mcp__server__tool`, and an input that names its server, can mean nothing else. */
const plainSign: Sign = (call, server) => {
  const input = isRecord(call.rawInput) ? call.rawInput : {};
  return (
    (textOf(call.title) ?? '').startsWith(`mcp__${server}__`) ||
    (textOf(call.name) ?? '').startsWith(`mcp__${server}__`) ||
    (input.server === server && typeof input.tool === 'string')
  );
};

const families: ReadonlyMap<string, Family> = new Map([
  ['OpenCode', { sign: titled((title, server) => title.startsWith(`${server}_`)) }],
  [
    'gemini-cli',
    {
      noResume: 'Gemini CLI says that it loads sessions, and finds none of those it had over ACP',
      sign: titled((title, server) => title.endsWith(`(${server} MCP Server)`)),
    },
  ],
  [
    'Copilot',
    {
      noStdio:
        'Copilot drops servers over standard input and output without a word; it takes HTTP servers only',
      sign: titled((title, server) => title.startsWith(`${server}-`)),
    },
  ],
  ['demo-agent', { sign: titled((title, server) => title.startsWith(`${server}.`)) }],
]);
const stranger: Family = { sign: plainSign };

export const familyOf = (agentName: string | undefined): Family => families.get(agentName ?? '') ?? stranger;

/** Which of the servers a tool call goes to; the longest name where several fit. */
export const serverOf = (
  agentName: string | undefined,
  servers: readonly string[],
  call: Fields,
): string | undefined => {
  const { sign } = familyOf(agentName);
  return servers.filter((server) => sign(call, server)).sort((a, b) => b.length - a.length)[0];
};
