/**
 * The tool `Skill` as data and as an answer, for whoever serves it: the program over standard streams, and the gateway.
 * Skills are looked at for each call, so one that was added since is there.
 */
import type { CallToolResult } from '@modelcontextprotocol/server';
import { catalogueLines, type Look, renderSkill, type Skill } from '../../skills/index.ts';
import type { StationServer } from '../gateway/edge.ts';

/** Longest name and arguments, characters. */
export const nameCharacters = 200;
export const argumentCharacters = 100_000;

const heading =
  'Skills of this workspace. Call the tool Skill with the name of one that fits the task, and follow it:';

export const description =
  'Returns the instructions of a skill, with its arguments put in. Reads only; runs nothing.';
export const nameText = 'The name of the skill.';
export const argumentsText = 'What would stand behind /name, as a person types it.';
export const annotations = { readOnlyHint: true, idempotentHint: true, openWorldHint: false };

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

const tool = {
  name: 'Skill',
  title: 'Skill',
  description,
  inputSchema: {
    type: 'object',
    properties: {
      name: { type: 'string', minLength: 1, maxLength: nameCharacters, description: nameText },
      arguments: { type: 'string', maxLength: argumentCharacters, description: argumentsText },
    },
    required: ['name'],
    additionalProperties: false,
  },
  annotations,
};

const fitting = (args: Readonly<Record<string, unknown>>): { name: string; args: string } | undefined => {
  const { name, arguments: given = '' } = args;
  const fits =
    typeof name === 'string' &&
    name !== '' &&
    name.length <= nameCharacters &&
    typeof given === 'string' &&
    given.length <= argumentCharacters;
  return fits ? { name, args: given } : undefined;
};

/** As the gateway serves it. `hidden` are skills a session's agent is not told of: those policy denies. */
export const skillStation = async (
  look: () => Promise<Look>,
  hidden: (name: string) => boolean,
): Promise<StationServer> => {
  const seen = async (): Promise<Look> => {
    const found = await look();
    return { ...found, skills: found.skills.filter(({ name }) => !hidden(name)) };
  };
  const instructions = skillInstructions((await seen()).skills);
  return {
    ...(instructions === undefined ? {} : { instructions }),
    tools: [tool],
    call: async (_tool, args) => {
      const wanted = fitting(args);
      return wanted === undefined
        ? { ...told('Say the `name` of a skill, a text, and its `arguments` as one text.', true) }
        : { ...callSkill(await seen(), wanted.name, wanted.args) };
    },
  };
};
