/**
 * The station's own MCP server for a session's agent: the tool `Skill`, which only reads, and instructions that list
 * what there is. Skills are looked at for each call, so one that was added since is there. Serves one agent over its
 * standard streams; the SDK is loaded here, so this file is imported when a server is started.
 */
import { once } from 'node:events';
import { type CallToolResult, McpServer } from '@modelcontextprotocol/server';
import { serveStdio } from '@modelcontextprotocol/server/stdio';
import { z } from 'zod';
import { catalogueLines, type Look, renderSkill, type Skill } from '../../skills/index.ts';

export interface SkillServerOptions {
  readonly server: { readonly name: string; readonly version: string };
  readonly look: () => Promise<Look>;
}

/** Longest name and arguments, characters. */
const nameCharacters = 200;
const argumentCharacters = 100_000;

const heading =
  'Skills of this workspace. Call the tool Skill with the name of one that fits the task, and follow it:';

/** Undefined where there is no skill. */
export const skillInstructions = (skills: readonly Skill[]): string | undefined => {
  const lines = catalogueLines(skills);
  return lines.length === 0 ? undefined : [heading, ...lines].join('\n');
};

const told = (text: string, isError = false): CallToolResult => ({
  content: [{ type: 'text', text }],
  ...(isError ? { isError } : {}),
});

/** What the tool answers: the expanded body, or what is there instead. */
export const callSkill = (look: Look, name: string, args = ''): CallToolResult => {
  const wanted = name.replace(/^\//, '').normalize('NFC');
  const skill = look.skills.find((one) => one.name === wanted);
  if (skill === undefined) {
    const names = look.skills.map((one) => one.name).join(', ');
    return told(`There is no skill ${JSON.stringify(name)}. There are: ${names || 'none'}.`, true);
  }
  const document = skill.document();
  if (document.ok) return told(renderSkill({ document: document.value, dir: skill.dir }, args));
  const { message, fix = '' } = document.problem;
  return told(`${message} ${fix}`.trim(), true);
};

const openServer = async ({ server, look }: SkillServerOptions): Promise<McpServer> => {
  const instructions = skillInstructions((await look()).skills);
  const mcp = new McpServer(server, instructions === undefined ? {} : { instructions });
  mcp.registerTool(
    'Skill',
    {
      title: 'Skill',
      description:
        'Returns the instructions of a skill, with its arguments put in. Reads only; runs nothing.',
      inputSchema: z.object({
        name: z.string().min(1).max(nameCharacters).describe('The name of the skill.'),
        arguments: z
          .string()
          .max(argumentCharacters)
          .optional()
          .describe('What would stand behind /name, as a person types it.'),
      }),
      annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
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
