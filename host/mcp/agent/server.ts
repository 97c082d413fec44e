/**
 * The station's own MCP server for a session's agent: the tool `Skill`, which only reads, the same as a prompt for a
 * person at the agent, with completions, and instructions that list what there is. Skills are looked at for each call,
 * so one that was added since is there. It is built for a gateway to mount, or serves one agent over its standard
 * streams; the SDK is loaded here, so this file is imported when a server is needed.
 */
import { once } from 'node:events';
import { completable, McpServer, ProtocolError, ProtocolErrorCode } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { argumentSuggestions, nameSuggestions, type SkillLibrary } from '../../skills/index.ts';
import {
  type Decide,
  expandSkill,
  skillArguments,
  skillInstructions,
  skillName,
  skillTool,
  toolResult,
} from './tool.ts';

export interface SkillServerOptions {
  readonly server: { readonly name: string; readonly version: string };
  readonly library: SkillLibrary;
  /** The session's working directory: whose project skills count. */
  readonly cwd: string;
  /** Default: every skill may be used. */
  readonly decide?: Decide;
}

/** A server of the SDK, not connected yet. Its instructions are those of this moment. */
export const buildSkillServer = async (options: SkillServerOptions): Promise<McpServer> => {
  const { server, library, cwd, decide = () => undefined } = options;
  const look = () => library.look({ cwd });
  const instructions = skillInstructions((await look()).skills);
  const mcp = new McpServer(server, instructions === undefined ? {} : { instructions });
  const { name: toolName, ...config } = skillTool;
  mcp.registerTool(toolName, config, async ({ name, arguments: args = '' }) =>
    toolResult(await expandSkill(await look(), name, args, decide)),
  );
  const names = async (typed: string): Promise<string[]> =>
    nameSuggestions((await look()).skills, typed).map(({ name }) => name);
  mcp.registerPrompt(
    toolName,
    {
      title: 'Skill',
      description: 'Puts the instructions of a skill into the conversation, with its arguments put in.',
      argsSchema: z.object({
        name: completable(skillName(), (typed) => names(typed)),
        arguments: completable(skillArguments(), async (typed, context) => {
          const wanted = context?.arguments?.['name']?.replace(/^\//, '').normalize('NFC');
          const skill = (await look()).skills.find(({ name }) => name === wanted);
          return skill === undefined ? [] : [...argumentSuggestions(skill, typed)];
        }).optional(),
      }),
    },
    async ({ name, arguments: args = '' }) => {
      const told = await expandSkill(await look(), name, args, decide);
      if ('refused' in told) throw new ProtocolError(ProtocolErrorCode.InvalidParams, told.refused);
      return { messages: [{ role: 'user', content: { type: 'text', text: told.text } }] };
    },
  );
  return mcp;
};

/** Resolves when the agent has closed its end. */
export const serveSkills = async (options: SkillServerOptions): Promise<void> => {
  const served = serveStdio(() => buildSkillServer(options));
  await once(process.stdin, 'end');
  await served.close();
};
