/**
 * The station's own MCP server for a session's agent: the tool `Skill`, which only reads, and instructions that list
 * what there is. Skills are looked at for each call, so one that was added since is there. Serves one agent over its
 * standard streams; the SDK is loaded here, so this file is imported when a server is started.
 */
import { once } from 'node:events';
import { McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import type { Look } from '../../skills/index.ts';
import {
  annotations,
  argumentCharacters,
  argumentsText,
  callSkill,
  description,
  nameCharacters,
  nameText,
  skillInstructions,
} from './tool.ts';

export interface SkillServerOptions {
  readonly server: { readonly name: string; readonly version: string };
  readonly look: () => Promise<Look>;
}

const openServer = async ({ server, look }: SkillServerOptions): Promise<McpServer> => {
  const instructions = skillInstructions((await look()).skills);
  const mcp = new McpServer(server, instructions === undefined ? {} : { instructions });
  mcp.registerTool(
    'Skill',
    {
      title: 'Skill',
      description,
      inputSchema: z.object({
        name: z.string().min(1).max(nameCharacters).describe(nameText),
        arguments: z.string().max(argumentCharacters).optional().describe(argumentsText),
      }),
      annotations,
    },
    async ({ name, arguments: args }) => callSkill(await look(), name, args),
  );
  return mcp;
};

/** Resolves when the agent has closed its end. */
export const serveSkills = async (options: SkillServerOptions): Promise<void> => {
  const served = serveStdio(() => openServer(options));
  await once(process.stdin, 'end');
  await served.close();
};
