/** Small pieces every group of commands uses: an example under each help text, a group that needs a subcommand. */
import { type Command, CommanderError } from 'commander';

export const example = (command: Command, ...lines: readonly string[]): Command =>
  command.addHelpText('after', `\nExample:\n${lines.map((line) => `  $ jupiter ${line}`).join('\n')}`);

/** `jupiter bundle` alone is a usage problem, with the help of the group at hand. */
export const group = (
  parent: Command,
  name: string,
  description: string,
  ...lines: readonly string[]
): Command => {
  const command = parent.command(name).description(description);
  command.action(() => {
    throw new CommanderError(2, 'jupiter.subcommand', `a subcommand is missing after "${name}"`);
  });
  return example(command, ...lines);
};
