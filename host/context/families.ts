/**
 * What is known of agents by the alias of their program: where each family reads skills from, below the workspace,
 * and what it does not take. Each line was seen with the real agent (decision 11). A program that is not here gets no
 * skills: a guessed folder would be litter in someone's repository.
 */
interface Family {
  readonly sink: string;
  /** Why it gets no server over standard input and output. */
  readonly noStdio?: string;
}

const claude: Family = { sink: '.claude/skills' };
const codex: Family = { sink: '.agents/skills' };
const opencode: Family = { sink: '.opencode/skills' };
const gemini: Family = { sink: '.gemini/skills' };
const qwen: Family = { sink: '.qwen/skills' };
const copilot: Family = {
  sink: '.agents/skills',
  noStdio: 'Copilot drops servers over standard input and output without a word; it takes HTTP servers only',
};

const families: ReadonlyMap<string, Family> = new Map([
  ['claude', claude],
  ['claude-acp', claude],
  ['claude-agent-acp', claude],
  ['codex', codex],
  ['codex-acp', codex],
  ['opencode', opencode],
  ['opencode-acp', opencode],
  ['opencode-omni', opencode],
  ['gemini', gemini],
  ['gemini-cli', gemini],
  ['qwen', qwen],
  ['qwen-code', qwen],
  ['copilot', copilot],
  ['copilot-cli', copilot],
]);

/** The sink of a program by its alias, or undefined. */
export const sinkFor = (program: string): string | undefined => families.get(program)?.sink;

/** Why a program takes no server over standard input and output, or undefined. */
export const noStdioFor = (program: string): string | undefined => families.get(program)?.noStdio;

/** Every sink there is, once. */
export const knownSinks: readonly string[] = [
  ...new Set([...families.values()].map(({ sink }) => sink)),
].sort();
