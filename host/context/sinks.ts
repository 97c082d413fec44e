/**
 * Where each family of agents reads skills from, below the workspace. A program that is not in the table gets no
 * skills: a guessed folder would be litter in someone's repository.
 */
const claude = '.claude/skills';
const codex = '.agents/skills';
const opencode = '.opencode/skills';

const sinks: ReadonlyMap<string, string> = new Map([
  ['claude', claude],
  ['claude-acp', claude],
  ['codex', codex],
  ['codex-acp', codex],
  ['opencode', opencode],
  ['opencode-acp', opencode],
  ['opencode-omni', opencode],
]);

/** The sink of a program by its alias, or undefined. */
export const sinkFor = (program: string): string | undefined => sinks.get(program);

/** Every sink there is, once. */
export const knownSinks: readonly string[] = [...new Set(sinks.values())].sort();
