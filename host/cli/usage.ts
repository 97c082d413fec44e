/** Small pieces every group of commands uses: an example under each help text, a group that needs a subcommand. */
import type { Command } from 'commander';

export const example = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  $ jupiter ${line}`).join('\n')}`);

/** Has no action of its own: alone it is a usage problem, and a subcommand it does not know gets a suggestion. */
export const group = (
  parent: Command,
  name: string,
  description: string,
  ...lines: readonly string[]
): Command => example(parent.command(name).description(description), ...lines);
