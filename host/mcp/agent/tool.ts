/** The tool `Skill`: what it is called with, what it answers, and the instructions that list what there is. */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { z } from 'zod';
import type { Problem } from '../../problems/index.ts';
import { catalogueLines, type Look, renderSkill, type Skill } from '../../skills/index.ts';

/**
 * Whether a skill may be used, asked with its name before its body is read: a problem says why not, as a rule such as
 * `Skill(deploy)` decides it.
 */
export type Decide = (name: string) => Problem | undefined | Promise<Problem | undefined>;

/** Longest name and arguments, characters. */
const nameCharacters = 200;
const argumentCharacters = 100_000;

// A schema of its own for each use: the SDK marks those it completes.
export const skillName = () => z.string().min(1).max(nameCharacters).describe('The name of the skill.');
export const skillArguments = () =>
  z.string().max(argumentCharacters).describe('What would stand behind /name, as a person types it.');

/** The one tool of this server. */
export const skillTool = {
  name: 'Skill',
  title: 'Skill',
  description: 'Returns the instructions of a skill, with its arguments put in. Reads only; runs nothing.',
  inputSchema: z.object({ name: skillName(), arguments: skillArguments().optional() }),
  annotations: { readOnlyHint: true, idempotentHint: true, openWorldHint: false },
} as const;

const heading =
  'Skills of this workspace. Call the tool Skill with the name of one that fits the task, and follow it:';

/** Undefined where there is no skill. */
export const skillInstructions = (skills: readonly Skill[]): string | undefined => {
  const lines = catalogueLines(skills);
  return lines.length === 0 ? undefined : [heading, ...lines].join('\n');
};

/** The expanded body, or what is there instead, as a text for whoever asked. */
export type Told = { readonly text: string } | { readonly refused: string };

const sentence = ({ message, fix, code }: Problem): string =>
  [message, ...(fix === undefined ? [] : [fix]), `(${code})`].join(' ');

export const expandSkill = async (look: Look, name: string, args: string, decide: Decide): Promise<Told> => {
  const wanted = name.replace(/^\//, '').normalize('NFC');
  const skill = look.skills.find((one) => one.name === wanted);
  if (skill === undefined) {
    const names = look.skills.map((one) => one.name).join(', ');
    return { refused: `There is no skill ${JSON.stringify(name)}. There are: ${names || 'none'}.` };
  }
  const refusal = await decide(skill.name);
  if (refusal !== undefined) return { refused: sentence(refusal) };
  const document = skill.document();
  return document.ok
    ? { text: renderSkill({ document: document.value, dir: skill.dir }, args) }
    : { refused: sentence(document.problem) };
};

export const toolResult = (told: Told): CallToolResult =>
  'text' in told
    ? { content: [{ type: 'text', text: told.text }] }
    : { content: [{ type: 'text', text: told.refused }], isError: true };
