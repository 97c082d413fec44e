/**
 * The command line: arguments in, text or JSON out, no logic. Exit 0 done, 1 a problem, 2 usage, 3 no station runs
 * for this home.
 */
import { realpathSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { Command, CommanderError } from 'commander';
import { type Problem, problem } from '../problems/index.ts';
import { addBundleCommands } from './bundle-commands.ts';
import { addComponentCommands } from './component-commands.ts';
import { addContractsCommands } from './contracts.ts';
import { addDemoCommand } from './demo-command.ts';
import { type Io, printAnswer, printProblem, type Run, type Sink } from './output.ts';
import { addPolicyCommands } from './policy-commands.ts';
import { addSessionCommands } from './session-commands.ts';
import { bundledSkills, registerSkills } from './skills.ts';
import { addStationCommands } from './station-commands.ts';

export interface MainOptions {
  /** Where the launcher keeps compiled code; a station that is started uses it too. */
  readonly compileCache?: string;
}

const noStation = new Set<string>(['station/not-running']);
const exitFor = (found: Problem): number =>
  found.code === 'cli/usage' ? 2 : noStation.has(found.code) ? 3 : 1;

const homeOf = (option: string | undefined): string => {
  const home = resolve(option ?? (process.env.JUPITER_HOME || join(homedir(), '.jupiter')));
  try {
    return realpathSync(home);
  } catch {
    return home;
  }
};

const sinkOn = (stream: NodeJS.WriteStream): Sink => {
  // The reader went away (`| head`): there is nobody left to tell.
  stream.on('error', () => process.exit(0));
  return { write: (text) => stream.write(text), colour: stream.isTTY === true && !process.env.NO_COLOR };
};

/** The whole command line as it is parsed and shown by `--help`. */
export const commandLine = (run: Run): Command => {
  const program = new Command('jupiter')
    .description('A local host for coding agents: what they get, and the record of what arrived.')
    .option('--home <dir>', 'the home of the station (default: JUPITER_HOME, or ~/.jupiter)')
    .option('--json', 'print one JSON document (lines of JSON where it follows)')
    .showSuggestionAfterError()
    .addHelpText(
      'after',
      '\nExit codes: 0 done, 1 a problem, 2 usage, 3 no station runs for this home.\n\nExample:\n  $ jupiter demo',
    );
  addDemoCommand(program, run);
  addStationCommands(program, run);
  addBundleCommands(program, run);
  addPolicyCommands(program, run);
  addSessionCommands(program, run);
  addComponentCommands(program, run);
  addContractsCommands(program, run);
  registerSkills(program, run, { bundles: bundledSkills });
  return program;
};

const quiet = (command: Command, out: Sink): void => {
  command.exitOverride().configureOutput({ writeOut: out.write, writeErr: () => {}, outputError: () => {} });
  for (const child of command.commands) quiet(child, out);
};

/** What is wrong with the arguments, and where help is. */
const usage = (error: CommanderError, args: readonly string[], program: Command): Problem => {
  let at = program;
  for (const word of args) at = at.commands.find((command) => command.name() === word) ?? at;
  const names: string[] = [];
  for (let command: Command | null = at; command !== null; command = command.parent)
    names.unshift(command.name());
  const said = error.message.replace(/^error: /, '').replace(/\.?$/, '.');
  return problem('cli/usage', {
    message: `${said.slice(0, 1).toUpperCase()}${said.slice(1)}`,
    fix: `See \`${names.join(' ')} --help\`.`,
  });
};

export const main = async (args: readonly string[], options: MainOptions = {}): Promise<number> => {
  const out = sinkOn(process.stdout);
  const err = sinkOn(process.stderr);
  let exit = 0;
  const program = commandLine(async (act) => {
    const { home, json = false } = program.opts<{ home?: string; json?: boolean }>();
    const io: Io = {
      home: homeOf(home),
      json,
      compileCache: options.compileCache,
      event: (document, plain) => out.write(`${json ? JSON.stringify(document) : plain}\n`),
    };
    const answer = await act(io);
    if (answer.ok) printAnswer(answer.value, json, out);
    else printProblem(answer.problem, json, out, err);
    exit = answer.ok ? (answer.value.exit ?? 0) : exitFor(answer.problem);
  });
  quiet(program, out);
  try {
    await program.parseAsync([...args], { from: 'user' });
    return exit;
  } catch (error) {
    if (!(error instanceof CommanderError)) throw error;
    if (error.exitCode === 0) return 0;
    if (error.code === 'commander.help') err.write(program.helpInformation());
    else printProblem(usage(error, args, program), args.includes('--json'), out, err);
    return 2;
  }
};
