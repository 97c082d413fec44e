/**
 * The same server as plain data, for a gateway that speaks MCP itself: instructions, the list of tools, and the one call.
 * Answers are what `tools/list` and `tools/call` hold.
 */
import { z } from 'zod';
import type { SkillLibrary } from '../../skills/index.ts';
import type { Json } from '../json.ts';
import { type Decide, expandSkill, skillInstructions, skillTool, toolResult } from './tool.ts';

export interface MountedSkills {
  /** Undefined where there is no skill. */
  readonly instructions?: string;
  readonly tools: readonly Json[];
  /** A tool that is not there, and arguments that do not fit, are results with `isError`. */
  readonly call: (tool: string, args: Json) => Promise<Json>;
}

const { inputSchema, ...described } = skillTool;
const listed: Json = { ...described, inputSchema: z.toJSONSchema(inputSchema, { io: 'input' }) };

/** As the skills are at this moment; each call looks again. */
export const mountSkills = async (options: {
  readonly library: SkillLibrary;
  readonly cwd: string;
  readonly decide: Decide;
}): Promise<MountedSkills> => {
  const look = () => options.library.look({ cwd: options.cwd });
  const instructions = skillInstructions((await look()).skills);
  return {
    ...(instructions === undefined ? {} : { instructions }),
    tools: [listed],
    call: async (tool, args) => {
      if (tool !== skillTool.name)
        return { ...toolResult({ refused: `There is no tool ${JSON.stringify(tool)}.` }) };
      const parsed = inputSchema.safeParse(args);
      if (!parsed.success) return { ...toolResult({ refused: z.prettifyError(parsed.error) }) };
      const { name, arguments: text = '' } = parsed.data;
      return { ...toolResult(await expandSkill(await look(), name, text, options.decide)) };
    },
  };
};
